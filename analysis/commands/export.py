"""Write one table of any number of snapshots to a file.

The format follows from the file's extension, or from --format. Addresses are uint64 in Parquet and Arrow
and hex text in CSV and JSON lines, sizes are bytes; snapshots are stacked and told apart by their column
"snapshot". CSV makes text harmless for spreadsheets; the other formats hold every name exactly. The format
smaps writes the very text that the kernel printed, and is refused for a source that did not keep what a line
of it has, such as a core or a listing of pmap. The formats vmmap-xml and vmmap-csv write regions as
Sysinternals VMMap saves them, in its words, for VMMap, PerfView and scripts made for its files; the XML holds
any number of snapshots of one process.

\b
Examples:
  mmp export run.mmp -t regions -o regions.parquet
  mmp export night/*.mmp -t summary -o night.csv
  mmp export a.mmp b.mmp -t diff -o diff.jsonl
  mmp export run.mmp#0 --format smaps -o run.smaps
  mmp export run.mmp#0: --format vmmap-xml -o vmmap.mmp
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import AnalysisError, UsageError
from mmpscope.analysis.options import Inputs, Manner, Outlet, Reading, Types

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]

_LISTS = "threads, modules, heaps, processes, capability"
_TABLES = f"regions, allocations, summary, free, diff, diff_processes, trend, compare, {_LISTS}"
_FORMATS = "csv, parquet, arrow, jsonl, txt, smaps, vmmap-xml, vmmap-csv"


@dataclass(frozen=True)
class Choice:
    """Which table, and in which format."""

    table: Annotated[str, typer.Option("-t", "--table", metavar="TABLE", help=f"One of {_TABLES}.")] = (
        "regions"
    )
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help=f"One of {_FORMATS}."),
    ] = None


def run(
    inputs: Inputs, choice: Choice, types: Types, reading: Reading, outlet: Outlet, manner: Manner
) -> int:
    """Write the table of all inputs."""
    from mmpscope.analysis.commands import load_classified, load_each
    from mmpscope.analysis.export import VMMAP_FORMATS, choose_format, write_table
    from mmpscope.analysis.output import STDOUT, check_output

    output = outlet.output or STDOUT
    chosen = choose_format(output, choice.format)
    check_output(output, force=outlet.force)
    if chosen == "smaps":
        _write_smaps(list(load_each(inputs, reading, manner)), output, force=outlet.force)
    elif chosen in VMMAP_FORMATS:
        if types.type or choice.table != "regions":
            raise UsageError(f"{chosen} holds all regions of a process. Leave --type and --table out")
        snapshots = _note_lacking(load_classified(inputs, reading, manner), manner)
        _write_vmmap(chosen, snapshots, output, force=outlet.force)
    else:
        table = _make_table(inputs, choice.table, types, (reading, manner), output)
        write_table(table, output, chosen, force=outlet.force)
    return 0


def _make_table(
    inputs: list[str], name: str, types: Types, how: tuple[Reading, Manner], output: str
) -> pa.Table:
    from mmpscope.analysis.commands import load_classified, load_pair
    from mmpscope.analysis.commands.compare import list_compared
    from mmpscope.analysis.commands.trend import list_trends
    from mmpscope.analysis.listing import choose_types
    from mmpscope.analysis.named_tables import PROCESS_ROLES, compare, stack_tables
    from mmpscope.analysis.progress import follow

    chosen = choose_types(types.type)
    if name == "diff":
        before, after, _ = load_pair(inputs, *how)
        return compare(before, after, chosen)
    if name == "compare":
        if chosen:
            raise UsageError("compare is of whole processes. Leave --type out")
        return list_compared(inputs, how, output)
    if name == "trend":
        return list_trends(inputs, chosen, how, output)
    if name == PROCESS_ROLES and not chosen:
        return _compare_processes(inputs, how)
    return stack_tables(follow(load_classified(inputs, *how), how[1], output), name, chosen)


def _compare_processes(inputs: list[str], how: tuple[Reading, Manner]) -> pa.Table:
    from mmpscope.analysis.commands import load_sides
    from mmpscope.analysis.diffs.process_choice import find_sets
    from mmpscope.analysis.named_tables import compare_processes

    sets = find_sets(inputs, load_sides(inputs, *how))
    if sets is None:
        raise UsageError("a table of processes takes inputs with several. Of one process take -t diff")
    return compare_processes(sets)


def _write_smaps(snapshots: Sequence[LoadedSnapshot], output: str, *, force: bool) -> None:
    from mmpscope.analysis.output import open_output
    from mmpscope.formats.proc.kernel_form import list_lacking
    from mmpscope.formats.proc.smaps import render_smaps

    snapshot = _take_one(snapshots, "smaps text")
    table = snapshot.raw.tables.get("regions")
    if table is None or "perms" not in table.columns:
        raise AnalysisError(f"{snapshot.label} has no regions of Linux, so no smaps. Choose another format")
    lacking = list_lacking(table, snapshot.raw.capability)
    if lacking:
        what = f"{snapshot.label} does not tell {', '.join(lacking)}, which smaps has"
        raise AnalysisError(f"{what}. Choose another format, such as csv")
    text = render_smaps(table, snapshot.process.get("source_text"))
    with open_output(output, force=force) as stream:
        stream.write(text)


def _note_lacking(snapshots: Iterable[LoadedSnapshot], manner: Manner) -> Iterator[LoadedSnapshot]:
    """Say what VMMap will show as nothing although it is only not known."""
    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.export_vmmap import list_unknown_figures
    from mmpscope.analysis.extent import SOME, find_extent

    told: list[str] = []
    for snapshot in snapshots:
        new = [name for name in list_unknown_figures(snapshot) if name not in told]
        told += new
        if new:
            warn(
                f"{snapshot.label} does not tell {', '.join(new)} of all regions: VMMap shows nothing there",
                manner,
            )
        extent = find_extent(snapshot)
        if extent.shown == SOME:
            warn(f"{snapshot.label}: {extent.reason}; VMMap shows nothing of this either", manner)
        yield snapshot


def _write_vmmap(chosen: str, snapshots: Iterable[LoadedSnapshot], output: str, *, force: bool) -> None:
    from mmpscope.analysis.export_vmmap import write_vmmap_csv, write_vmmap_xml
    from mmpscope.analysis.output import open_output

    with open_output(output, force=force) as stream:
        if chosen == "vmmap-xml":
            write_vmmap_xml(stream, snapshots)
        else:
            write_vmmap_csv(stream, _take_one(list(snapshots), "a CSV of VMMap"))


def _take_one(snapshots: Sequence[LoadedSnapshot], what: str) -> LoadedSnapshot:
    if len(snapshots) != 1:
        raise UsageError(
            f"{what} holds one snapshot, and these are {len(snapshots)}. Choose one, as in FILE#0"
        )
    return snapshots[0]
