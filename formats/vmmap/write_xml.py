"""Rows to VMMap's own `.mmp`, in the layout that public readers of real files rely on.

One element a line and none indented, attributes in the order of VMMap, numbers decimal, sizes in bytes; the
parts of an allocation stand inside it. An attribute whose value is not known is left out. Total WS and locked
pages have no attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from mmpscope.formats.vmmap.words import USE_TYPES, name_summary_line
from mmpscope.formats.vmmap.write_rows import ListRow

__all__ = ["XmlSnapshot", "write_xml"]

_FILETIME_OF_1970 = 116_444_736_000_000_000
_NS_A_TICK = 100
_NUMBERS = {name_summary_line(name): number for number, name in USE_TYPES.items()}
_ENTITIES = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;",
}  # fmt: skip
"""Line ends and tabs are written as numbers: a reader makes blanks of them, and a line holds one element."""
_SPECIAL = re.compile('[&<>"\t\n\r]')
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmlSnapshot(NamedTuple):
    """One snapshot: wall time in ns since 1970, bytes of page tables (each None if unknown), and its rows."""

    time_ns: int | None
    page_table: int | None
    rows: Iterable[ListRow]


def write_xml(stream: BinaryIO, snapshots: Iterable[XmlSnapshot]) -> None:
    """Write snapshots one after the other, each from its rows as they come."""
    for line in _write_lines(snapshots):
        stream.write(line.encode() + b"\r\n")


def _write_lines(snapshots: Iterable[XmlSnapshot]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield "<root>"
    yield "<Snapshots>"
    for snapshot in snapshots:
        head = {"Timestamp": _to_filetime(snapshot.time_ns), "PageTableSize": snapshot.page_table}
        yield f"<Snapshot {_join(head)}>"
        yield "<MemoryRegions>"
        yield from _nest(snapshot.rows)
        yield "</MemoryRegions>"
        yield "</Snapshot>"
    yield "</Snapshots>"
    yield "</root>"


def _to_filetime(time_ns: int | None) -> int:
    """Return the 100 ns since 1601; 0 for an unknown time, because readers count on the attribute."""
    return 0 if time_ns is None else max(0, time_ns // _NS_A_TICK + _FILETIME_OF_1970)


def _nest(rows: Iterable[ListRow]) -> Iterator[str]:
    """Write each row inside the allocation that it is a part of."""
    outer: str | None = None
    is_open = False
    for row in rows:
        tag = f"<Region {_join(_list_attributes(row))}"
        if row.is_part and outer is not None:
            if not is_open:
                yield f"{outer}>"
            is_open = True
            yield f"{tag}/>"
            continue
        yield from _close(outer, is_open=is_open)
        outer, is_open = tag, False
    yield from _close(outer, is_open=is_open)


def _close(outer: str | None, *, is_open: bool) -> Iterator[str]:
    if outer is not None:
        yield "</Region>" if is_open else f"{outer}/>"


def _list_attributes(row: ListRow) -> dict[str, int | str | None]:
    """Return the attributes in the order of VMMap's files."""
    use_type = row.use_type if row.use_type is not None else _NUMBERS.get(name_summary_line(row.kind))
    return {
        "Address": row.address,
        "Blocks": row.blocks,
        "ShareableWS": row.shareable_ws,
        "SharedWS": row.shared_ws,
        "Size": row.size,
        "Commit": row.committed,
        "PrivateBytes": row.private,
        "PrivateWS": row.private_ws,
        "Id": row.id,
        "Protection": row.protection,
        "Storage": row.storage,
        "UseType": use_type,
        "Type": row.kind,
        "Details": row.details or "",
    }


def _join(attributes: Mapping[str, int | str | None]) -> str:
    return " ".join(
        f'{name}="{_escape(value) if isinstance(value, str) else value}"'
        for name, value in attributes.items()
        if value is not None
    )


def _escape(text: str) -> str:
    r"""Escape a value; characters that XML cannot hold in any way are shown, as in ``\x1b``."""
    if text.isalnum() and text.isascii():
        return text
    shown = _FORBIDDEN.sub(lambda hit: _show(ord(hit[0])), text)
    return _SPECIAL.sub(lambda hit: _ENTITIES[hit[0]], shown)


def _show(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
