"""A CSV or text of VMMap as a source of one snapshot, and how much of the process it shows.

VMMap saves what it shows: a list filtered to one type saves as one, below a summary of everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.interface import Input
from mmpscope.formats.model import Capability
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.vmmap.layouts import CsvLayout
from mmpscope.formats.vmmap.list_parser import ListParser
from mmpscope.formats.vmmap.snapshots import build_snapshot, judge_faults
from mmpscope.formats.vmmap.text import read_lines
from mmpscope.formats.vmmap.words import HOLES, PAGE_TABLE, name_summary_line

__all__ = ["open_list"]

_WHOLE = "Total"
_KIB = 1024
_PAGE = 4096
_NAMED, _MOST_LETTERS = 3, 80
"""How many types a sentence names, and how much of each: a damaged file may have any."""


def open_list(given: Input) -> ListedSource:
    """Read a list; NotASnapshotError where it has no heading, LimitError for endless lines or rows."""
    log = FaultLog()
    parser = ListParser(log)
    parser.read(read_lines(given.stream))
    if parser.layout is None:
        raise NotASnapshotError("it has no heading of a list of VMMap", now="Save it again from VMMap.")
    format_ = f"VMMap {'CSV' if isinstance(parser.layout, CsvLayout) else 'text'}"
    process = {**parser.process, "source": {"format": format_}}
    _note_cut(parser)
    capability = [*_judge_extent(parser), *_judge_process(parser)]
    page_table = parser.totals.get(PAGE_TABLE, {}).get("Size") or parser.rows.page_table
    if page_table:
        process["page_table"] = page_table
    else:
        capability.append(Capability("page_table", "unavailable", None, "the list does not tell it"))
    snapshot = build_snapshot(parser.rows, process, {}, capability, parser.encode_totals())
    # What the rows have in common is known only now: all that was noted goes into the capability list, too.
    snapshot.capability += judge_faults(0, log)
    entry = Entry(0, pid=process.get("pid"), name=process.get("name"))
    return ListedSource(given.name, format_, [entry], [lambda: snapshot], log.list(), ExitStack())


def _judge_process(parser: ListParser) -> list[Capability]:
    if "pid" in parser.process:
        return []
    return [Capability("process", "unavailable", None, "the list does not name its process")]


def _judge_extent(parser: ListParser) -> list[Capability]:
    """Tell whether regions may be missing: rows that were lost, a filter, or no rows at all."""
    if parser.lost:
        return judge_faults(parser.lost, parser.log)[:1]
    if not len(parser.rows):
        return [Capability("regions", "unavailable", None, "the list has no rows of regions")]
    reason = _compare_totals(parser) if parser.totals else _find_filter(parser)
    return [Capability("regions", "partial", None, reason)] if reason else []


def _note_cut(parser: ListParser) -> None:
    """Note as a fault where the list ends too early; a list that was filtered shows all of one type."""
    if parser.layout is not None and not parser.layout.is_list:
        parser.log.add("the list, which stands below the summary, is missing", lost="rows")
    if not parser.totals:
        if parser.ends_open and not parser.lost:
            parser.lose("the text ends within a line")
        return
    shown, stated = _add_up(parser), _list_stated(parser)
    reason = _compare(shown, stated, len(parser.rows))
    if reason is not None and len(shown) < 2:
        reason = _compare(shown, {name: stated.get(name, 0) for name in shown}, len(parser.rows))
    if reason is not None:
        parser.log.add(reason, lost="rows")


def _compare_totals(parser: ListParser) -> str | None:
    return _compare(_add_up(parser), _list_stated(parser), len(parser.rows))


def _add_up(parser: ListParser) -> dict[str, int]:
    """Add up the sizes of allocations by the lines of the summary; free space, too, where any is listed."""
    shown: dict[str, int] = {}
    sizes = [*parser.rows.sizes.items(), *((kind, size) for _, size, kind in parser.rows.holes)]
    for kind, size in sizes:
        line = name_summary_line(kind)
        shown[line] = shown.get(line, 0) + size
    return shown


def _list_stated(parser: ListParser) -> dict[str, int]:
    """List the sizes of VMMap's summary, which no filter changes; free space, where the list shows any."""
    unlisted = {_WHOLE, PAGE_TABLE} | (set() if parser.rows.holes else HOLES)
    return {name: row["Size"] for name, row in parser.totals.items() if row["Size"] and name not in unlisted}


def _compare(shown: Mapping[str, int], stated: Mapping[str, int], rows: int) -> str | None:
    """Compare sizes by the lines of the summary; None where they agree.

    Sizes of whole pages are exact; each of the others may have been rounded by itself.
    """
    slack = _KIB * rows if any(size % _PAGE for size in shown.values()) else 0
    missing = [name for name in stated if name not in shown]
    if missing:
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        named = " and no ".join(name[:_MOST_LETTERS] for name in missing[:_NAMED])
        return f"the list shows no {named}{more}, of which the summary tells"
    for name, size in stated.items():
        # Each row may have been rounded by itself.
        if abs(size - shown[name]) > slack:
            return f"the list shows {shown[name] // _KIB:,} K of {name}, and the summary {size // _KIB:,} K"
    return None


def _find_filter(parser: ListParser) -> str | None:
    kinds = {name_summary_line(kind) for kind in parser.rows.sizes}
    if len(kinds) > 1:
        return None
    return f"the list shows no other type than {kinds.pop() or 'an unknown one'}, as one that is filtered"
