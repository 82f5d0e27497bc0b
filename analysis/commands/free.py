"""Show the holes of an address space, and what would still fit.

The largest free blocks with both neighbours, a histogram of the holes, the figures of fragmentation
(docs/metrics.md), the regions that split large holes, and the number of mappings against the system's
limit. With --fits, one sentence: would a request of that size succeed, where, and if not, what stands
against it.

--fits ends with exit code 0 if it fits, 1 if it does not, and 4 if the snapshot does not tell.

\b
Examples:
  mmp free run.mmp
  mmp free run.mmp --window 0-4G
  mmp free run.mmp#-1 --fits 200M --align 2M
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]

_SHOWN = 10
_SEVERITY = (1, 4, 0)
"""Exit codes of --fits: of several snapshots, one that says no decides, then one that cannot tell."""


@dataclass(frozen=True)
class Question:
    """What is asked about the free space."""

    fits: Annotated[
        str | None,
        typer.Option("--fits", metavar="SIZE", help="Would SIZE fit? As in 200M or 0x1000."),
    ] = None
    align: Annotated[
        str | None, typer.Option("--align", metavar="SIZE", help="With --fits: at a multiple of SIZE.")
    ] = None
    window: Annotated[
        str | None, typer.Option("--window", metavar="LO-HI", help="Look at these addresses, as in 0-4G.")
    ] = None


def run(
    inputs: LatestInputs,
    question: Question,
    listing: Listing,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Answer for each snapshot that the inputs stand for."""
    from mmpscope.analysis.commands import load_classified
    from mmpscope.analysis.reporters.amounts import parse_window
    from mmpscope.analysis.reporters.report import deliver

    window = None if question.window is None else parse_window(question.window, "--window")
    snapshots = load_classified(inputs, reading, manner, latest=True)
    if question.fits is not None:
        answers = [_weigh(snapshot, question.fits, question.align, window) for snapshot in snapshots]
        deliver((report for report, _ in answers), writing, manner)
        return min((code for _, code in answers), key=_SEVERITY.index, default=0)
    if question.align is not None:
        raise UsageError("--align belongs to --fits: give the size of a request")
    deliver((_measure(snapshot, window, listing) for snapshot in snapshots), writing, manner)
    return 0


def _weigh(
    snapshot: LoadedSnapshot, size: str, align: str | None, window: tuple[int, int] | None
) -> tuple[Report, int]:
    from mmpscope.analysis.fit import check_fit
    from mmpscope.analysis.reporters.amounts import parse_size
    from mmpscope.analysis.reporters.fit_report import report_fit

    aligned = None if align is None else parse_size(align, "--align")
    answer = check_fit(snapshot, parse_size(size, "--fits"), aligned, window)
    return report_fit(snapshot, answer), answer.exit_code


def _measure(snapshot: LoadedSnapshot, window: tuple[int, int] | None, listing: Listing) -> Report:
    from mmpscope.analysis.fragmentation import measure_fragmentation
    from mmpscope.analysis.freespace import find_free, hole_histogram
    from mmpscope.analysis.listing import limit_rows, sort_rows
    from mmpscope.analysis.mapping_count import count_mappings
    from mmpscope.analysis.reporters.free_report import FreeSpace, report_free
    from mmpscope.analysis.splitters import list_splitters

    holes = find_free(snapshot, window)
    ordered = sort_rows(holes, listing.sort or "size")
    is_plain = listing.sort is None and not listing.limit
    rows = holes if is_plain else limit_rows(ordered, listing.limit)[0]
    measured = measure_fragmentation(snapshot, window)
    space = FreeSpace(
        title="Largest free blocks" if listing.sort is None else f"Free blocks by {listing.sort}",
        holes=ordered,
        windows=measured.windows,
        requests=measured.requests,
        histogram=hole_histogram(snapshot, window),
        splitters=list_splitters(snapshot, window),
        mappings=count_mappings(snapshot),
    )
    return report_free(snapshot, space, rows, _SHOWN if listing.limit is None else listing.limit)
