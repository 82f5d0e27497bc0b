"""Regions joined to allocations: a library with its .bss, a stack with its guard, an arena with its tail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns, Text
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import ALLOCATIONS, COUNTERS
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described

__all__ = ["list_allocations", "list_private_parts", "measure_allocations"]

_GUARD = "guard"
_STATED_BLOCKS = "Blocks"
_MOST_BLOCKS = np.uint64(2**32 - 1)
_MOST_RIGHTS = 64


def list_allocations(snapshot: Described) -> pa.Table:
    """Return schema.ALLOCATIONS, one row an allocation, sorted by address.

    Type, subtype and details are those of the first region that is no guard; details without the section of
    an image. Protection lists the different rights of its regions, as in ``r--p, r-xp, rw-p``. Where the
    source states its allocations (VMMap), all but ``first`` is as it says, blocks too: it counts other things
    than the regions that it lists.
    """
    if (shared := snapshot.find_shared("allocations")) is not None:
        return shared
    stated = snapshot.stated_allocations
    return _join_regions(snapshot) if stated is None else _take_stated(stated, RawColumns(snapshot.regions))


def measure_allocations(regions: RawColumns) -> tuple[RawColumns, Rows]:
    """Return type, subtype and size of the allocations of regions, and the first row of each."""
    groups = group_by(regions.numbers("allocation").values)
    shown = _choose_shown(regions, groups)
    names = {name: regions.text(name).take(shown) for name in ("type", "subtype")}
    size = groups.sum(regions.numbers("size")).numbers
    columns: dict[str, Numbers | Text] = {**names, "size": size}
    return RawColumns.gather(columns, len(groups.begins)), groups.first


def list_private_parts(regions: pa.Table, allocations: pa.Table) -> pa.Table:
    """Return allocation, type, private and blocks of what VMMap's summary sums private over.

    The sub-blocks of all allocations, and in their place those allocations that they do not fill.
    Sizes are printed in KiB, each rounded for itself. Generations of a managed heap are no multiple of one:
    the sub-blocks of two heaps of a real save are 1 KiB less than the heap, of every figure.
    """
    parts, whole = RawColumns(regions), RawColumns(allocations)
    groups = group_by(parts.numbers("allocation").values)
    bases, sizes = parts.numbers("allocation").values[groups.first], groups.sum(parts.numbers("size"))
    is_part = np.isin(whole.numbers("address").values, bases)
    at = np.searchsorted(bases, whole.numbers("address").values[is_part])
    filled = np.zeros(whole.rows, np.bool_)
    filled[is_part] = sizes.numbers.values[at] == whole.numbers("size").values[is_part]
    kept = np.isin(parts.numbers("allocation").values, whole.numbers("address").values[filled])
    names = ["allocation", "type", "private", "blocks"]
    rest = allocations.rename_columns({"address": "allocation"}).filter(pa.array(~filled))
    return pa.concat_tables(
        [regions.select(names).filter(pa.array(kept)), rest.select(names)]
    ).unify_dictionaries()


def _take_stated(stated: pa.Table, regions: RawColumns) -> pa.Table:
    """Take allocations as they are stated, each with its first region (null where none is listed)."""
    raw = RawColumns(stated)
    names = [field.name for field in ALLOCATIONS if field.name in stated.column_names]
    columns: dict[str, object] = {name: stated.column(name) for name in names}
    if _STATED_BLOCKS in raw:
        blocks = raw.numbers(_STATED_BLOCKS)
        columns["blocks"] = blocks.only(blocks.values <= _MOST_BLOCKS)
    groups = group_by(regions.numbers("allocation").values)
    bases, address = regions.numbers("allocation").values[groups.first], raw.numbers("address").values
    at = np.searchsorted(bases, address)
    is_listed = (at < len(bases)) & (np.append(bases, np.uint64(0))[at] == address)
    columns["first"] = Numbers(np.append(groups.first, 0)[at].astype(np.uint64)).only(is_listed)
    return build_table(ALLOCATIONS, columns, raw.rows)


def _join_regions(snapshot: Described) -> pa.Table:
    regions = RawColumns(snapshot.regions)
    groups = group_by(regions.numbers("allocation").values)
    shown = _choose_shown(regions, groups)
    columns: dict[str, object] = {name: groups.sum(regions.numbers(name)).numbers for name in COUNTERS}
    columns |= {name: regions.text(name).take(shown) for name in ("snapshot", "type", "subtype")}
    columns |= {
        "details": snapshot.classified.told.take(shown),
        "address": Numbers(regions.numbers("address").values[groups.first]),
        "size": groups.sum(regions.numbers("size")).numbers,
        "end": Numbers(groups.max(regions.numbers("end").values)),
        "protection": _join_rights(regions.text("protection"), groups),
        "blocks": groups.count.astype(np.uint32),
        "first": groups.first.astype(np.uint32),
    }
    return build_table(ALLOCATIONS, columns, len(groups.begins))


def _choose_shown(regions: RawColumns, groups: Groups) -> Rows:
    """Choose the region that speaks for each allocation: the first that is no guard, else the first."""
    is_guard = regions.text("subtype").equals(_GUARD)
    rows = np.arange(regions.rows)
    last = np.int64(regions.rows)
    candidates = np.where(is_guard, last, rows)
    if not regions.rows:
        return rows
    best = np.minimum.reduceat(candidates[groups.order], groups.begins)
    return np.where(best < last, best, groups.first)


def _join_rights(rights: Text, groups: Groups) -> Text:
    """Return the different rights of each group, one question per distinct combination."""
    kinds = np.minimum(rights.codes, _MOST_RIGHTS - 1).astype(np.uint64)
    bits = groups.join_bits(np.uint64(1) << kinds)
    combinations, codes = np.unique(bits, return_inverse=True)
    names = [", ".join(sorted(_name_rights(int(combination), rights))) for combination in combinations]
    return Text(codes.astype(np.int32), (*names, None))


def _name_rights(bits: int, rights: Text) -> list[str]:
    codes = enumerate(rights.values)
    return [text for code, text in codes if text and bits >> min(code, _MOST_RIGHTS - 1) & 1]
