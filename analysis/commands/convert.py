"""Write what any readable files hold into one .mmp file, losing nothing.

Every raw table, fact and reason comes along; the facts of a process say which format they came from.
Several inputs follow each other in one file; each keeps its own capture. Files of ours are copied frame by
frame, with what a newer version wrote into them.

\b
Examples:
  mmp convert vmmap.csv -o devenv.mmp
  mmp convert ticket.zip -o ticket.mmp
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Inputs, Manner, Opening, Writing
from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.loading import OpenedInput
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.mmp.writer import SnapshotWriter
    from mmpscope.formats.model import Snapshot

__all__ = ["name_source", "run"]


@dataclass(frozen=True)
class Target:
    """The file to write, and how it is reported."""

    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The .mmp file to write.")
    ] = None
    force: Annotated[bool, typer.Option("-f", "--force", help="Replace a file that exists.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False


def run(inputs: Inputs, target: Target, opening: Opening, manner: Manner) -> int:
    """Write every snapshot of the inputs to the file."""
    from mmpscope.analysis.export import check_extension
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.progress import follow
    from mmpscope.analysis.reporters.report import deliver
    from mmpscope.formats.mmp.writer import SnapshotWriter

    if target.output is None or target.output == STDOUT:
        raise UsageError("which file shall be written? Name it, as in -o run.mmp")
    now = "Use `mmp export FILE -o FILE.csv` for a table, or name an .mmp file"
    check_extension(target.output, "what `mmp convert` writes", (".mmp",), now)
    check_output(target.output, force=target.force)
    rows: list[dict[str, Any]] = []
    with SnapshotWriter.create(target.output, force=target.force) as writer:
        for _ in follow(_convert_each(inputs, writer, (opening, manner), rows), manner, target.output):
            pass
        if not sum(row["snapshots"] for row in rows):
            raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}, and nothing is written")
    deliver([_report(target.output, rows)], Writing(json=target.json), manner)
    return 0


def _convert_each(
    inputs: Sequence[str], writer: SnapshotWriter, how: tuple[Opening, Manner], rows: list[dict[str, Any]]
) -> Iterator[None]:
    """Add one input after the other, and a row for each to ``rows``; yield for each snapshot."""
    from mmpscope.analysis.commands import open_each, warn, warn_of_faults

    opening, manner = how
    for opened in open_each(inputs, opening, manner):
        row: dict[str, Any] = {"file": opened.path, "format": opened.source.format, "snapshots": 0}
        rows.append(row)
        with closing(opened.source) as source:
            try:
                for _ in _add(opened, writer, partial=opening.partial):
                    row["snapshots"] += 1
                    yield
            except FormatError as error:
                if opened.is_named:
                    raise
                warn(f"left out: {error}", manner)
            warn_of_faults(opened.path, source.faults, manner)


def _add(opened: OpenedInput, writer: SnapshotWriter, *, partial: bool) -> Iterator[None]:
    """Write the wanted snapshots of one file; yield for each."""
    from mmpscope.formats.mmp.copying import add_frames
    from mmpscope.formats.mmp.reader import MmpFile

    source, chosen = opened.source, opened.chosen
    is_ours = isinstance(source, MmpFile)
    if isinstance(source, MmpFile) and len(chosen) == len(source.entries):
        add_frames(source, writer.frames, partial=partial)
        yield from (None for _ in chosen)
        return
    for index in chosen:
        snapshot = source.read(index)
        writer.write_snapshot(snapshot if is_ours else name_source(snapshot, source.format))
        yield


def name_source(snapshot: Snapshot, known: str) -> Snapshot:
    """Keep what a snapshot came from, where its reader did not say so."""
    from mmpscope.analysis.facts import get_map

    told = {"format": known, **get_map(snapshot.process, "source")}
    return replace(snapshot, process={**snapshot.process, "source": told})


def _report(output: str, rows: Sequence[dict[str, Any]]) -> Report:
    from mmpscope.analysis.reporters.amounts import show_count, show_size
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.analysis.reporters.report import Report

    count, size = sum(row["snapshots"] for row in rows), Path(output).stat().st_size
    snapshots = f"{show_count(count)} snapshot{'' if count == 1 else 's'}"
    files = f" from {len(rows):,} files" if len(rows) > 1 else f" from {rows[0]['format']}"
    line = show_name(f"{output}: {snapshots}{files}, {show_size(size)}")
    return Report(
        "convert", lambda _: [line], {"output": output, "snapshots": count, "bytes": size}, rows=rows
    )
