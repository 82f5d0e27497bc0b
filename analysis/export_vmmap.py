"""Any snapshot as VMMap saves one: its XML or CSV, from the regions, allocations, summary and holes.

What VMMap has no word for gets the nearest one: private data of a Linux heap is Heap (Private Data), rights
become PAGE_* protections, a private writable file mapping is copy on write. Areas that are no memory of the
process ([vsyscall]) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from heapq import merge
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.extent import ALL, find_extent, require_regions
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import DIFFERENT_INSTANCES, compare_instances
from mmpscope.analysis.schema import GATE, TYPES
from mmpscope.analysis.space import find_bits
from mmpscope.analysis.summary import summarize
from mmpscope.formats.vmmap.protection import PAGE_NOACCESS, read_protection
from mmpscope.formats.vmmap.write_csv import CsvHead, write_csv
from mmpscope.formats.vmmap.write_rows import ListRow
from mmpscope.formats.vmmap.write_xml import XmlSnapshot, write_xml

if TYPE_CHECKING:
    from typing import BinaryIO

    import pyarrow as pa
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["FIGURES", "list_rows", "list_unknown_figures", "write_vmmap_csv", "write_vmmap_xml"]

FIGURES = {
    "committed": "Committed",
    "private": "Private",
    "total_ws": "Total WS",
    "private_ws": "Private WS",
    "shareable_ws": "Shareable WS",
    "shared_ws": "Shared WS",
    "locked_ws": "Locked WS",
}
"""Our columns, and the headings of VMMap's."""
_KINDS = {"Heap": "Heap (Private Data)", "Stack": "Thread Stack"}
"""Types that VMMap calls otherwise in its list than in its summary."""
_SHARED_HEAP = "Heap (Shareable)"
_OF_FILES = ("Image", "Mapped File")
_RAW = {
    "VmmapType": "kind", "Details": "details", "Blocks": "blocks", "UseType": "use_type",
    "Storage": "storage", "Id": "id",
}  # fmt: skip
"""Raw columns of a source that is VMMap's itself: written as they were read."""
_COLUMNS = ("address", "size", "allocation", "type", "subtype", "protection", "details", *FIGURES)
_OF_LINUX = ("path", "inode", "perms")
_RIGHTS = re.compile(r"[r-][w-][x-]")
_SECTIONS = re.compile(r"(?: \(mapped [\d,]+ times\))?, ")
"""What stands in details between the path of an image and its sections."""
_THREAD = re.compile(r"\btid (?=\d)")
_PAGES = {
    "r": 0x02, "w": 0x04, "rw": 0x04, "x": 0x10, "rx": 0x20, "wx": 0x40, "rwx": 0x40,
}  # fmt: skip
_COPY_ON_WRITE = {0x04: 0x08, 0x40: 0x80}
_NO_BLOCKS = {"Total": ("Largest",), "Page Table": ("Blocks", "Largest"), "Unusable": ("Blocks",)}
"""Cells of the summary that VMMap leaves empty."""

_PART = 4096
"""Rows that are objects of Python at the same time."""

Row = Mapping[str, Any]


def write_vmmap_xml(stream: BinaryIO, snapshots: Iterable[LoadedSnapshot]) -> None:
    """Write snapshots of one process as VMMap's own `.mmp`.

    UsageError where two of them are of different processes, CannotTellError where one lists no regions.
    """
    write_xml(stream, _follow_process(snapshots))


def _follow_process(snapshots: Iterable[LoadedSnapshot]) -> Iterator[XmlSnapshot]:
    first: LoadedSnapshot | None = None
    for snapshot in snapshots:
        require_regions(snapshot, "regions")
        first = first or snapshot
        if compare_instances(first, snapshot).verdict == DIFFERENT_INSTANCES:
            raise UsageError(
                f"{snapshot.label} is another process than {first.label}, and a file of VMMap holds one. "
                "Choose the snapshots of one, as in FILE#0"
            )
        [page_table] = [row for row in summarize(snapshot).to_pylist() if row["type"] == "Page Table"]
        time_ns = get_number(snapshot.moment, "time_ns")
        yield XmlSnapshot(time_ns, page_table["size"], list_rows(snapshot, with_holes=True))


def write_vmmap_csv(stream: BinaryIO, snapshot: LoadedSnapshot) -> None:
    """Write one snapshot as VMMap's CSV; free memory is in its summary only, as VMMap has it by default.

    Text that a spreadsheet would run is made harmless. CannotTellError where no regions are listed.
    """
    from mmpscope.analysis.export import neutralise_cell

    require_regions(snapshot, "regions")
    name = show_fact(snapshot.process.get("name"))
    head = CsvHead(
        None if name is None else neutralise_cell(name),
        get_number(snapshot.process, "pid"),
        dict(_summarize(snapshot)),
        find_bits(snapshot.process, snapshot.usable_range.end),
    )
    rows = list_rows(snapshot, with_holes=False)
    write_csv(stream, head, (row._replace(details=neutralise_cell(row.details or "")) for row in rows))


def _summarize(snapshot: LoadedSnapshot) -> Iterator[tuple[str, Mapping[str, int | None]]]:
    of_type = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    names = {"size": "Size", **FIGURES, "blocks": "Blocks", "largest": "Largest"}
    for type_ in ("Total", *TYPES):
        cells = {heading: of_type[type_][name] for name, heading in names.items()}
        yield type_, cells | dict.fromkeys(_NO_BLOCKS.get(type_, ()))


def list_unknown_figures(snapshot: LoadedSnapshot) -> list[str]:
    """Return VMMap's names of the figures that a snapshot does not tell of all its regions."""
    regions = snapshot.regions
    return [heading for name, heading in FIGURES.items() if regions.column(name).null_count]


def list_rows(snapshot: LoadedSnapshot, *, with_holes: bool) -> Iterator[ListRow]:
    """Yield allocations, each followed by its regions, and between them what is free if that is known."""
    stated = snapshot.stated_allocations
    groups = _group_runs(snapshot) if stated is None else _group_stated(snapshot, stated)
    holes = _list_holes(snapshot) if with_holes and find_extent(snapshot).shown == ALL else iter(())
    for rows in merge(groups, holes, key=lambda rows: rows[0].address):
        yield from rows


def _list_holes(snapshot: LoadedSnapshot) -> Iterator[list[ListRow]]:
    from mmpscope.analysis.freespace import find_free

    for hole in _read(find_free(snapshot).select(["address", "size", "type"])):
        yield [ListRow(hole["address"], hole["size"], hole["type"])]


def _read_rows(table: pa.Table) -> Iterator[Row]:
    """Read the columns that are written, some rows at a time."""
    wanted = (name for name in (*_COLUMNS, *_RAW, *_OF_LINUX) if name in table.column_names)
    return (row for row in _read(table.select(list(wanted))) if row["subtype"] != GATE)


def _read(table: pa.Table) -> Iterator[Row]:
    for batch in table.to_batches(max_chunksize=_PART):
        yield from batch.to_pylist()


def _group_stated(snapshot: LoadedSnapshot, stated: pa.Table) -> Iterator[list[ListRow]]:
    """Put regions below the allocations that the source states, whose figures are no sums."""
    parts: dict[int, list[ListRow]] = {}
    for row in _read_rows(snapshot.regions):
        parts.setdefault(row["allocation"], []).append(_make_row(row, is_part=True))
    for row in _read_rows(stated.sort_by("address")):
        yield [_make_row(row, is_part=False), *parts.get(row["address"], [])]


def _group_runs(snapshot: LoadedSnapshot) -> Iterator[list[ListRow]]:
    """Put regions of one allocation below a row of their sums, one for each stretch without a gap.

    VMMap's allocations have no gaps, and whoever reads its files takes what lies inside one for a part of it.
    """
    run: list[Row] = []
    for row in _read_rows(snapshot.regions):
        if run and (row["allocation"] != run[-1]["allocation"] or row["address"] != _end(run[-1])):
            yield _make_allocation(run)
            run = []
        run.append(row)
    if run:
        yield _make_allocation(run)


def _end(row: Row) -> int:
    return int(row["address"] + row["size"])


def _make_allocation(regions: Sequence[Row]) -> list[ListRow]:
    parts = [_make_row(region, is_part=True) for region in regions]
    is_guard = [region["subtype"] == "guard" for region in regions]
    shown = parts[is_guard.index(False) if False in is_guard else 0]
    sums: dict[str, Any] = {name: _add_up([getattr(part, name) for part in parts]) for name in FIGURES}
    sums |= {"address": parts[0].address, "size": sum(part.size for part in parts), "blocks": len(parts)}
    protection = _combine([part.protection for part in parts])
    whole = shown._replace(is_part=False, protection=protection, **sums)
    return [whole, *map(partial(_name_part, whole), parts, regions)]


def _name_part(whole: ListRow, part: ListRow, region: Row) -> ListRow:
    """Name a part as VMMap does, which writes a path once, and with parts of an image their sections."""
    if part.details != whole.details:
        return part
    more = (region["details"] or "").removeprefix(whole.details or "")
    return part._replace(details=_SECTIONS.sub("", more) if _SECTIONS.match(more) else None)


def _combine(protections: Sequence[int | None]) -> int | None:
    """Return the protection of an allocation: the greatest number of its parts, in every one VMMap wrote."""
    return max((value for value in protections if value is not None), default=None)


def _add_up(values: Sequence[int | None]) -> int | None:
    """Add up what is known; null where nothing is, as `list_allocations` does."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _make_row(row: Row, *, is_part: bool) -> ListRow:
    """Make a row of VMMap's list from a region, or from an allocation that the source states."""
    written = ListRow(
        row["address"],
        row["size"],
        _name_kind(row),
        is_part,
        blocks=0,
        protection=_find_protection(row["protection"], is_file=_is_of_file(row)),
        details=_describe(row),
        **{name: row[name] for name in FIGURES},
    )
    if "VmmapType" not in row:
        return written
    stated = {field: row[name] for name, field in _RAW.items() if row.get(name) is not None}
    return written._replace(**{"details": None, **stated})


def _name_kind(row: Row) -> str:
    perms = row.get("perms") or ""
    if row["type"] == "Heap" and perms.endswith("s"):
        return _SHARED_HEAP
    type_ = str(row["type"])
    return _KINDS.get(type_, type_)


def _is_of_file(row: Row) -> bool:
    """Whether a file lies behind a region: by its inode, or where none is told, as in a core, by its path."""
    inode = row.get("inode")
    return bool(inode) if inode is not None else (row.get("path") or "").startswith("/")


def _describe(row: Row) -> str | None:
    """Tell a file by its path alone, and a thread as VMMap does."""
    details, path = row["details"], row.get("path")
    if row["type"] in _OF_FILES and path:
        return str(path)
    return None if details is None else _THREAD.sub("Thread ID: ", details)


@lru_cache(maxsize=4096)
def _find_protection(text: str | None, *, is_file: bool) -> int | None:
    """Return the PAGE_* number of rights: in VMMap's words, or letters as of Linux and macOS.

    Private memory without any right is a reservation. A file that is mapped private and writable is copied on
    the first write, page by page.
    """
    if text is None:
        return None
    value = read_protection(text)
    if value is not None:
        return value
    if not _RIGHTS.match(text):
        return None
    is_shared = text[3:4] == "s"
    page = _PAGES.get(text[:3].replace("-", ""))
    if page is None:
        return PAGE_NOACCESS if is_shared else 0
    return _COPY_ON_WRITE.get(page, page) if is_file and not is_shared else page
