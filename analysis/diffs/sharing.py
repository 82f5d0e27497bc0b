"""Whether two snapshots that do not tell which process they show have any memory at one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.diffs.evidence import pair_paths
from mmpscope.analysis.diffs.sides import read_side

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["share_addresses"]


def share_addresses(a: LoadedSnapshot, b: LoadedSnapshot) -> bool:
    """Tell if a region of one begins or ends where one of the other does, with the same file or both none.

    A process keeps its program and its libraries where they are, while those of another lie elsewhere, as
    address space layout randomization has it. A side without regions tells nothing, and is said to share.
    """
    one, two = read_side(a.regions), read_side(b.regions)
    if not len(one.rows) or not len(two.rows):
        return True
    names_a, names_b = pair_paths(one.columns, two.columns)
    for edges_a, edges_b in ((one.starts, two.starts), (one.ends, two.ends)):
        _, at_a, at_b = np.intersect1d(edges_a, edges_b, return_indices=True)
        if (names_a[one.rows[at_a]] == names_b[two.rows[at_b]]).any():
            return True
    return False
