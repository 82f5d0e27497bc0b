"""Tell of a series of snapshots whether a process leaks: what grows, how fast, and until when.

The snapshots are those of one file or of many. They are put in order by what they hold, never by file name:
one series for each instance of a process, so that a restart begins a new one and a pid that is used again is
never joined. A dataset (`mmp dataset build`) stands for all it holds, but for births and deaths.

Every verdict is growing (with bytes an hour, their 95 % interval and the time to the limit), shrinking, flat,
or cannot tell. docs/trend.md explains how it is found. Needs the extra stats: pip install 'mmpscope[stats]'.

Ends with exit code 0 where something could be told of the total of some process, growing or not, and 4 where
nothing could: too few snapshots, or none that says when it was taken.

--follow answers again whenever the one .mmp file, which is still being written, has more snapshots, and ends
when its writer closes it or is gone, with the exit code of the last answer; 3 where the writer went amid a
snapshot, as of any file that breaks off (--partial reads the rest).

\b
Examples:
  mmp trend day.mmp
  mmp trend 'night/*.mmp' --process server --metric total_ws
  mmp trend day.mmp --bound 100K --type Heap
  mmp trend running.mmp --follow
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Inputs, Manner, Reading, Types, Writing

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.trends.answer import SeriesTrend
    from mmpscope.analysis.trends.following import Aim

__all__ = ["follow_inputs", "list_trends", "run"]

_PAUSE_S = 1.0
"""Answers to a file that grows are at least so far apart."""


@dataclass(frozen=True)
class Question(Types):
    """What is followed, and of what."""

    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", metavar="FIGURE", help="What is followed, as in total_ws; private if it is known."
        ),
    ] = None
    process: Annotated[
        str | None, typer.Option("--process", metavar="PROCESS", help="Only this pid, or this name.")
    ] = None
    bound: Annotated[
        str | None,
        typer.Option("--bound", metavar="SIZE", help="Growth of less than SIZE an hour is flat, as in 100K."),
    ] = None
    follow: Annotated[
        bool, typer.Option("--follow", help="Answer anew as the file grows, until its writer ends.")
    ] = False
    limit: Annotated[
        int,
        typer.Option(
            "-n", "--limit", "--top", metavar="N", min=0, help="At most N rows of each kind; 0 shows all."
        ),
    ] = 10


def run(inputs: Inputs, question: Question, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Judge every process of the inputs."""
    from mmpscope.analysis.listing import choose_types
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.reporters.amounts import parse_size
    from mmpscope.analysis.reporters.report import deliver
    from mmpscope.analysis.reporters.trend_report import report_trends
    from mmpscope.analysis.trends.following import Aim

    types = choose_types(question.type)
    bound = None if question.bound is None else parse_size(question.bound, "--bound")
    output = writing.output or STDOUT
    check_output(output, force=writing.force)
    aim = Aim(question.metric, bound, question.process)

    def answer() -> int:
        trends = follow_inputs(inputs, aim, reading, manner, output, is_growing=question.follow)
        deliver([report_trends(trends, types, question.limit)], writing, manner)
        return 0 if any(trend.can_tell for trend in trends) else 4

    return _answer_anew(inputs, answer, output, manner) if question.follow else answer()


def _answer_anew(inputs: list[str], answer: Callable[[], int], output: str, manner: Manner) -> int:
    """Answer whenever the one file has grown, until nobody writes to it; return the last exit code."""
    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.output import STDOUT
    from mmpscope.analysis.trends.watching import watch_file

    if len(inputs) != 1 or not Path(inputs[0]).is_file() or output != STDOUT:
        raise UsageError("--follow takes one .mmp file that is there, and answers on standard output")
    code = 4
    for count in watch_file(inputs[0], _PAUSE_S, lambda sentence: warn(sentence, manner)):
        if count:
            code = answer()
            sys.stdout.write("\n")
            sys.stdout.flush()
    return code


def list_trends(inputs: list[str], types: list[str], how: tuple[Reading, Manner], output: str) -> pa.Table:
    """Return the table of trends of all inputs (trends.schema.TREND), of some types or of all."""
    from mmpscope.analysis.reporters.trend_report import tabulate_trends
    from mmpscope.analysis.trends.following import Aim

    return tabulate_trends(follow_inputs(inputs, Aim(), *how, output), types)


def follow_inputs(
    inputs: list[str],
    aim: Aim,
    reading: Reading,
    manner: Manner,
    output: str,
    *,
    is_growing: bool = False,
) -> list[SeriesTrend]:
    """Follow the processes of all inputs; progress is told unless the answer goes to a terminal.

    A file that is growing is the user's own, and may have any number of rows. Datasets are asked for their
    measures, which tell no births and deaths. Raises as `load_each`, and UsageError without the extra stats.
    """
    from mmpscope.analysis.commands import find_bound, load_each
    from mmpscope.analysis.datasets.layout import split_datasets
    from mmpscope.analysis.datasets.reading import read_measures
    from mmpscope.analysis.density import MEASURED
    from mmpscope.analysis.loading import load_rules
    from mmpscope.analysis.progress import follow
    from mmpscope.analysis.trends.following import (
        Shelf,
        choose_process,
        follow_files,
        follow_measures,
        measure_each,
    )

    _require_statistics()
    datasets, files = split_datasets(inputs, reading.rules)
    if datasets:
        kept = chain.from_iterable(map(read_measures, datasets))
        snapshots = load_each(files, reading, manner) if files else iter(())
        found = follow_measures(chain(kept, measure_each(follow(snapshots, manner, output))), aim)
        if not found:
            raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}")
        return found
    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    times = None if is_growing else find_bound(inputs, MEASURED)
    with closing(Shelf(rules, partial=reading.partial, times=times)) as shelf:
        listed = shelf.list_moments(load_each(inputs, reading, manner))
        moments = choose_process(listed, aim.process)
        return follow_files(moments, shelf.read, aim, lambda each: follow(each, manner, output))


def _require_statistics() -> None:
    """Look for scipy before the work that its absence would waste."""
    if find_spec("scipy") is None:
        raise UsageError("a trend needs scipy: pip install 'mmpscope[stats]'")
