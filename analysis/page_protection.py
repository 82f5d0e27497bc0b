"""Regions that state a PAGE_* number: its bits as masks, and its text in VMMap's words."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, Text
from mmpscope.formats.vmmap.protection import PAGE_NOACCESS, name_protection

__all__ = ["has_bits", "is_accessible", "name_protections"]


def has_bits(protection: Numbers, bits: int) -> Bools:
    """Tell where any of these bits is set."""
    found: Bools = (protection.values & np.uint64(bits)) != 0
    return found


def is_accessible(protection: Numbers) -> Bools:
    """Tell where there is a right at all: 0 is a reservation, and memory may be committed without any."""
    accessible: Bools = (protection.values & ~np.uint64(PAGE_NOACCESS)) != 0
    return accessible


def name_protections(protection: Numbers) -> Text:
    """Return each protection in VMMap's words, one question per distinct number; null where unknown."""
    distinct, codes = np.unique(protection.values, return_inverse=True)
    names = [name_protection(value) for value in distinct.tolist()]
    texts = list(dict.fromkeys(names))
    places = np.array([texts.index(name) for name in names], np.int32)
    return Text(np.where(protection.is_known, places[codes], len(texts)).astype(np.int32), (*texts, None))
