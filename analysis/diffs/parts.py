"""Modules and threads of two snapshots: which came, went or changed.

There are hundreds of these, not millions, so they are compared one by one.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import pyarrow as pa
from mmpscope.analysis.diffs.files import BackingFile, match_files, normalize_path
from mmpscope.analysis.diffs.schema import CHANGED, DIFF_MODULES, DIFF_THREADS, GONE, MOVED, NEW, REBUILT
from mmpscope.analysis.schema import Field
from mmpscope.analysis.tables import build_table

__all__ = ["diff_modules", "diff_threads"]

Row = dict[str, Any]
Pair = tuple[Row | None, Row | None]


def diff_modules(a: pa.Table, b: pa.Table, *, same_instance: bool) -> pa.Table:
    """List the modules that are not the same (columns of diffs.schema.DIFF_MODULES), by path and address.

    Modules are matched by path and address, by path and build, then by path in the order of addresses, and of
    two instances as their memory is: by build id or name without version (files.py). Another address is a
    move within one instance; between two instances every address is another, and says nothing.
    """
    left, right = ([*_list_rows(side, "path", "address", "size", "build_id")] for side in (a, b))
    _name_alike(left, right)
    pairs = _pair(left, right, ("name", "address")) if same_instance else []
    pairs += _pair(left, right, ("name", "build_id")) + _pair(left, right, ("name",))
    pairs += [] if same_instance else _pair_files(left, right)
    pairs += [(row, None) for row in left] + [(None, row) for row in right]
    rows = [row for pair in pairs if (row := _describe_module(pair, same_instance))]
    return _build(
        DIFF_MODULES,
        sorted(rows, key=lambda row: (row["path"] or "", row["address_a"] or row["address_b"] or 0)),
    )


def _name_alike(left: list[Row], right: list[Row]) -> None:
    """Give each module the name that it is known by: its path, or the last part where a source has that.

    Windows takes OLEAUT32.dll and oleaut32.dll for one file, and writes either. Linux writes (deleted) behind
    a path once the file is another: what was mapped before stays mapped.
    """
    is_cut = any(side and not any("/" in (row["path"] or "") for row in side) for side in (left, right))
    is_posix = any((row["path"] or "").startswith("/") for row in (*left, *right))
    for row in (*left, *right):
        path = row["path"] or ""
        name = path.rpartition("/")[2] if is_cut and is_posix else path
        row["name"] = normalize_path(name)


def _list_rows(table: pa.Table, *names: str) -> list[Row]:
    rows: list[Row] = table.select(list(names)).to_pylist()
    return rows


def _pair(left: list[Row], right: list[Row], keys: tuple[str, ...]) -> list[Pair]:
    """Take out of both lists the rows whose keys are alike, in order, and return them as pairs."""
    waiting: dict[tuple[Any, ...], deque[Row]] = {}
    for row in right:
        waiting.setdefault(tuple(row[key] for key in keys), deque()).append(row)
    pairs: list[Pair] = []
    for row in left:
        if found := waiting.get(tuple(row[key] for key in keys)):
            pairs.append((row, found.popleft()))
    paired = {id(row) for pair in pairs for row in pair}
    for rows in (left, right):
        rows[:] = [row for row in rows if id(row) not in paired]
    return pairs


def _pair_files(left: list[Row], right: list[Row]) -> list[Pair]:
    """Take out of both lists the modules that are one file by its build, or by its name without version."""
    files = [[BackingFile(row["name"], row["build_id"], True) for row in side] for side in (left, right)]
    matches = match_files(*files)
    for side, numbers in ((left, matches.of_a), (right, matches.of_b)):
        for row, number in zip(side, numbers, strict=True):
            row["file"] = number
    return _pair(left, right, ("file",))


def _describe_module(pair: Pair, same_instance: bool) -> Row | None:
    a, b = pair
    word = _choose_module_word(a, b, same_instance)
    if word is None:
        return None
    row: Row = {"word": word, "path": (b or a or {}).get("path")}
    for name in ("address", "size", "build_id"):
        row |= _both(name, pair)
    sizes = (
        [row["size_a"], row["size_b"]] if a and b else [(a or {}).get("size", 0), (b or {}).get("size", 0)]
    )
    row["size_delta"] = None if None in sizes else _keep_signed(sizes[1] - sizes[0])
    return row


def _keep_signed(delta: int) -> int | None:
    """Return what an int64 holds; only hostile input goes beyond."""
    return delta if abs(delta) < 1 << 63 else None


def _choose_module_word(a: Row | None, b: Row | None, same_instance: bool) -> str | None:
    if a is None or b is None:
        return NEW if a is None else GONE
    if a["build_id"] and b["build_id"] and a["build_id"] != b["build_id"]:
        return REBUILT
    if not same_instance and a["build_id"] and a["build_id"] == b["build_id"] and a["name"] == b["name"]:
        return None  # the kernel lets .bss run into what lies behind it, in one run and not in another
    if a["size"] != b["size"] or a["name"] != b["name"]:
        return CHANGED
    return MOVED if same_instance and a["address"] != b["address"] else None


def _both(name: str, pair: Pair) -> Row:
    return {f"{name}_{side}": row[name] if row else None for side, row in zip("ab", pair, strict=True)}


def diff_threads(a: pa.Table, b: pa.Table, *, same_instance: bool = True) -> pa.Table:
    """List the threads that came, went or changed their name (columns of diffs.schema.DIFF_THREADS), by id.

    A thread is known by its id and its start time; an id alone may have been given again, but is all that
    there is where a side tells no start times. Between two instances it is known by its name, as many of one
    name as both have; where a side tells no names, nothing is listed.
    """
    left, right = ([*_list_rows(side, "tid", "starttime", "name", "state")] for side in (a, b))
    keys: tuple[str, ...] = ("tid", "starttime") if same_instance else ("name",)
    keys = tuple(key for key in keys if _is_told(left, key) and _is_told(right, key))
    if not keys:
        left, right = [], []
    pairs = _pair(left, right, keys)
    pairs = [(one, two) for one, two in pairs if one and two and _is_renamed(one, two)]
    pairs += [(row, None) for row in left] + [(None, row) for row in right]
    rows = []
    for pair in pairs:
        word = NEW if pair[0] is None else GONE if pair[1] is None else CHANGED
        known = pair[0] or pair[1] or {}
        row = {"word": word, "tid": known.get("tid"), "starttime": known.get("starttime")}
        rows.append(row | _both("name", pair) | _both("state", pair))
    return _build(DIFF_THREADS, sorted(rows, key=lambda row: (row["tid"] or 0, row["starttime"] or 0)))


def _is_told(rows: list[Row], name: str) -> bool:
    return any(row[name] is not None for row in rows)


def _is_renamed(one: Row, two: Row) -> bool:
    """Tell if both have a name, and not the same; what one does not tell is no change."""
    return None not in (one["name"], two["name"]) and one["name"] != two["name"]


def _build(fields: tuple[Field, ...], rows: list[Row]) -> pa.Table:
    return build_table(fields, {field.name: [row[field.name] for row in rows] for field in fields}, len(rows))
