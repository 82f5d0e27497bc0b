"""The command line: times, plans, and what belongs to the program that is started."""

from __future__ import annotations

import argparse

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.errors import UsageError
from mmpscope.collector.request import Request, parse_request, parse_time
from mmpscope.collector.series import Plan


def _parse(*arguments: str) -> Request:
    return parse_request(arguments, "mmp-collect")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1", 1.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("250ms", 0.25),
        ("10s", 10.0),
        ("5m", 300.0),
        ("2h", 7200.0),
        ("1d", 86400.0),
    ],
)
def test_times_have_units(text: str, seconds: float) -> None:
    """A bare number is seconds."""
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "1w", "-1", "1e3", "nan", "inf", "1 s", "\u0661x"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """No sign, no exponent, no unknown unit, no infinity."""
    with pytest.raises(argparse.ArgumentTypeError, match="is no time"):
        parse_time(text)


@pytest.mark.parametrize(
    ("arguments", "plan"),
    [
        (["1"], None),
        (["1", "--interval", "5s"], Plan(5.0)),
        (["1", "--count", "3"], Plan(1.0, 3)),
        (["1", "--duration", "1m"], Plan(1.0, None, 60.0)),
        (["1", "--interval", "2", "--count", "3", "--duration", "9"], Plan(2.0, 3, 9.0)),
        (["--", "true"], Plan(1.0)),
        (["--interval", "0.1", "--", "true"], Plan(0.1)),
    ],
)
def test_one_snapshot_or_a_plan(arguments: list[str], plan: Plan | None) -> None:
    """Any of the three options makes a series, and a program that is started is always watched to its end."""
    assert _parse(*arguments).plan == plan


def test_the_options_of_windows_reach_the_collector() -> None:
    """A budget has a unit of time like all others, and defaults that end."""
    words = [
        "--all",
        "--debug-privilege",
        "--heap-blocks",
        "--heap-max-blocks",
        "500",
        "--heap-max-time",
        "2m",
    ]
    options = _parse(*words).options
    assert (options.every_process, options.debug_privilege, options.heap_blocks) == (True, True, True)
    assert (options.heap_max_blocks, options.heap_max_s) == (500, 120.0)
    assert (Options.heap_max_blocks, Options.heap_max_s) == (100_000, 10.0)


def test_extent_options_reach_the_collector() -> None:
    """What to collect, and how much, is one value that every collector gets."""
    request = _parse("1", "--light", "--max-regions", "7", "--command-lines", "--proc", "/p")
    assert request.options == Options(light=True, max_regions=7, command_lines=True)
    assert request.root == "/p"
    assert _parse("1", "--full", "--no-processes").options == Options(full=True, processes=False)


def test_what_follows_the_first_two_dashes_is_the_program() -> None:
    """A second -- and options like ours belong to the program."""
    assert _parse("-q", "--", "prog", "--", "-v").command == ["prog", "--", "-v"]


def test_options_are_not_guessed_from_their_beginning() -> None:
    """--comm is neither --command-lines nor an error of the program that is started."""
    with pytest.raises(UsageError, match="--comm"):
        _parse("1", "--comm")
