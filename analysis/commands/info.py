"""Tell what a file is: its snapshots, where they come from, what is missing and why.

With -v, host, cost and gaps of every snapshot; without, those of the last one.

\b
Examples:
  mmp info run.mmp
  mmp info run.mmp#0 -v
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from mmpscope.analysis.options import Inputs, Manner, Opening, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report

__all__ = ["run"]


def run(inputs: Inputs, opening: Opening, writing: Writing, manner: Manner) -> int:
    """Answer for each file."""
    from mmpscope.analysis.reporters.report import deliver

    deliver(_describe_each(inputs, opening, manner), writing, manner)
    return 0


def _describe_each(inputs: Sequence[str], opening: Opening, manner: Manner) -> Iterator[Report]:
    from mmpscope.analysis.commands import open_each
    from mmpscope.analysis.reporters.info_report import describe_entry, report_info

    for opened in open_each(inputs, opening, manner):
        with closing(opened.source) as source:
            rows = [describe_entry(source.entries[index], source.read(index)) for index in opened.chosen]
        yield report_info(source, rows)
