"""Inputs of a command line into the data of a page: opened, read once in the order of time, and closed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from mmpscope.analysis.commands import load_each
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.extent import require_figures
from mmpscope.analysis.loading import load_rules
from mmpscope.analysis.options import Manner, Reading
from mmpscope.analysis.pages.page_data import Budget, PageData, build_page
from mmpscope.analysis.progress import follow
from mmpscope.analysis.trends.following import Shelf

__all__ = ["make_page_data"]

_MOST_SNAPSHOTS = 10_000
"""The sums of one take about 240 bytes of a page, and 30 KiB of memory while it is made."""


def make_page_data(
    inputs: Sequence[str], reading: Reading, manner: Manner, output: str, budget: Budget | None = None
) -> PageData:
    """Make the data of a page of all snapshots of the inputs; ``output`` is where the page will go.

    Raises as `load_each`, CannotTellError for a snapshot alone that tells no figure, and UsageError for more
    snapshots than a page holds.
    """
    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    with closing(Shelf(rules, partial=reading.partial)) as shelf:
        moments = shelf.list_moments(load_each(inputs, reading, manner))
        if len(moments) > _MOST_SNAPSHOTS:
            told = f"{len(moments):,} snapshots are more than a page holds"
            raise UsageError(f"{told}, {_MOST_SNAPSHOTS:,}. Choose some, as in FILE#0:{_MOST_SNAPSHOTS}")
        if len(moments) == 1:
            require_figures(shelf.read(moments[0].label))
        return build_page(moments, shelf.read, lambda each: follow(each, manner, output), budget)
