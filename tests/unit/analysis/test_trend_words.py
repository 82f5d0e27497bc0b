"""Lengths of time, rates and small charts, as a person reads them."""

from __future__ import annotations

import pytest
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.shapes import draw_shape
from mmpscope.analysis.trends.durations import show_duration, show_interval, show_rate

MIB = 1 << 20


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 ms"),
        (0.153, "153 ms"),
        (59.4, "59 s"),
        (90, "1.5 min"),
        (27_000, "7.5 h"),
        (4 * 86_400, "4 d"),
        (400 * 86_400, "1.1 y"),
        (1e12, "more than 1,000 y"),
    ],
)
def test_durations_have_two_digits_in_their_largest_unit(seconds: float, shown: str) -> None:
    """From nothing to what nobody lives to see."""
    assert show_duration(seconds) == shown


@pytest.mark.parametrize(
    ("low", "slope", "high", "shown"),
    [
        (0.9 * MIB, 1.2 * MIB, 1.5 * MIB, "+1.2 MiB/h (0.9 to 1.5)"),
        (-2.0 * MIB, 0.0, 3.0 * MIB, "0 MiB/h (-2 to 3)"),
        (-12_345.0, -10_240.0, -9_000.0, "-10 KiB/h (-12.1 to -8.79)"),
        (0.0, 0.0, 0.0, "0 bytes/h (0 to 0)"),
    ],
)
def test_a_rate_and_its_interval_share_a_unit(low: float, slope: float, high: float, shown: str) -> None:
    """The largest that one of the three reaches, so that none of them has many digits."""
    words = f"{show_rate(slope, 'bytes', low, high)} ({show_interval(low, high, slope, 'bytes')})"
    assert words == shown


def test_what_is_counted_keeps_its_own_unit() -> None:
    """Mappings have no MiB."""
    assert show_rate(12_345.0, "mappings") == "+12,345 mappings/h"


@pytest.mark.parametrize(
    ("values", "fine", "coarse"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█", "__..--=^"),
        ([5, 5, 5], "▁▁▁", "___"),
        ([0, None, 7], "▁ █", "_ ^"),
        ([], "", ""),
        ([None], "", ""),
    ],
)
def test_a_chart_reaches_from_least_to_largest(values: list[int | None], fine: str, coarse: str) -> None:
    """What never moves lies at the bottom; a stretch without a value is blank."""
    assert draw_shape(values, Screen()) == fine
    assert draw_shape(values, Screen(fine=False)) == coarse


def test_a_chart_of_many_values_is_halved_on_a_narrow_screen() -> None:
    """Its last value stays."""
    assert draw_shape(list(range(24)), Screen(width=80)) == draw_shape(list(range(1, 24, 2)), Screen())
    assert len(draw_shape(list(range(24)), Screen(width=120))) == 24
