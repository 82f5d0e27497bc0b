"""What is gone at one address and new at another, and is the same mapping."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.diffs.rows import Half
from mmpscope.analysis.diffs.sides import Side, find_offset, number_facts, number_values
from mmpscope.analysis.intervals import Rows
from numpy.typing import NDArray

__all__ = ["find_moves"]


def find_moves(a: tuple[Side, Half], b: tuple[Side, Half]) -> tuple[Rows, Rows]:
    """Pair what is only in a with what is only in b; returns the rows of both, pair by pair.

    A pair is one region on each side with the same stretch of the same file, the same size, type and rights,
    and no other region that could be meant on either side. Memory without a file is never paired: a block
    that was freed and another that was allocated look the same as one that moved.
    """
    gone, new = _find_lone(*a, b[1]), _find_lone(*b, a[1])
    side_a, side_b = a[0].narrow(a[1].shown[gone]), b[0].narrow(b[1].shown[new])
    facts = np.concatenate(number_facts(side_a, side_b, find_offset))
    sizes = number_values(np.concatenate([side.numbers("size").values for side in (side_a, side_b)]))
    keys = number_values(facts * (sizes.max(initial=0) + 1) + sizes)
    of_gone, of_new = keys[: len(gone)], keys[len(gone) :]
    count = int(keys.max(initial=-1)) + 1
    paired = (np.bincount(of_gone, minlength=count) == 1) & (np.bincount(of_new, minlength=count) == 1)
    return _list_by_key(gone, of_gone, paired), _list_by_key(new, of_new, paired)


def _find_lone(side: Side, half: Half, other: Half) -> Rows:
    """Return the rows of one region of a file that the other side has nothing of."""
    inode = np.append(side.numbers("inode").values, 0)
    lone = (half.spans.count == 1) & ~other.exists & (inode[half.shown] != 0)
    return np.flatnonzero(lone)


def _list_by_key(rows: Rows, keys: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Rows:
    """Return the rows whose key is chosen, in the order of their keys."""
    taken = chosen[keys]
    listed: Rows = rows[taken][np.argsort(keys[taken])]
    return listed
