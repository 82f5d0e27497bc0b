"""Text of smaps and maps as others' parsers met it: each case by its number, read and written again."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from mmpscope.formats.errors import LimitError, NotASnapshotError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.proc.smaps import Regions, parse_smaps, render_smaps
from support.smaps_text import Block, MapLine, make_block

HEADER = b"7f10a0000000-7f10a0021000 rw-p 00000000 00:00 0 "
NEXT = b"7f10a0021000-7f10a4000000 ---p 00000000 00:00 0 "


def parse(text: bytes) -> Regions:
    """Parse a text, and hold that it is written again as it was."""
    regions = parse_smaps(text)
    assert render_smaps(regions.encode(), regions.form) == text
    return regions


def column(regions: Regions, name: str) -> list[Any]:
    """Return the values of one column."""
    return list(regions.columns[name].values)


def test_f01_an_empty_flag_list_is_kept_as_empty() -> None:
    """A region without flags keeps an empty text, and the next region is read as always."""
    regions = parse(HEADER + b"\nSize:  132 kB\nVmFlags: \n" + NEXT + b"\nSize:  4 kB\nVmFlags: mr \n")
    assert column(regions, "VmFlags") == [b"", b"mr "]
    assert column(regions, "Size") == [132 * 1024, 4096]
    assert not regions.faults


def test_f01_flags_without_a_blank_are_kept_as_empty() -> None:
    """An editor that cuts blanks at line ends changes nothing but the layout."""
    assert column(parse(HEADER + b"\nVmFlags:\n"), "VmFlags") == [b""]


def test_f03_a_region_without_a_name_has_no_path() -> None:
    """The inode is not taken for a path, nor the blank after it."""
    regions = parse(HEADER + b"\n")
    assert column(regions, "path") == [None]
    assert column(regions, "inode") == [0]


def test_f04_a_text_within_the_block_is_a_column_of_its_own() -> None:
    """`Name:` of Android is text, beside the path of the map line."""
    text = HEADER + b"[heap]\nName:           [anon:some pool (shared)]\nSize:                 64 kB\n"
    regions = parse(text)
    assert column(regions, "Name") == [b"[anon:some pool (shared)]"]
    assert column(regions, "path") == [b"[heap]"]
    assert column(regions, "Size") == [65536]


def test_f06_a_name_with_blanks_and_parentheses_is_whole() -> None:
    """The path is the rest of the line."""
    line = b"20000000-20400000 rw-p 00000000 00:00 0   [anon:vm heap (old gen, part 2)]\n"
    assert column(parse(line), "path") == [b"[anon:vm heap (old gen, part 2)]"]


def test_f09_an_unnamed_line_does_not_swallow_the_next_one() -> None:
    """A blank before the line end is no name, and the next line is a region."""
    assert column(parse(HEADER + b"\n" + NEXT + b"\n"), "path") == [None, None]


@pytest.mark.parametrize(
    ("device", "major", "minor"), [(b"103:02", 0x103, 2), (b"b3:1f", 0xB3, 0x1F), (b"fe:1a3", 0xFE, 0x1A3)]
)
def test_f11_device_numbers_are_hex_of_any_width(device: bytes, major: int, minor: int) -> None:
    """NVMe and device mapper have majors and minors of three and more digits."""
    regions = parse(b"00400000-00401000 r-xp 00000000 %s 12 /bin/x\n" % device)
    assert column(regions, "dev_major") == [major]
    assert column(regions, "dev_minor") == [minor]


def test_f12_an_inode_takes_64_bits() -> None:
    """XFS beyond a terabyte, and overlay file systems, use the upper bits."""
    regions = parse(b"00400000-00401000 r-xp 00000000 08:01 18446744073709551000 /bin/x\n")
    assert column(regions, "inode") == [18446744073709551000]


def test_f12_an_inode_beyond_64_bits_is_kept_as_text() -> None:
    """What no kernel prints is null, flagged with its line, and written again."""
    line = b"00400000-00401000 r-xp 00000000 08:01 18446744073709551616 /bin/x\n"
    regions = parse(line)
    assert column(regions, "inode") == [None]
    assert column(regions, "raw") == [line]
    assert [fault.line for fault in regions.faults] == [1]


def test_f13_the_end_is_exclusive() -> None:
    """Touching regions are two regions without overlap or hole."""
    regions = parse(b"1000-2000 rw-p 0 0:0 0\n2000-3000 rw-p 0 0:0 0\n")
    assert column(regions, "start") == [0x1000, 0x2000]
    assert column(regions, "size") == [0x1000, 0x1000]


@pytest.mark.parametrize(
    "text", [b"Error: [Errno 13] cannot read smaps", b"\n", b"00400000-00300000 r-xp 00000000 00:00 0 \n"]
)
def test_f15_error_text_is_not_data(text: bytes) -> None:
    """A text without a single region is refused in words."""
    with pytest.raises(NotASnapshotError, match="line 1 is not a map line"):
        parse_smaps(text)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\r\n", b"\r", b""])
def test_f16_the_last_region_is_kept_whatever_the_line_end(end: bytes) -> None:
    """No line feed at the end, and the line ends of other systems, lose no region and no byte."""
    lines = [HEADER, b"Size:                132 kB", NEXT + b"[x]", b"Size:              65404 kB"]
    text = (end or b"\n").join(lines) + end
    regions = parse(text)
    assert column(regions, "Size") == [132 * 1024, 65404 * 1024]
    assert column(regions, "path") == [None, b"[x]"]
    assert not regions.faults


def test_f16_mixed_line_ends_lose_nothing() -> None:
    """Where only some lines end in CR LF, the CR stays with its line."""
    regions = parse(HEADER + b"\r\nRss:    4 kB\r\n" + NEXT + b"\nRss:    8 kB\n")
    assert column(regions, "Rss") == [4096, 8192]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_f16_a_byte_order_mark_is_no_damage(encoding: str) -> None:
    """Editors and PowerShell put a mark before the first line, or write UTF-16."""
    text = (HEADER + b"[heap]\nRss:                   4 kB\n").decode().encode(encoding)
    regions = parse(text)
    assert column(regions, "Rss") == [4096]
    assert not regions.faults


def test_f16_zero_bytes_are_a_process_without_address_space() -> None:
    """An empty text is no error and no region; why it is empty is for the reader to say."""
    regions = parse(b"")
    assert regions.rows == 0
    assert set(regions.columns) >= {"start", "size", "path", "layout", "raw"}


def test_f17_regions_are_delimited_by_map_lines_alone() -> None:
    """No VmFlags, another order of keys, tabs: each block ends where the next map line begins."""
    text = (
        HEADER + b"\nSwap:                  9 kB\nKernelPageSize:        4 kB\nTHPeligible:\t\t0\n" + NEXT
        + b"\nKernelPageSize:        4 kB\nSwap:                  0 kB\nTHPeligible:\t\t1\n"
    )  # fmt: skip
    regions = parse(text)
    assert column(regions, "Swap") == [9 * 1024, 0]
    assert column(regions, "THPeligible") == [0, 1]
    assert regions.counters == ("Swap", "KernelPageSize", "THPeligible")


def test_f17_a_key_that_a_block_lacks_is_null_there() -> None:
    """Missing is not zero."""
    regions = parse(HEADER + b"\nRss:  4 kB\nPss:  2 kB\n" + NEXT + b"\nRss:  0 kB\n")
    assert column(regions, "Pss") == [2048, None]


def test_f18_numbers_without_a_unit_stay_as_they_are() -> None:
    """Only kB become bytes."""
    regions = parse(HEADER + b"\nRss:  4 kB\nTHPeligible:    1\nProtectionKey:         5\nLines: 252\n")
    assert [column(regions, key) for key in ("THPeligible", "ProtectionKey", "Lines")] == [[1], [5], [252]]


def test_f23_a_32_bit_map_reaches_the_top_of_its_space() -> None:
    """Addresses of eight digits, up to the vectors page."""
    regions = parse(b"ffff0000-ffff1000 r-xp 00000000 00:00 0          [vectors]\n")
    assert column(regions, "start") == [0xFFFF0000]
    assert column(regions, "size") == [0x1000]


def test_f23_addresses_of_full_width_keep_their_zeros() -> None:
    """Emulators print 16 digits with leading zeros."""
    regions = parse(b"0000004000000000-0000004000001000 r--p 00000000 00:00 0\n")
    assert column(regions, "start") == [0x4000000000]
    assert not regions.faults


def test_f24_page_sizes_stay_apart_by_region() -> None:
    """Huge pages and pages of 64 KiB are told region by region."""
    blocks = [HEADER + b"\nKernelPageSize:       64 kB\n", NEXT + b"\nKernelPageSize:     2048 kB\n"]
    assert column(parse(b"".join(blocks)), "KernelPageSize") == [65536, 2 << 20]


def test_f25_both_styles_of_stack_names_are_kept() -> None:
    """Kernels 3.4 to 4.4 name thread stacks by tid, others only the main one."""
    lines = b"711fa000-712f7000 rw-p 00000000 00:00 0          [stack:1851]\n"
    lines += b"becad000-becce000 rw-p 00000000 00:00 0          [stack]\n"
    assert column(parse(lines), "path") == [b"[stack:1851]", b"[stack]"]


def test_f33_the_gate_is_a_region_like_any_other_here() -> None:
    """Pseudo mappings of the kernel are kept under their name; who counts may leave them out."""
    line = b"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
    regions = parse(line)
    assert column(regions, "start") == [0xFFFFFFFFFF600000]
    assert column(regions, "path") == [b"[vsyscall]"]


def test_f36_one_column_has_one_unit() -> None:
    """A line in another unit than its key usually has is kept as text and flagged, never mixed in."""
    odd = NEXT + b"\nRss:                   4 pages\nPss:                   4 kB\n"
    regions = parse(HEADER + b"\nRss:                   4 kB\n" + odd)
    assert column(regions, "Rss") == [4096, None]
    assert column(regions, "Pss") == [None, 4096]
    assert column(regions, "raw") == [None, odd]
    assert [(fault.line, fault.what) for fault in regions.faults] == [
        (4, "the value of Rss is not of its usual form (kB); its block is kept as text")
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"Rss: -4 kB", "usual form"),
        (b"Rss: garbage", "usual form"),
        (b"Rss: 18014398509481984 kB", "64 bits"),
        (b"Rss: 007 kB", "usual form"),
        (b"Pss: 8 kB", "Pss comes twice"),
        (b"start: 5", "another column"),
        (b"no counter at all", "neither a map line nor a counter"),
        (b"00400000-00300000 r-xp 00000000 00:00 0 ", "neither a map line nor a counter"),
    ],
)
def test_odd_lines_are_flagged_and_kept(line: bytes, why: str) -> None:
    """Values that are too large, negative, doubled or garbage are null and named with their line."""
    regions = parse(HEADER + b"\nPss:                  12 kB\n" + line + b"\n" + NEXT + b"\nPss:  4 kB\n")
    assert [fault.line for fault in regions.faults] == [3]
    assert why in regions.faults[0].what
    assert column(regions, "Pss") == [12288, 4096]
    assert column(regions, "start") == [0x7F10A0000000, 0x7F10A0021000]


def test_unusual_map_lines_keep_their_facts_and_their_text() -> None:
    """Tabs and capitals in a map line are read, flagged and written again."""
    line = b"7F10A0000000-7F10A0021000\trw-p\t00000000 00:00 0\t[heap]\n"
    regions = parse(line)
    assert column(regions, "start") == [0x7F10A0000000]
    assert column(regions, "path") == [b"[heap]"]
    assert column(regions, "raw") == [line]
    assert len(regions.faults) == 1


@pytest.mark.parametrize("before", [b"$ cat /proc/1/smaps\n", b"Lines: 252\n", b"# a comment\n\n"])
def test_text_before_the_first_region_is_kept_and_no_fault(before: bytes) -> None:
    """A prompt, a count, a comment: whatever stands there comes out again, and nothing is missing."""
    regions = parse(before + HEADER + b"\n")
    assert regions.form == {"before": before}
    assert (regions.faults, regions.missing) == ([], None)


def test_counters_without_a_map_line_are_a_region_that_is_lost() -> None:
    """Where the first map line is damaged, its counters show that there was one."""
    text = b"00400000-0040100 zzzz\nSize:  4 kB\nRss:   4 kB\n" + HEADER + b"\nRss:   4 kB\n"
    regions = parse(text)
    assert regions.rows == 1
    assert [(fault.line, "no map line" in fault.what) for fault in regions.faults] == [(2, True)]
    assert "line 2" in (regions.missing or "")


COUNTERS = b"\nRss:   4 kB\nPss:   4 kB\nSwap:  0 kB\n"


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (b"Pss:   4 kB\nSwap:  0 kB\n", 6),
        (b"Swap:  0 kB\n", 7),
        (b"   4 kB\nSwap:  0 kB\n", 7),
        (b" kB\n", 8),
    ],
)
def test_a_text_that_ends_within_a_block_says_so(end: bytes, line: int) -> None:
    """Cut behind a line or within one: what is there is kept, and that regions may be missing is said."""
    regions = parse((HEADER + COUNTERS + NEXT + COUNTERS)[: -len(end)])
    assert regions.rows == 2
    assert [(fault.line, "text ends within" in fault.what) for fault in regions.faults] == [(line, True)]
    assert regions.missing is not None


@pytest.mark.parametrize(("path", "missing"), [(b"/lib/x.so", True), (b"[stack]", False), (b"", False)])
def test_a_map_line_at_the_very_end_may_be_cut(path: bytes, missing: bool) -> None:
    """The kernel ends each line; where it has no end, a path may be cut, and `[stack]` is not."""
    assert (parse(HEADER + b"\n" + NEXT + path).missing is not None) is missing


def test_a_line_of_no_kernel_is_refused_at_once() -> None:
    """A line of megabytes is refused before it is parsed, with its number."""
    with pytest.raises(LimitError, match="line 2 has more than 65,536 bytes"):
        parse_smaps(HEADER + b"\n" + b"x" * (1 << 20))


def test_blank_lines_are_no_fault() -> None:
    """Blank lines between regions belong to the layout."""
    regions = parse(HEADER + b"\nRss:  4 kB\n\n" + NEXT + b"\nRss:  8 kB\n\n\n")
    assert column(regions, "Rss") == [4096, 8192]
    assert not regions.faults


def test_one_kernel_needs_one_layout() -> None:
    """Names or none, small numbers or ten digits: the layout column is constant."""
    lines = [
        MapLine(0x400000, 0x401000, path=b"/bin/x"),
        MapLine(0x7F0000000000, 0x7F0000001000),
        MapLine(0xFFFFFFFFFF600000, 0xFFFFFFFFFF601000, b"--xp", path=b"[vsyscall]"),
        MapLine(1 << 40, 3 << 39, b"rwxs", 0xABCDEF012345, (0x103, 0xFFFFF), 2**64 - 1, b"/x y"),
    ]
    text = b"".join(make_block(Block(line, {"Rss": 10**at})) for at, line in enumerate(lines))
    regions = parse(text)
    assert len(set(column(regions, "layout"))) == 1
    assert column(regions, "Rss") == [1024, 10240, 102400, 1024000]
    assert column(regions, "inode")[-1] == 2**64 - 1


def test_a_file_of_keys_does_not_become_a_file_of_columns() -> None:
    """A hostile text with a new key in every line costs no column for each."""
    lines = b"".join(b"Key%d:   1 kB\n" % number for number in range(1000))
    regions = parse(HEADER + b"\n" + lines)
    assert len(regions.columns) < 200
    assert "keys" in regions.faults[0].what


@pytest.mark.parametrize("place", ["map_text", "segments"])
def test_a_text_of_too_many_regions_ends_at_the_limit(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile text of tiny lines is refused while it is read, and not when memory is gone."""
    tight = dataclasses.replace(DEFAULT_LIMITS, table_cells=1000)
    monkeypatch.setattr(f"mmpscope.formats.proc.{place}.DEFAULT_LIMITS", tight)
    lines = [b"%x-%x rw-p 0 0:0 0\n" % (at, at + 1) for at in range(1000)]
    with pytest.raises(LimitError):
        parse_smaps(b"".join(lines))
