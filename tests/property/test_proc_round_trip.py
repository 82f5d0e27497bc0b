"""Laws of reading Linux text: what goes in comes out, and nothing but our own errors on the way."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from mmpscope.formats.errors import MmpError
from mmpscope.formats.proc.facts import parse_auxv, parse_counters, parse_limits, parse_status
from mmpscope.formats.proc.smaps import Regions, parse_smaps, render_smaps
from mmpscope.formats.proc.sniff import is_maps, is_smaps
from mmpscope.formats.proc.text_source import open_bytes
from support.effort import scale
from support.smaps_text import COUNTERS, Block, MapLine, make_block

U64 = 2**64 - 1

paths = st.one_of(
    st.none(),
    st.sampled_from(
        [b"[heap]", b"[anon: a b]", b"/x y (deleted)", b"/Rss: 4 kB", b"/\xff", b"/a\tb ", b"{path@73}"]
    ),
    st.binary(min_size=1, max_size=20).map(lambda name: b"/" + name.translate(None, b"\n\r")),
)
numbers = st.one_of(st.integers(0, 9), st.integers(0, 99_999_999), st.integers(0, U64 // 1024))


@st.composite
def map_lines(draw: st.DrawFn) -> MapLine:
    """Draw a map line of a kernel; neighbours may overlap, as no line knows of another."""
    start = draw(st.integers(0, U64 - 1))
    end = draw(st.integers(start + 1, U64))
    perms = draw(st.sampled_from([b"rw-p", b"r-xs", b"---p", b"--xp"]))
    device = (draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 2**32 - 1)))
    return MapLine(
        start, end, perms, draw(st.integers(0, U64)), device, draw(st.integers(0, U64)), draw(paths)
    )


blocks = st.builds(
    Block,
    map_lines(),
    st.dictionaries(st.sampled_from(COUNTERS), numbers, max_size=4),
    st.sampled_from([b"", b"rd wr mr ", b"rd ex mr mw me de sd "]),
)


def write(regions: Regions) -> bytes:
    """Write a parsed text."""
    return render_smaps(regions.encode(), regions.form)


@given(st.lists(blocks, min_size=1, max_size=6))
@settings(max_examples=scale(60))
def test_what_a_kernel_prints_is_read_exactly(drawn: list[Block]) -> None:
    """Every value of every line is in its column, and the text comes out again."""
    text = b"".join(map(make_block, drawn))
    regions = parse_smaps(text)
    assert write(regions) == text
    assert not regions.faults
    columns = {name: list(plain.values) for name, plain in regions.columns.items()}
    assert columns["start"] == [block.line.start for block in drawn]
    assert columns["size"] == [block.line.end - block.line.start for block in drawn]
    assert columns["offset"] == [block.line.offset for block in drawn]
    assert columns["inode"] == [block.line.inode for block in drawn]
    assert columns["path"] == [block.line.path for block in drawn]
    assert columns["VmFlags"] == [block.flags for block in drawn]
    for key in COUNTERS[1:]:
        assert columns[key] == [block.counters.get(key, 0) * 1024 for block in drawn]


keys = st.sampled_from(
    ["Rss", "Pss", "Swap", "THPeligible", "New_Key", "VmFlags", "Name", "start", "-", "a b"]
)
spaces = st.sampled_from(["", " ", "   ", "\t", "\t\t", "                   "])
values = st.one_of(
    st.integers(-1, U64 * 2).map(str), st.sampled_from(["", "007", "x", "[anon:{y}]", "%d", "{Rss}", "é"])
)
units = st.sampled_from(["", " kB", "\tkB", " KB", " MB", " kB ", "\r"])
lines = st.one_of(
    st.builds("{}:{}{}{}".format, keys, spaces, values, units).map(str.encode),
    map_lines().map(lambda line: line.text),
    map_lines().map(lambda line: line.text.replace(b" ", b"\t", 2)),
    map_lines().map(lambda line: line.text.upper()),
    st.sampled_from(
        [b"", b" ", b"noise", b"7f00-7e00 rw-p 00000000 00:00 0 ", b"1-2 rw-p 0 0:0 0", b"\0\xff"]
    ),
)
line_ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r\r\n", b"\r"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Draw a text of lines that may be anything, with one line end or with several."""
    drawn = draw(st.lists(lines, max_size=25))
    if draw(st.booleans()):
        end = draw(line_ends)
        text = end.join(drawn) + draw(st.sampled_from([b"", end]))
    else:
        text = b"".join(line + draw(line_ends) for line in drawn)
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"# first\n"])) + text


@given(texts())
@example(b"1-2 rw-p 0 0:0 0\nRss: 4 kB\nRss: 4 kB\n")
@example(b"\xff\xfe1\0-\0")
@settings(max_examples=scale(200))
def test_no_text_loses_a_byte(text: bytes) -> None:
    """A text is refused as a whole, or comes out again as it was."""
    try:
        regions = parse_smaps(text)
    except MmpError:
        return
    assert write(regions) == text
    for plain in regions.columns.values():
        assert len(plain.values) == regions.rows


@given(st.one_of(st.binary(max_size=200), texts().map(lambda text: text[1:])))
def test_random_bytes_raise_nothing_but_our_errors(data: bytes) -> None:
    """No parser of this folder is surprised by what it is given."""
    is_smaps(data)
    is_maps(data)
    parse_status(data)
    parse_counters(data)
    parse_limits(data)
    parse_auxv(data, 64)
    try:
        source = open_bytes(data, "x")
    except MmpError:
        return
    source.read(0)


@given(st.lists(blocks, min_size=1, max_size=4), st.integers(0, 4000))
@settings(max_examples=scale(60))
def test_a_text_that_is_cut_keeps_what_is_there(drawn: list[Block], at: int) -> None:
    """Cut anywhere, the whole regions before the cut are read, and the rest is kept."""
    text = b"".join(map(make_block, drawn))[:at]
    try:
        regions = parse_smaps(text)
    except MmpError:
        assert b"VmFlags" not in text
        return
    assert write(regions) == text
    whole = text.count(b"\nVmFlags")
    assert list(regions.columns["start"].values)[:whole] == [block.line.start for block in drawn[:whole]]
