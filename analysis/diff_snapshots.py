"""What changed between two snapshots: totals first, then types, then the largest changes, each adding up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.diff_components import diff_components
from mmpscope.analysis.diff_movers import choose_movers
from mmpscope.analysis.diff_parts import diff_modules, diff_threads
from mmpscope.analysis.diff_ranges import diff_ranges
from mmpscope.analysis.diff_schema import DIFF_ROWS, DIFF_THREADS, METRICS
from mmpscope.analysis.diff_segments import split_facts
from mmpscope.analysis.diff_sides import (
    forget_estimates,
    is_estimated,
    list_compared,
    narrow_sides,
    read_side,
)
from mmpscope.analysis.diff_totals import (
    Summaries,
    compare_summaries,
    diff_outside,
    diff_totals,
    diff_types,
    put_total,
)
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.identity import DIFFERENT_INSTANCES, SAME_INSTANCE, Comparison, compare_instances
from mmpscope.analysis.mapping_count import MappingCount, count_mappings
from mmpscope.analysis.space import has_address_space
from mmpscope.analysis.summary import summarize
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["DIFFERENT_MODE", "SAME_MODE", "DiffResult", "diff"]

SAME_MODE = "same"
"""One process instance: regions are compared by address."""
DIFFERENT_MODE = "different"
"""Two instances: addresses mean nothing to each other."""


@dataclass(frozen=True)
class DiffResult:
    """Two snapshots compared; the columns of each table are in diff_schema.DIFF_TABLES.

    `mode` is same or different, and `mode_reason` says why and what follows. The deltas of `components`, and
    those of `movers`, add up to those of `totals`.
    """

    mode: str
    mode_reason: str
    identity: Comparison
    metric: str
    totals: pa.Table
    types: pa.Table
    movers: pa.Table
    components: pa.Table
    ranges: pa.Table
    modules: pa.Table
    threads: pa.Table
    map_count: tuple[MappingCount, MappingCount]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that can be compared."""
        changed = any(delta for delta in self.totals.column("delta").to_pylist())
        listed = (self.components, self.ranges, self.modules, self.threads)
        return not changed and not any(table.num_rows for table in listed)

    def to_tables(self) -> dict[str, pa.Table]:
        """Return the tables by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, pa.Table)}


def diff(
    a: LoadedSnapshot,
    b: LoadedSnapshot,
    mode: str | None = None,
    *,
    metric: str = "private",
    limit: int = 20,
) -> DiffResult:
    """Compare two snapshots, `a` before and `b` after.

    `mode` is same or different; by default the identity decides, and snapshots that do not tell are compared
    as one instance. Where one has no address space all is unknown, and nothing is new or gone. `metric`
    (diff_schema.METRICS) ranks the movers, of which `limit` are shown (0: all). Raises UsageError for other
    words.
    """
    _check_words(metric, limit)
    identity = compare_instances(a, b)
    mode, mode_reason = _choose_mode(mode, identity)
    summaries = compare_summaries(
        *(_forget_estimates(summarize(side), side, other) for side, other in ((a, b), (b, a)))
    )
    is_known = has_address_space(a) and has_address_space(b)
    is_same = mode == SAME_MODE and is_known
    components, ranges = _diff_regions(a, b, summaries) if is_same else [build_table(DIFF_ROWS, {}, 0)] * 2
    summaries = put_total(summaries, components if is_same else None)
    modules = [side.modules if is_known else side.modules[:0] for side in (a, b)]
    return DiffResult(
        mode=mode,
        mode_reason=mode_reason,
        identity=identity,
        metric=metric,
        totals=diff_totals(summaries, a, b),
        types=diff_types(summaries),
        movers=choose_movers(components, metric, limit),
        components=components,
        ranges=ranges,
        modules=diff_modules(*modules, same_instance=is_same),
        threads=diff_threads(a.threads, b.threads) if is_same else build_table(DIFF_THREADS, {}, 0),
        map_count=(count_mappings(a), count_mappings(b)),
    )


def _check_words(metric: str, limit: int) -> None:
    if metric not in METRICS:
        raise UsageError(f"{metric} is no figure of a diff. Choose one of {', '.join(METRICS)}")
    if limit < 0:
        raise UsageError(f"{limit} rows cannot be shown. Give 0 for all, or a number above")


def _choose_mode(asked: str | None, identity: Comparison) -> tuple[str, str]:
    told = f"{identity.verdict} ({identity.reason})"
    if asked not in (None, SAME_MODE, DIFFERENT_MODE):
        raise UsageError(f"{asked} is no mode of a diff. Choose {SAME_MODE} or {DIFFERENT_MODE}")
    if asked is not None:
        return asked, f"{told}; compared as asked, mode {asked}"
    if identity.verdict == DIFFERENT_INSTANCES:
        return DIFFERENT_MODE, f"{told}; totals, types and modules are compared, addresses are not"
    if identity.verdict == SAME_INSTANCE:
        return SAME_MODE, f"{told}; regions are compared by address"
    return SAME_MODE, f"{told}; taken for one instance, and regions compared by address"


def _forget_estimates(answer: pa.Table, side: LoadedSnapshot, other: LoadedSnapshot) -> pa.Table:
    return forget_estimates(answer) if is_estimated(side.regions, other.regions) else answer


def _diff_regions(a: LoadedSnapshot, b: LoadedSnapshot, summaries: Summaries) -> tuple[pa.Table, pa.Table]:
    """Compare regions by address: components, with what is in no region, and ranges."""
    before, after = (
        read_side(_forget_estimates(side.regions, side, other)) for side, other in ((a, b), (b, a))
    )
    metrics = list_compared(before, after)
    before, after = narrow_sides(before, after)
    segments = split_facts(before, after)
    components = [diff_components(before, after, segments, metrics), diff_outside(summaries)]
    return pa.concat_tables(components).combine_chunks(), diff_ranges(before, after, segments)
