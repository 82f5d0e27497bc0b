"""The laws among the figures of a region, in the slow and plain form that a test can trust."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__ = ["find_broken_laws"]

_CHAINS = (
    ("shared_ws", "shareable_ws", "total_ws", "size"),
    ("private_ws", "private", "committed", "size"),
    ("private_ws", "total_ws"),
    ("cow_shared", "shareable_ws"),
    ("locked_ws", "total_ws"),
    ("uss", "total_ws"),
    ("pss", "total_ws"),
    ("commit_charge", "size"),
)


def find_broken_laws(row: Mapping[str, Any]) -> list[str]:
    """Name the laws that a region breaks; what is null breaks none."""
    broken = [
        f"{low} {row[low]} > {high} {row[high]}"
        for chain in _CHAINS
        for low, high in pairwise(chain)
        if row[low] is not None and row[high] is not None and row[low] > row[high]
    ]
    parts = [row[name] for name in ("private_ws", "shareable_ws", "total_ws")]
    if None not in parts and parts[0] + parts[1] != parts[2]:
        broken.append(f"{parts[0]} + {parts[1]} != {parts[2]}")
    return broken
