"""Laws of texts that hold several maps: as many snapshots as maps, and not a byte lost between them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.formats.errors import MmpError
from mmpscope.formats.mmp.columns import decode_column
from mmpscope.formats.proc.text_source import open_bytes
from support.effort import scale
from support.proc_source import count_regions, write_again
from support.smaps_text import Block, MapLine, make_block

PAGE = 4096
NAMES = (None, b"/lib/x.so", b"[heap]")
TOPS = (b"[stack]", b"[vdso]", b"[vvar]")


@st.composite
def processes(draw: st.DrawFn) -> list[MapLine]:
    """Draw the map of a process: regions that ascend, and what lies at its top."""
    steps = draw(
        st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 1 << 10)), min_size=2, max_size=12)
    )
    at = draw(st.sampled_from([0x10000, 0x400000, 0x550000000000, 0x7F0000000000])) + PAGE * draw(
        st.integers(0, 99)
    )
    lines = []
    for gap, pages in steps:
        at += gap * PAGE
        lines.append(
            MapLine(at, at + pages * PAGE, path=draw(st.sampled_from([None, b"/lib/x.so", b"[heap]"])))
        )
        at += pages * PAGE
    top = 0x7FFC00000000 + PAGE * draw(st.integers(0, 1 << 20))
    lines.append(MapLine(top, top + 33 * PAGE, path=draw(st.sampled_from(TOPS))))
    if draw(st.booleans()):
        lines.append(MapLine(0xFFFFFFFFFF600000, 0xFFFFFFFFFF601000, b"--xp", path=b"[vsyscall]"))
    return lines


def write(lines: list[MapLine], *, counters: bool) -> bytes:
    """Write a map as smaps or as maps text."""
    if counters:
        return b"".join(make_block(Block(line, {"Rss": 4})) for line in lines)
    return b"".join(line.text + b"\n" for line in lines)


titles = st.sampled_from(
    [
        b"",
        b"",
        b"\n",
        b"==> /proc/7/smaps <==\n",
        b"$ cat it\n",
        b"Pid: 7\n",
        b"some words\n\n",
        b"*** next\n",
    ]
)


@given(st.lists(st.tuples(titles, processes()), min_size=1, max_size=5), st.booleans())
@settings(max_examples=scale(60), deadline=None)
def test_as_many_maps_as_were_put_together(drawn: list[tuple[bytes, list[MapLine]]], counters: bool) -> None:
    """Each map of the text is a snapshot with its own regions, whatever stands between them."""
    text = b"".join(title + write(lines, counters=counters) for title, lines in drawn)
    source = open_bytes(text, "x")
    assert count_regions(source) == [len(lines) for _, lines in drawn]
    assert write_again(source) == text
    assert not source.faults
    for index, (_, lines) in enumerate(drawn):
        starts = decode_column(source.read(index).tables["regions"], "start")
        assert starts == [line.start for line in lines]


@given(processes(), st.data())
@settings(max_examples=scale(60), deadline=None)
def test_a_map_that_moved_while_it_was_printed_is_one(lines: list[MapLine], data: st.DataObject) -> None:
    """A kernel that goes on behind what it printed repeats parts of it; that begins no other map."""
    row = data.draw(st.integers(0, len(lines) - 2))
    printed, following = lines[row], lines[row + 1]
    start = data.draw(st.integers(printed.start // PAGE + (row > 0) - 1, printed.end // PAGE)) * PAGE
    grown = MapLine(max(start, lines[0].start + PAGE), following.start)
    if grown.start >= grown.end or grown.end <= printed.end:
        return
    text = write([*lines[: row + 1], grown, *lines[row + 1 :]], counters=False)
    source = open_bytes(text, "x")
    assert count_regions(source) == [len(lines) + 1]
    assert write_again(source) == text


@given(
    st.lists(st.tuples(titles, processes()), min_size=1, max_size=3),
    st.integers(0, 4000),
    st.binary(max_size=12),
)
@settings(max_examples=scale(80), deadline=None)
def test_a_damaged_text_of_several_maps_loses_no_byte(
    drawn: list[tuple[bytes, list[MapLine]]], at: int, damage: bytes
) -> None:
    """Bytes put anywhere: the text is refused as a whole, or comes out again."""
    text = b"".join(title + write(lines, counters=True) for title, lines in drawn)
    text = text[:at] + damage + text[at:]
    try:
        source = open_bytes(text, "x")
    except MmpError:
        return
    if b"\x1b[" not in text:
        assert write_again(source) == text


@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=40), st.booleans())
@settings(max_examples=scale(40), deadline=None)
def test_f13_touching_regions_are_as_many_regions(pages: list[int], counters: bool) -> None:
    """The end is exclusive: n regions that touch are n regions of one map, without overlap or hole."""
    lines, at = [], 0x10000
    for count in pages:
        lines.append(MapLine(at, at + count * PAGE))
        at += count * PAGE
    source = open_bytes(write(lines, counters=counters), "x")
    assert count_regions(source) == [len(pages)]
    assert not source.faults
    table = source.read(0).tables["regions"]
    starts, sizes = decode_column(table, "start"), decode_column(table, "size")
    assert starts[1:] == [start + size for start, size in zip(starts, sizes, strict=True)][:-1]
