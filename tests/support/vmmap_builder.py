"""Writes a process as Sysinternals VMMap saves it: XML (`.mmp`), CSV and text, in all ways that are told of.

From the notes on VMMap's files alone: nothing here is shared with the readers and writers under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from support.vmmap_process import KIB, PROTECTIONS, USE_TYPES, Allocation, Process, Row

__all__ = ["CsvStyle", "TextStyle", "XmlStyle", "to_filetime", "write_csv", "write_text", "write_xml"]

_FILETIME_OF_1970 = 116_444_736_000_000_000

_COLUMNS = (
    "Address", "Type", "Size", "Committed", "Private", "Total WS", "Private WS", "Shareable WS",
    "Shared WS", "Locked WS", "Blocks", "Protection", "Details",
)  # fmt: skip
_SUMMARY_COLUMNS = ("Type", *_COLUMNS[2:11], "Largest")
_SUMMARY_ORDER = (
    "Total", "Image", "Mapped File", "Shareable", "Heap", "Managed Heap", "Stack", "Private Data",
    "Page Table", "Unusable", "Free",
)  # fmt: skip
_SUMMARY_FIGURES = (
    "size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "shared_ws", "locked_ws",
)  # fmt: skip


def to_filetime(time_ns: int) -> int:
    """Return the 100 ns since 1601 of a time since 1970."""
    return time_ns // 100 + _FILETIME_OF_1970


@dataclass(frozen=True)
class XmlStyle:
    """How a `.mmp` is laid out; the defaults are what public readers of real files expect.

    ``encoding`` is Python's name, ``declared`` what an XML declaration calls it (None: there is none).
    ``left_out`` are attributes that no region has; ``more`` come behind those of every region. A ``traced``
    file holds elements that nobody has described. ``page_table_region`` writes page tables as a region too.
    """

    nested: bool = True
    holes: bool = True
    pretty: bool = False
    encoding: str = "utf-8"
    declared: str | None = "UTF-8"
    bom: bool = False
    left_out: frozenset[str] = frozenset()
    more: str = ""
    traced: bool = False
    page_table_region: bool = False
    line_end: str = "\r\n"


def write_xml(snapshots: Sequence[tuple[int, Process]], style: XmlStyle | None = None) -> bytes:
    """Write snapshots, each with its FILETIME, as VMMap's own `.mmp`."""
    style = style or XmlStyle()
    lines = [f'<?xml version="1.0" encoding="{style.declared}"?>'] if style.declared else []
    lines += ["<root>", *(_TRACE if style.traced else ()), "<Snapshots>"]
    for ticks, process in snapshots:
        lines += _write_snapshot(ticks, process, style)
    lines += ["</Snapshots>", "</root>"]
    text = style.line_end.join(_indent(lines) if style.pretty else lines) + style.line_end
    return ("\ufeff" * style.bom + text).encode(style.encoding)


_TRACE = (
    '<Trace Version="3" Address="4096" Size="8192">',
    '<Event Time="1" Kind="HeapAlloc" Address="1179648"><Frame>ntdll!Rtl&lt;T&gt;</Frame></Event>',
    "<!-- a comment with <Region> in it -->",
    "<Note><![CDATA[<Region Address='1' Size='2'/>]]></Note>",
    "</Trace>",
)
"""What a traced file may hold besides: the notes know no names of it, so these are made up."""


def _write_snapshot(ticks: int, process: Process, style: XmlStyle) -> Iterator[str]:
    yield f'<Snapshot Timestamp="{ticks}" PageTableSize="{process.page_table}">'
    yield from ('<Modules Count="1">', '<Module Name="a.dll"/>', "</Modules>") if style.traced else ()
    yield "<MemoryRegions>"
    whole = sorted([*process.allocations, *_list_holes(process, style)], key=lambda a: a.whole.address)
    for allocation in whole:
        yield from _write_allocation(allocation, style)
    if style.page_table_region:
        size = process.page_table
        row = Row(0, size, "Page Table", committed=size, private=size, private_ws=size, protection=4)
        yield from _write_allocation(Allocation(row), style)
    yield "</MemoryRegions>"
    yield "</Snapshot>"


def _list_holes(process: Process, style: XmlStyle) -> list[Allocation]:
    return [Allocation(hole) for hole in process.list_holes()] if style.holes else []


def _write_allocation(allocation: Allocation, style: XmlStyle) -> Iterator[str]:
    is_open = style.nested and bool(allocation.parts)
    yield f"<Region {_write_attributes(allocation.whole, style)}{'>' if is_open else '/>'}"
    for part in allocation.parts:
        yield f"<Region {_write_attributes(part, style)}/>"
    if is_open:
        yield "</Region>"


def _write_attributes(row: Row, style: XmlStyle) -> str:
    """Write decimal bytes in VMMap's order; there is no Total WS and no Locked WS."""
    values = {
        "Address": row.address,
        "Blocks": row.blocks,
        "ShareableWS": row.shareable_ws,
        "SharedWS": row.shared_ws,
        "Size": row.size,
        "Commit": row.committed,
        "PrivateBytes": row.private,
        "PrivateWS": row.private_ws,
        "Id": row.heap,
        "Protection": row.protection,
        "Storage": 0,
        "UseType": USE_TYPES.get(row.type, 7),
        "Type": row.type,
        "Details": row.details,
    }
    shown = [
        f"{name}={quoteattr(str(value))}" for name, value in values.items() if name not in style.left_out
    ]
    return " ".join([*shown, *style.more.split()])


def _indent(lines: Sequence[str]) -> Iterator[str]:
    depth = 0
    for line in lines:
        depth -= line.startswith("</")
        yield "  " * depth + line
        is_whole = line.endswith(("/>", "-->", "?>")) or "</" in line
        depth += not is_whole


@dataclass(frozen=True)
class CsvStyle:
    """How a CSV is written: by locale, by what the user chose to see, and by whoever moved the file."""

    separator: str = ","
    encoding: str = "ascii"
    line_end: str = "\r\r\n"
    holes: bool = False
    only: str | None = None
    bom: bool = False


def write_csv(process: Process, style: CsvStyle | None = None) -> bytes:
    """Write a process as VMMap's CSV; ``only`` shows the rows of one type, and "" those of none."""
    style = style or CsvStyle()
    lines = [_quote(["Process:", process.name]), _quote(["PID:", str(process.pid)]), ""]
    lines += [_quote(_SUMMARY_COLUMNS) + ","]
    lines += [_quote(cells) for cells in _list_summary(process, style.separator)]
    lines += ["", _quote(_COLUMNS) + ","]
    lines += [_quote(cells) for cells in _list_rows(process, style)]
    text = "".join(line + style.line_end for line in [*lines, ""])
    return ("\ufeff" * style.bom + text).encode(style.encoding)


def _quote(cells: Sequence[str]) -> str:
    return ",".join(f'"{cell}"' for cell in cells)


def _list_summary(process: Process, separator: str) -> Iterator[list[str]]:
    """Yield the lines of the summary; what does not apply is empty, as zero is."""
    rows = process.sum_up()
    for name in _SUMMARY_ORDER:
        row = rows.get(name)
        if row is None:
            yield [name, *[""] * 10]
            continue
        sizes = [_write_kib(row[figure], separator) for figure in _SUMMARY_FIGURES]
        has_largest = name not in {"Total", "Page Table"}
        largest = _write_kib(row["largest"], separator) if has_largest else ""
        yield [name, *sizes, str(row["blocks"] or ""), largest]


def _list_rows(process: Process, style: CsvStyle) -> Iterator[list[str]]:
    holes = [Allocation(hole) for hole in process.list_holes()] if style.holes else []
    for allocation in sorted([*process.allocations, *holes], key=lambda a: a.whole.address):
        if style.only is None or allocation.whole.type == style.only:
            yield _write_cells(allocation.whole, process, style.separator, "")
            for part in allocation.parts:
                yield _write_cells(part, process, style.separator, "  ")


def _write_cells(row: Row, process: Process, separator: str, indent: str) -> list[str]:
    sizes = [_write_kib(getattr(row, figure), separator) for figure in _SUMMARY_FIGURES]
    is_hole = row.type in {"Free", "Unusable"}
    protection = "" if is_hole else PROTECTIONS[row.protection]
    address = f"{indent}{row.address:0{process.bits // 4}X}"
    return [address, row.type, *sizes, str(row.blocks or ""), protection, row.details]


def _write_kib(size: int, separator: str) -> str:
    """Write KiB with the user's separator of thousands; nothing for nothing."""
    return f"{size // KIB:,}".replace(",", separator) if size else ""


@dataclass(frozen=True)
class TextStyle(CsvStyle):
    """How the fixed-width text is written: ``headed`` by process and summary, numbers right or left."""

    line_end: str = "\r\n"
    headed: bool = False
    right: bool = False


_WIDTHS = dict(zip(_COLUMNS, (11, 22, 12, 11, 11, 11, 12, 14, 11, 11, 8, 21, 7), strict=True))
"""The least width of each column, from one heading to the next."""


def write_text(process: Process, style: TextStyle | None = None) -> bytes:
    """Write a process as VMMap's text: every cell begins below the first letter of its heading."""
    style = style or TextStyle()
    lines: list[str] = []
    if style.headed:
        lines += [f"Process: {process.name}", f"PID: {process.pid}", ""]
        lines += [*_align(_SUMMARY_COLUMNS, list(_list_summary(process, style.separator)), style), ""]
    lines += _align(_COLUMNS, list(_list_rows(process, style)), style)
    return "".join(line.rstrip() + style.line_end for line in lines).encode(style.encoding)


def _align(columns: Sequence[str], rows: Sequence[Sequence[str]], style: TextStyle) -> Iterator[str]:
    least = [_WIDTHS.get(name, 0) for name in columns]
    longest = [max((len(cell) + 2 for cell in cells), default=0) for cells in zip(*rows, strict=True)]
    widths = [max(pair) for pair in zip(least, longest or least, strict=True)]
    yield "".join(name.ljust(width) for name, width in zip(columns, widths, strict=True))
    for row in rows:
        cells = zip(columns, row, widths, strict=True)
        yield "".join(
            (cell.rjust(width - 2) if style.right and name not in _TEXTS else cell).ljust(width)
            for name, cell, width in cells
        )


_TEXTS = {"Address", "Type", "Protection", "Details"}
