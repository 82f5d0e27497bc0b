"""Reports of macOS's vmmap in every format, and what excerpts of them lack."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.macos.format import FORMATS
from mmpscope.formats.macos.reader import open_report
from mmpscope.formats.macos.sizes import parse_size
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot
from mmpscope.formats.source import ListedSource
from support.corpus import find_corpus_file
from support.macos_reports import COLUMNS, END, HEAD, ROWS, WHOLE


def _open(text: str | bytes) -> ListedSource:
    return open_report(BytesIO(text.encode() if isinstance(text, str) else text), "x.txt")


def _read(text: str | bytes) -> Snapshot:
    return _open(text).read(0)


def _rows(snapshot: Snapshot, table: str, *names: str) -> list[tuple[Fact, ...]]:
    columns = decode_table(snapshot.tables[table])
    return list(zip(*(columns[name] for name in names), strict=True))


def _reasons(snapshot: Snapshot) -> dict[str, str | None]:
    return {item.item: item.reason for item in snapshot.capability if item.state != "ok"}


def _sniff(data: bytes) -> bool:
    return FORMATS[0].sniff(data)


def test_a_whole_report_is_read_with_every_column() -> None:
    """Types with blanks and parentheses, ranges below a page, units mixed in a row, details with blanks."""
    source = _open(WHOLE)
    snapshot = source.read(0)
    assert source.format == "macOS vmmap text 2.4"
    assert source.faults == []
    assert "regions" not in _reasons(snapshot)
    names = ("start", "size", "RegionType", "VSIZE", "RSDNT", "DIRTY", "SWAP")
    assert _rows(snapshot, "regions", *names) == [
        (0x100000000, 0x4000, b"__TEXT", 16384, 16384, 0, 0),
        (0x100100000, 0x100000, b"MALLOC_LARGE (reserved)", 1 << 20, 0, 0, 0),
        (0x100300000, 0x4000, b"IOKit", 16384, 16384, 16384, 0),
        (0x100400000, 0x4000, b"VM_ALLOCATE", 16384, 16384, 16384, 0),
        (0x1E1BE07F0, 3472, b"unused __DATA", 3472, 0, 0, 3472),
        (0x200000000, 1 << 31, b"Memory Tag 22", 1 << 31, 3 << 19, 3 << 19, 102400),
    ]
    assert _rows(snapshot, "regions", "PRT", "MAX", "SHRMOD", "PURGE", "path") == [
        (b"r-x", b"r-x", b"COW", None, b"/Applications/Shop Front.app/Contents/MacOS/shop"),
        (b"rw-", b"rwx", b"NUL", None, b"DefaultMallocZone_0x105348000"),
        (b"rw-", b"rw-", b"SHM", b"N", None),
        (b"rw-", b"rw-", b"S/A", b"V", b"kept for a while"),
        (b"rw-", b"rw-", b"COW", None, b"on dirty page  unused /System/Library/X"),
        (b"rw-", b"rw-", b"PRV", None, None),
    ]


def test_the_head_tells_process_system_and_time() -> None:
    """Footprints are figures that people ask for first; every other line of the head is kept as it stands."""
    snapshot = _read(WHOLE)
    process = snapshot.process
    assert (process["pid"], process["ppid"], process["name"]) == (42, 1, "shop")
    assert process["exe"] == "/Applications/Shop Front.app/Contents/MacOS/shop"
    assert (process["physical_footprint"], process["physical_footprint_peak"]) == (3 << 29, 1 << 31)
    assert (process["page_size"], process["bits"]) == (16384, 64)
    assert process["vmmap"]["Identifier"] == "org.example.shop"
    assert snapshot.capture.host["machine"] == "arm64"
    assert snapshot.capture.host["release"] == "macOS 26.1 (25B78)"
    assert snapshot.moment["time_ns"] == 1_770_084_306_007_000_000


def test_summary_and_zones_are_tables_of_their_own() -> None:
    """Names with blanks stand before figures; a remark behind them is no figure."""
    snapshot = _read(WHOLE)
    totals = _rows(snapshot, "totals", "name", "VIRTUAL", "RESIDENT", "SWAPPED", "NONVOL", "count")
    assert totals[0] == (b"IOKit", 16384, 16384, 0, 16384, 1)
    assert totals[1] == (b"MALLOC_LARGE (reserved)", 1 << 20, 0, 0, 0, 1)
    assert totals[2] == (b"Memory Tag 22", 1 << 31, 3 << 19, 102400, 0, 1)
    assert totals[-1] == (b"TOTAL", 1 << 31, 1677721, 105472, 16384, 6)
    names = ("name", "SWAPPED", "ALLOCATION_COUNT", "BYTES_ALLOCATED", "FRAG_SIZE", "PERCENT", "REGION_COUNT")
    assert _rows(snapshot, "malloc_zones", *names) == [
        (b"AttributeGraph graph data_0x1", 3764 * 1024, 33880, 4606 * 1024, 914 * 1024, 17, 18)
    ]


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("0K", 0, 1024),
        ("3360", 3360, 0),
        ("28.0G", 28 << 30, (1 << 30) // 10),
        ("1.5T", 3 << 39, (1 << 40) // 10),
        ("6092KB", 6092 << 10, 1024),
        ("0.1K", 102, 102),
    ],
)
def test_sizes_are_exact_and_know_their_rounding(text: str, value: int, error: int) -> None:
    """No size passes through a float, and what vmmap rounded away is known."""
    assert parse_size(text.encode()) == (value, error)


@pytest.mark.parametrize("text", ["", "K", "-1K", "1,5K", "1.K", "0x10", "1P", "99999999999T", "1e3"])
def test_what_is_no_size_is_none(text: str) -> None:
    """Also a number above 64 bits: a column could not hold it."""
    assert parse_size(text.encode()) is None


def test_format_2_0_has_one_size_and_short_addresses() -> None:
    """Mac OS X 10.5 wrote no heading, no word size and brackets in the summary; mail wrapped its paths."""
    snapshot = _read(
        "Virtual Memory Map of process 27 (import)\nOutput report format:  2.0\n\n"
        "==== Non-writable regions for process 27\n"
        "__PAGEZERO             00000000-00001000 [    4K] ---/--- SM=NUL\n/usr/bin/import\n"
        "mapped file            02008000-052fe000 [52184K] r--/rwx SM=COW  /a b.pack\n"
        "MALLOC_TINY (freed?)   00100000-00102000 [    8K] rw-/rwx SM=COW\n\n"
        "==== Summary for process 27\n"
        "ReadOnly portion of Libraries: Total=6092KB resident=2944KB(48%)\n\n"
        "REGION TYPE             [ VIRTUAL]\n===========             [ =======]\n"
        "MALLOC                  [  20816K]\nVM_ALLOCATE ?           [      4K]\n"
        "__PAGEZERO              [      4K]\n"
    )
    assert _rows(snapshot, "regions", "start", "size", "RegionType", "RSDNT", "path") == [
        (0, 0x1000, b"__PAGEZERO", None, b"/usr/bin/import"),
        (0x2008000, 0x32F6000, b"mapped file", None, b"/a b.pack"),
        (0x100000, 0x2000, b"MALLOC_TINY (freed?)", None, None),
    ]
    assert _rows(snapshot, "totals", "name", "VIRTUAL") == [
        (b"MALLOC", 20816 << 10),
        (b"VM_ALLOCATE ?", 4096),
        (b"__PAGEZERO", 4096),
    ]
    assert snapshot.process["bits"] == 32
    assert snapshot.process["range"]["start"] == 0


def test_regions_may_be_interleaved_and_some_have_no_address() -> None:
    """With -interleaved there is one list; macOS charges page tables to a process that it does not map."""
    text = HEAD + (
        "==== regions for process 42  (non-writable and writable regions are interleaved)\n"
        + COLUMNS
        + ROWS
        + "page table in kernel          kernel-kernel        [ 1698K  1698K  1698K     0K] rw-/rw- SM=PRV   "
        "charged to process physical footprint\n"
        "owned unmapped (graphics)   unmapped-unmapped      [ 72.0M  72.0M     0K     0K] rw-/rw- SM=PRV\n"
    )
    snapshot = _read(text + END)
    assert snapshot.tables["regions"].rows == 6
    assert snapshot.process["page_table"] == 1698 << 10
    assert "regions" not in _reasons(snapshot)


def test_a_summary_alone_is_totals_and_no_regions() -> None:
    """`vmmap -summary` is what most people paste: it says how much, and nothing of where."""
    snapshot = _read(HEAD + END)
    assert snapshot.tables["regions"].rows == 0
    assert snapshot.tables["totals"].rows == 7
    assert "with -summary" in str(_reasons(snapshot)["regions"])
    assert "range" not in snapshot.process


@pytest.mark.parametrize("head", [HEAD.split("Virtual Memory Map")[0], ""])
def test_a_summary_has_neither_title_nor_heading(head: str) -> None:
    """macOS 14 prints the process, `ReadOnly portion of Libraries:` and the totals; people paste the end."""
    text = head + END[END.index("ReadOnly") :]
    assert FORMATS[0].sniff(text.encode())
    snapshot = _read(text)
    assert snapshot.tables["totals"].rows == 7
    assert "with -summary" in str(_reasons(snapshot)["regions"])
    assert snapshot.process.get("pid") == (42 if head else None)


@pytest.mark.parametrize("mark", ["...", "   ...", "…", "[snip]", "<...>"])
def test_a_cut_mark_makes_the_list_partial(mark: str) -> None:
    """What was left out is no free space, whoever left it out."""
    first, rest = WHOLE.split("\n\n==== Writable", 1)
    source = _open(f"{first}\n{mark}\n\n==== Writable{rest}")
    assert "left out" in str(_reasons(source.read(0))["regions"])
    assert source.faults[0].line == WHOLE[: len(first)].count("\n") + 2


def test_an_excerpt_without_marks_is_found_out_by_the_summary() -> None:
    """A reader of a forum sees the first rows alone; the summary still counts all of them."""
    lines = ROWS.splitlines(keepends=True)
    smaller = lines[3].replace("100404000", "100402000")
    assert str(_reasons(_read(WHOLE.replace(lines[3], smaller)))["regions"]).startswith("VM_ALLOCATE: ")
    assert str(_reasons(_read(WHOLE.replace(lines[5], "")))["regions"]).startswith("TOTAL: ")


def test_a_report_without_its_summary_is_partial() -> None:
    """Every report ends with it, so what lacks it ended early."""
    assert "summary" in str(_reasons(_read(WHOLE.split("==== Legend")[0]))["regions"])


def test_a_size_that_is_not_its_range_is_told_and_its_neighbours_are_not_believed() -> None:
    """With -pages the sizes are pages and look like bytes: only the addresses show it."""
    source = _open(WHOLE.replace("[   16K    16K     0K     0K] r-x", "[     4      4      0      0] r-x"))
    snapshot = source.read(0)
    assert _rows(snapshot, "regions", "size", "VSIZE", "RSDNT")[0] == (0x4000, 4, None)
    assert [fault.what[:5] for fault in source.faults] == ["VSIZE"]


@pytest.mark.parametrize(
    "line",
    [
        "__TEXT   100004000-100000000 [ 16K] r-x/r-x SM=COW",
        "__TEXT   100000000-100000000 [ 0K] r-x/r-x SM=COW",
        "__TEXT   100000000-10000",
        "x" * 100_000,
        "__TEXT   10000000000000000-10000000000001000 [ 4K] r-x/r-x SM=COW",
    ],
    ids=["backwards", "empty", "cut", "long", "beyond 64 bits"],
)
def test_a_damaged_row_costs_itself(line: str) -> None:
    """The rest loads, the place is named, and free space is not known any more."""
    place = WHOLE.split("==== Writable")[0].count("\n") + 1
    source = _open(WHOLE.replace("==== Writable", f"{line}\n==== Writable"))
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == 6
    assert [(fault.line, fault.lost) for fault in source.faults] == [(place, "one region")]
    assert _reasons(snapshot)["regions"] == "1 line could not be read as a region"


def test_several_reports_in_a_text_are_several_snapshots() -> None:
    """People append one report to the other to show growth."""
    source = _open(WHOLE + WHOLE.replace("[42]", "[43]").replace("process 42", "process 43"))
    assert [entry.pid for entry in source.entries] == [42, 43]
    assert [source.read(index).tables["regions"].rows for index in range(2)] == [6, 6]


@pytest.mark.parametrize(
    "data",
    [
        ("> vmmap 42\n" + WHOLE).encode(),
        WHOLE.encode("utf-16"),
        b"\xef\xbb\xbf" + WHOLE.encode(),
        WHOLE.replace("\n", "\r\r\n").encode(),
        "".join(f"    {line}\n" for line in WHOLE.splitlines()).encode(),
        ROWS.encode(),
    ],
    ids=["prompt", "utf-16", "mark", "cr cr lf", "indented", "rows alone"],
)
def test_a_pasted_report_is_known_and_read(data: bytes) -> None:
    """It comes with a prompt, from PowerShell, through two layers of line ends, or out of a code block."""
    assert _sniff(data)
    assert _read(data).tables["regions"].rows == 6


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (
            "Finder [640]: 64-bit    Footprint: 204 MB (16384 bytes per page)\n 976 KB 0 B 5 MALLOC_SMALL\n",
            "footprint",
        ),
        ("Process:         shop [42]\n\nAll zones: 23534 nodes (1000 bytes)\n", "heap"),
    ],
)
def test_neighbours_of_vmmap_are_refused_in_words(text: str, tool: str) -> None:
    """They have no regions, and people take them for the same thing."""
    assert _sniff(text.encode())
    with pytest.raises(NotASnapshotError, match=f"{tool}.* no regions"):
        _open(text)


def test_a_report_of_nothing_is_refused() -> None:
    """The title alone came through."""
    with pytest.raises(NotASnapshotError, match="without a region or a summary"):
        _open("Virtual Memory Map of process 42 (shop)\n")


def test_other_text_is_not_taken_for_a_report() -> None:
    """smaps, showmap and prose have dashes and brackets too."""
    smaps = (
        b"7f10a0000000-7f10a0021000 rw-p 00000000 00:00 0                          [heap]\nSize:  132 kB\n"
    )
    assert not _sniff(smaps)
    assert not _sniff(b"The Virtual Memory Map of process 12 is large [see 3-4] r-x/r-x\n")
    assert not _sniff(b"\x7fELF\0\0Virtual Memory Map of process 12\n")


@pytest.mark.parametrize(
    "line", [b" " * 1_000_000, b"a-" * 500_000, b"Process: " + b"[1" * 500_000, b"[" * 1_000_000]
)
def test_a_long_line_takes_time_in_proportion(line: bytes) -> None:
    """Patterns that look for a row try each place of a line: none may try them twice."""
    start = time.process_time()
    data = WHOLE.encode().replace(b"\n\n", b"\n" + line + b"\n\n")
    assert _read(data).tables["regions"].rows == 6
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("name", "version", "rows", "size"),
    [
        ("osx10.9_python_fmt2.2.txt", "2.2", 10, 30_123_892_736),
        ("osx10.9_python_fmt2.2_resident.txt", "2.2", 10, 30_123_835_392),
        ("macos14_arm64_fmt2.4_tail_excerpt.txt", "2.4", 14, 536_948_272),
    ],
)
def test_reports_of_the_corpus(name: str, version: str, rows: int, size: int) -> None:
    """Excerpts that people published: every row of them is read, and each is known to be an excerpt."""
    source = _open(find_corpus_file(f"macos/{name}").read_bytes())
    snapshot = source.read(0)
    sizes = [number for (number,) in _rows(snapshot, "regions", "size")]
    assert (source.format, len(sizes), sum(sizes)) == (f"macOS vmmap text {version}", rows, size)
    assert not any("no region" in fault.what or "of the summary" in fault.what for fault in source.faults)
    assert "regions" in _reasons(snapshot)


def test_resident_and_dirty_sizes_of_the_corpus() -> None:
    """Exact figures of one row with bytes and kilobytes beside each other."""
    snapshot = _read(find_corpus_file("macos/macos14_arm64_fmt2.4_tail_excerpt.txt").read_bytes())
    rows = _rows(snapshot, "regions", "size", "VSIZE", "RSDNT", "DIRTY", "SWAP")
    assert rows[3] == (9400, 9216, 8192, 0, 1400)
    totals: dict[Fact, Fact] = dict(_rows(snapshot, "totals", "name", "count"))
    assert totals[b"TOTAL"] == 250
    assert sum(count for name, count in totals.items() if name != b"TOTAL") == 250


def test_a_report_that_is_cut_is_a_fault() -> None:
    """The summary ends every report, and TOTAL its table: without them regions are missing."""
    text = find_corpus_file("macos/macos14_arm64_fmt2.4_tail_excerpt.txt").read_text()
    rows = text[: text.index("==== Summary")]
    assert [fault.what for fault in _open(rows).faults] == [
        "the summary, which ends every report, is missing"
    ]
    assert "the summary ends before its TOTAL" in [
        fault.what for fault in _open(text[: text.index("\nTOTAL ")]).faults
    ]
