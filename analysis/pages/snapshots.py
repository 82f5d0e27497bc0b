"""One snapshot of a page: its figures, which every snapshot keeps, and its lists, which some do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.extent import ALL, find_extent, require_regions
from mmpscope.analysis.fit import HOLES
from mmpscope.analysis.fit_steps import find_fit_steps
from mmpscope.analysis.fragmentation import measure_fragmentation
from mmpscope.analysis.free_schema import FREE_TABLES
from mmpscope.analysis.freespace import find_free, hole_histogram
from mmpscope.analysis.intervals import measure_coverage
from mmpscope.analysis.lists import require_list
from mmpscope.analysis.mapping_count import MappingCount, count_mappings
from mmpscope.analysis.pages.heads import describe_head, tabulate_limits
from mmpscope.analysis.pages.says import say_of_memory, say_of_room
from mmpscope.analysis.pages.schema import LEFT_OUT, LIMITS, ROOM, Lists, Snapshot
from mmpscope.analysis.pages.tables import Texts, encode_number, encode_table, show_text
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.schema import ALLOCATIONS, REGIONS, SUMMARY, TABLES, Field
from mmpscope.analysis.splitters import list_splitters
from mmpscope.analysis.summary import summarize
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.fit_limits import Check
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Answers", "ask", "encode_lists", "encode_mappings", "encode_snapshot", "weigh_requests"]

_PARENT = Field("parent", "uint32", "row", "row of its allocation in the allocations table")
_PAGE_REGIONS = (*(f for f in REGIONS if f.name not in {"snapshot", "allocation"}), _PARENT)
_PAGE_ALLOCATIONS = tuple(f for f in ALLOCATIONS if f.name != "snapshot")
_PARTS = ("threads", "modules", "heaps", "processes")

PAGE_TABLES: dict[str, tuple[Field, ...]] = {
    "summary": SUMMARY,
    "limits": LIMITS,
    "allocations": _PAGE_ALLOCATIONS,
    "regions": _PAGE_REGIONS,
    "free": TABLES["free"],
    "left_out": LEFT_OUT,
    **{name: FREE_TABLES[name] for name in ("windows", "requests", "histogram", "splitters")},
    "room": ROOM,
    **{name: TABLES[name] for name in _PARTS},
}
"""The columns of each table of a snapshot on a page."""


class Answers(NamedTuple):
    """The lists of one snapshot as finished tables; ``why`` names what is missing, and the reason."""

    tables: dict[str, pa.Table]
    why: dict[str, str]


def encode_snapshot(snapshot: LoadedSnapshot, number: int, texts: Texts) -> Snapshot:
    """Encode what a page keeps of every snapshot; its lists are not made yet (``has_lists`` is false)."""
    summary, count = summarize(snapshot), count_mappings(snapshot)
    limits = tabulate_limits(snapshot, _measure_mapped(snapshot), count)
    total = summary.slice(0, 1).to_pylist()[0] if summary.num_rows else {}
    start, end, source = snapshot.usable_range
    return {
        "id": number,
        "label": show_text(snapshot.label),
        "head": describe_head(snapshot),
        "says": show_text(say_of_memory(summary)),
        "totals": {f.name: encode_number(total.get(f.name)) for f in SUMMARY if f.type == "uint64"},
        "summary": encode_table("summary", SUMMARY, summary, texts),
        "limits": encode_table("limits", LIMITS, limits, texts),
        "mappings": encode_mappings(count),
        "usable": [f"0x{start:016x}", f"0x{end:016x}", show_text(source)],
        "page_size": snapshot.page_size,
        "granularity": snapshot.granularity,
        "has_lists": False,
    }


def encode_mappings(count: MappingCount) -> dict[str, int | bool | None]:
    """Encode a count of mappings and its limit."""
    return {"count": count.count, "limit": count.limit, "applies": count.applies}


def _measure_mapped(snapshot: LoadedSnapshot) -> int | None:
    """Measure what is not free of the usable range; None where regions may be missing."""
    if find_extent(snapshot).shown != ALL:
        return None
    low, high, _ = snapshot.usable_range
    return high - low - measure_coverage(snapshot.holes.free)


def ask(snapshot: LoadedSnapshot) -> Answers:
    """Ask a snapshot for every list; one that it cannot tell is left out, with the reason."""
    tables: dict[str, pa.Table] = {}
    why: dict[str, str] = {}
    for names, make in _QUESTIONS:
        try:
            found = make(snapshot)
        except CannotTellError as error:
            why |= dict.fromkeys(names, str(error))
        else:
            tables |= found
    return Answers(tables, why)


def encode_lists(answers: Answers, folded: list[str]) -> Lists:
    """Encode the lists of a snapshot, as one block; ``folded`` says what was left out of them."""
    texts = Texts()
    known = {
        name: encode_table(name, fields, answers.tables[name], texts)
        for name, fields in PAGE_TABLES.items()
        if name in answers.tables
    }
    lists: Any = {
        **{name: known.get(name) for name in PAGE_TABLES if name not in ("summary", "limits")},
        "says_room": show_text(say_of_room(answers.tables.get("room"), answers.tables.get("windows"))),
        "texts": texts.list_all(),
        "why": {name: show_text(reason) for name, reason in answers.why.items()},
        "folded": folded,
    }
    return cast("Lists", lists)


def _list_regions(snapshot: LoadedSnapshot) -> dict[str, pa.Table]:
    require_regions(snapshot, "regions")
    regions, allocations = snapshot.regions, list_allocations(snapshot)
    bases = allocations["address"].combine_chunks()
    parents = pa.compute.index_in(regions["allocation"], bases).cast(pa.uint32())
    return {"regions": regions.append_column("parent", parents), "allocations": allocations}


def _measure_space(snapshot: LoadedSnapshot) -> dict[str, pa.Table]:
    measured = measure_fragmentation(snapshot)
    return {
        "free": find_free(snapshot),
        "windows": measured.windows,
        "requests": measured.requests,
        "histogram": hole_histogram(snapshot),
        "splitters": list_splitters(snapshot),
    }


def weigh_requests(snapshot: LoadedSnapshot) -> dict[str, pa.Table]:
    """Answer requests of all sizes: the table ``room`` (columns ROOM)."""
    steps = find_fit_steps(snapshot)
    checks = [step.answer.binding for step in steps]
    columns = {
        "upto": [step.upto for step in steps],
        "outcome": [step.answer.outcome for step in steps],
        "check": [check.name for check in checks],
        "available": [check.available for check in checks],
        "reason": [_tell_reason(check) for check in checks],
    }
    return {"room": build_table(ROOM, columns, len(steps))}


def _tell_reason(check: Check) -> str:
    """Tell why, for all sizes of a step: how many holes have room differs from one to the next."""
    if check.name != HOLES or check.available is None:
        return check.reason
    return f"the largest hole has room for {show_size(check.available)}"


def _list_part(name: str) -> Callable[[LoadedSnapshot], dict[str, pa.Table]]:
    def make(snapshot: LoadedSnapshot) -> dict[str, pa.Table]:
        table = getattr(snapshot, name)
        if not table.num_rows:
            require_list(snapshot, name)
        return {name: table}

    return make


_Question = tuple[tuple[str, ...], Callable[["LoadedSnapshot"], dict[str, pa.Table]]]

_QUESTIONS: tuple[_Question, ...] = (
    (("regions", "allocations"), _list_regions),
    (("free", "windows", "requests", "histogram", "splitters"), _measure_space),
    (("room",), weigh_requests),
    *(((name,), _list_part(name)) for name in _PARTS),
)
"""What is asked together, since it is known together or not at all."""
