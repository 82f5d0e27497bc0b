"""The details of Linux regions: path or name, whose .bss it is, which thread's stack."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Text
from mmpscope.analysis.details import Words, count_views, find_stacks, group_threads
from mmpscope.analysis.images import Images, Share
from mmpscope.analysis.layout import Layout
from mmpscope.analysis.schema import TYPES

__all__ = ["describe_regions"]

_STACK = TYPES.index("Stack")
_IMAGE = TYPES.index("Image")


def describe_regions(layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Return path or name, how often a file is mapped, whose .bss it is, and which thread's stack."""
    words = Words(layout.path)
    count_views(words, layout, classes)
    if classes.images is not None:
        _name_parts(words, layout, classes, classes.images, surroundings.modules.text("path"))
    for row, people in group_threads(find_stacks(classes), surroundings):
        words.append(row, people)
    _copy_to_guards(words, layout, classes)
    return words.finish()


def _name_parts(words: Words, layout: Layout, classes: Classes, images: Images, paths: Text) -> None:
    """Name the module behind what has no file of its own: its .bss, and text that was moved."""
    _name_bss(words, layout, classes, images.bss, paths)
    moved = images.moved_text
    stands_in = (moved.module >= 0) & (classes.type == _IMAGE) & ~images.is_part
    for row in np.flatnonzero(stands_in).tolist():
        words.set(row, f"{_name_module(moved, row, paths)} text, moved")


def _name_bss(words: Words, layout: Layout, classes: Classes, share: Share, paths: Text) -> None:
    """Name the module of each .bss, and what else is in the region; a module has one .bss at most."""
    for row in np.flatnonzero(share.module >= 0).tolist():
        name, rest = _name_module(share, row, paths), int(layout.size[row]) - int(share.owned[row])
        if classes.type[row] != _IMAGE:
            words.append(row, f"{int(share.owned[row]) >> 10} KiB of it are .bss of {name}")
        elif rest:
            words.set(row, f"{name} .bss, and {rest >> 10} KiB of something else")
        else:
            words.set(row, f"{name} .bss")


def _name_module(share: Share, row: int, paths: Text) -> str:
    return paths.values[int(paths.codes[share.module[row]])] or "a file without a name"


def _copy_to_guards(words: Words, layout: Layout, classes: Classes) -> None:
    """Give each guard of a stack the words of its stack."""
    rows = np.flatnonzero((classes.type == _STACK) & layout.is_reservation & layout.touches_above)
    words.codes[rows] = words.codes[rows + 1]
