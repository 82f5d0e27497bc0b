"""Access rights and accounting of each region, as perms and VmFlags state them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text

__all__ = ["Rights", "read_rights"]


@dataclass(frozen=True)
class Rights:
    """One mask a right; ``has_flags`` tells where VmFlags are known.

    The flags that matter here, two letters each (proc_pid_smaps(5)): ``accounted`` ac, ``noreserve`` nr (no
    swap space is reserved), ``hugetlb`` ht, ``guarded`` gu (guard regions inside, by MADV_GUARD_INSTALL of
    Linux 6.13), ``unexpandable`` de.
    """

    private: Bools
    accessible: Bools
    writable: Bools
    executable: Bools
    has_flags: Bools
    accounted: Bools
    noreserve: Bools
    hugetlb: Bools
    guarded: Bools
    unexpandable: Bools

    @property
    def is_reserved(self) -> Bools:
        """Private mappings without any access right: address space that is only set aside."""
        return self.private & ~self.accessible


def read_rights(raw: RawColumns) -> Rights:
    """Read perms (``rwxp``, the last letter s where shared) and VmFlags, one question per distinct text."""
    perms, flags = raw.text("perms"), raw.text("VmFlags")

    def has(flag: str) -> Bools:
        return flags.match(lambda text: flag in text.split())

    return Rights(
        private=perms.match(lambda text: text[3:4] == "p"),
        accessible=perms.match(lambda text: text[:3] != "---"),
        writable=perms.match(lambda text: text[1:2] == "w"),
        executable=perms.match(lambda text: text[2:3] == "x"),
        has_flags=~flags.is_null,
        accounted=has("ac"),
        noreserve=has("nr"),
        hugetlb=has("ht"),
        guarded=has("gu"),
        unexpandable=has("de"),
    )


def describe_state(raw: RawColumns, rights: Rights) -> Text:
    """Return committed or reserved, null where the source states no rights."""
    codes = np.where(raw.text("perms").is_null, 2, rights.is_reserved)
    return Text(codes.astype(np.int32), ("committed", "reserved", None))
