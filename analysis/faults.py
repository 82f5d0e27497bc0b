"""What a source gets wrong, collected per region and told in words.

Nothing is dropped for it: a wrong region stays in every table, and the text says what was done about it.
"""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, Text
from mmpscope.formats.errors import LimitError

__all__ = ["Faults"]

_MOST = 64
"""Kinds of faults in one table: one bit each. There are about ten, and one for each counter that is used."""


class Faults:
    """Which of the faults that were seen apply to which row."""

    def __init__(self, rows: int) -> None:
        self._bits = np.zeros(rows, np.uint64)
        self._words: list[str] = []

    def add(self, rows: Bools, words: str) -> None:
        """Note that the rows of the mask have this fault."""
        if not rows.any():
            return
        if len(self._words) == _MOST:
            raise LimitError(f"more than {_MOST} kinds of faults in one table of regions")
        self._bits[rows] |= np.uint64(1 << len(self._words))
        self._words.append(words)

    def cut(self, begin: int, end: int) -> Faults:
        """Return those of some rows."""
        part = Faults(end - begin)
        part._bits = self._bits[begin:end]
        part._words = self._words if part._bits.any() else []
        return part

    def describe(self) -> Text:
        """Return the faults of each row in words, joined by semicolons; null where there is none."""
        if not self._words:
            return Text(np.zeros(len(self._bits), np.int32), (None,))
        kinds, codes = np.unique(self._bits, return_inverse=True)
        texts = ["; ".join(self._name(int(kind))) for kind in kinds]
        nothing = len(texts)
        codes = np.where(self._bits == 0, nothing, codes)
        return Text(codes.astype(np.int32), (*texts, None))

    def _name(self, bits: int) -> list[str]:
        return [words for bit, words in enumerate(self._words) if bits >> bit & 1]
