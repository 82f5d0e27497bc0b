"""Read every byte of a file and name each damage.

Exit code 0: every frame, table and column is whole. Exit code 1: there is damage; --partial of the other commands
reads what is whole.

\b
Example:
  mmp verify run.mmp
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from mmpscope.analysis.options import Inputs, Manner, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.source import Fault, Source

__all__ = ["run"]


def run(inputs: Inputs, writing: Writing, manner: Manner) -> int:
    """Verify each file; 1 where one of them is damaged."""
    from mmpscope.analysis.reporters.report import deliver

    reports = list(_verify_each(inputs))
    deliver(reports, writing, manner)
    return 1 if any(report.rows for report in reports) else 0
