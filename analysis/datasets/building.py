"""Files into a dataset: which are new, batch by batch, and what became of each."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mmpscope.analysis.bulk.files import list_inputs
from mmpscope.analysis.bulk.run import run_files
from mmpscope.analysis.datasets.batches import Batch, FileRow
from mmpscope.analysis.datasets.files import Reading, find_state, read_batch
from mmpscope.analysis.datasets.writing import Writer, open_writer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.loading import InputFile

__all__ = ["Built", "Plan", "build_dataset"]

_BATCH_FILES = 192
"""Files whose snapshots become one part of each table: parts of some megabytes, few enough to list."""


@dataclass(frozen=True)
class Plan:
    """What to build from, and how; ``workers`` and ``scheduler`` are those of `run_files`."""

    inputs: Sequence[str]
    reading: Reading = field(default_factory=Reading)
    rebuild: bool = False
    workers: int | None = None
    scheduler: str | None = None


@dataclass
class Built:
    """How far a build is: files and snapshots that it has added, files that were there, files in error.

    ``latest`` counts the files that came since it was last told.
    """

    files: int = 0
    snapshots: int = 0
    known: int = 0
    latest: int = 0
    errors: list[FileRow] = field(default_factory=list)
    other_rules: str | None = None
    """The rules of the dataset, where these are others."""


def build_dataset(root: Path, plan: Plan) -> Generator[Built]:
    """Add the files that a dataset does not have; yield how far it is after each batch, and at the end.

    It may be left at any moment: what was committed stays, and the next build goes on from there. A new
    dataset is not there any more at the end, or where it is left, unless a file could be read. Raises as
    `open_writer`, `list_inputs` and `run_files`, and UsageError where a rebuild would lose files that are not
    among the inputs any more.
    """
    built, rules = Built(), plan.reading.rules_version
    files = _list_files(root, plan.inputs)
    with open_writer(root, rules, rebuild=plan.rebuild) as writer:
        if writer.description.rules != rules:
            built.other_rules = writer.description.rules
        new = _leave_known(files, writer, built, partial=plan.reading.partial)
        work = functools.partial(read_batch, plan.reading)
        outcomes = run_files(
            work, new, workers=plan.workers, scheduler=plan.scheduler, batch_files=_BATCH_FILES
        )
        for outcome in outcomes:
            batch = outcome.result
            if batch is None:
                rows = [FileRow(None, file.path, error=outcome.error) for file in outcome.files]
                batch = Batch(rows, {}, {})
            _count(built, batch, writer.commit(batch))
            yield built
        if plan.rebuild:
            _publish(writer)
    built.latest = 0
    yield built


def _list_files(root: Path, inputs: Sequence[str]) -> list[InputFile]:
    """List what to read; the dataset itself may lie in a folder that is searched."""
    files = list_inputs(inputs)
    if chosen := next((file for file in files if file.choice is not None), None):
        raise UsageError(
            f"{chosen.path}{chosen.choice}: a dataset takes files whole. Leave {chosen.choice} out"
        )
    inside = root.resolve()
    return [file for file in files if inside not in Path(file.path).resolve().parents]


def _leave_known(
    files: Sequence[InputFile], writer: Writer, built: Built, *, partial: bool
) -> list[InputFile]:
    """Count the files that were read before, those in error as such; return the others.

    With ``partial`` those in error are returned as well: there may be something whole in them.
    """
    new = []
    for file in files:
        state = find_state(file.path)
        is_known = writer.has_file(file.path, *state)
        error = writer.find_error(file.path, *state) if is_known else None
        if not is_known or (partial and error is not None):
            new.append(file)
        elif error is not None:
            built.errors.append(FileRow(None, file.path, *state, error=error))
        else:
            built.known += 1
    return new


def _count(built: Built, batch: Batch, added: Batch) -> None:
    errors = [row for row in batch.files if row.error is not None]
    built.latest = len(batch.files)
    built.errors += errors
    built.files += sum(row.error is None for row in added.files)
    built.snapshots += len(added.moments)
    built.known += len(batch.files) - len(errors) - sum(row.error is None for row in added.files)


def _publish(writer: Writer) -> None:
    """Let what was rebuilt count, unless it has less than what was there."""
    lost = writer.list_lost()
    if lost:
        writer.discard()
        what = f"{lost[0]} and {len(lost) - 1:,} more are" if len(lost) > 1 else f"{lost[0]} is"
        now = "Nothing was changed: name all its files, or build another dataset"
        raise UsageError(f"{writer.root}: {what} in it and not among these files any more. {now}")
    writer.publish()
