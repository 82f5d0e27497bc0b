"""List the threads of a process and their stacks.

The figures are those of the allocation that is the thread's stack, guard included.

\b
Example:
  mmp threads run.mmp --sort private_ws
"""

from __future__ import annotations

from mmpscope.analysis.commands import list_parts
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Writing

__all__ = ["run"]


def run(inputs: LatestInputs, listing: Listing, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Answer for each snapshot that the inputs stand for."""
    return list_parts("threads", inputs, listing, reading, (writing, manner))
