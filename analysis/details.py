"""The details of each region: what a person reads to know it again; what all families have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Codes, Text
from mmpscope.analysis.layout import Layout, Rows
from mmpscope.analysis.schema import TYPES

__all__ = ["Words", "count_views", "find_stacks", "group_threads"]

_SEPARATOR = re.compile(r"[/\\]")
_SHOWN_THREADS = 3
_STACK = TYPES.index("Stack")


class Words:
    """Details under construction: every row has the code of a text, and new texts are added at the end."""

    def __init__(self, path: Text) -> None:
        self._texts: list[str | None] = list(path.values)
        self.codes: Codes = path.codes.copy()

    def __len__(self) -> int:
        return len(self._texts)

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


def count_views(words: Words, layout: Layout, classes: Classes) -> None:
    """Say so where one file is mapped more than once: sizes of its views add up, its pages do not (F28).

    A file is known by its inode or by its whole path: pmap calls any two memfd of one name the same.
    """
    is_known = (layout.raw.numbers("inode").values != 0) | layout.path.match(_SEPARATOR.search)
    first = np.flatnonzero((classes.allocation == layout.start) & (layout.file >= 0) & is_known)
    counts = np.bincount(layout.file[first], minlength=1)
    rows = np.flatnonzero(np.isin(layout.file, np.flatnonzero(counts > 1)))
    kinds = layout.file[rows] * np.int64(len(words)) + words.codes[rows]
    distinct, where, code = np.unique(kinds, return_index=True, return_inverse=True)
    added = np.zeros(len(distinct), np.int32)
    for kind, row in enumerate(rows[where].tolist()):  # distinct files and words, not regions
        name = words.get(row) or "a file without a name"
        added[kind] = words.add(f"{name} (mapped {counts[layout.file[row]]} times)")
    words.codes[rows] = added[code]


def _name_thread(surroundings: Surroundings, thread: int) -> str:
    """Return id and name of a thread, as in ``tid 4711 worker``."""
    ids, names = surroundings.threads.numbers("tid"), surroundings.threads.text("name")
    name = names.values[int(names.codes[thread])]
    return f"tid {ids.values[thread]}" if name is None else f"tid {ids.values[thread]} {name}"


def find_stacks(classes: Classes) -> Rows:
    """Return for each thread the row of its stack; -1 where it is unknown, or no stack."""
    rows = classes.thread_rows
    if not len(classes.type):
        return rows
    return np.where((rows >= 0) & (classes.type[rows] == _STACK), rows, -1)


def group_threads(rows: Rows, surroundings: Surroundings) -> Iterable[tuple[int, str]]:
    """Return the rows that threads point to, each with the words for its threads; -1 is none."""
    of_row: dict[int, list[str]] = {}
    for thread in np.flatnonzero(rows >= 0).tolist():
        of_row.setdefault(int(rows[thread]), []).append(_name_thread(surroundings, thread))
    for row, people in of_row.items():
        more = f" and {len(people) - _SHOWN_THREADS} more" if len(people) > _SHOWN_THREADS else ""
        yield row, ", ".join(people[:_SHOWN_THREADS]) + more
