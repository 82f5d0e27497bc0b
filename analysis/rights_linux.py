"""Access rights and accounting of each region, as perms and VmFlags state them."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text
from mmpscope.analysis.rights import Rights

__all__ = ["describe_protection", "describe_state", "read_rights"]


def read_rights(raw: RawColumns) -> Rights:
    """Read perms and VmFlags, one question per distinct text.

    perms are ``rwx`` and s where shared, p where private, ? where the source does not say (an ELF core).
    showmap -a states none of them.
    """
    perms, flags = raw.text("perms"), raw.text("VmFlags")

    def has(flag: str) -> Bools:
        return flags.match(lambda text: flag in text.split())

    return Rights(
        private=perms.match(lambda text: text[3:4] in ("p", "?")),
        has_sharing=perms.match(lambda text: text[3:4] != "?"),
        has_access=~perms.is_null,
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
    """Return committed, or reserved for private mappings without any right; null where none are stated."""
    is_reserved = rights.private & ~rights.accessible
    codes = np.where(raw.text("perms").is_null, 2, is_reserved)
    return Text(codes.astype(np.int32), ("committed", "reserved", None))


def describe_protection(raw: RawColumns) -> Text:
    """Return the rights as they stand in the map."""
    return raw.text("perms")
