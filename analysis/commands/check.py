"""Check a snapshot against budgets and a baseline, as in CI.

NEW is one snapshot. The baseline is one, too, or several: a folder or pattern of files, of which the median
counts and the spread is the tolerance. Budgets come from a TOML file (docs/check.md); without one, Private
may grow by 4 MiB or 5 %, Total WS by 8 MiB or 10 %, mappings by 64 or 10 %, whichever is more, and no memory
may be new that is executable and writable. The baseline is only read.

Prints a line for each budget that is violated or cannot be told. Ends with exit code 0 if all hold, 1 if
one is violated, and 4 if none is and one cannot be told: facts are missing, or samples are too few.

\b
Examples:
  mmp check new.mmp --baseline old.mmp
  mmp check new.mmp --baseline 'good/*.mmp' --budget budget.toml --junit check.xml
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Manner, Reading, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.datasets.baseline import KeptSnapshot, Moment
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]

_Sample = TypeVar("_Sample")
_NEW = "The snapshot to check: a file of any readable format, or FILE#3, FILE#-1; of a series the last."


@dataclass(frozen=True)
class Question:
    """What is compared with, and what is allowed."""

    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", metavar="OLD", help="File, folder, pattern or dataset; may be repeated."),
    ] = None
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="FILE", help="What is allowed (TOML, docs/check.md).")
    ] = None
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML, for CI systems.")
    ] = None


def run(
    inputs: Annotated[list[str], typer.Argument(metavar="NEW", help=_NEW, show_default=False)],
    question: Question,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Check one snapshot."""
    from mmpscope.analysis.checks.baseline import choose_baseline
    from mmpscope.analysis.checks.budgets import read_budgets
    from mmpscope.analysis.checks.snapshots import check
    from mmpscope.analysis.commands import load_classified, load_each, warn
    from mmpscope.analysis.datasets.layout import split_datasets
    from mmpscope.analysis.reporters.check_report import report_check, write_junit
    from mmpscope.analysis.reporters.report import deliver

    if not question.baseline and question.budget is None:
        raise UsageError("there is nothing to check by. Give --baseline, --budget or both")
    _spare_inputs(inputs, question, writing)
    budgets = None if question.budget is None else read_budgets(Path(question.budget))
    checked = _load_one(inputs, load_each(inputs, reading, manner, latest=True))
    said: list[str] = []
    baseline: Iterable[LoadedSnapshot] = ()
    seen: set[Moment] = set()
    datasets, files = split_datasets(question.baseline or (), reading.rules)
    if files:
        found = load_classified(files, reading, manner, latest=True)
        baseline = _take_what_counts(choose_baseline(checked, found, said), said)
    kept = _read_datasets(datasets, checked, said, seen)
    result = check(checked, _note_moments(baseline, seen), budgets, kept)
    for sentence in said:
        warn(sentence, manner)
    if question.junit is not None:
        write_junit(result, question.junit, force=writing.force)
    deliver([report_check(checked, result, question.budget)], writing, manner)
    return result.exit_code


def _note_moments(snapshots: Iterable[LoadedSnapshot], seen: set[Moment]) -> Iterator[LoadedSnapshot]:
    """Note what files have of the baseline: a dataset may have been built from them."""
    from mmpscope.analysis.datasets.baseline import find_moment

    for snapshot in snapshots:
        seen.update(filter(None, [find_moment(snapshot)]))
        yield snapshot


def _read_datasets(
    names: Sequence[str], checked: LoadedSnapshot, said: list[str], seen: set[Moment]
) -> Iterator[KeptSnapshot]:
    from mmpscope.analysis.datasets.baseline import read_baseline

    for name in names:
        yield from _take_what_counts(read_baseline(Path(name), checked, said, seen), said)


def _take_what_counts(found: Iterator[_Sample], said: list[str]) -> Iterator[_Sample]:
    """Go on without a baseline of which nothing counts: another may, and a limit may be one of the value."""
    try:
        yield from found
    except CannotTellError as error:
        said.append(str(error))


def _load_one(names: Sequence[str], found: Iterable[LoadedSnapshot]) -> LoadedSnapshot:
    snapshots = list(found)
    if len(snapshots) != 1:
        told = f"{', '.join(names)}: a check is of one snapshot, and this is {len(snapshots)}"
        raise UsageError(f"{told}. Choose one as in FILE#0 or FILE#-1")
    return snapshots[0]


def _spare_inputs(new: Sequence[str], question: Question, writing: Writing) -> None:
    """Refuse outputs before any work, and an input as output even where it may be replaced.

    A baseline that a failed run replaces lets the next one pass.
    """
    from mmpscope.analysis.output import STDOUT, check_output

    if question.junit == STDOUT:
        raise UsageError("--junit: standard output is for the answer. Name a file")
    outputs = [path for path in (question.junit, writing.output) if path not in (None, STDOUT)]
    if len({Path(path).resolve() for path in outputs if path}) < len(outputs):
        raise UsageError(f"{outputs[0]}: the answer and its JUnit XML cannot be one file. Name two")
    inputs = set(_list_inputs([*new, *(question.baseline or []), question.budget or ""]))
    for path in outputs:
        if path is not None and not inputs.isdisjoint((Path(path).resolve(), Path(path).resolve().parent)):
            raise UsageError(f"{path} belongs to the inputs of this check, which are never written to")
        check_output(path or STDOUT, force=writing.force)


def _list_inputs(names: Iterable[str]) -> Iterator[Path]:
    from mmpscope.analysis.datasets.layout import is_dataset
    from mmpscope.analysis.loading import expand_input

    for name in filter(None, names):
        path = name if Path(name).exists() else name.rpartition("#")[0] or name
        yield Path(path).resolve()
        for file in [] if is_dataset(path) else expand_input(path):
            yield Path(file).resolve()
