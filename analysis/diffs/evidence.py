"""What two sides of a diff can be asked alike: a fact that one source tells in other words is no change.

Sources write rights and names in their own words, and types rest on what there is: a core names no heap, pmap
cuts names to their last part, and VMMap and a minidump call the same memory by different rules.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text
from mmpscope.analysis.diffs.files import normalize_path
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "join_texts",
    "level_evidence",
    "list_alike",
    "pair_names",
    "pair_paths",
    "pair_rights",
    "rest_alike",
    "tell_words",
]

Codes = NDArray[np.int32]

_MARKERS = {"perms": "linux", "State": "windows", "VmmapType": "windows", "RegionType": "macos"}
"""The column by which a family of sources is known, and whose words it uses for rights and states."""
_TABLES = ("modules", "segments", "threads", "heaps")
_ODD = re.compile(r"\\x[0-9a-f]{2}|[^ -~]|\?")
_HALF_KNOWN = re.compile(r"[r-][w-][x-]\?")
"""Rights of a core: whether a mapping is private or shared is not in it."""


def level_evidence(a: LoadedSnapshot, b: LoadedSnapshot) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Return both without the tables on which only one of them could rest its types.

    Text of smaps knows no threads and no segments of files, and a light look at Windows no heaps. What is a
    stack, a heap or .bss by these, and private data without, did not change from one to the other.
    """
    ours, theirs = ({name for name in _TABLES if _has_rows(side, name)} for side in (a, b))
    return _leave_out(a, ours - theirs), _leave_out(b, theirs - ours)


def _has_rows(snapshot: LoadedSnapshot, name: str) -> bool:
    table = snapshot.raw.tables.get(name)
    return table is not None and table.rows > 0


def _leave_out(snapshot: LoadedSnapshot, names: set[str]) -> LoadedSnapshot:
    if not names:
        return snapshot
    tables = {name: table for name, table in snapshot.raw.tables.items() if name not in names}
    return snapshot.with_raw(replace(snapshot.raw, tables=tables))


def tell_words(columns: Collection[str]) -> str | None:
    """Tell whose words for rights and states a table of regions uses; None where no column says so."""
    return next((word for marker, word in _MARKERS.items() if marker in columns), None)


def list_alike(a: RawColumns, b: RawColumns, facts: tuple[str, ...]) -> tuple[str, ...]:
    """List the facts that mean the same on both sides: type, state and protection, or some of them."""
    words = [tell_words(side.table.column_names) for side in (a, b)]
    refused = set() if words[0] == words[1] else {"state", "protection"}
    refused |= set() if rest_alike(a, b) else {"type"}
    return tuple(name for name in facts if name not in refused)


def rest_alike(a: RawColumns, b: RawColumns) -> bool:
    """Tell if the types of both sides rest on the same facts: on one family, with inodes and paths or not."""
    one, two = ({name for name in (*_MARKERS, "inode") if name in side} for side in (a, b))
    is_told = not (one.isdisjoint(_MARKERS) or two.isdisjoint(_MARKERS))
    return not is_told or (one == two and _has_cut_names(a) == _has_cut_names(b))


def pair_rights(a: Text, b: Text) -> tuple[Codes, Codes]:
    """Number the rights of both sides; without the fourth letter where one does not know it."""
    values = [value for side in (a, b) for value in side.values if value is not None]
    if any(map(_HALF_KNOWN.fullmatch, values)):
        a, b = (Text(side.codes, tuple(value and value[:3] for value in side.values)) for side in (a, b))
    return join_texts(a, b)


def pair_names(a: RawColumns, b: RawColumns) -> Iterator[tuple[Codes, Codes]]:
    """Number the names of both sides; nothing where one has none.

    A file that both know by its inode is told by that alone. Where one has no inodes, or cuts names, all
    files go by their names, by their last part where one has no more; names in brackets are left out then: a
    core has none.
    """
    if "path" not in a or "path" not in b:
        return
    is_cut = _has_cut_names(a) or _has_cut_names(b)
    if "inode" in a and "inode" in b and not is_cut:
        names = join_texts(a.text("path"), b.text("path"))
        one, two = (np.where(_has_no_file(side), name, -1) for side, name in zip((a, b), names, strict=True))
        yield one, two
    else:
        yield pair_paths(a, b)


def pair_paths(a: RawColumns, b: RawColumns) -> tuple[Codes, Codes]:
    """Number the paths of both sides, as far as both have them; memory without a file is all alike."""
    is_cut = _has_cut_names(a) or _has_cut_names(b)
    return join_texts(*(_name_files(side.text("path"), is_cut=is_cut) for side in (a, b)))


def _has_no_file(columns: RawColumns) -> Bools:
    nameless: Bools = columns.numbers("inode").values == 0
    return nameless


def _has_cut_names(columns: RawColumns) -> bool:
    """Tell if a source prints the last part of paths alone, as pmap does: names, and none with a slash."""
    names = [value for value in columns.text("path").values if value and not value.startswith("[")]
    return bool(names) and not any("/" in name for name in names)


def _name_files(names: Text, *, is_cut: bool) -> Text:
    shorten = _shorten if is_cut else _leave_out_brackets
    return Text(names.codes, tuple(value and shorten(normalize_path(value)) for value in names.values))


def _leave_out_brackets(name: str) -> str | None:
    return None if name.startswith("[") else name


def _shorten(name: str) -> str | None:
    """Return what pmap leaves of a name: its last part, of which it prints odd bytes as question marks.

    It calls System V memory [ shmid=0x0 ], and a file may be called [heap]: no name in brackets is one.
    """
    last = name.rpartition("/")[2]
    return None if last.startswith(("[", "SYSV")) else _ODD.sub("", last)


def join_texts(a: Text, b: Text) -> tuple[Codes, Codes]:
    """Return codes that are equal on both sides just where the texts are; a dictionary may repeat itself."""
    numbers: dict[str | None, int] = {}
    tables = [
        np.array([numbers.setdefault(value, len(numbers)) for value in text.values], np.int32)
        for text in (a, b)
    ]
    return tables[0][a.codes], tables[1][b.codes]
