"""Laws of checks: a budget is exact to the byte, an unknown is never a pass, order means nothing."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.checks.budget import (
    AT_LEAST,
    AT_MOST,
    FREE,
    GROWTH,
    LEAST_SAMPLES,
    NOTHING_NEW,
    RIGHTS,
    SPREAD,
    TOTAL,
    TYPE,
    Budget,
    Limit,
    Subject,
)
from mmpscope.analysis.checks.figures import Figure, Pair
from mmpscope.analysis.checks.parts import Named
from mmpscope.analysis.checks.schema import CANNOT_TELL, OK, TOTAL_METRICS, VIOLATED
from mmpscope.analysis.checks.snapshots import check
from mmpscope.analysis.checks.verdicts import (
    find_deviation,
    find_median,
    judge_alone,
    judge_growth,
    judge_new,
)
from mmpscope.analysis.schema import TYPES
from support.checks import size_heap
from support.effort import scale
from support.loaded import load_map

_PRIVATE = Subject(TOTAL, TOTAL, "private")
_SIZES = st.integers(0, (1 << 63) - 1)
_SMALL = st.integers(1, 64).map(lambda pages: 4 * pages)


@given(_SMALL, _SMALL)
@settings(max_examples=scale(25))
def test_a_budget_of_what_was_observed_passes_and_one_byte_less_fails(before: int, after: int) -> None:
    """Of whole snapshots: growth, and the value itself."""
    old, new = size_heap(before), size_heap(after)
    heap = Subject(TYPE, "Heap", "private")
    limits: list[tuple[str, int, tuple[LoadedSnapshot, ...]]] = [(AT_MOST, after * 1024, ())]
    if after > before:
        limits.append((GROWTH, (after - before) * 1024, (old,)))
    for rule, amount, baseline in limits:
        for less, word in ((0, OK), (1, VIOLATED)):
            result = check(new, baseline, [Budget(heap, Limit(rule, amount - less))])
            assert result.outcome == word


@given(_SIZES, _SIZES)
def test_exact_to_the_byte_beyond_any_float(baseline: int, growth: int) -> None:
    """Up to 2^64: what is allowed is allowed, and one byte more is not."""
    budget = Budget(_PRIVATE, Limit(GROWTH, growth))
    for value, word in ((baseline + growth, OK), (baseline + growth + 1, VIOLATED)):
        assert judge_growth(budget, [Pair(baseline, value)])["verdict"] == word


@given(_SIZES)
def test_at_least_and_at_most_include_the_limit(value: int) -> None:
    """A value that is just the limit holds either."""
    for rule, subject, step in ((AT_MOST, _PRIVATE, 1), (AT_LEAST, FREE, -1)):
        budget = Budget(subject, Limit(rule, value))
        assert judge_alone(budget, Figure(value))["verdict"] == OK
        if value + step >= 0:
            assert judge_alone(budget, Figure(value + step))["verdict"] == VIOLATED


@given(st.lists(_SIZES, min_size=1, max_size=9), _SIZES, st.integers(0, 9), st.randoms(use_true_random=False))
def test_the_order_of_a_baseline_means_nothing(
    values: list[int], value: int, spread: int, random: object
) -> None:
    """The same verdict in any order; a spread is told from five samples on, and never of fewer."""
    budget = Budget(_PRIVATE, Limit(SPREAD, spread=Fraction(spread)))
    rows = [judge_growth(budget, [Pair(each, value) for each in order]) for order in (values, values[::-1])]
    assert rows[0] == rows[1]
    assert (rows[0]["verdict"] == CANNOT_TELL) == (len(values) < LEAST_SAMPLES)


@given(st.lists(_SIZES, min_size=5, max_size=9), _SIZES)
def test_a_minority_of_odd_samples_stays_within_the_others(values: list[int], odd: int) -> None:
    """However odd one sample is, the median stays between the others, the deviation below their range."""
    middle = find_median([*values, odd])
    assert min(values) <= middle <= max(values)
    assert find_deviation(values) <= max(values) - min(values)


@given(
    st.lists(st.tuples(_SIZES, st.booleans()), min_size=1, max_size=7),
    st.sampled_from([Limit(GROWTH, 1 << 62), Limit(SPREAD, 1 << 62, spread=Fraction(6))]),
)
def test_what_no_sample_tells_is_never_ok(samples: list[tuple[int, bool]], limit: Limit) -> None:
    """However generous a budget is: with no comparable sample, or too few for a spread, there is no pass."""
    pairs = [Pair(size, size, None if known else "not known") for size, known in samples]
    told = {pair.value for pair in pairs if pair.lacking is None}
    row = judge_growth(Budget(_PRIVATE, limit), pairs)
    if not told or len(told) > 1:
        assert row["verdict"] == CANNOT_TELL
        assert row["reason"]


@given(_SIZES | st.none(), st.sampled_from([AT_MOST, AT_LEAST]), _SIZES)
def test_a_value_that_is_not_all_known_is_never_ok(value: int | None, rule: str, limit: int) -> None:
    """At best it is at least something, which may be too much for sure."""
    row = judge_alone(Budget(_PRIVATE, Limit(rule, limit)), Figure(value, "not all known"))
    is_sure = rule == AT_MOST and value is not None and value > limit
    assert row["verdict"] == (VIOLATED if is_sure else CANNOT_TELL)


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)),
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_nothing_new_is_ok_only_where_both_sides_are_known(
    new: dict[str, int], before: list[dict[str, int]], is_known: bool, was_known: bool
) -> None:
    """Ok: all of it is known, and no name has more than in some snapshot of the baseline."""
    baselines = [Named(each, None if was_known else "not known") for each in before]
    row = judge_new(
        Budget(RIGHTS, Limit(NOTHING_NEW)), Named(new, None if is_known else "not known"), baselines
    )
    known = before if was_known else []
    has_more = any(size > max((each.get(name, 0) for each in known), default=0) for name, size in new.items())
    expected = VIOLATED if has_more and was_known else OK if is_known and not has_more else CANNOT_TELL
    assert row["verdict"] == (expected if before else CANNOT_TELL)


def test_no_figure_of_a_map_without_counters_passes() -> None:
    """Every metric of the total and of each type, but those that a map does tell: never ok by growth of 0."""
    line = "10000000-10100000 rw-p 0 0 [heap]"
    maps, smaps = load_map(line), size_heap(1024)
    told = {"size", "committed", "private"}
    for metric in TOTAL_METRICS:
        subjects = [Subject(TOTAL, TOTAL, metric), Subject(TYPE, "Heap", metric)]
        budgets = [Budget(subject, Limit(GROWTH, 1 << 62)) for subject in subjects]
        for new, old in ((maps, smaps), (smaps, maps)):
            words = set(check(new, [old], budgets).table.column("verdict").to_pylist())
            assert words == {CANNOT_TELL} or metric in told


def test_every_type_and_metric_can_be_budgeted() -> None:
    """No name of the budget file leads nowhere."""
    new = size_heap(64)
    for name in TYPES:
        budgets = [Budget(Subject(TYPE, name, metric), Limit(GROWTH, 0)) for metric in TOTAL_METRICS]
        assert VIOLATED not in check(new, [new], budgets).table.column("verdict").to_pylist()
