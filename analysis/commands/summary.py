"""Sum up a process by type of memory.

Rows and columns are those of Sysinternals VMMap: Total first, then one row a type, then Page Table,
Unusable and Free; three bars show what Committed, Private and Working Set consist of. docs/metrics.md
defines every figure.

\b
Example:
  mmp summary run.mmp#-1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.options import LatestInputs, Manner, Reading, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]


def run(inputs: LatestInputs, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Answer for each snapshot that the inputs stand for."""
    from mmpscope.analysis.commands import load_classified
    from mmpscope.analysis.reporters.report import deliver

    snapshots = load_classified(inputs, reading, manner, latest=True)
    deliver(map(_answer, snapshots), writing, manner)
    return 0


def _answer(snapshot: LoadedSnapshot) -> Report:
    from mmpscope.analysis.extent import require_figures
    from mmpscope.analysis.reporters.summary_report import report_summary
    from mmpscope.analysis.summary import summarize

    require_figures(snapshot)
    return report_summary(snapshot, summarize(snapshot))
