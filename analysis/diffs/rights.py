"""Units of two instances that differ in nothing but their rights: one of them changed, in place of two."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools
from mmpscope.analysis.diffs.keyed import combine_codes, join_sides, number_keys
from mmpscope.analysis.diffs.sides import number_values
from mmpscope.analysis.diffs.units import BSS, COHORT, FILE, Units
from mmpscope.analysis.intervals import Rows
from numpy.typing import NDArray

__all__ = ["RIGHTS_MATCHES", "join_rights"]

RIGHTS_MATCHES = (("file+size", "medium"), ("size", "low"))
"""Word and confidence of such a match: of parts of a file, and of cohorts."""

_TELLING = 64 << 10
"""Bytes from which the size of a cohort tells something: a few pages are alike by chance."""

Codes = NDArray[np.int64]


def join_rights(keys: Codes, file: Codes, a: Units, b: Units) -> tuple[Codes, Bools]:
    """Give one key to a unit of a and a unit of b that nothing but rights tells apart, and mark its regions.

    They are parts of one file, or cohorts of one type and subtype, of exactly the same size and number of
    blocks, neither has a partner, and no other unit of its side is alike. `keys` and `file` are those of the
    regions of both sides, one behind the other. RELRO that was left out and code that a JIT made executable
    are such.
    """
    split, count = len(a.kind), number_keys(keys)
    rows = np.flatnonzero(_find_lonely(keys, split, count)[keys])
    sizes, blocks = np.zeros(count, np.uint64), np.zeros(count, np.int64)
    regions = np.concatenate([side.side.numbers("size").values for side in (a, b)])
    np.add.at(sizes, keys[rows], regions[rows])
    np.add.at(blocks, keys[rows], np.concatenate([a.begins, b.begins])[rows])
    kind = np.concatenate([a.kind, b.kind])
    is_cohort = kind == COHORT
    is_bss = np.concatenate([side.part.equals(BSS) for side in (a, b)])
    may = ((kind == FILE) & ~is_bss) | (is_cohort & (sizes[keys] >= _TELLING))
    rows = rows[may[rows]]
    rows = rows[np.unique(keys[rows], return_index=True)[1]]
    own = keys[rows]
    alike = combine_codes(
        kind[rows],
        number_values(join_sides(a.type, b.type)[rows]),
        number_values(join_sides(a.name, b.name)[rows] * is_cohort[rows]),
        number_values(file[rows]),
        number_values(sizes[own]),
        number_values(blocks[own] * is_cohort[rows]),
    )
    ours, theirs = _pair(alike, rows < split)
    renamed, joined = np.arange(count), np.zeros(count, np.bool_)
    renamed[own[theirs]] = own[ours]
    joined[own[ours]] = joined[own[theirs]] = True
    return (number_values(renamed[keys]) if len(ours) else keys), joined[keys]


def _find_lonely(keys: Codes, split: int, count: int) -> Bools:
    """Return the keys that one side has, and the other has not."""
    has = np.zeros((2, count), np.bool_)
    has[0, keys[:split]] = has[1, keys[split:]] = True
    lonely: Bools = has[0] != has[1]
    return lonely


def _pair(codes: Codes, is_left: Bools) -> tuple[Rows, Rows]:
    """Return the places of the left and of the right one of each code that both sides have just once."""
    count = number_keys(codes)
    left, right = np.flatnonzero(is_left), np.flatnonzero(~is_left)
    both = np.flatnonzero(
        (np.bincount(codes[left], minlength=count) == 1) & (np.bincount(codes[right], minlength=count) == 1)
    )
    places = np.zeros((2, count), np.int64)
    places[0, codes[left]], places[1, codes[right]] = left, right
    return places[0, both], places[1, both]
