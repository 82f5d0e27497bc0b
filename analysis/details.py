"""The details of each region: what a person reads to know it again."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Bools, Codes, Text
from mmpscope.analysis.layout import Layout, Rows
from mmpscope.analysis.schema import TYPES
from numpy.typing import NDArray

__all__ = ["describe_regions"]

_SHOWN_THREADS = 3
_STACK = TYPES.index("Stack")


def describe_regions(layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Return path or name, how often a file is mapped, whose .bss it is, and which thread's stack."""
    words = _Words(layout.path)
    _count_views(words, layout, classes)
    _name_bss(words, layout, classes, surroundings)
    _name_threads(words, layout, classes, surroundings)
    return words.finish()


class _Words:
    """Details under construction: every row has the code of a text, and new texts are added at the end."""

    def __init__(self, path: Text) -> None:
        self._texts: list[str | None] = list(path.values)
        self.codes: Codes = path.codes.copy()

    def get(self, row: int) -> str | None:
        return self._texts[self.codes[row]]

    def set(self, rows: int | NDArray[np.int64] | Bools, text: str) -> None:
        self.codes[rows] = self.add(text)

    def add(self, text: str) -> int:
        self._texts.append(text)
        return len(self._texts) - 1

    def finish(self) -> Text:
        """Return the texts, each distinct one once, null last."""
        places: dict[str | None, int] = {
            text: place for place, text in enumerate(dict.fromkeys(self._texts)) if text
        }
        names = [text for text in places if text is not None]
        places = {text: place for place, text in enumerate(names)}
        table = np.array([places.get(text, len(names)) for text in self._texts], np.int32)
        return Text(table[self.codes], (*names, None))


def _count_views(words: _Words, layout: Layout, classes: Classes) -> None:
    """Say so where one file is mapped more than once: sizes of its views add up, its pages do not (F28)."""
    first = np.flatnonzero((classes.allocation == layout.start) & (layout.file >= 0))
    counts = np.bincount(layout.file[first], minlength=1)
    repeated = np.flatnonzero(counts > 1)
    rows = np.flatnonzero(np.isin(layout.file, repeated))
    code_of_file = np.zeros(len(counts), np.int32)
    files, where = np.unique(layout.file[rows], return_index=True)
    for file, row in zip(files, rows[where], strict=True):  # distinct files, not regions
        name = words.get(row) or "a file without a name"
        code_of_file[file] = words.add(f"{name} (mapped {counts[file]} times)")
    words.codes[rows] = code_of_file[layout.file[rows]]


def _name_bss(words: _Words, layout: Layout, classes: Classes, surroundings: Surroundings) -> None:
    """Name the module of each .bss, and what else is in the region; a module has one .bss at most."""
    share = classes.images.bss
    paths = surroundings.modules.text("path")
    is_image = classes.type == TYPES.index("Image")
    for row in np.flatnonzero(share.module >= 0):
        path = paths.values[paths.codes[share.module[row]]] or "a module without a name"
        owned, size = int(share.owned[row]), int(layout.size[row])
        if not is_image[row]:
            words.set(row, f"{_join(words.get(row))}{owned >> 10} KiB of it are .bss of {path}")
        elif owned < size:
            words.set(row, f"{path} .bss, and {(size - owned) >> 10} KiB of something else")
        else:
            words.set(row, f"{path} .bss")
    for row in np.flatnonzero((classes.images.moved_text.module >= 0) & is_image & layout.is_pseudo):
        words.set(row, f"{paths.values[paths.codes[classes.images.moved_text.module[row]]]} text, moved")


def _name_threads(words: _Words, layout: Layout, classes: Classes, surroundings: Surroundings) -> None:
    """Name the threads whose stack pointers lie in a stack, and give each guard the words of its stack."""
    threads = surroundings.threads
    ids, names = threads.numbers("tid"), threads.text("name")
    on_stack = (classes.thread_rows >= 0) & (classes.type[classes.thread_rows] == _STACK)
    of_row: dict[int, list[str]] = {}
    for thread in np.flatnonzero(on_stack):
        words_of = of_row.setdefault(int(classes.thread_rows[thread]), [])
        words_of.append(
            " ".join(filter(None, ("tid", str(ids.values[thread]), names.values[names.codes[thread]])))
        )
    for row, people in of_row.items():
        more = f" and {len(people) - _SHOWN_THREADS} more" if len(people) > _SHOWN_THREADS else ""
        words.set(row, _join(words.get(row)) + ", ".join(people[:_SHOWN_THREADS]) + more)
    _copy_to_guards(words, layout, classes)


def _copy_to_guards(words: _Words, layout: Layout, classes: Classes) -> None:
    rows: Rows = np.flatnonzero((classes.type == _STACK) & layout.is_reservation & layout.touches_above)
    words.codes[rows] = words.codes[rows + 1]


def _join(text: str | None) -> str:
    return "" if text is None else f"{text}, "
