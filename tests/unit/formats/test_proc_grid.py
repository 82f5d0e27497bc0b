"""Many blocks at once give what one after the other gives, and an odd stretch is not read wrongly."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mmpscope.formats.proc import map_text
from mmpscope.formats.proc.blocks import BlockReader
from mmpscope.formats.proc.grid import Grid, make_grid
from mmpscope.formats.proc.segments import join_segments
from mmpscope.formats.proc.smaps import parse_smaps, render_smaps
from support.smaps_text import Block, MapLine, make_block, make_text

REGIONS = 60
TEXT = make_text(REGIONS, Swap=0, Locked=0)
BLOCK = TEXT.index(b"7f0000010000-")  # the second region begins here


@pytest.fixture(params=[1 << 18, 3000, 100], autouse=True)
def _stretch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read all at once, a few blocks at once, or less than a block."""
    monkeypatch.setattr(map_text, "_STRETCH", request.param)
    monkeypatch.setattr(map_text, "_FIRST_STRETCH", request.param)


def read_one_by_one(text: bytes) -> dict[str, list[object]]:
    """Read every block by itself: the slow way, as reference."""
    blocks = BlockReader(text, 0)
    columns = join_segments([blocks.read(0, len(text)).segment], blocks.kinds)
    return {name: list(plain.values) for name, plain in columns.items()}


def read_at_once(text: bytes) -> dict[str, list[object]]:
    """Read a text the usual way, and hold that it is written again as it was."""
    regions = parse_smaps(text)
    assert render_smaps(regions.encode(), regions.form) == text
    return {name: list(plain.values) for name, plain in regions.columns.items()}


def make_reader() -> Callable[[bytes], object]:
    """Return the reader of the grid of TEXT's first block."""
    blocks = BlockReader(TEXT, 0)
    blocks.read(0, BLOCK)
    grid = make_grid(blocks.last_layout)
    assert grid is not None
    return lambda text: grid.read(text, blocks.form)


def test_both_ways_agree() -> None:
    """Every column of many different blocks is the same, value by value."""
    assert read_at_once(TEXT) == read_one_by_one(TEXT)


def test_the_grid_is_taken_where_it_fits() -> None:
    """The usual text is read by the grid, so that the agreement above says something."""
    assert make_reader()(TEXT[BLOCK:]) is not None


def replace(old: bytes, new: bytes) -> bytes:
    """Change the 30th region of TEXT only."""
    at = TEXT.index(b"7f00001d0000-")
    end = TEXT.index(b"7f00001e0000-")
    block = TEXT[at:end]
    assert old in block
    return TEXT[:at] + block.replace(old, new, 1) + TEXT[end:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Swap:                  0 kB", b"Swap:                 00 kB"),
        (b"Swap:                  0 kB", b"Swap:                0 0 kB"),
        (b"Swap:                  0 kB", b"Swap:                 0  kB"),
        (b"Swap:                  0 kB", b"Swap:                    kB"),
        (b"Swap:                  0 kB", b"Swap:  7               0 kB"),
        (b"Swap:                  0 kB", b"Swap:          123456789 kB"),
        (b"Swap:                  0 kB", b"Swap:     123456789012345678901 kB"),
        (b"Swap:                  0 kB", b"Swap:                 -1 kB"),
        (b"Swap:                  0 kB", b"Swap:\t\t\t0 kB"),
        (b"Swap:                  0 kB", b"Swap:                  0 MB"),
        (b"Swap:                  0 kB", b"Swop:                  0 kB"),
        (b"Swap:                  0 kB\n", b""),
        (b"Swap:                  0 kB\n", b"\n"),
        (b"Locked:                0 kB\n", b"Locked:                0 kB\nNew:   1 kB\n"),
        (b"VmFlags: rd", b"VmFlags:rd"),
        (b"VmFlags: rd wr mr mw me ac \n", b""),
        (b"VmFlags: rd wr mr mw me ac \n", b"VmFlags: rd \nMore: x\n"),
        (b"VmFlags: rd", b"VmFlags: 1000-2000 rw-p 00000000 00:00 0 "),
        (b"VmFlags: rd", b"00400000-00401000 rw-p 00000000 00:00 0 \nVmFlags: rd"),
        (b"ac \n", b"ac \n00400000-00401000 rw-p 00000000 00:00 0 \n"),
        (b"rw-p", b"rw-?"),
        (b" 00:00 ", b" 0:00 "),
        (b" 00:00 ", b" 000000001:00 "),
        (b" 00:00 ", b" -1:00 "),
        (b"7f00001d0000-", b"7F00001d0000-"),
        (b"7f00001d0000-", b"07f00001d0000-"),
        (b"7f00001d0000-", b"0x1d0000-"),
        (b"-7f00001d3000", b"-7f00001d0000"),
        (b"0001d000", b"1d000"),
        (b" 203 ", b" 18446744073709551616 "),
        (b" 203 ", b" -203 "),
        (b"/srv", b"   /srv"),
        (b"  /srv", b" /srv"),
        (b"  /srv", b"\t/srv"),
        (b"  /srv", b" \tsrv"),
        (b"    /srv", b" \t  /srv"),
        (b"Size: ", b"Si{ze: "),
        (b"Size:  ", b"Size:"),
    ],
)
def test_an_odd_block_among_many_is_read_as_by_itself(old: bytes, new: bytes) -> None:
    """Whatever is out of form in one block, no value of any block differs and no byte is lost."""
    text = replace(old, new)
    expected = read_one_by_one(text)
    assert read_at_once(text) == expected


def test_a_stretch_that_begins_with_an_odd_block_keeps_its_regions() -> None:
    """The second region begins the first stretch; without its first counter it is still a region."""
    text = TEXT[:BLOCK] + TEXT[BLOCK:].replace(b"Size:", b"Si{ze:", 1)
    found = read_at_once(text)
    assert found == read_one_by_one(text)
    assert len(found["start"]) == REGIONS


def test_two_breaks_that_make_up_for_each_other_are_seen() -> None:
    """A block without its map line between others does not shift the lines of the next ones."""
    text = replace(b"ac \n", b"ac \n00400000-00401000 rw-p 00000000 00:00 0 \n")
    at = text.index(b"7f0000210000-")
    text = text[:at] + text[text.index(b"\n", at) + 1 :]
    assert read_at_once(text) == read_one_by_one(text)


def test_a_last_block_without_line_feed_is_kept() -> None:
    """The text may end where it likes."""
    for cut in (1, 2, 30, 400):
        assert read_at_once(TEXT[:-cut]) == read_one_by_one(TEXT[:-cut])


@pytest.mark.parametrize("number", [0, 1, 9, 10, 99, 100, 12345678, 99999999, 100000000])
def test_numbers_of_every_length_come_out_exactly(number: int) -> None:
    """From one digit to more than the field holds."""
    line = MapLine(0x7F0000000000, 0x7F0000001000)
    blocks = [make_block(Block(line, {"Rss": value})) for value in (0, number, 1)]
    values = parse_smaps(b"".join(blocks)).columns["Rss"].values
    assert list(values) == [0, number * 1024, 1024]


@pytest.mark.parametrize(
    "layout",
    [
        b"",
        b"\n",
        b"\nSize:           {Size/1024:8d} kB\n",
        b"\nName: {Name}\nSize:           {Size/1024:8d} kB\nVmFlags: {VmFlags}\n",
        b"\nSize: {{{Size/1024:8d} kB\nVmFlags: {VmFlags}\n",
    ],
)
def test_other_layouts_make_no_grid(layout: bytes) -> None:
    """Only fixed width up to one text at the end can be read as a grid."""
    assert make_grid(layout) is None


def test_a_grid_knows_widths_and_units() -> None:
    """Fields in kB come first, single digits are fields as well."""
    grid = make_grid(b"\nSize: {Size/1024:8d} kB\nTHPeligible:\t\t{THPeligible:d}\nVmFlags: {VmFlags}\n")
    assert isinstance(grid, Grid)
    assert [(field.key, field.width) for field in grid.fields] == [("Size", 8), ("THPeligible", 1)]
    assert grid.in_kb == 1
