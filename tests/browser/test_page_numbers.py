"""The numbers of a report page, in a browser: exact to 64 bits, and as the command line writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mmpscope.analysis.pages
import pytest
from mmpscope.analysis.pages.tables import encode_number
from mmpscope.analysis.reporters.amounts import show_address, show_count, show_kib

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

STATIC = Path(mmpscope.analysis.pages.__file__).parent / "static"
EDGES = (
    0,
    1,
    103,
    1023,
    1024,
    1536,
    (1 << 20) - 1,
    1 << 20,
    (1 << 40) - 1,
    (1 << 53) - 1,
    1 << 53,
    (1 << 64) - 1,
)
Run = Callable[[str, object], Any]


@pytest.fixture(scope="module")
def run(browser: Browser) -> Run:
    """Evaluate an expression of `given` beside the scripts that a page has for numbers."""
    page = browser.new_page()
    source = "\n".join(
        (STATIC / name).read_text("utf-8")
        for name in ("data.js", "format.js", "sorting.js", "copy.js", "dom.js")
    )

    def evaluate(expression: str, given: object) -> Any:
        return json.loads(
            page.evaluate(f"given => {{ {source}\n return JSON.stringify({expression}); }}", given)
        )

    return evaluate


def _encode(values: tuple[int, ...]) -> list[int | str | None]:
    return [encode_number(value) for value in values]


def test_kibibytes_are_those_of_the_command_line(run: Run) -> None:
    """Below a TiB, where the command line changes the unit, KiB are written as it writes them."""
    values = tuple(value for value in EDGES if value < 1 << 40)
    shown = run("given.map((each) => formatBytes(each, 'KiB'))", _encode(values))
    assert shown == [show_kib(value) for value in values]


def test_exact_bytes_and_addresses_keep_every_digit(run: Run) -> None:
    """Bytes of a hover and hex addresses are exact up to 2^64 - 1."""
    given = _encode(EDGES)
    assert run("given.map(formatCount)", given) == [show_count(value) for value in EDGES]
    assert run("given.map(formatAddress)", given) == [show_address(value) for value in EDGES]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1, "1 B"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), ((1 << 30) - 1, "1,023.9 MiB"),
     (-(1 << 20), "\N{MINUS SIGN}1.0 MiB"), ((1 << 64) - 1, "16,777,215.9 TiB"), (None, "?")],
)  # fmt: skip
def test_amounts_are_in_the_largest_unit_that_they_reach(run: Run, value: int | None, shown: str) -> None:
    """Bytes are cut to tenths of their unit, never rounded up to more than there is; unknown is no zero."""
    assert run("formatBytes(given)", encode_number(value)) == shown


def test_sums_and_differences_are_exact(run: Run) -> None:
    """Adding and subtracting keep the last digit, whether a number fits a double or not; null stays null."""
    pairs = [(a, b) for a in EDGES for b in EDGES]
    given = [[encode_number(a), encode_number(b)] for a, b in pairs]
    sums = run("given.map(([a, b]) => String(BigInt(addExact(a, b))))", given)
    rests = run("given.map(([a, b]) => String(BigInt(subtractExact(a, b))))", given)
    assert sums == [str(a + b) for a, b in pairs]
    assert rests == [str(a - b) for a, b in pairs]
    assert run("[addExact(given, 1), subtractExact(1, given)]", None) == [None, None]


def test_orders_are_exact_and_unknown_is_last(run: Run) -> None:
    """Rows sort by exact values in both directions; a null stands last in both."""
    values = [(1 << 64) - 1, 5, None, (1 << 64) - 2, 1 << 53, (1 << 53) + 1]
    given = [encode_number(value) for value in values]
    order = "[...given.keys()].sort(compareBy(given, 'bytes', {falling}))"
    known = sorted((value, row) for row, value in enumerate(values) if value is not None)
    rows = [row for _, row in known]
    assert run(order.format(falling="false"), given) == [*rows, 2]
    assert run(order.format(falling="true"), given) == [*rows[::-1], 2]


def test_copied_cells_are_exact_and_harmless(run: Run) -> None:
    """A cell has all digits, whole addresses, no line break, and an apostrophe before a formula."""
    cells = [
        (encode_number((1 << 64) - 1), "bytes", str((1 << 64) - 1)),
        (encode_number(4096, is_address=True), "address", "0x0000000000001000"),
        (-4096, "bytes", "-4096"),
        (None, "bytes", ""),
        ("=1+1", "text", "'=1+1"),
        ("a\tb\nc", "text", "a b c"),
    ]
    given = [[value, unit] for value, unit, _ in cells]
    assert run("given.map(([value, unit]) => writeCell(value, unit))", given) == [cell for *_, cell in cells]
