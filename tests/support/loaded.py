"""Loaded snapshots from map lines and tables that a test writes down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.rules import Rule
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Snapshot, Table
from mmpscope.formats.proc.reader import snapshot_from_text
from support.smaps_text import Block, MapLine, make_block

__all__ = ["find_row", "load_blocks", "load_map", "load_table", "load_text", "make_line", "make_raw_table"]

_TEXTS = {
    *("path", "name", "state", "build_id", "perms", "VmFlags", "user", "cmdline", "file_version"),
    *("Usage", "Details", "VmmapType", "RegionType", "PRT", "SHRMOD"),
}
Rows = Iterable[Mapping[str, Any]]


def load_text(
    text: bytes | str, *, rules: Sequence[Rule] = (), tables: Mapping[str, Rows] | None = None, **facts: Any
) -> LoadedSnapshot:
    """Load smaps or maps text, with more raw tables and facts of the process."""
    snapshot = snapshot_from_text(text.encode() if isinstance(text, str) else text)
    more = {name: make_raw_table(rows) for name, rows in (tables or {}).items()}
    snapshot = Snapshot(
        snapshot.capture,
        {**snapshot.process, **facts},
        snapshot.moment,
        {**snapshot.tables, **more},
        snapshot.capability,
    )
    return LoadedSnapshot("test#0", lambda: snapshot, rules)


def load_map(*lines: str, **more: Any) -> LoadedSnapshot:
    """Load map lines in short form: `1000-2000 rw-p [offset inode [path]]`, numbers in hex."""
    return load_text(b"".join(make_line(line).text + b"\n" for line in lines), **more)


def load_blocks(*blocks: tuple[str, Mapping[str, int], str], **more: Any) -> LoadedSnapshot:
    """Load smaps: a map line in short form, counters in kB, flags."""
    text = [make_block(Block(make_line(line), kb, flags.encode() + b" ")) for line, kb, flags in blocks]
    return load_text(b"".join(text), **more)


def make_line(short: str) -> MapLine:
    """Expand a map line in short form; a file with an inode lies on device fe:00."""
    words = short.split(None, 4)
    span, perms, offset, inode, path = words + ["0", "0", ""][len(words) - 2 :]
    start, end = (int(part, 16) for part in span.split("-"))
    device = (0xFE, 0) if int(inode, 16) else (0, 0)
    return MapLine(
        start, end, perms.encode(), int(offset, 16), device, int(inode, 16), path.encode() if path else None
    )


def load_table(
    rows: Rows,
    *,
    tables: Mapping[str, Rows] | None = None,
    capability: Iterable[Capability] = (),
    rules: Sequence[Rule] = (),
    **facts: Any,
) -> LoadedSnapshot:
    """Load a raw regions table that no kernel text could hold, with more raw tables and facts."""
    all_rows = {"regions": rows, **(tables or {})}
    raw = {name: make_raw_table(table) for name, table in all_rows.items()}
    snapshot = Snapshot(Capture(), facts, {}, raw, list(capability))
    return LoadedSnapshot("test#0", lambda: snapshot, rules)


def make_raw_table(rows: Rows) -> Table:
    """Encode rows of names and values: text columns by name, but for numbers there, all else unsigned."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if name in _TEXTS and not any(isinstance(value, int) for value in values):
            texts = [value.encode() if isinstance(value, str) else value for value in values]
            columns[name] = Plain("text", texts, "bytes")
        else:
            columns[name] = Plain("uint", values)
    return encode_table(columns, len(rows))


def find_row(snapshot: LoadedSnapshot, address: int) -> dict[str, Any]:
    """Return the region that begins at an address."""
    rows: list[dict[str, Any]] = snapshot.regions.to_pylist()
    [row] = [row for row in rows if row["address"] == address]
    return row
