"""List the processes that ran beside a snapshot.

They are those of the machine at the moment of the capture, as the collector saw them.

\b
Example:
  mmp processes run.mmp --sort rss -n 20
"""

from __future__ import annotations

from mmpscope.analysis.commands import list_parts
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Writing

__all__ = ["run"]


def run(inputs: LatestInputs, listing: Listing, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Answer for each snapshot that the inputs stand for."""
    return list_parts("processes", inputs, listing, reading, (writing, manner))
