"""List the memory of a process, allocation by allocation.

Each allocation stands with the sums over its sub-blocks, which follow indented; --flat lists regions by
themselves. With --free, the stretches that nothing occupies stand in their place.

\b
Examples:
  mmp regions run.mmp --type heap --sort private_ws -n 20
  mmp regions run.mmp --find libssl
  mmp regions run.mmp --find 0x7f10a0001234
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.options import LatestInputs, Manner, Reading, TypedListing, Writing

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]


@dataclass(frozen=True)
class Choice:
    """Which regions, and how they are grouped."""

    flat: Annotated[bool, typer.Option("--flat", help="List regions by themselves.")] = False
    free: Annotated[bool, typer.Option("--free", help="Show Free and Unusable too.")] = False
    find: Annotated[
        str | None,
        typer.Option("--find", metavar="TEXT", help="Only what has TEXT in its details, or covers 0x..."),
    ] = None


def run(
    inputs: LatestInputs,
    choice: Choice,
    listing: TypedListing,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Answer for each snapshot that the inputs stand for."""
    from mmpscope.analysis.commands import load_classified
    from mmpscope.analysis.reporters.report import deliver

    snapshots = load_classified(inputs, reading, manner, latest=True)
    deliver((_list_regions(snapshot, choice, listing) for snapshot in snapshots), writing, manner)
    return 0


def _list_regions(snapshot: LoadedSnapshot, choice: Choice, listing: TypedListing) -> Report:
    from mmpscope.analysis.allocations import list_allocations
    from mmpscope.analysis.extent import require_regions
    from mmpscope.analysis.listing import (
        choose_types,
        expand_allocations,
        find_rows,
        keep_types,
        limit_rows,
        nest_regions,
        sort_rows,
    )
    from mmpscope.analysis.reporters.regions_report import report_regions
    from mmpscope.analysis.schema import REGIONS

    require_regions(snapshot, "regions")
    table = snapshot.regions if choice.flat else list_allocations(snapshot)
    if choice.free:
        table = _add_free(table, snapshot)
    table = keep_types(find_rows(table, choice.find), choose_types(listing.type))
    shown, rest = limit_rows(sort_rows(table, listing.sort), listing.limit)
    if choice.flat:
        return report_regions(snapshot, lambda: shown, lambda: shown, rest)
    regions = snapshot.regions
    read = regions.select([field.name for field in REGIONS])  # raw columns are for machines
    make_rows = partial(expand_allocations, shown, regions), partial(nest_regions, shown, read)
    return report_regions(snapshot, *make_rows, rest)


def _add_free(table: pa.Table, snapshot: LoadedSnapshot) -> pa.Table:
    import pyarrow as pa
    from mmpscope.analysis.freespace import find_free

    holes = find_free(snapshot).select(["address", "size", "end", "type"])
    return pa.concat_tables([table, holes], promote_options="permissive").sort_by("address")
