"""The details of Windows regions: a path or the source's own words, and whose stack or TEB it is."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Text
from mmpscope.analysis.details import Words, count_views, find_stacks, group_threads
from mmpscope.analysis.layout import Layout, find_rows
from mmpscope.analysis.schema import TYPES

__all__ = ["describe_windows"]

_STACK = TYPES.index("Stack")


def describe_windows(told: Text, layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Return what is told of each region, how often a file is mapped, and which threads it belongs to."""
    words = Words(told)
    count_views(words, layout, classes)
    _name_stacks(words, classes, surroundings)
    for row, people in group_threads(find_rows(layout, surroundings.threads.numbers("teb")), surroundings):
        words.append(row, f"TEB of {people}")
    return words.finish()


def _name_stacks(words: Words, classes: Classes, surroundings: Surroundings) -> None:
    """Name the threads in all parts of a stack: what is committed, its guard, and its reserve."""
    parts = np.flatnonzero(classes.type == _STACK)
    bases = classes.allocation[parts]
    for stack, people in group_threads(find_stacks(classes), surroundings):
        for row in parts[bases == classes.allocation[stack]].tolist():
            words.append(row, people)
