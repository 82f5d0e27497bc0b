"""List the programs and libraries that a process has mapped.

One row for each time that a file is loaded, with the sums over its regions and its .bss.

\b
Example:
  mmp modules run.mmp --sort private_ws -n 10
"""

from __future__ import annotations

from mmpscope.analysis.commands import list_parts
from mmpscope.analysis.options import LatestInputs, Listing, Manner, Reading, Writing

__all__ = ["run"]


def run(inputs: LatestInputs, listing: Listing, reading: Reading, writing: Writing, manner: Manner) -> int:
    """Answer for each snapshot that the inputs stand for."""
    return list_parts("modules", inputs, listing, reading, (writing, manner))
