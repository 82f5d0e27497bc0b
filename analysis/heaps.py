"""The heaps of a snapshot: the main heap, each arena or heap with an id, and what other allocators name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations, list_private_parts
from mmpscope.analysis.columns import Numbers, RawColumns, Text
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import HEAPS
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["list_heaps"]

_TYPES = ("Heap", "Managed Heap")
_APART = ("glibc arena", "private heap", "shareable")
"""Subtypes of which every allocation is a heap of its own."""
_SUMMED = ("size", "committed", "private", "total_ws", "private_ws", "swap", "lazyfree")
_COUNTED = pa.schema([("address", pa.uint64()), ("blocks", pa.uint64())])
_LARGEST_ID = 10**9
_VMMAP_ID = re.compile(r"Heap ID: ([0-9]{1,9})\b")
"""How VMMap writes the number of a heap into its details; its XML has it in a column, too."""


def list_heaps(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.HEAPS, sorted by address: one row an arena, one a heap that the source numbers.

    Of any other heap all that has the same type and subtype is one row, as in all of ``[anon:scudo:*]``.
    Where the source states its allocations (VMMap), these are added up, as in a summary: its sub-blocks are
    rounded.
    """
    stated = snapshot.stated_allocations
    regions = RawColumns(snapshot.regions if stated is None else stated)
    rows = np.flatnonzero(regions.text("type").equals(*_TYPES))
    ids = _read_ids(regions, rows)
    groups = group_by(_number_heaps(regions, rows, ids))
    first = rows[groups.first]
    columns: dict[str, object] = {
        name: groups.sum(regions.numbers(name).take(rows)).numbers for name in _SUMMED
    }
    columns |= {
        "name": _name_heaps(regions.text("subtype").take(first), ids[groups.first]),
        "address": Numbers(regions.numbers("address").values[first]),
        "blocks": groups.count.astype(np.uint32),
        **{name: regions.text(name).take(first) for name in ("type", "rule", "confidence")},
    }
    if stated is not None:
        columns |= _sum_stated(snapshot, rows, groups)
    return build_table(HEAPS, columns, len(first)).sort_by("address")


def _sum_stated(snapshot: LoadedSnapshot, rows: Rows, groups: Groups) -> dict[str, object]:
    """Count blocks as they are stated, and sum up private as a summary does: over sub-blocks."""
    allocations = list_allocations(snapshot)
    whole = RawColumns(allocations.select(["address", "blocks"]).cast(_COUNTED))
    parts = RawColumns(list_private_parts(snapshot.regions, allocations))
    of_parts = group_by(parts.numbers("allocation").values)
    bases = parts.numbers("allocation").values[of_parts.first]
    sums = of_parts.sum(parts.numbers("private")).numbers
    at = np.searchsorted(bases, whole.numbers("address").values[rows])
    blocks = groups.sum(whole.numbers("blocks").take(rows)).numbers
    counts = blocks.only(blocks.values < 1 << 32)  # more than the column holds, no file states in earnest
    return {"blocks": counts.to_arrow().cast(pa.uint32()), "private": groups.sum(sums.take(at)).numbers}


def _read_ids(regions: RawColumns, rows: Rows) -> Rows:
    """Read the number that VMMap gives a heap; 0 is none."""
    found = (_VMMAP_ID.search(text or "") for text in regions.text("Details").values)
    in_details = np.array([int(match[1]) if match else 0 for match in found], np.int64)
    stated = np.minimum(regions.numbers("Id").values[rows], np.uint64(_LARGEST_ID)).astype(np.int64)
    ids = np.where(stated > 0, stated, in_details[regions.text("Details").codes[rows]])
    return np.where(regions.text("type").equals("Heap")[rows], ids, 0)


def _name_heaps(subtype: Text, ids: Rows) -> Text:
    """Name heaps by their subtype, and those with a number by that."""
    distinct, codes = np.unique(ids, return_inverse=True)
    numbered = Text(codes.astype(np.int32), (*(f"heap {number}" for number in distinct.tolist()), None))
    return numbered.only(ids > 0).fill(subtype)


def _number_heaps(regions: RawColumns, rows: Rows, ids: Rows) -> Rows:
    """Number the heaps: by allocation those that are one each, by their number, others by type and name."""
    kind, name = regions.text("type"), regions.text("subtype")
    allocation = regions.numbers("allocation").values[rows]
    is_apart = name.equals(*_APART)[rows] & (ids == 0)
    _, place = np.unique(np.where(is_apart, allocation, np.uint64(0)), return_inverse=True)
    _, number = np.unique(ids, return_inverse=True)
    _, key = np.unique(place * (int(number.max(initial=0)) + 1) + number, return_inverse=True)
    names = np.where(ids > 0, 0, kind.codes[rows] * len(name.values) + name.codes[rows])
    keys: Rows = key * (len(kind.values) * len(name.values)) + names
    return keys
