"""What is odd among many snapshots: far in deviations and in bytes, beside enough others of its kind."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from mmpscope.analysis.columns import Numbers
from mmpscope.analysis.comparisons.metrics import METRICS, Metric
from mmpscope.analysis.comparisons.outliers import LEAST_GROUP, Odd, Sensitivity, find_odd, take_nearest

PRIVATE = next(metric for metric in METRICS if metric.name == "private")
HEAP = next(metric for metric in METRICS if metric.name == "Heap private")
MAPPINGS = next(metric for metric in METRICS if metric.name == "mappings")
MIB = 1 << 20


def _judge(
    values: Sequence[int | None],
    metric: Metric = PRIVATE,
    sensitivity: Sensitivity = Sensitivity(),  # noqa: B008  # frozen
) -> list[Odd]:
    known = np.array([value is not None for value in values])
    numbers = Numbers(np.array([value or 0 for value in values], np.uint64), known)
    return list(find_odd(metric, numbers, [np.arange(len(values))], sensitivity))


def _make_noise(count: int, seed: int, sigma: float = 0.1) -> list[int]:
    chance = random.Random(seed)
    return [max(0, int(chance.gauss(100, 100 * sigma) * MIB)) for _ in range(count)]


def test_the_distance_is_in_robust_deviations() -> None:
    """Median and 1.4826 MAD of all of them, the odd one included, by Python's own statistics."""
    values = [*_make_noise(100, 1), 250 * MIB]
    [odd] = _judge(values)
    median = statistics.median_low(values)
    deviation = 1.4826 * statistics.median_low(abs(value - median) for value in values)
    assert (odd.row, odd.median, odd.excess, odd.peers) == (100, median, 250 * MIB - median, 100)
    assert odd.mads == pytest.approx((250 * MIB - median) / deviation)
    assert odd.describe("this executable and version").startswith(
        f"private {odd.mads:.3g} MADs above 100 others"
    )


@pytest.mark.parametrize(
    ("mads", "shown"), [(5.0, "5"), (5.234, "5.23"), (-45.06, "45.1"), (99.96, "100"), (6747.6, "6,750")]
)
def test_a_distance_has_three_significant_digits(mads: float, shown: str) -> None:
    """More would only say how even the others are."""
    odd = Odd(0, PRIVATE, 9 * MIB, MIB, 1.0, mads, 12)
    assert odd.describe().startswith(f"private {shown} MADs ")


def test_normal_noise_has_no_outliers() -> None:
    """At most 1 in 10,000 of them over many seeds: who looks at a fleet looks at thousands."""
    found = sum(len(_judge(_make_noise(300, seed))) for seed in range(200))
    assert found <= 6


def test_half_of_a_group_may_be_odd_before_the_rest_is_blamed() -> None:
    """A mean and a standard deviation would call neither odd."""
    values = [*_make_noise(60, 2, 0.02), *[500 * MIB] * 40]
    assert [odd.row for odd in _judge(values)] == list(range(60, 100))


def test_equal_values_and_one_that_is_not() -> None:
    """A MAD of 0 is no reason to divide by it, nor to keep silent."""
    [odd] = _judge([*[100 * MIB] * 311, 220 * MIB], HEAP)
    assert (odd.mads, odd.deviation, odd.excess) == (None, 0.0, 120 * MIB)
    told = odd.describe("this executable")
    assert (
        told == "heap 120 MiB above 311 others of this executable (220 MiB; over half of them have 100 MiB)"
    )


@pytest.mark.parametrize("other", [100 * MIB + 4096, 100 * MIB + MIB - 1, 104 * MIB])
def test_an_iota_is_no_outlier(other: int) -> None:
    """However many deviations: a page beside values that are all but equal is worth nobody's time."""
    assert _judge([*[100 * MIB] * 50, other]) == []


def test_values_of_two_kinds_are_no_outliers() -> None:
    """Where 51 of 100 are equal the MAD is 0, and the other 49 are not odd for that."""
    assert _judge([*[100 * MIB] * 51, *[200 * MIB] * 49]) == []


def test_small_groups_cannot_tell() -> None:
    """Neither too few snapshots, nor too few that know the figure."""
    values = [*[100 * MIB] * (LEAST_GROUP - 2), 900 * MIB]
    assert _judge(values) == []
    assert _judge([*values, *[None] * 100]) == []
    assert len(_judge([100 * MIB, *values])) == 1


def test_unknown_is_not_zero() -> None:
    """A null among large values is not far below them."""
    assert _judge([*_make_noise(50, 3, 0.02), None]) == []


def test_counts_are_judged_as_counts() -> None:
    """By things, without units."""
    [odd] = _judge([*[500] * 20, 60_000], MAPPINGS)
    assert odd.describe("this executable").startswith(
        "mappings 59,500 above 20 others of this executable (60,000"
    )


def test_large_numbers_are_exact() -> None:
    """Address spaces near 2^64 are subtracted as integers."""
    low, high = 2**64 - 1 - 2**40, 2**64 - 1
    [odd] = _judge([*[low] * 20, high], sensitivity=Sensitivity(part=0))
    assert odd.excess == 2**40


@pytest.mark.parametrize(("part", "expected"), [(0, 1), (0.25, 3), (0.5, 5), (0.95, 10), (1, 10)])
def test_percentiles_are_values_that_occur(part: float, expected: int) -> None:
    """Nearest rank: of 1 to 10 a quarter lies at or below 3."""
    assert take_nearest(np.arange(1, 11, dtype=np.uint64), part) == expected
