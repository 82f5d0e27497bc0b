"""The details of each region: what a person reads to know it again."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Codes, Text
from mmpscope.analysis.images import Share
from mmpscope.analysis.layout import Layout, Rows
from mmpscope.analysis.schema import TYPES

__all__ = ["describe_regions"]

_SHOWN_THREADS = 3
_STACK = TYPES.index("Stack")
_IMAGE = TYPES.index("Image")


def describe_regions(layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Return path or name, how often a file is mapped, whose .bss it is, and which thread's stack."""
    words = _Words(layout.path)
    _count_views(words, layout, classes)
    paths = surroundings.modules.text("path")
    _name_bss(words, layout, classes, paths)
    moved = classes.images.moved_text
    stands_in = (moved.module >= 0) & (classes.type == _IMAGE) & ~classes.images.is_part
    for row in np.flatnonzero(stands_in).tolist():
        words.set(row, f"{_name_module(moved, row, paths)} text, moved")
    _name_threads(words, classes, surroundings)
    _copy_to_guards(words, layout, classes)
    return words.finish()


class _Words:
    """Details under construction: every row has the code of a text, and new texts are added at the end."""

    def __init__(self, path: Text) -> None:
        self._texts: list[str | None] = list(path.values)
        self.codes: Codes = path.codes.copy()

    def add(self, text: str) -> int:
        """Return the code of a new text."""
        self._texts.append(text)
        return len(self._texts) - 1

    def get(self, row: int) -> str | None:
        """Return the text of a row."""
        return self._texts[int(self.codes[row])]

    def set(self, row: int, text: str) -> None:
        """Give a row another text."""
        self.codes[row] = self.add(text)

    def append(self, row: int, text: str) -> None:
        """Add to the text of a row."""
        before = self.get(row)
        self.set(row, text if before is None else f"{before}, {text}")

    def finish(self) -> Text:
        """Return the texts, each distinct one once, null last."""
        names = [text for text in dict.fromkeys(self._texts) if text is not None]
        places = {text: place for place, text in enumerate(names)}
        table = [len(names) if text is None else places[text] for text in self._texts]
        return Text(np.array(table, np.int32)[self.codes], (*names, None))


def _count_views(words: _Words, layout: Layout, classes: Classes) -> None:
    """Say so where one file is mapped more than once: sizes of its views add up, its pages do not (F28)."""
    first = np.flatnonzero((classes.allocation == layout.start) & (layout.file >= 0))
    counts = np.bincount(layout.file[first], minlength=1)
    rows = np.flatnonzero(np.isin(layout.file, np.flatnonzero(counts > 1)))
    files, where = np.unique(layout.file[rows], return_index=True)
    code_of_file = np.zeros(len(counts), np.int32)
    for file, row in zip(files.tolist(), rows[where].tolist(), strict=True):  # distinct files, not regions
        name = words.get(row) or "a file without a name"
        code_of_file[file] = words.add(f"{name} (mapped {counts[file]} times)")
    words.codes[rows] = code_of_file[layout.file[rows]]


def _name_bss(words: _Words, layout: Layout, classes: Classes, paths: Text) -> None:
    """Name the module of each .bss, and what else is in the region; a module has one .bss at most."""
    share = classes.images.bss
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


def _name_threads(words: _Words, classes: Classes, surroundings: Surroundings) -> None:
    """Name the threads whose stack pointers lie in a stack."""
    ids, names = surroundings.threads.numbers("tid"), surroundings.threads.text("name")
    rows: Rows = classes.thread_rows
    on_stack = np.flatnonzero((rows >= 0) & (classes.type[rows] == _STACK)) if len(classes.type) else rows[:0]
    of_row: dict[int, list[str]] = {}
    for thread in on_stack.tolist():
        name = names.values[int(names.codes[thread])]
        words_of_thread = f"tid {ids.values[thread]}" if name is None else f"tid {ids.values[thread]} {name}"
        of_row.setdefault(int(rows[thread]), []).append(words_of_thread)
    for row, people in of_row.items():
        more = f" and {len(people) - _SHOWN_THREADS} more" if len(people) > _SHOWN_THREADS else ""
        words.append(row, ", ".join(people[:_SHOWN_THREADS]) + more)


def _copy_to_guards(words: _Words, layout: Layout, classes: Classes) -> None:
    """Give each guard of a stack the words of its stack."""
    rows = np.flatnonzero((classes.type == _STACK) & layout.is_reservation & layout.touches_above)
    words.codes[rows] = words.codes[rows + 1]
