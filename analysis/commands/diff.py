"""Compare two snapshots of a process: what is new, gone, grown or shrunk.

Two files, or two snapshots as in run.mmp#0 run.mmp#5; of one file with several, the first and the last.
Totals come first, then the types, then what changed most, with the rest folded into one row so that the
changes add up. Two snapshots of one process are compared by address; --same does so where the files do not
tell.

\b
Examples:
  mmp diff before.mmp after.mmp
  mmp diff run.mmp#0 run.mmp#-1 --metric total_ws -n 50
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.options import Inputs, Manner, Reading, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report

__all__ = ["run"]


@dataclass(frozen=True)
class Question:
    """How the two are compared, and what counts."""

    metric: Annotated[
        str, typer.Option("--metric", metavar="FIGURE", help="What decides which changes are the largest.")
    ] = "private"
    limit: Annotated[
        int, typer.Option("-n", "--limit", metavar="N", min=0, help="At most N changes; 0 shows all.")
    ] = 20
    same: Annotated[bool, typer.Option("--same", help="Take both for one process, by address.")] = False


def run(inputs: Inputs, question: Question, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Compare the two snapshots of the inputs."""
    from mmpscope.analysis.reporters.report import deliver

    deliver([_compare(inputs, question, reading, manner)], writing, manner)
    return 0


def _compare(inputs: list[str], question: Question, reading: Reading, manner: Manner) -> Report:
    from mmpscope.analysis.commands import load_pair
    from mmpscope.analysis.diff_snapshots import SAME_MODE, diff
    from mmpscope.analysis.reporters.diff_report import report_diff

    before, after, chosen = load_pair(inputs, reading, manner)
    mode = SAME_MODE if question.same else None
    result = diff(before, after, mode, metric=question.metric, limit=question.limit)
    return report_diff(before, after, result, [chosen] if chosen else [])
