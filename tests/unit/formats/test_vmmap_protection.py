"""One table turns PAGE_* protections into VMMap's words and back."""

from __future__ import annotations

import pytest
from mmpscope.formats.vmmap.protection import name_protection, read_protection

SEEN = {
    "Reserved": 0,
    "No access": 0x01,
    "Read": 0x02,
    "Read/Write": 0x04,
    "Copy on write": 0x08,
    "Execute/Read": 0x20,
    "Execute/Read/Write": 0x40,
    "Execute/Copy on Write": 0x80,
    "Read/Write/Guard": 0x104,
    "Read/Write/WriteCombine": 0x404,
}
"""Every protection of the real CSV in the corpus."""


@pytest.mark.parametrize("text", SEEN)
def test_the_words_of_vmmap_are_numbers_and_back(text: str) -> None:
    """Text and number are two spellings of one protection."""
    assert read_protection(text) == SEEN[text]
    assert name_protection(SEEN[text]) == text


def test_every_combination_comes_back() -> None:
    """Rights, modifiers and bits that have no name survive the way through text."""
    values = [right | more for right in (1, 2, 4, 8, 16, 32, 64, 128) for more in range(0, 0x2000, 0x100)]
    assert [read_protection(name_protection(value)) for value in values] == values


@pytest.mark.parametrize(
    "text", ["", "rw-p", "Read/Wirte", "0xzz", "0x123456789", "Guard/Guard/", "Read" + "/" * 100_000]
)
def test_words_that_are_not_vmmaps_are_no_number(text: str) -> None:
    """A guess would be worse than null."""
    assert read_protection(text) is None


def test_capitals_do_not_count() -> None:
    """VMMap itself writes Copy on write and Copy on Write."""
    assert read_protection("copy ON write") == read_protection(" Copy on write ") == 0x08
