"""Add the snapshots of files to a dataset, those that it does not have.

DIR is a dataset, or a new or empty folder that becomes one. Run it again as files arrive: a file is known by
its content, a snapshot by process and time, and nothing is added twice. A file that cannot be read is a row
of the table errors; where none can be read, no dataset is made. It may be stopped at any moment, and goes on
from there when it runs again. With --rebuild all is read anew, as after an update of the classification
rules; the old rows count until the new ones are complete.

\b
Examples:
  mmp dataset build night/ --from 'snapshots/*.mmp'
  mmp dataset build night/ --from s3://bucket/night --workers 8
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.options import Manner, Reading, Writing
from mmpscope.analysis.remote import is_uri
from mmpscope.formats.errors import InputError

if TYPE_CHECKING:
    from mmpscope.analysis.datasets.building import Built, Plan

__all__ = ["run"]

_MOST_WARNINGS = 10


@dataclass(frozen=True)
class Source:
    """What is built from, and who works."""

    from_: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="INPUT", help="Files, folders, patterns, URIs; may be repeated."),
    ] = None
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Read all of it anew, in place of what is there.")
    ] = False
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="Processes that work; else one a processor."),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="URI", help="Work on a Dask cluster, as in tcp://10.0.0.1:8786."),
    ] = None


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The dataset.", show_default=False)],
    source: Source,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Build, and tell what was added."""
    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.datasets.building import Plan
    from mmpscope.analysis.datasets.files import Reading as How
    from mmpscope.analysis.lean import keep_little
    from mmpscope.analysis.reporters.dataset_report import report_build
    from mmpscope.analysis.reporters.report import check_writing, deliver

    if not source.from_:
        raise UsageError("there is nothing to build from. Name files, as in --from 'snapshots/*.mmp'")
    if is_uri(folder):
        now = f"Build it in one, and copy that to {folder}"
        raise UsageError(f"{folder} is no folder of this machine, where a dataset has to lie. {now}")
    check_writing(writing)
    keep_little()
    rules = None if reading.rules is None else str(Path(reading.rules).absolute())  # workers are elsewhere
    how = How(reading.partial, rules)
    plan = Plan(source.from_, how, source.rebuild, source.workers, source.scheduler)
    built = _build(Path(folder), plan, manner)
    if built.other_rules is not None and not plan.rebuild:
        told = f"{folder} was built with rules {built.other_rules}, and these are {how.rules_version}"
        warn(f"{told}: its older rows keep their types. --rebuild reads all anew", manner)
    _tell_errors(Path(folder), built, manner)
    if built.errors and not built.files and not built.known:
        raise InputError(f"{', '.join(plan.inputs)}: no file can be read. `mmp formats` lists what can be")
    deliver([report_build(folder, built)], writing, manner)
    return 0


def _tell_errors(folder: Path, built: Built, manner: Manner) -> None:
    """Say which files could not be read, of many the first ones; a new dataset of no other is not there."""
    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.datasets.layout import is_dataset

    for row in built.errors[:_MOST_WARNINGS]:
        warn(f"left out: {row.error}", manner)
    if built.errors[_MOST_WARNINGS:]:
        more = f"{len(built.errors) - _MOST_WARNINGS:,} more files"
        place = " (the table errors has all of them)" if is_dataset(folder) else ""
        warn(f"left out: {more}{place}", manner)


def _build(folder: Path, plan: Plan, manner: Manner) -> Built:
    """Build to the end; whoever interrupts it is told that nothing is lost, or that nothing is left."""
    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.datasets.building import Built, build_dataset
    from mmpscope.analysis.datasets.layout import is_dataset
    from mmpscope.analysis.progress import follow

    built = Built()
    try:
        with closing(build_dataset(folder, plan)) as states:  # at once, and not when Python comes to it
            for state in follow(states, manner, str(folder), "files", lambda each: each.latest):
                built = state
    except KeyboardInterrupt:
        if is_dataset(folder):
            told = f"{built.files:,} files were added to {folder}; the same command goes on from there"
        else:
            told = f"no file was added yet, and {folder} was not made"
        warn(f"stopped: {told}", manner)
        raise
    return built
