"""Numbers of any locale are read as what they are, or not at all."""

from __future__ import annotations

import pytest
from mmpscope.formats.vmmap.sizes import parse_address, parse_count, parse_kib

KIB = 1024


@pytest.mark.parametrize("separator", [",", ".", "'", "\u2019", " ", "\u00a0", "\u202f", ""])
def test_every_separator_is_one_of_thousands(separator: str) -> None:
    """A size in K has no fraction: 1.234 is 1,234 K, never 1 K and a bit."""
    for number in (0, 7, 1_234, 12_345, 123_456, 2_147_483_648):
        assert parse_kib(f"{number:,}".replace(",", separator)) == number * KIB


@pytest.mark.parametrize(
    "text",
    ["1.23", "1,2345", "12,34", "1.234,5", "1,234.567", "1,,234", ",234", "1234,567", "-5", "x", "1e3", "٣"],
)
def test_what_no_locale_writes_is_refused(text: str) -> None:
    """A group that is not of three digits could be a fraction, and a guess be wrong by a thousand."""
    assert parse_kib(text) is None


def test_indian_groups_are_of_two_and_a_last_one_of_three() -> None:
    """12,34,567 is 1,234,567: Windows in India groups so."""
    assert parse_kib("12,34,567") == parse_kib("1,234,567")


def test_nothing_is_zero() -> None:
    """VMMap prints no zeros."""
    assert parse_kib("") == parse_kib("  ") == parse_count("") == 0


def test_a_unit_behind_the_number_is_fine() -> None:
    """The window of VMMap shows sizes as 1,024 K."""
    assert parse_kib("1,024 K") == KIB * KIB


def test_numbers_end_at_64_bits() -> None:
    """What does not fit a column is no number."""
    assert parse_count(str(2**64 - 1)) == 2**64 - 1
    assert parse_count(str(2**64)) is None
    assert parse_kib(str(2**54)) is None
    assert parse_count("9" * 10_000) is None


def test_addresses_are_hex_of_any_width() -> None:
    """A spreadsheet takes leading zeros away, and indentation tells a sub-block."""
    assert parse_address("  00110000") == parse_address("110000") == parse_address("0x110000") == 0x110000
    assert parse_address("00007FF612340000") == 0x7FF612340000
    for text in ("", "1.1E+05", "11 0000", "g", "1" * 17):
        assert parse_address(text) is None
