"""Put many snapshots side by side: a row each, and which of them are odd.

A snapshot is an outlier where a figure of it is far from those of the others of the same executable and
version, in MADs (--mads: median absolute deviations times 1.4826, which is a standard deviation where values
are normal) and in bytes; docs/metrics.md has the rule. Fewer than 8 of a kind cannot tell. All inputs are
judged, then --where chooses which rows are shown and are in the groups, and --outliers shows the odd ones of
them. Groups are told with quartiles, by executable and version or as --by says. A file that cannot be read is
a row with the reason, last of all, also with -n.

A condition is COLUMN=PATTERN or COLUMN!=PATTERN for text, in any case, with * and ?; and =, !=, <, <=, > or
>= for numbers, with K, M, G for bytes. Columns are those of --json; each --where must hold.

Ends with exit code 3 where no file could be read, and 4 where there is no snapshot in them.

\b
Examples:
  mmp compare 'night/*.mmp'
  mmp compare night/ --by host --metric total_ws --where 'name=java*'
  mmp compare s3://bucket/night --outliers --workers 8
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Running, Writing
from mmpscope.formats.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.bulk.measuring import Measured
    from mmpscope.analysis.bulk.run import Outcome
    from mmpscope.analysis.comparisons.answer import Answer, Choice

__all__ = ["list_compared", "measure_inputs", "run"]


@dataclass(frozen=True)
class Question(Listing):
    """What is compared, among whom, and what is shown of it."""

    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="WORD",
            help="Group by build (executable and version), executable, host, name, version, os, kernel"
            " or all; may be repeated.",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only rows such as name=java* or private>1G; may be repeated.",
        ),
    ] = None
    metric: Annotated[
        str, typer.Option("--metric", metavar="FIGURE", help="Which figure groups are told by.")
    ] = "private"
    outliers: Annotated[bool, typer.Option("--outliers", help="Only outliers.")] = False
    mads: Annotated[
        float, typer.Option("--mads", metavar="N", min=1, help="How far an outlier is from the median.")
    ] = 5.0


def run(
    inputs: LatestInputs,
    question: Question,
    running: Running,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Compare all snapshots of the inputs."""
    from mmpscope.analysis.comparisons.answer import answer
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.reporters.compare_report import report_compare
    from mmpscope.analysis.reporters.report import deliver

    choice = _choose(question)
    output = writing.output or STDOUT
    check_output(output, force=writing.force)
    measured = measure_inputs(inputs, running, reading, (manner, output))
    compared = answer(measured, choice, latest=not _choose_snapshots(inputs))
    deliver([report_compare(compared, question.limit)], writing, manner)
    _refuse_nothing(inputs, compared)
    return 0


def list_compared(inputs: Sequence[str], how: tuple[Reading, Manner], output: str) -> pa.Table:
    """Return the rows of a comparison as a table, for an export."""
    from mmpscope.analysis.comparisons.answer import Choice, answer

    reading, manner = how
    measured = measure_inputs(inputs, Running(), reading, (manner, output))
    compared = answer(measured, Choice(), latest=not _choose_snapshots(inputs))
    _refuse_nothing(inputs, compared)
    return compared.rows


def measure_inputs(
    inputs: Sequence[str], running: Running, reading: Reading, outlet: tuple[Manner, str]
) -> Measured:
    """Measure the snapshots of files and datasets, those of datasets first.

    Damage that was survived is told on stderr. Raises as `list_inputs` and `run_files`.
    """
    from mmpscope.analysis.bulk.files import list_inputs
    from mmpscope.analysis.bulk.measuring import Measuring, join_measured
    from mmpscope.analysis.bulk.run import run_files
    from mmpscope.analysis.commands import warn_of_faults
    from mmpscope.analysis.comparisons.gathering import WANTED, measure_compared
    from mmpscope.analysis.datasets.layout import split_datasets
    from mmpscope.analysis.lean import keep_little
    from mmpscope.analysis.loading import load_rules
    from mmpscope.analysis.progress import follow

    keep_little()
    manner, output = outlet
    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    measuring = Measuring(WANTED, reading.partial, tuple(rules), latest=True)
    datasets, others = split_datasets(inputs, reading.rules)
    files = list_inputs(others)
    outcomes = run_files(
        partial(measure_compared, measuring=measuring),
        files,
        workers=running.workers,
        scheduler=running.scheduler,
    )
    told = follow(outcomes, manner, output, "files", lambda outcome: len(outcome.files))
    measured = join_measured(chain(_read_datasets(datasets), told))
    for path, faults in measured.faults:
        warn_of_faults(path, faults, manner)
    return measured


def _choose_snapshots(inputs: Sequence[str]) -> bool:
    """Tell if an input chooses snapshots, as in FILE#0:, which are then all wanted."""
    from mmpscope.analysis.loading import split_choice

    return any(split_choice(name)[1] is not None for name in inputs)


def _read_datasets(names: Sequence[str]) -> Iterator[Outcome[Measured]]:
    from mmpscope.analysis.bulk.run import Outcome
    from mmpscope.analysis.comparisons.gathering import read_compared

    for name in names:
        for measured in read_compared(name):
            yield Outcome((), measured)


def _choose(question: Question) -> Choice:
    from mmpscope.analysis.comparisons.answer import Choice, choose_by, choose_figure, choose_rows
    from mmpscope.analysis.comparisons.outliers import Sensitivity

    if not math.isfinite(question.mads):
        raise UsageError(f"--mads {question.mads} is no number. Write it as in --mads 8")
    return Choice(
        choose_by(question.by),
        choose_rows(question.where),
        choose_figure(question.metric),
        question.sort,
        question.outliers,
        Sensitivity(mads=question.mads),
    )


def _refuse_nothing(inputs: Sequence[str], compared: Answer) -> None:
    """Refuse what holds no snapshot, after its reasons were told."""
    from mmpscope.analysis.loading import refuse_all

    if compared.compared:
        return
    if len(compared.errors) == 1:
        raise InputError(compared.errors[0].reason)
    if compared.errors:
        raise refuse_all(", ".join(inputs), len(compared.errors))
    raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}. `mmp info` tells what there is")
