"""Which of the changes between two snapshots are listed: those of some types, and none that is no change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.diffs.movers import choose_movers
from mmpscope.analysis.diffs.schema import SAME
from mmpscope.analysis.diffs.snapshots import DiffResult
from mmpscope.analysis.listing import keep_types

__all__ = ["Choice", "choose_changes", "keep_changes"]

_PARTS = {"modules": "Image", "threads": "Stack"}
"""The type of memory that these lists are about."""


class Choice(NamedTuple):
    """At most ``limit`` movers (0: all), each of at least ``least`` bytes.

    They are chosen of ``groups``, if there are any, in place of the components.
    """

    limit: int
    least: int = 0
    groups: pa.Table | None = None


def choose_changes(result: DiffResult, types: Sequence[str], choice: Choice) -> DiffResult:
    """Leave in a comparison what changed, of some types on either side; an empty list stands for all types.

    Totals stay those of the whole process. Movers leave out components of the word same, which are listed
    because one side knows less of them: their known changes are 0, so sums hold.
    """
    components = keep_changes(result.components, types)
    rows = components if choice.groups is None else choice.groups
    changed = rows.filter(pc.not_equal(rows["word"].cast(pa.string()), SAME))
    chosen = replace(
        result,
        types=keep_types(result.types, ["Total", *types] if types else ()),
        components=components,
        movers=choose_movers(changed, result.metric, choice.limit, choice.least),
        ranges=keep_changes(result.ranges, types),
    )
    left_out = [name for name, kind in _PARTS.items() if types and kind not in types]
    return replace(chosen, **{name: getattr(result, name).slice(0, 0) for name in left_out})


def keep_changes(changes: pa.Table, types: Sequence[str]) -> pa.Table:
    """Keep the changes (columns of diffs.schema.DIFF_ROWS) of some types on either side; none keeps all."""
    if not types:
        return changes
    kinds = pa.array(types, pa.string())
    before, after = (pc.is_in(changes[name].cast(pa.string()), kinds) for name in ("type_a", "type_b"))
    return changes.filter(pc.or_(before, after))
