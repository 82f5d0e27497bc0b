"""Lists of !address, old and new form: whole, filtered, broken, cut, and in a log among other things."""

from __future__ import annotations

import io

import pytest
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.model import Snapshot
from mmpscope.formats.source import ListedSource
from mmpscope.formats.windbg.reader import open_log
from support.corpus import read_corpus_file
from support.minidumps import find_capability, list_rows
from support.windbg_text import Region, fill, print_list, print_old_list, print_row, print_summary

END_64, END_32 = 0x7FFF_FFFF_0000, 0x7FFF_0000
_FIELDS = ("start", "size", "AllocationBase", "State", "Protect", "Type", "Usage", "Details")
PROCESS = [
    Region(0x20000, 0x1000, "PEB", "[11f0]"),
    Region(0x21000, 0x2000, "TEB", "[~0; 11f0.2bcc]", allocation=0x20000),
    Region(0x30000, 0xFD000, "Stack", "[~0; 11f0.2bcc]", 0x2000, 0),
    Region(0x12D000, 0x1000, "Stack", "[~0; 11f0.2bcc]", 0x1000, 0x104, allocation=0x30000),
    Region(0x12E000, 0x2000, "Stack", "[~0; 11f0.2bcc]", allocation=0x30000),
    Region(0x200000, 0x10000, "Heap", "[ID: 0; Handle: 0000000000200000; Type: Segment]"),
    Region(0x300000, 0x3000, "MappedFile", '"\\Device\\HarddiskVolume3\\Windows\\l.nls"', 0x1000, 2, 0x40000),
    Region(0x400000, 0x1000, "Image", '[toy; "C:\\Program Files\\toy.exe"]', 0x1000, 2, 0x1000000),
    Region(
        0x401000, 0x5000, "Image", '[toy; "C:\\Program Files\\toy.exe"]', 0x1000, 0x20, 0x1000000, 0x400000
    ),
    Region(0x500000, 0x1000, "<unknown>", "[MZ..............]", 0x1000, 0x40),
]


def _open(text: str | bytes) -> ListedSource:
    return open_log(io.BytesIO(text.encode() if isinstance(text, str) else text), "x.txt")


def _read(text: str) -> Snapshot:
    source = _open(text)
    assert source.faults == []
    return source.read(0)


def _expect(regions: list[Region]) -> list[tuple[object, ...]]:
    return [
        (
            r.start,
            r.size,
            r.start if r.allocation is None else r.allocation,
            r.state,
            r.protect or None,
            r.type,
            r.usage.encode(),
            r.details.encode() or None,
        )
        for r in regions
    ]


@pytest.mark.parametrize(("bits", "end"), [(64, END_64), (32, END_32)])
def test_a_whole_list(bits: int, end: int) -> None:
    """Every row but the free ones is a region, and free rows give the usable range."""
    snapshot = _read("0:000> !address\n\n" + print_list(fill(PROCESS, end), bits))
    assert list_rows(snapshot, "regions", *_FIELDS) == _expect(PROCESS)
    assert snapshot.process["range"] == {"start": 0, "end": end, "source": "the free rows of !address"}
    assert find_capability(snapshot, "regions") is None
    assert (snapshot.process["bits"], snapshot.process["pid"]) == (bits, 0x11F0)
    assert snapshot.capture.host == {"os": "windows", "allocation_granularity": 65536}


def test_paths_and_threads_come_from_the_details() -> None:
    """Files stand in quotes, blanks and all; a thread has its stack and its TEB."""
    snapshot = _read(print_list(fill(PROCESS, END_64)))
    paths = {row[0] for row in list_rows(snapshot, "regions", "path")} - {None}
    assert paths == {b"C:\\Program Files\\toy.exe", b"\\Device\\HarddiskVolume3\\Windows\\l.nls"}
    assert list_rows(snapshot, "threads") == [(0x2BCC, 0x30000, 0x100000, 0x21000)]


def test_f13_the_end_is_exclusive() -> None:
    """EndAddress+1 is the first address behind the region: neighbours touch, and none is lost."""
    regions = [Region(0x10000 + 0x1000 * i, 0x1000) for i in range(50)]
    snapshot = _read(print_list(fill(regions, END_64)))
    assert [row[0] for row in list_rows(snapshot, "regions", "start")] == [region.start for region in regions]


def test_f39_both_halves_of_an_address_count() -> None:
    """7ff6`12340000 is one number, with or without the backtick."""
    text = print_list(fill([Region(0x7FF6_1234_0000, 0x1000)], END_64))
    for shown in (text, text.replace("`", "")):
        assert list_rows(_read(shown), "regions", "start") == [(0x7FF6_1234_0000,)]


def test_f37_a_32_bit_process_in_a_64_bit_debugger() -> None:
    """Usages that end in 32 show WOW64; its stack is the one that the program uses."""
    regions = [
        Region(0x30000, 0x40000, "Stack64", "[~0; 1b54.12ac]"),
        Region(0x80000, 0x100000, "Stack32", "[~0; 1b54.12ac]"),
        Region(0x200000, 0x1000, "TEB32", "[~0; 1b54.12ac]"),
    ]
    snapshot = _read(print_list(fill(regions, END_64)))
    assert snapshot.process["bits"] == 32
    assert list_rows(snapshot, "threads") == [(0x12AC, 0x80000, 0x100000, 0x200000)]


def test_marks_of_other_versions() -> None:
    """Some write `*` where an allocation begins, and `|-` where it goes on."""
    text = (
        "*        0    10000    10000             MEM_FREE    PAGE_NOACCESS                      Free \n"
        "*    10000    89000    79000 MEM_PRIVATE MEM_RESERVE"
        "                                    Stack64 [1b54.12ac; ~0]\n"
        "|-   89000    8c000     3000 MEM_PRIVATE MEM_COMMIT  PAGE_READWRITE|PAGE_GUARD"
        "          Stack64 [1b54.12ac; ~0]\n"
        "*    8c000 7fff0000 7ff64000             MEM_FREE    PAGE_NOACCESS                      Free \n"
    )
    snapshot = _read("0:000> !address\n" + text)
    rows = list_rows(snapshot, "regions", "start", "AllocationBase", "Protect")
    assert rows == [(0x10000, 0x10000, None), (0x89000, 0x10000, 0x104)]
    assert snapshot.process["range"]["end"] == END_32


def test_a_filtered_list_is_partial() -> None:
    """-f:VAR lists some regions and marks no allocations: holes cannot be told from it."""
    text = "0:000> !address -f:VAR,MEM_COMMIT\n" + print_list(PROCESS[6:], marks=False)
    snapshot = _read(text)
    assert find_capability(snapshot, "regions") == ("partial", "the list was filtered (-f:VAR,MEM_COMMIT)")
    assert "range" not in snapshot.process
    assert {row[0] for row in list_rows(snapshot, "regions", "AllocationBase")} == {None}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (fill(PROCESS, END_64)[1:], "the list does not begin at address 0"),
        (fill(PROCESS, END_64)[:-1], "the list ends at 0x501000, where no process ends"),
        (fill(PROCESS, END_64)[:3] + fill(PROCESS, END_64)[5:], "the list has gaps"),
    ],
)
def test_a_list_that_is_not_all_of_a_space_is_partial(rows: list[Region], reason: str) -> None:
    """Nobody says that rows were left out: what is missing shows by the addresses, and is a fault."""
    source = _open(print_list(rows))
    assert find_capability(source.read(0), "regions") == ("partial", reason)
    assert [fault.what for fault in source.faults] == [reason]


def test_a_text_that_ends_within_a_line_is_a_fault() -> None:
    """A copy that stopped: the last row looks whole, and what was to follow is not there."""
    text = print_list(fill(PROCESS, END_64)).rstrip("\n")
    assert [fault.what for fault in _open(text).faults] == ["the text ends within a line"]


@pytest.mark.parametrize("mark", ["[... truncated ...]", "\u2026 [omitted]", "...", "   [snip]"])
def test_a_mark_of_a_cut_is_a_fault_with_its_line(mark: str) -> None:
    """Who published an excerpt said where it was cut."""
    text = print_list(fill(PROCESS, END_64))
    source = _open(text + mark + "\n")
    line = text.count("\n") + 1
    assert [(fault.what, fault.line) for fault in source.faults] == [
        ("here something was cut out of the log", line)
    ]
    reason = f"the list is cut or damaged at line {line}"
    assert find_capability(source.read(0), "regions") == ("partial", reason)


@pytest.mark.parametrize("bits", [64, 32])
def test_a_cut_row_is_a_fault_and_the_rest_loads(bits: int) -> None:
    """The last row of an excerpt ends anywhere."""
    lines = print_list(fill(PROCESS, END_64 if bits == 64 else END_32), bits).splitlines()
    cut = "\n".join([*lines[:-1], lines[-1][: len(lines[-1].split()[0]) + (24 if bits == 64 else 14)]])
    source = _open(cut)
    assert [fault.line for fault in source.faults] == [len(lines)]
    assert source.read(0).tables["regions"].rows == len(PROCESS)


def test_f38_numbers_that_contradict_each_other_are_no_row() -> None:
    """End before base, or a size that is not their difference: the row is left out, with its line."""
    text = print_list(fill(PROCESS, END_64)).replace("0`00003000", "0`00004000", 1)
    source = _open(text)
    assert [fault.what for fault in source.faults] == ["a row is cut or contradicts itself"]
    assert source.read(0).tables["regions"].rows == len(PROCESS) - 1


def _wrap(text: str, width: int) -> str:
    """Break lines as a console does: in the middle of words."""
    parts = [line[i : i + width] for line in text.splitlines() for i in range(0, max(1, len(line)), width)]
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("width", [80, 90, 100, 120])
def test_lines_that_a_console_has_wrapped(width: int) -> None:
    """A window of that many columns breaks rows and words; they are put together again."""
    whole = print_list(fill(PROCESS, END_64))
    assert list_rows(_read(_wrap(whole, width)), "regions", *_FIELDS) == _expect(PROCESS)


def test_lines_that_a_mail_has_wrapped() -> None:
    """A mail breaks at a blank and drops it."""
    rows = fill(PROCESS, END_64)
    text = print_list(rows).replace("MEM_COMMIT  PAGE", "MEM_COMMIT\nPAGE").replace(" [", "\n[")
    assert list_rows(_read(text), "regions", *_FIELDS) == _expect(PROCESS)


def test_an_excerpt_without_its_head_is_read() -> None:
    """A row is enough to know what it is."""
    source = _open("Here is what I see:\n\n" + print_list(PROCESS[5:7], head=False))
    assert [fault.what for fault in source.faults] == ["the list does not begin at address 0"]
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == 2
    assert (find_capability(snapshot, "regions") or ("",))[0] == "partial"


def test_a_log_of_a_whole_session() -> None:
    """Prompts, other commands and progress are skipped and counted; the time of the session is kept."""
    text = (
        "Opened log file 'c:\\temp\\x.log'\n"
        "Debug session time: Wed Nov  5 01:14:37.000 2025 (UTC + 1:00)\n"
        "0:000> lm\n"
        "start             end                 module name\n"
        "00007ff7`966d0000 00007ff7`96876000   toy        (deferred)\n"
        "0:000> !address\n"
        "Mapping file section regions...\n"
        "Mapping heap regions...\n\n"
        + print_list(fill(PROCESS, END_64))
        + "0:000> r\nrax=0000000000000000 rbx=00007ff612340000\n"
        + "0:000> .logclose\nClosing open log file c:\\temp\\x.log\n"
    )
    snapshot = _read(text)
    assert snapshot.tables["regions"].rows == len(PROCESS)
    assert snapshot.process["source"] == {"format": "WinDbg !address", "other_lines": 8}
    assert snapshot.moment["time_ns"] == 1_762_301_677 * 10**9
    assert find_capability(snapshot, "regions") is None


def test_text_as_windows_saves_it() -> None:
    """UTF-16, a byte order mark and CR LF make no difference."""
    text = print_list(fill(PROCESS, END_64))
    for data in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()):
        assert list_rows(_open(data).read(0), "regions", *_FIELDS) == _expect(PROCESS)


def test_gaps_of_a_linux_dump_are_free() -> None:
    """WinDbg has neither type nor state for what a core does not map: no region, and the system is Linux."""
    regions = [
        Region(0x57AE_159B_8000, 0xC000, "Image", '[dotnet; "/usr/share/dotnet/dotnet"]', 0x1000, 2),
        Region(0x7FFC_0000_0000, 0x21000, "<unknown>", "[0...............]"),
    ]
    snapshot = _read(print_list(fill(regions, 0, state=0)))
    assert list_rows(snapshot, "regions", "start", "path") == [
        (0x57AE_159B_8000, b"/usr/share/dotnet/dotnet"),
        (0x7FFC_0000_0000, None),
    ]
    assert snapshot.capture.host == {"os": "linux"}
    assert snapshot.process["range"]["end"] == 0x7FFF_FFFF_F000
    assert find_capability(snapshot, "regions") is None


@pytest.mark.parametrize("dash", ["-", "\u2013"])
def test_the_old_form(dash: str) -> None:
    """Its second number is a size; a row without allocation base goes on with that of the row before."""
    regions = [
        Region(0x10000, 0x1000, "EnvironmentBlock"),
        Region(0x12_0000, 0x52000, "IsVAD"),
        Region(0x17_2000, 0xE000, "IsVAD", "", 0x2000, 0, allocation=0x12_0000),
        Region(0x40_0000, 0x1000, "Image", "FullPath C:\\Program Files\\toy.exe", 0x1000, 2, 0x1000000),
        Region(0x50_0000, 0x2000, "Heap", "Handle   00500000"),
    ]
    snapshot = _read("0:000> !address\n" + print_old_list(fill(regions, END_32), dash))
    rows = list_rows(snapshot, "regions", "start", "size", "AllocationBase", "State", "Type", "Usage", "path")
    assert rows == [
        (r.start, r.size, r.allocation or r.start, r.state, r.type, f"RegionUsage{r.usage}".encode(), path)
        for r, path in zip(regions, [None, None, None, b"C:\\Program Files\\toy.exe", None], strict=True)
    ]
    assert snapshot.process["range"]["end"] == END_32
    assert list_rows(snapshot, "regions", "Details")[-1] == (b"Handle 00500000",)


def test_a_region_of_the_old_form_without_a_state_is_a_fault() -> None:
    """The text was cut within it."""
    text = print_old_list(fill(PROCESS[5:6], END_32))
    source = _open("0:000> !address\n" + "\n".join(text.splitlines()[:-2]))
    assert [fault.what for fault in source.faults] == ["a region without a line for its state"]
    assert source.read(0).tables["regions"].rows == 1


def test_two_processes_in_one_log_are_two_snapshots() -> None:
    """Each list is an address space of its own."""
    first, second = print_list(fill(PROCESS, END_64)), print_list(fill(PROCESS[:2], END_64))
    source = _open(first + "0:000> !address\n" + second)
    assert [source.read(i).tables["regions"].rows for i in range(2)] == [len(PROCESS), 2]
    assert [entry.name for entry in source.entries] == ["line 1", f"line {first.count(chr(10)) + 2}"]


def test_list_and_summary_of_one_log_belong_together() -> None:
    """The list gives the regions, the summary the totals, and both are compared."""
    rows = fill(PROCESS, END_64)
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.usage] = sums.get(row.usage, 0) + row.size
    summary = print_summary([(name, 1, size) for name, size in sums.items()])
    for text in (print_list(rows) + summary, summary + "\n0:000> !address\n" + print_list(rows)):
        source = _open(text)
        assert len(source.entries) == 1
        assert source.faults == []
        assert source.read(0).tables["regions"].rows == len(PROCESS)
    told = print_summary([(name, 1, size + 0x1000 * (name == "Heap")) for name, size in sums.items()])
    assert [fault.what for fault in _open(print_list(rows) + told).faults] == [
        "the summary and the list disagree"
    ]


def test_a_log_without_address_is_refused() -> None:
    """It is a debugger's log, but not of an address space."""
    with pytest.raises(NotASnapshotError, match="without the output of !address"):
        _open("Microsoft (R) Windows Debugger Version 10.0\n0:000> k\n")


def test_the_public_linux_dump() -> None:
    """Seven regions of 11 rows, up to the line where its publisher cut it."""
    source = _open(read_corpus_file("windbg/address_linuxdump_dotnet_wow.txt"))
    assert source.format == "WinDbg !address"
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == 7
    assert sum(row[0] for row in list_rows(snapshot, "regions", "size")) == 0x891000
    assert [fault.line for fault in source.faults] == [14]
    assert find_capability(snapshot, "regions") == ("partial", "the list is cut or damaged at line 14")


def test_the_public_list_of_the_old_form() -> None:
    """One region of three rows before the cut, and totals of the whole process."""
    source = _open(read_corpus_file("windbg/address_old_xpstyle_regionusage.txt"))
    assert source.format == "WinDbg !address (old form)"
    snapshot = source.read(0)
    assert list_rows(snapshot, "regions", "start", "size") == [(0x10000, 0x2000)]
    assert (b"RegionUsageImage", 0x1452000) in list_rows(snapshot, "totals", "name", "RegionSize")
    assert snapshot.process["range"]["end"] == END_32
    assert [fault.line for fault in source.faults] == [17]


def test_rows_print_as_windbg_prints_them() -> None:
    """The builder of these tests prints what a public log has."""
    assert (
        print_row(Region(0xA4_2C3F_9000, 0x3000, "Stack", "[~0; 5b8.1a04]", 0x1000, 0x104, allocation=1))
        == "        a4`2c3f9000       a4`2c3fc000        0`00003000 MEM_PRIVATE MEM_COMMIT  "
        "PAGE_READWRITE | PAGE_GUARD        Stack      [~0; 5b8.1a04]"
    )
