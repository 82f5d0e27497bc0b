"""VMMap's CSV and text, as it saves them, as spreadsheets save them again, and as they get damaged."""

from __future__ import annotations

import io

import pytest
from mmpscope.formats.errors import LimitError
from mmpscope.formats.vmmap import text as vmmap_text
from mmpscope.formats.vmmap.layouts import find_layout
from mmpscope.formats.vmmap.sniff import is_text
from support.vmmap_reading import find_formats, list_rows, open_bytes, read_one, state_of

KIB = 1024
SUMMARY = (
    '"Type","Size","Committed","Private","Total WS","Private WS","Shareable WS","Shared WS","Locked WS",'
    '"Blocks","Largest",'
)
HEADING = (
    '"Address","Type","Size","Committed","Private","Total WS","Private WS","Shareable WS","Shared WS",'
    '"Locked WS","Blocks","Protection","Details",'
)
ROWS = (
    '"00110000","Thread Stack","1,024","8","8","4","4","","","","2","Read/Write/Guard","Thread ID: 1"',
    '"  00110000","Thread Stack","1,016","","","","","","","","","Reserved",""',
    '"  0020E000","Thread Stack","8","8","8","4","4","","","","","Read/Write",""',
    '"00220000","Image (ASLR)","64","64","","40","","40","36","","1","Execute/Read","C:\\A b\\x, y.dll"',
)
TOTALS = (
    '"Total","1,104","88","24","44","4","40","36","","3",""',
    '"Image","64","64","","40","","40","36","","1","64"',
    '"Stack","1,024","8","8","4","4","","","","2","1,024"',
    '"Page Table","16","16","16","16","16","","","","",""',
    '"Free","3,000","","","","","","","","2","2,000"',
)
REGIONS = [
    (0x110000, 1016 * KIB, 0x110000, 0, 0, b"Thread Stack", None),
    (0x20E000, 8 * KIB, 0x110000, 8 * KIB, 4, b"Thread Stack", None),
    (0x220000, 64 * KIB, 0x220000, 64 * KIB, 0x20, b"Image (ASLR)", b"C:\\A b\\x, y.dll"),
]
SHOWN = ("start", "size", "AllocationBase", "Commit", "Protection", "VmmapType", "Details")


def make_csv(rows: tuple[str, ...] = ROWS, totals: tuple[str, ...] = TOTALS, end: str = "\r\r\n") -> bytes:
    """Write a CSV of VMMap; without ``totals`` there is no summary."""
    summary = (SUMMARY, *totals, "") if totals else ()
    lines = ('"Process:","devenv.exe"', '"PID:","29892"', "", *summary, HEADING, *rows, "")
    return "".join(line + end for line in lines).encode("cp1252")


CSV = make_csv()


def test_a_csv_is_read_as_vmmap_wrote_it() -> None:
    """Sub-blocks are the regions, K become bytes, words become PAGE_* numbers, empty cells are 0."""
    snapshot, faults = read_one(CSV)
    assert faults == []
    assert list_rows(snapshot, "regions", *SHOWN) == REGIONS
    assert list_rows(snapshot, "allocations", "start", "size", "Blocks", "Protection") == [
        (0x110000, 1024 * KIB, 2, 0x104),
        (0x220000, 64 * KIB, 1, 0x20),
    ]
    facts = {name: snapshot.process[name] for name in ("name", "pid", "bits", "page_table")}
    assert facts == {"name": "devenv.exe", "pid": 29892, "bits": 32, "page_table": 16 * KIB}
    assert state_of(snapshot, "regions") is None
    assert open_bytes(CSV).format == "VMMap CSV"


def test_the_summary_is_kept_as_totals() -> None:
    """Zero is 0; what makes no sense for a line is null, as the blocks of page tables."""
    columns = ("name", "Size", "PrivateBytes", "Blocks", "Largest")
    assert list_rows(read_one(CSV)[0], "totals", *columns) == [
        (b"Total", 1104 * KIB, 24 * KIB, 3, None),
        (b"Image", 64 * KIB, 0, 1, 64 * KIB),
        (b"Stack", 1024 * KIB, 8 * KIB, 2, 1024 * KIB),
        (b"Page Table", 16 * KIB, 16 * KIB, None, None),
        (b"Free", 3000 * KIB, 0, 2, 2000 * KIB),
    ]


@pytest.mark.parametrize("separator", [".", "'", " ", "\u00a0"])
def test_numbers_follow_the_locale_of_the_user(separator: str) -> None:
    """In a German list 1.024 is 1,024 K; a French no-break space is the byte A0, no UTF-8."""
    rows = tuple(row.replace('"1,', f'"1{separator}') for row in ROWS)
    totals = tuple(row.replace('"1,', f'"1{separator}') for row in TOTALS)
    snapshot, faults = read_one(make_csv(rows, totals))
    assert (list_rows(snapshot, "regions", *SHOWN), faults) == (REGIONS, [])


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r\r\n", "\r\r\r\n"])
def test_any_line_end_is_one(end: str) -> None:
    """CR CR LF is what VMMap writes; editors mend it."""
    assert list_rows(read_one(make_csv(end=end))[0], "regions", *SHOWN) == REGIONS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_any_encoding_is_told_by_its_bytes(encoding: str) -> None:
    """ANSI as VMMap writes it, UTF-8 and UTF-16 as editors do."""
    data = CSV.decode().replace("A b", "Ä “b”").encode(encoding)
    assert find_formats(data) == ["vmmap-csv"]
    assert list_rows(read_one(data)[0], "regions", "Details")[-1] == ("C:\\Ä “b”\\x, y.dll".encode(),)


def test_bytes_of_no_encoding_are_shown() -> None:
    r"""Windows-1252 has no 0x81: it is written as \x81 and lost to nobody."""
    data = CSV.replace(b"A b", b"\x81\xe4")
    assert list_rows(read_one(data)[0], "regions", "Details")[-1] == ("C:\\\\x81ä\\x, y.dll".encode(),)


def _save_again(delimiter: str) -> bytes:
    """Save as a spreadsheet does: few quotes, no leading zeros or blanks, all rows equally long."""
    saved = []
    for line in CSV.decode().split("\r\r\n"):
        cells = [cell.strip() for cell in line.strip('",').split('","')]
        cells = [cell.lstrip("0") if len(cell) == 8 and cell.isalnum() else cell for cell in cells]
        cells += [""] * (14 - len(cells))
        saved.append(delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in cells))
    return "\r\n".join(saved).encode()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheet_may_have_saved_it_again(delimiter: str) -> None:
    """Without quotes, indentation and leading zeros, sub-blocks are told by what lies inside what."""
    data = _save_again(delimiter)
    assert find_formats(data) == ["vmmap-csv"]
    snapshot, faults = read_one(data)
    assert (list_rows(snapshot, "regions", *SHOWN), faults) == (REGIONS, [])
    assert snapshot.process["pid"] == 29892


def test_an_address_that_a_spreadsheet_took_for_a_number_is_lost_and_told() -> None:
    """001E0000 becomes 1.00E+00 in a spreadsheet: nobody can tell what it was."""
    snapshot, faults = read_one(_save_again(",").replace(b"\r\n220000,", b"\r\n2.20E+05,"))
    assert faults == ["a row has no address, line 15"]
    assert snapshot.tables["regions"].rows == 2
    assert str(state_of(snapshot, "regions")).startswith("partial: 1 row could not be read")


def test_columns_go_by_their_names() -> None:
    """In another order, with one missing and a new one, each value is where its heading says."""
    rows = (
        '"Type","New","Size","Address","Committed","Total WS","Protection"',
        '"Private Data","x","8","  7FF600000000","4","4","Read/Write"',
    )
    data = "\r\n".join([*rows, ""]).encode()
    snapshot, _ = read_one(data)
    names = ("start", "size", "Commit", "PrivateBytes", "Blocks", "New", "Protection")
    assert list_rows(snapshot, "regions", *names) == [(0x7FF600000000, 8192, 4096, None, None, b"x", 4)]
    assert snapshot.process["bits"] == 64


def test_holes_in_the_list_tell_the_range() -> None:
    """Rows of Free and Unusable are shown where the user wished, and go to their own table."""
    holes = (
        '"00000000","Free","1,088","","","","","","","","","",""',
        '"00230000","Free","64","","","","","","","","","",""',
    )
    snapshot, _ = read_one(make_csv((holes[0], *ROWS, holes[1])))
    assert list_rows(snapshot, "regions", *SHOWN) == REGIONS
    assert list_rows(snapshot, "free", "start", "size") == [(0, 1088 * KIB), (0x230000, 64 * KIB)]
    assert snapshot.process["range"]["end"] == 0x240000


@pytest.mark.parametrize(
    ("rows", "totals", "words"),
    [
        (ROWS[:3], TOTALS, "partial: the list shows no Image, of which the summary tells"),
        (ROWS[3:], TOTALS, "partial: the list shows no Stack"),
        ((), TOTALS, "unavailable: the list has no rows"),
        ((), (), "unavailable: the list has no rows"),
        (ROWS[3:], (), "partial: the list shows no other type than Image"),
    ],
)
def test_a_filtered_list_says_so(rows: tuple[str, ...], totals: tuple[str, ...], words: str) -> None:
    """VMMap saves what it shows: what the summary tells and the list does not is not free memory."""
    snapshot, faults = read_one(make_csv(rows, totals))
    assert words in str(state_of(snapshot, "regions"))
    assert faults == []
    assert ("totals" in snapshot.tables) == bool(totals)


def test_a_list_without_summary_is_whole_if_it_has_several_types() -> None:
    """Nothing says that anything is missing."""
    snapshot, _ = read_one(make_csv(ROWS, ()))
    assert state_of(snapshot, "regions") is None
    assert state_of(snapshot, "page_table") is not None


@pytest.mark.parametrize(
    ("line", "before", "after", "what"),
    [
        (0, "00110000", "zz110000", "a row has no address"),
        (1, '"1,016"', '"1,01"', "a row has no size"),
        (2, '"8"', '"-8"', "a row has no size"),
        (2, "0020E000", "FFFFFFFFFFFFFFFF", "a row ends beyond the last address"),
        (3, '"64"', '""', "a row has no size"),
    ],
)
def test_a_damaged_row_is_told_with_its_line(line: int, before: str, after: str, what: str) -> None:
    """The row is skipped, the rest loads, and free space cannot be told any more."""
    hurt = ROWS[line].replace(before, after, 1)
    snapshot, faults = read_one(make_csv((*ROWS[:line], hurt, *ROWS[line + 1 :])))
    told = [fault for fault in faults if fault.startswith(what)]
    assert [fault.rpartition(", ")[2] for fault in told] == [f"line {12 + line}"]
    assert str(state_of(snapshot, "regions")).startswith("partial: 1 row could not be read")


def test_odd_cells_cost_only_themselves() -> None:
    """A figure that is no number, unknown words and a short line are null and noted once each."""
    rows = (
        ROWS[3].replace('"40"', '"4.0"', 1),
        ROWS[3].replace("0022", "0024").replace("Execute/Read", "Execute/Only"),
        '"00260000","Image","4"',
    )
    snapshot, faults = read_one(make_csv(rows, ()))
    assert [fault.partition(",")[0] for fault in faults] == [
        "Total WS is no number of K",
        "a protection has words that we do not know",
        "a line has fewer cells than its heading",
    ]
    assert list_rows(snapshot, "regions", "TotalWS", "Protection", "ProtectionText", "LockedWS") == [
        (None, 0x20, None, 0),
        (40 * KIB, None, b"Execute/Only", 0),
        (None, None, None, None),
    ]


def test_a_sub_block_without_allocation_is_kept() -> None:
    """It is its own allocation, and noted; one that ends behind its allocation stays in it."""
    lone = '"  00300000","Private Data","8","8","8","","","","","","","Read/Write",""'
    over = ROWS[2].replace('"8","8"', '"80","8"', 1)
    snapshot, faults = read_one(make_csv((*ROWS[:2], over, lone, ROWS[3]), ()))
    assert faults == [
        "a sub-block ends behind its allocation, line 7",
        "a sub-block lies in no allocation, line 8",
        "a region begins below the end of one before it, line None",
    ]
    assert list_rows(snapshot, "regions", "start", "AllocationBase")[2] == (0x300000, 0x300000)


def test_rounded_generations_are_no_fault() -> None:
    """GC generations begin unaligned and are printed in whole K: a K more or less is no overlap."""
    rows = (
        '"1D8A0000","Managed Heap","16,384","16,384","16,384","","","","","","1","Read/Write","GC"',
        '"  1D8A1000","Managed Heap","447","447","447","","","","","","","Read/Write","Gen1"',
        '"  1D910A4C","Managed Heap","15,934","15,934","15,934","","","","","","","Read/Write","Gen0"',
        ROWS[3].replace("00220000", "1E8A0000"),
    )
    snapshot, faults = read_one(make_csv(rows, ()))
    assert faults == []
    assert list_rows(snapshot, "regions", "start")[:2] == [(0x1D8A1000,), (0x1D910A4C,)]


def test_a_cut_csv_never_passes_for_whole() -> None:
    """Cut anywhere in the list, the last row is not taken for one of another size."""
    begin = CSV.index(b'"00110000"') + 30
    whole = CSV.rstrip()
    for size in range(begin, len(whole)):
        snapshot, faults = read_one(CSV[:size])
        cut = CSV[:size].endswith((b"\r", b"\n")) or CSV[size : size + 1] == b"\r"
        assert cut or faults, CSV[size - 20 : size]
        assert str(state_of(snapshot, "regions")).startswith("partial")
        starts = set(list_rows(snapshot, "regions", "start", "size"))
        assert starts <= {*[row[:2] for row in REGIONS], (0x110000, 1024 * KIB)}


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of 100 MB meets a limit long before it is read."""
    with pytest.raises(LimitError, match="line 17 has more than 65,536 characters"):
        open_bytes(CSV + b'"' + b"x" * 1_000_000)
    assert vmmap_text.MOST_LINE == 1 << 16


def test_tables_of_others_are_not_taken() -> None:
    """Our own CSV of regions, and tables with some of the words, are not VMMap's."""
    for heading in (
        b'"snapshot","address","size","end","allocation","type","committed","private","total_ws"',
        b"Address,Type,Size,Data",
        b"Size Committed Type",
        b"Address           Kbytes     RSS   Dirty Mode  Mapping",
    ):
        assert find_formats(heading + b"\n") == []


TEXT_HEADING = (
    "Address    Type                  Size        Committed  Private    Total WS   Private WS  Shareable WS  "
    "Shared WS  Locked WS  Blocks  Protection           Details"
)
WIDTHS = (11, 22, 12, 11, 11, 11, 12, 14, 11, 11, 8, 21, 0)


def make_text(*rows: str) -> bytes:
    """Write rows of a CSV as printf does: columns of least widths, which wide values push to the right."""
    lines = [TEXT_HEADING]
    for row in rows:
        cells = row[1:-1].split('","')
        lines.append("".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip())
    return "\r\n".join([*lines, ""]).encode()


def test_text_is_read_by_the_places_of_its_headings() -> None:
    """The fixed-width list gives what the CSV gives; its lines end where nothing follows."""
    data = make_text(*ROWS)
    assert find_formats(data) == ["vmmap-text"]
    snapshot, faults = read_one(data)
    assert (list_rows(snapshot, "regions", *SHOWN), faults) == (REGIONS, [])
    assert open_bytes(data).format == "VMMap text"


def test_text_may_lack_details_and_be_short() -> None:
    """Details are not always shown, and a line may end before any column."""
    rows = (row.replace("C:\\A b\\x, y.dll", "").replace("Thread ID: 1", "") for row in ROWS)
    data = make_text(*rows).replace(b"Details", b"")
    assert list_rows(read_one(data)[0], "regions", *SHOWN[:-1]) == [row[:-1] for row in REGIONS]
    data = (TEXT_HEADING + "\n00110000   Private Data          64\n").encode()
    assert list_rows(read_one(data)[0], "regions", "size", "Commit", "Details") == [(65536, 0, None)]


def test_wide_values_push_the_rest_of_a_line() -> None:
    """2,147,483,648 K for control flow guard and 16 digits of address fit no column; nothing is lost."""
    words = "Execute/Read/Write/WriteCombine"
    rows = (
        f'"00007DF500000000","Shareable","2,147,483,648","35,000","","4","","4","4","","2","{words}","Z:\\x"',
        '"  00007DF500000000","Shareable","2,147,483,648","35,000","","4","","4","4","","","Read",""',
        '"00007FFF00000000","Image (ASLR)","64","64","","","","","","","1","Execute/Copy on Write","C:\\a"',
    )
    snapshot, faults = read_one(make_text(*rows))
    assert faults == []
    names = ("start", "size", "Commit", "TotalWS", "Blocks", "Protection", "Details")
    assert list_rows(snapshot, "allocations", *names) == [
        (0x7DF500000000, 2_147_483_648 * KIB, 35_000 * KIB, 4096, 2, 0x440, b"Z:\\x"),
        (0x7FFF00000000, 64 * KIB, 64 * KIB, 0, 1, 0x80, b"C:\\a"),
    ]
    assert list_rows(snapshot, "regions", "start", "Protection")[0] == (0x7DF500000000, 2)


def test_headings_of_many_columns_are_bounded() -> None:
    """A heading of a million words makes no million columns."""
    layout = find_layout(HEADING + ",".join(f'"c{at}"' for at in range(5000)))
    assert layout is not None
    assert len(layout.names) <= 64


def test_lines_are_read_one_by_one() -> None:
    """The stream is the caller's: it stays open, and each line has its number."""
    stream = io.BytesIO(b"a\r\r\nb")
    assert list(vmmap_text.read_lines(stream)) == [(1, "a", True), (2, "b", False)]
    assert not stream.closed


@pytest.mark.parametrize("command", ["summary", "regions", "diff"])
def test_what_we_print_ourselves_is_no_text_of_vmmap(command: str) -> None:
    """An answer of ours pasted into a ticket has VMMap's headings, in two lines, and is refused in words."""
    heads = {
        "summary": "Type  Size  Committed  Private      WS       WS         WS      WS  Blocks    Largest",
        "regions": "Address        Type   Size  Committed  Private      WS     WS  Blocks  Prot  Details",
        "diff": "Address           Type             Size  Committed  Private      WS  Details",
    }
    assert not is_text(f"java (pid 65) on demo\n{heads[command]}\n".encode())


def test_a_list_that_is_cut_is_a_fault_by_its_own_summary() -> None:
    """A filter shows all of one type; less of a type, or two types of three, is a copy that stopped."""
    totals = (TOTALS[0], TOTALS[1].replace('"64"', '"6,400"', 1))
    snapshot, faults = read_one(make_csv(ROWS, totals))
    assert "the summary 6,400 K" in str(state_of(snapshot, "regions"))
    assert "the summary 6,400 K" in faults[0]
    _, faults = read_one(make_csv(ROWS, ()).rstrip())
    assert "the text ends within a line" in faults[0]


def test_stacks_name_their_threads() -> None:
    """VMMap lists no threads, but the details of a stack say whose it is; reserved memory counts."""
    snapshot, _ = read_one(CSV)
    assert list_rows(snapshot, "threads", "tid", "stack_start", "stack_size") == [(1, 0x110000, 1024 * KIB)]
    assert state_of(snapshot, "threads") == "partial: from the list of regions, without names"
    without, _ = read_one(CSV.replace(b"Thread ID: 1", b"64-bit thread stack"))
    assert state_of(without, "threads") == "unavailable: no region names a thread"
    assert "threads" not in without.tables
