"""How many snapshots of one input are answered for unless they were chosen: time is in proportion to them.

A snapshot that was collected has kilobytes; a megabyte that holds thousands was made to cost time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.formats.errors import LimitError

if TYPE_CHECKING:
    from mmpscope.analysis.loading import OpenedInput

__all__ = ["LEAST_BYTES", "MOST_UNCHOSEN", "refuse_crowd"]

MOST_UNCHOSEN = 250
"""Snapshots that any input may have."""
LEAST_BYTES = 4096
"""A larger input may have one for each so many bytes: those of ours have 6 KiB and more, packed."""


def refuse_crowd(opened: OpenedInput) -> None:
    """Refuse an input that stands for more snapshots than its bytes can be of, unless they were chosen.

    LimitError then; the source is closed.
    """
    if opened.choice is not None or opened.size is None:
        return
    most, count = max(MOST_UNCHOSEN, opened.size // LEAST_BYTES), len(opened.chosen)
    if count <= most:
        return
    opened.source.close()
    raise LimitError(
        f"it has {count:,} snapshots, more than the {most:,} that are answered for unasked in so few bytes",
        path=opened.path,
        now=f"Choose some, as in {opened.path}#0:{most}, or all of them: {opened.path}#0:",
    )
