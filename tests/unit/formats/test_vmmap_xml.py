"""VMMap's own XML: what is read of it, what is only counted, and what is refused."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from time import process_time

import pytest
from mmpscope.formats.errors import (
    CorruptError,
    FormatError,
    LimitError,
    NotASnapshotError,
    TruncatedError,
)
from support.vmmap_reading import find_formats, list_rows, open_bytes, read_one, state_of

TICKS = 133_000_000_000_000_000
TAKEN_NS = (TICKS - 116_444_736_000_000_000) * 100
REGION = 'Address="%d" Blocks="%d" Size="%d" Commit="4096" PrivateWS="8" ShareableWS="4" Protection="4" %s'


def region(start: int, size: int, more: str = 'UseType="4" Type="Private Data"', blocks: int = 0) -> str:
    """Write one region without children."""
    return f"<Region {REGION % (start, blocks, size, more)}/>\n"


def document(*snapshots: str, head: str = '<?xml version="1.0"?>') -> bytes:
    """Write snapshots of regions in VMMap's outline."""
    inner = "".join(
        f'<Snapshot Timestamp="{TICKS + number * 10**7}" PageTableSize="4096">\n'
        f"<MemoryRegions>\n{regions}</MemoryRegions>\n</Snapshot>\n"
        for number, regions in enumerate(snapshots)
    )
    return f"{head}<root>\n<Snapshots>\n{inner}</Snapshots>\n</root>\n".encode()


ONE = document(region(0x10000, 8192))
DECLARED = [
    (encoding, declared)
    for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252")
    for declared in ("", "UTF-8", "utf-16", "windows-1252")
    if (encoding, declared) != ("utf-8", "windows-1252")  # nothing in the bytes says that this is wrong
]


def test_every_snapshot_is_an_entry_with_its_time() -> None:
    """FILETIME becomes ns since 1970; what VMMap wrote stays in the moment."""
    source = open_bytes(document(region(0x10000, 4096), region(0x10000, 4096) + region(0x20000, 4096)))
    assert source.format == "VMMap XML"
    assert [entry.time_ns for entry in source.entries] == [TAKEN_NS, TAKEN_NS + 10**9]
    assert [source.read(at).tables["regions"].rows for at in (0, 1)] == [1, 2]
    assert [entry.info["of_one_process"] for entry in source.entries] == [True, True]
    moment = source.read(1).moment
    assert (moment["time_ns"], moment["Timestamp"]) == (TAKEN_NS + 10**9, TICKS + 10**7)
    with pytest.raises(IndexError):
        source.read(2)


@pytest.mark.parametrize("ticks", ["", "0", "12", "-1", "9" * 30, "later"])
def test_a_time_that_is_no_filetime_is_not_known(ticks: str) -> None:
    """The time base of Timestamp is not proved: a small number is no moment of the 17th century."""
    data = ONE.replace(b'"%d"' % TICKS, b'"%s"' % ticks.encode())
    source = open_bytes(data)
    assert source.entries[0].time_ns is None
    assert "time_ns" not in source.read(0).moment


def test_regions_inside_and_behind_their_allocation_are_the_same() -> None:
    """Nested elements and flat ones are told apart by what contains what, to any depth."""
    parts = region(0x10000, 4096) + region(0x11000, 12288)
    nested = region(0x10000, 16384, blocks=2).replace("/>", ">") + parts + "</Region>\n"
    flat = region(0x10000, 16384, blocks=2) + parts
    other = region(0x20000, 4096, blocks=1)
    for written in (nested + other, flat + other):
        snapshot, faults = read_one(document(written))
        assert list_rows(snapshot, "regions", "start", "size", "AllocationBase") == [
            (0x10000, 4096, 0x10000),
            (0x11000, 12288, 0x10000),
            (0x20000, 4096, 0x20000),
        ]
        assert list_rows(snapshot, "allocations", "start", "size") == [(0x10000, 16384), (0x20000, 4096)]
        assert faults == []
    deep = region(0x10000, 16384, blocks=2) + region(0x10000, 8192) + region(0x10000, 4096)
    snapshot, _ = read_one(document(deep))
    assert list_rows(snapshot, "regions", "start", "size", "AllocationBase") == [(0x10000, 4096, 0x10000)]


def test_total_ws_is_the_sum_that_a_mmp_leaves_out() -> None:
    """Private and shareable pages are all there are; without one of them the sum is unknown."""
    snapshot, _ = read_one(ONE)
    assert list_rows(snapshot, "regions", "TotalWS", "LockedWS", "SharedWS") == [(12, None, None)]
    snapshot, _ = read_one(ONE.replace(b'PrivateWS="8" ', b""))
    assert list_rows(snapshot, "regions", "TotalWS", "PrivateWS") == [(None, None)]


def test_holes_are_no_regions_and_tell_the_range() -> None:
    """Free and Unusable rows go to a table of their own, by type or by number."""
    holes = region(0, 0x10000, 'UseType="6" Type="Free"') + region(0x12000, 0xE000, 'UseType="10"')
    snapshot, _ = read_one(document(holes + region(0x10000, 8192)))
    assert list_rows(snapshot, "free", "start", "size", "VmmapType") == [
        (0, 0x10000, b"Free"),
        (0x12000, 0xE000, b"Unusable"),
    ]
    assert snapshot.tables["regions"].rows == 1
    told = "Free and Unusable rows of VMMap"
    assert snapshot.process["range"] == {"start": 0, "end": 0x20000, "source": told}


def test_without_holes_the_range_is_assumed_by_bits() -> None:
    """A region above 4 GiB makes a 64-bit process."""
    for start, bits, end in ((0x10000, 32, 0xFFFF0000), (0x7FF6_0000_0000, 64, 0x7FFF_FFFF_0000)):
        snapshot, _ = read_one(document(region(start, 4096)))
        assert (snapshot.process["bits"], snapshot.process["range"]["end"]) == (bits, end)
        assert "assumed" in snapshot.process["range"]["source"]
    assert snapshot.capture.host == {"os": "windows", "allocation_granularity": 65536}


def test_lists_of_other_systems_are_told_by_their_addresses() -> None:
    """What we wrote for Linux begins at any page; Windows itself maps a page or two in odd places."""
    odd = region(0x7FFE9000, 4096, blocks=1)
    snapshot, _ = read_one(document(region(0x10000, 4096) + region(0x20000, 4096) + odd))
    assert snapshot.capture.host == {"os": "windows", "allocation_granularity": 65536}
    snapshot, _ = read_one(document(region(0x11000, 4096) + region(0x20000, 4096) + odd))
    assert snapshot.capture.host == {"allocation_granularity": 4096}


def test_page_tables_are_a_fact_and_no_region() -> None:
    """They come from the snapshot's tag, or else from a region of UseType 9, and are told once."""
    table = region(0, 65536, 'UseType="9" Type="Page Table"')
    snapshot, _ = read_one(document(region(0x10000, 4096) + table))
    assert (snapshot.process["page_table"], snapshot.tables["regions"].rows) == (4096, 1)
    snapshot, _ = read_one(document(region(0x10000, 4096) + table).replace(b' PageTableSize="4096"', b""))
    assert (snapshot.process["page_table"], snapshot.tables["regions"].rows) == (65536, 1)
    snapshot, _ = read_one(ONE.replace(b' PageTableSize="4096"', b""))
    assert "page_table" not in snapshot.process
    assert state_of(snapshot, "page_table") is not None


def test_unknown_elements_are_counted_and_no_damage() -> None:
    """A program traced by VMMap leaves events and stacks; the outline of the file is not counted."""
    trace = "<Trace>" + "<Event Address='1' Size='2'><Stack/></Event>" * 3 + "</Trace>"
    source = open_bytes(ONE.replace(b"<Snapshots>", trace.encode() + b"<Snapshots>"))
    assert source.faults == []
    told = state_of(source.read(0), "other elements")
    assert told is not None
    assert "skipped: 7 elements" in told
    assert "Event (3)" in told
    assert state_of(read_one(ONE)[0], "other elements") is None


def test_unknown_attributes_are_raw_columns() -> None:
    """What a newer VMMap may add is kept as it is written, and does not hide a column of ours."""
    snapshot, _ = read_one(document(region(0x10000, 4096, 'Reserve="7" start="8"') + region(0x20000, 4096)))
    assert list_rows(snapshot, "regions", "start", "Reserve", "raw.start") == [
        (0x10000, b"7", b"8"),
        (0x20000, None, None),
    ]
    snapshot, _ = read_one(ONE.replace(b"PageTableSize", b'Note="x" PageTableSize'))
    assert snapshot.process["snapshot_attributes"] == {"Note": "x"}


def test_elements_may_be_in_a_namespace_and_below_any_root() -> None:
    """Nobody knows the names around Snapshot and Region for sure."""
    text = ONE.decode().replace("<Region", "<v:Region").replace("Snapshot ", "v:Snapshot ")
    text = (
        text.replace("</Snapshot>", "</v:Snapshot>").replace("root", "v:save", 1).replace("/root", "/v:save")
    )
    assert (
        read_one(text.replace("v:save", "v:save xmlns:v='urn:x'", 1).encode())[0].tables["regions"].rows == 1
    )


def test_regions_without_a_snapshot_are_one() -> None:
    """A document that lists only regions is one snapshot, of which no time is known."""
    source = open_bytes(b"<?xml version='1.0'?><save>" + region(0x10000, 4096).encode() * 2 + b"</save>")
    assert [entry.time_ns for entry in source.entries] == [None]
    assert source.read(0).tables["allocations"].rows == 1


@pytest.mark.parametrize(
    "broken",
    [
        'Address=""',
        'Address="-1"',
        'Address="0x1000"',
        'Size="0"',
        f'Size="{2**64}"',
        f'Size="{2**64 - 9}"',
    ],
)
def test_a_region_that_is_no_range_is_lost_with_its_place(broken: str) -> None:
    """One damaged row is told with its offset, and that the list has a gap; the rest loads."""
    name = broken.partition("=")[0]
    good = region(0x20000, 4096)
    bad = region(0x10000, 4096).replace(f'{name}="{65536 if name == "Address" else 4096}"', broken)
    data = document(bad + good)
    source = open_bytes(data)
    [fault] = source.faults
    assert fault.offset == data.index(b"<Region")
    snapshot = source.read(0)
    assert list_rows(snapshot, "regions", "start") == [(0x20000,)]
    told = state_of(snapshot, "regions")
    assert told is not None
    assert told.startswith("partial")


def test_a_figure_that_is_no_number_is_unknown() -> None:
    """A negative or endless number is null and noted; the region stays."""
    for value in ("-4096", "1" * 40, "many"):
        snapshot, _ = read_one(ONE.replace(b'Commit="4096"', f'Commit="{value}"'.encode()))
        assert list_rows(snapshot, "regions", "size", "Commit") == [(8192, None)]
        assert "Commit is no number" in str(state_of(snapshot, "rows"))


def test_odd_trees_are_kept_and_noted() -> None:
    """Overlapping regions, and an allocation of three blocks that lists none, are rows like others."""
    snapshot, _ = read_one(document(region(0x10000, 8192, blocks=3) + region(0x11000, 8192)))
    assert snapshot.tables["regions"].rows == 2
    noted = [item.reason for item in snapshot.capability if item.item == "rows"]
    assert len(noted) == 2


@pytest.mark.parametrize(("encoding", "declared"), DECLARED)
def test_bytes_decide_where_the_declaration_errs(encoding: str, declared: str) -> None:
    """An editor saves in another encoding and leaves the declaration; names come out right all the same."""
    said = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    text = document(region(0x10000, 4096, 'Type="Image" Details="C:\\näh &amp; &lt;b&gt;#1.dll"'), head=said)
    snapshot, _ = read_one(text.decode().encode(encoding))
    assert list_rows(snapshot, "regions", "Details") == [("C:\\näh & <b>#1.dll".encode(),)]


def test_an_encoding_that_cannot_be_read_is_named() -> None:
    """Two-byte code pages are beyond expat: say what to do."""
    with pytest.raises(CorruptError, match="gbk"):
        open_bytes(document(region(0, 4096), head='<?xml version="1.0" encoding="gbk"?>'))


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE root>",
        "<!DOCTYPE root SYSTEM 'file:///etc/passwd'>",
        "<!DOCTYPE root [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>",
    ],
)
def test_a_document_type_is_refused(doctype: str) -> None:
    """Entities may stand for gigabytes or for files: VMMap writes none, and none is read."""
    data = ONE.replace(b"<root>", doctype.encode() + b"<root>")
    with pytest.raises(CorruptError, match="document type"):
        open_bytes(data, partial=True)


def test_a_cut_document_is_truncated_and_partial_keeps_whole_snapshots() -> None:
    """Cut at any byte, a file is refused; --partial gives the snapshots that have an end."""
    data = document(*[region(0x10000, 4096)] * 3)
    ends = [at + len("</Snapshot>") for at in range(len(data)) if data.startswith(b"</Snapshot>", at)]
    for size in range(len(document()[:60]), data.rindex(b">"), 7):
        with pytest.raises((TruncatedError, NotASnapshotError)):
            open_bytes(data[:size])
        whole = sum(end <= size for end in ends)
        if not whole:
            with suppress(NotASnapshotError), pytest.raises(FormatError):
                open_bytes(data[:size], partial=True)
            continue
        source = open_bytes(data[:size], partial=True)
        assert len(source.entries) == whole
        assert len(source.faults) == 1
        assert source.read(whole - 1).tables["regions"].rows == 1


def test_damage_in_the_middle_names_line_and_offset() -> None:
    """What is no XML is corrupt, and said where."""
    data = document(region(0x10000, 4096), region(0x10000, 4096).replace("/>", "<>"))
    with pytest.raises(CorruptError, match=r"line \d+: .*not well-formed.*at byte \d+"):
        open_bytes(data)
    assert len(open_bytes(data, partial=True).entries) == 1


def test_xml_of_others_is_refused_in_words() -> None:
    """Declared XML is looked through for VMMap's elements, and refused where it has none."""
    data = b"<?xml version='1.0'?><project><track Address='1'/></project>"
    assert find_formats(data) == ["vmmap-xml"]
    with pytest.raises(NotASnapshotError, match="no element Snapshot or Region"):
        open_bytes(data)
    for other in (b"<unclassified>  1 2 3\n", b"<html><body>", b"{}", b""):
        assert find_formats(other) == []


def _endless_tag() -> bytes:
    return ONE.replace(b"<Region ", b'<Region Note="%s" ' % (b"x" * (3 << 20)))


def _deep() -> bytes:
    return ONE.replace(b"<Snapshots>", b"<Snapshots>" + b"<a>" * 100_000)


def _many_attributes() -> bytes:
    return ONE.replace(b"<Region ", b"<Region " + b" ".join(b'a%d="1"' % at for at in range(1000)) + b" ")


@pytest.mark.parametrize("make", [_endless_tag, _deep, _many_attributes])
def test_hostile_documents_meet_a_limit(make: object) -> None:
    """An endless tag, endless nesting and endless attributes are refused, with --partial too."""
    assert callable(make)
    with pytest.raises(LimitError):
        open_bytes(make(), partial=True)


def test_many_snapshots_cost_a_few_words_each() -> None:
    """Opening keeps no row, and refuses a hundred thousand snapshots without any."""
    rows = "".join(region(0x10000 * at, 4096) for at in range(1, 101))
    data = document(*[rows] * 200)
    tracemalloc.start()
    source = open_bytes(data)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(source.entries) == 200
    assert kept < len(data) // 4 + (1 << 20)
    assert peak < len(data) // 4 + (2 << 20)
    many = (
        b"<?xml version='1.0'?><root>" + b'<Snapshot Timestamp="1" PageTableSize="1"/>' * 200_000 + b"</root>"
    )
    with pytest.raises(LimitError, match="131,072 snapshots"):
        open_bytes(many)


def test_reading_all_snapshots_takes_time_in_proportion_to_the_file() -> None:
    """Each snapshot is found again by its offset: four times the file takes no sixteen times as long."""
    rows = "".join(region(0x10000 * at, 4096) for at in range(1, 21))

    def measure(count: int) -> float:
        data = document(*[rows] * count)
        start = process_time()
        source = open_bytes(data)
        for entry in source.entries:
            source.read(entry.index)
        return process_time() - start

    measure(10)
    assert measure(400) < 10 * max(measure(100), 0.01)
