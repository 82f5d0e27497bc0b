"""The list to choose a process from."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.collector.base import Options, ProcessRow, open_collector
from mmpscope.collector.names import printable

__all__ = ["format_rows", "list_processes"]

_HEADINGS = ("PID", "USER", "PRIVATE", "RSS", "THREADS", "BITS", "NAME", "EXECUTABLE")
_LEFT = ("USER", "NAME", "EXECUTABLE")


def list_processes(root: str | None = None) -> list[ProcessRow]:
    """List what runs, by pid; ``root`` is another proc root than the system's. Sizes in bytes."""
    return open_collector(Options(), root).list_processes()


def format_rows(rows: Sequence[ProcessRow]) -> str:
    """Format processes as a table with sizes in KiB; `-` where the system does not say."""
    lines = [_HEADINGS, *map(_format_row, rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(_format_line(line, widths) for line in lines)


def _format_row(row: ProcessRow) -> tuple[str, ...]:
    sizes = [None if size is None else size // 1024 for size in (row.private, row.rss)]
    user = row.user if row.user is not None else row.uid
    cells = (row.pid, user, *sizes, row.threads, row.elf_class)
    names = (printable(row.name), printable(row.executable or b""))
    return (*("-" if cell is None else str(cell) for cell in cells), *names)


def _format_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if heading in _LEFT else cell.rjust(width)
        for heading, cell, width in zip(_HEADINGS, cells, widths)
    ]
    return " ".join(padded).rstrip()
