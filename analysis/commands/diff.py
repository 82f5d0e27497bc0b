"""Compare two snapshots of a process: what is new, gone, grown or shrunk.

Two files, or two snapshots as in run.mmp#0 run.mmp#5; of one file with several, the first and the last.
Totals come first, then the types, then what changed most, with the rest folded into one row so that the
changes add up. Two snapshots of one process are compared by address; --mode decides where the files do not
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
from mmpscope.analysis.options import Inputs, Manner, Reading, Types, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.snapshot import LoadedSnapshot

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
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="same: one process, by address; different: two of them."),
    ] = None


def run(
    inputs: Inputs, question: Question, types: Types, reading: Reading, writing: Writing, manner: Manner
) -> int:
    """Compare the two snapshots of the inputs."""
    from mmpscope.analysis.commands import load_pair
    from mmpscope.analysis.reporters.report import deliver

    before, after, chosen = load_pair(inputs, reading, manner)
    deliver([_compare((before, after), question, types, [chosen] if chosen else [])], writing, manner)
    return 0


def _compare(
    pair: tuple[LoadedSnapshot, LoadedSnapshot], question: Question, types: Types, said: list[str]
) -> Report:
    from mmpscope.analysis.diff_choice import choose_changes
    from mmpscope.analysis.diff_snapshots import diff
    from mmpscope.analysis.listing import choose_types
    from mmpscope.analysis.reporters.diff_report import report_diff

    kinds = choose_types(types.type)
    result = diff(*pair, question.mode, metric=question.metric, limit=question.limit)
    chosen = choose_changes(result, kinds, question.limit)
    if kinds:
        said.append(f"only what changed of {', '.join(kinds)}; Total is that of the whole process")
    return report_diff(pair, chosen, said, question.limit)
