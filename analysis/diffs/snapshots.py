"""What changed between two snapshots: totals first, then types, then the largest changes, each adding up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from mmpscope.analysis.diffs.components import diff_components
from mmpscope.analysis.diffs.evidence import level_evidence
from mmpscope.analysis.diffs.free import diff_free
from mmpscope.analysis.diffs.instances import Matched, diff_instances
from mmpscope.analysis.diffs.movers import choose_movers
from mmpscope.analysis.diffs.parts import diff_modules, diff_threads
from mmpscope.analysis.diffs.ranges import diff_ranges
from mmpscope.analysis.diffs.rest import diff_rest
from mmpscope.analysis.diffs.schema import DIFF_MATCHING, DIFF_ROWS, DIFF_TABLES, METRICS, SAME
from mmpscope.analysis.diffs.scope import Scope, find_scope
from mmpscope.analysis.diffs.segments import split_facts
from mmpscope.analysis.diffs.sharing import share_addresses
from mmpscope.analysis.diffs.sides import (
    keep_common,
    list_compared,
    narrow_sides,
    read_sides,
)
from mmpscope.analysis.diffs.totals import (
    Summaries,
    compare_summaries,
    diff_outside,
    diff_totals,
    diff_types,
    forget_types,
)
from mmpscope.analysis.diffs.units import describe_units
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.extent import ALL, NOTHING, SOME
from mmpscope.analysis.identity import (
    DIFFERENT_INSTANCES,
    SAME_INSTANCE,
    UNPROVEN,
    Comparison,
    compare_instances,
)
from mmpscope.analysis.mapping_count import MappingCount, count_mappings
from mmpscope.analysis.summary import sum_up
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["DIFFERENT_MODE", "SAME_MODE", "DiffResult", "check_words", "diff"]

SAME_MODE = "same"
"""One process instance: regions are compared by address."""
DIFFERENT_MODE = "different"
"""Two instances: addresses mean nothing to each other."""


_WITHOUT_ADDRESSES = "totals, types and modules are compared, addresses are not"
_MATCHED = "regions are matched by what they are, not by address"
_OTHER_TYPES = "; types are not compared, since they rest on other facts in a than in b"


@dataclass(frozen=True)
class DiffResult:
    """Two snapshots compared; the columns of each table are in diffs.schema.DIFF_TABLES.

    `mode` is same or different, and `mode_reason` says why and what follows; `scope` how much can be
    compared. The deltas of `components`, and those of `movers`, add up to those of `totals` where all figures
    are known; those of `totals` and `types` are b - a, or null. `outside` is what totals have and no region:
    a part of `components` if there are any, and of all groups.
    """

    mode: str
    mode_reason: str
    identity: Comparison
    metric: str
    totals: pa.Table
    types: pa.Table
    movers: pa.Table
    components: pa.Table
    outside: pa.Table
    ranges: pa.Table
    modules: pa.Table
    threads: pa.Table
    matching: pa.Table
    largest_free: pa.Table
    map_count: tuple[MappingCount, MappingCount]
    scope: Scope

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_diff

        return show_diff(self)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that can be compared; a row that is only in part unknown is no change."""
        changed = any(delta for delta in self.totals.column("delta").to_pylist())
        changed |= any(word != SAME for word in self.components.column("word").unique().to_pylist())
        listed = (self.ranges, self.modules, self.threads)
        return not changed and not any(table.num_rows for table in listed)

    def to_tables(self) -> dict[str, pa.Table]:
        """Return the tables by name."""
        return {name: getattr(self, name) for name in DIFF_TABLES}


def diff(
    a: LoadedSnapshot,
    b: LoadedSnapshot,
    mode: str | None = None,
    *,
    metric: str = "private",
    limit: int = 20,
) -> DiffResult:
    """Compare two snapshots, `a` before and `b` after.

    `mode` is same or different; by default the identity decides; snapshots that do not tell are compared as
    one instance, unless they have no address in common. Where one has no address space all is unknown, and
    nothing is new or gone; where one lists a part of its regions, or totals only, what both know for sure is
    compared. `metric` (diffs.schema.METRICS) ranks the movers, of which `limit` are shown (0: all). Raises
    UsageError for other words.
    """
    check_words(metric, limit)
    identity = compare_instances(a, b)
    scope = find_scope(a, b)
    is_apart = identity.verdict == UNPROVEN and scope.regions == ALL and not share_addresses(a, b)
    mode, mode_reason = _choose_mode(mode, identity, scope, is_apart=is_apart)
    is_same = mode == SAME_MODE and scope.regions != NOTHING
    a, b = level_evidence(a, b)
    is_matched = mode == DIFFERENT_MODE and _can_match(scope)
    compared = _compare((a, b), scope, is_same=is_same, is_matched=is_matched)
    modules = _know_both(a.modules, b.modules, is_whole=scope.regions == ALL)
    threads = _know_both(a.threads, b.threads, is_whole=is_same or is_matched)
    return DiffResult(
        mode=mode,
        mode_reason=mode_reason,
        identity=identity,
        metric=metric,
        totals=diff_totals(compared.summaries, (a, b)),
        types=diff_types(compared.summaries),
        movers=choose_movers(compared.components, metric, limit),
        components=compared.components,
        outside=compared.outside,
        ranges=compared.ranges,
        modules=diff_modules(*modules, same_instance=is_same),
        threads=diff_threads(*threads, same_instance=is_same),
        matching=compared.matching,
        largest_free=diff_free(a, b, scope, same_instance=is_same),
        map_count=(count_mappings(a), count_mappings(b)),
        scope=scope,
    )


class _Compared(NamedTuple):
    summaries: Summaries
    components: pa.Table
    outside: pa.Table
    ranges: pa.Table
    matching: pa.Table


def _compare(
    pair: tuple[LoadedSnapshot, LoadedSnapshot], scope: Scope, *, is_same: bool, is_matched: bool
) -> _Compared:
    """Compare summaries, and regions by address or, of two instances, by what they are."""
    a, b = pair
    answers = (sum_up(a), sum_up(b))
    summaries = compare_summaries(*answers, pair, scope)
    components = outside = ranges = build_table(DIFF_ROWS, {}, 0)
    matching = build_table(DIFF_MATCHING, {}, 0)
    if is_same:
        components, ranges = _diff_regions(pair, scope)
    elif is_matched:
        components, matching = _match_regions(pair)
    if scope.regions == ALL:
        rest = diff_rest((a, answers[0].table), (b, answers[1].table))
        outside = pa.concat_tables([diff_outside(summaries), rest]).combine_chunks()
    if is_same or is_matched:
        components = pa.concat_tables([components, outside]).combine_chunks()
    if is_same and not scope.types:
        summaries = forget_types(summaries)
    return _Compared(summaries, components, outside, ranges, matching)


def _match_regions(pair: tuple[LoadedSnapshot, LoadedSnapshot]) -> Matched:
    """Compare regions by what they are."""
    before, after = read_sides(*pair)
    one, two = (describe_units(*each) for each in zip(pair, (before, after), strict=True))
    return diff_instances(one, two, list_compared(before, after))


def _know_both(a: pa.Table, b: pa.Table, *, is_whole: bool) -> tuple[pa.Table, pa.Table]:
    """Return two lists of parts, or none of both where one side does not know its own.

    Every process has a thread and a program: an empty list means that the source tells none.
    """
    return (a, b) if is_whole and len(a) and len(b) else (a[:0], b[:0])


def check_words(metric: str, limit: int) -> None:
    """Raise UsageError for a figure or a number of rows that a diff does not have."""
    if metric not in METRICS:
        raise UsageError(f"{metric} is no figure of a diff. Choose one of {', '.join(METRICS)}")
    if limit < 0:
        raise UsageError(f"{limit} rows cannot be shown. Give 0 for all, or a number above")


def _can_match(scope: Scope) -> bool:
    """Tell if both sides list all regions, in the same words: else nothing can be known again."""
    return scope.regions == ALL and scope.types


def _choose_mode(asked: str | None, identity: Comparison, scope: Scope, *, is_apart: bool) -> tuple[str, str]:
    if asked not in (None, SAME_MODE, DIFFERENT_MODE):
        raise UsageError(f"{asked} is no mode of a diff. Choose {SAME_MODE} or {DIFFERENT_MODE}")
    told = f"{identity.verdict} ({identity.reason})"
    types = "" if scope.types else _OTHER_TYPES
    limits = f"; {limit}" if (limit := scope.describe()) else ""
    if asked == SAME_MODE:
        return asked, f"{told}; compared as asked, mode {asked}{limits}{types}"
    if asked is None and identity.verdict == SAME_INSTANCE:
        return SAME_MODE, f"{told}{limits or '; regions are compared by address'}{types}"
    if asked is None and identity.verdict != DIFFERENT_INSTANCES and not is_apart:
        how = limits or ", and regions compared by address"
        return SAME_MODE, f"{told}; taken for one instance{how}{types}"
    if asked is not None:
        told = f"{told}; compared as asked, mode {asked}"
    elif is_apart:
        told = f"{told}, and no address in common: taken for two processes"
    return DIFFERENT_MODE, "; ".join(filter(None, (told, *_describe_matching(scope))))


def _describe_matching(scope: Scope) -> tuple[str | None, str | None]:
    """Say what of two instances is compared, and what limits that."""
    if scope.regions == SOME:
        return None, scope.describe(by_address=False)
    return _MATCHED if _can_match(scope) else _WITHOUT_ADDRESSES, scope.describe(by_address=False)


def _diff_regions(pair: tuple[LoadedSnapshot, LoadedSnapshot], scope: Scope) -> tuple[pa.Table, pa.Table]:
    """Compare regions by address: components and ranges."""
    before, after = read_sides(*pair)
    if scope.regions == SOME:
        before, after = keep_common(before, after)
    metrics = list_compared(before, after)
    before, after = narrow_sides(before, after)
    segments = split_facts(before, after)
    return diff_components(before, after, segments, metrics), diff_ranges(before, after, segments)
