"""Rows to VMMap's CSV: process, summary and list, in its words; sizes in K, commas between thousands.

Line ends are CR LF; VMMap's own CR CR LF is an accident of its writer. Zero and unknown are both an empty
cell there, so a reader of it cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from mmpscope.formats.vmmap.protection import name_protection
from mmpscope.formats.vmmap.words import FIGURES
from mmpscope.formats.vmmap.write_rows import ListRow

__all__ = ["CsvHead", "write_csv"]

_HEADINGS = tuple(figure.heading for figure in FIGURES)
_SUMMARY = ("Type", "Size", *_HEADINGS, "Blocks", "Largest")
_LIST = ("Address", "Type", "Size", *_HEADINGS, "Blocks", "Protection", "Details")
_KIB = 1024
_INDENT = "  "


class CsvHead(NamedTuple):
    """What stands above the list.

    ``summary`` has the figures of each line by heading, in order; ``bits`` tells how wide addresses are.
    """

    name: str | None
    pid: int | None
    summary: Mapping[str, Mapping[str, int | None]]
    bits: int


def write_csv(stream: BinaryIO, head: CsvHead, rows: Iterable[ListRow]) -> None:
    """Write one process."""
    width = head.bits // 4
    write = _Lines(stream).write
    write(["Process:", head.name or ""])
    write(["PID:", "" if head.pid is None else str(head.pid)])
    write([])
    write(_SUMMARY, trailing=True)
    for name, figures in head.summary.items():
        sizes = [_to_kib(figures.get(heading)) for heading in _SUMMARY[1:-2]]
        write([name, *sizes, str(figures.get("Blocks") or ""), _to_kib(figures.get("Largest"))])
    write([])
    write(_LIST, trailing=True)
    for row in rows:
        write(_list_cells(row, width))
    write([])


class _Lines:
    """Writes lines of quoted cells."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, cells: Sequence[str], *, trailing: bool = False) -> None:
        """Write one line; VMMap ends its two headings in a comma."""
        line = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        self._stream.write((line + "," * trailing + "\r\n").encode("utf-8", "backslashreplace"))


def _list_cells(row: ListRow, width: int) -> list[str]:
    figures = (
        row.size, row.committed, row.private, row.total_ws, row.private_ws, row.shareable_ws, row.shared_ws,
        row.locked_ws,
    )  # fmt: skip
    return [
        f"{_INDENT * row.is_part}{row.address:0{width}X}",
        row.kind,
        *map(_to_kib, figures),
        str(row.blocks or ""),
        "" if row.protection is None else name_protection(row.protection),
        row.details or "",
    ]


def _to_kib(size: int | None) -> str:
    """Write whole K, as VMMap cuts them; nothing for nothing."""
    return f"{size // _KIB:,}" if size and size >= _KIB else ""
