"""List the heaps of a process.

The main heap, each arena, and each allocator that names its memory.

\b
Example:
  mmp heaps run.mmp --sort private_ws
"""

from __future__ import annotations

from mmpscope.analysis.commands import list_parts
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Writing

__all__ = ["run"]


def run(inputs: LatestInputs, listing: Listing, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Answer for each snapshot that the inputs stand for."""
    return list_parts("heaps", inputs, listing, reading, (writing, manner))
