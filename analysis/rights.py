"""Access rights of each region as masks, whatever words or numbers the source has for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools

__all__ = ["Rights"]


@dataclass(frozen=True)
class Rights:
    """One mask a right; what is not known to be shared counts as ``private`` here, see ``has_sharing``.

    ``has_access`` tells where access rights are stated at all, ``has_sharing`` where it is stated who shares.
    ``has_flags`` tells where VmFlags are known, and then what they say (proc_pid_smaps(5), two letters each):
    ``accounted`` ac, ``noreserve`` nr (no swap space is reserved), ``hugetlb`` ht, ``guarded`` gu (guard
    regions inside, by MADV_GUARD_INSTALL of Linux 6.13), ``unexpandable`` de.
    """

    private: Bools
    has_sharing: Bools
    has_access: Bools
    accessible: Bools
    writable: Bools
    executable: Bools
    has_flags: Bools
    accounted: Bools
    noreserve: Bools
    hugetlb: Bools
    guarded: Bools
    unexpandable: Bools

    @classmethod
    def without_flags(cls, private: Bools, accessible: Bools, writable: Bools, executable: Bools) -> Rights:
        """Take the rights of a system that is not Linux: sharing is known, and there are no VmFlags."""
        never = np.zeros(len(private), np.bool_)
        flags = dict.fromkeys(
            ("has_flags", "accounted", "noreserve", "hugetlb", "guarded", "unexpandable"), never
        )
        return cls(private, ~never, ~never, accessible, writable, executable, **flags)
