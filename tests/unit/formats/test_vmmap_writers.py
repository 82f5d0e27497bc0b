"""The very lines that are written as VMMap's XML and CSV, and that our readers get the same rows back."""

from __future__ import annotations

import io

from mmpscope.formats.vmmap.write_csv import CsvHead, write_csv
from mmpscope.formats.vmmap.write_rows import ListRow
from mmpscope.formats.vmmap.write_xml import XmlSnapshot, write_xml
from support.vmmap_reading import list_rows, open_bytes, read_one

KIB = 1024
TAKEN_NS = 1_700_000_000_123_456_700
ROWS = [
    ListRow(0, 0x10000, "Free"),
    ListRow(
        0x10000, 2048 * KIB, "Image", False, 1024 * KIB, 4096, 12288, 4096, 8192, 4096, 0, 2, 0x20,
        'C:\\a "b" <c> & d#\tü.dll',
    ),
    ListRow(0x10000, 1024 * KIB, "Image", True, 1024 * KIB, 4096, 12288, 4096, 8192, 4096, 0, 0, 0x20),
    ListRow(0x110000, 1024 * KIB, "Image", True),
    ListRow(0x400000, 64 * KIB, "Private Data", blocks=1, protection=4, committed=64 * KIB),
]  # fmt: skip
LINES = """\
<?xml version="1.0" encoding="UTF-8"?>
<root>
<Snapshots>
<Snapshot Timestamp="133444736001234567" PageTableSize="4096">
<MemoryRegions>
<Region Address="0" Blocks="0" ShareableWS="0" SharedWS="0" Size="65536" Commit="0" PrivateBytes="0" PrivateWS="0" Id="0" Protection="0" Storage="0" UseType="6" Type="Free" Details=""/>
<Region Address="65536" Blocks="2" ShareableWS="8192" SharedWS="4096" Size="2097152" Commit="1048576" PrivateBytes="4096" PrivateWS="4096" Id="0" Protection="32" Storage="0" UseType="2" Type="Image" Details="C:\\a &quot;b&quot; &lt;c&gt; &amp; d#&#9;ü.dll">
<Region Address="65536" Blocks="0" ShareableWS="8192" SharedWS="4096" Size="1048576" Commit="1048576" PrivateBytes="4096" PrivateWS="4096" Id="0" Protection="32" Storage="0" UseType="2" Type="Image" Details=""/>
<Region Address="1114112" Blocks="0" ShareableWS="0" SharedWS="0" Size="1048576" Commit="0" PrivateBytes="0" PrivateWS="0" Id="0" Protection="0" Storage="0" UseType="2" Type="Image" Details=""/>
</Region>
<Region Address="4194304" Blocks="1" ShareableWS="0" SharedWS="0" Size="65536" Commit="65536" PrivateBytes="0" PrivateWS="0" Id="0" Protection="4" Storage="0" UseType="4" Type="Private Data" Details=""/>
</MemoryRegions>
</Snapshot>
</Snapshots>
</root>
"""  # noqa: E501  # one element a line, as VMMap writes them
SHOWN = ("start", "size", "AllocationBase", "VmmapType", "Commit", "PrivateBytes", "PrivateWS", "Protection")


def xml_of(*snapshots: XmlSnapshot) -> bytes:
    """Write snapshots as XML."""
    stream = io.BytesIO()
    write_xml(stream, snapshots)
    return stream.getvalue()


def csv_of(rows: list[ListRow], bits: int = 32) -> bytes:
    """Write rows as CSV, with a summary of two lines."""
    stream = io.BytesIO()
    summary = {"Total": {"Size": 2112 * KIB, "Blocks": 1234}, "Free": {"Size": 64 * KIB, "Largest": 64 * KIB}}
    write_csv(stream, CsvHead("x.exe", 7, summary, bits), rows)
    return stream.getvalue()


def test_xml_has_the_layout_that_readers_of_it_rely_on() -> None:
    """One element a line, none indented, attributes in VMMap's order, parts inside their allocation."""
    assert xml_of(XmlSnapshot(TAKEN_NS, 4096, ROWS)).decode().replace("\r\n", "\n") == LINES


def test_xml_comes_back() -> None:
    """Rows, holes, time and page tables of each snapshot are those that were written."""
    source = open_bytes(xml_of(XmlSnapshot(TAKEN_NS, 4096, ROWS), XmlSnapshot(None, None, ROWS[4:])))
    assert [entry.time_ns for entry in source.entries] == [TAKEN_NS, None]
    first, second = source.read(0), source.read(1)
    assert list_rows(first, "regions", *SHOWN) == [
        (0x10000, 1024 * KIB, 0x10000, b"Image", 1024 * KIB, 4 * KIB, 4 * KIB, 0x20),
        (0x110000, 1024 * KIB, 0x10000, b"Image", 0, 0, 0, 0),
        (0x400000, 64 * KIB, 0x400000, b"Private Data", 64 * KIB, 0, 0, 4),
    ]
    assert list_rows(first, "allocations", "start", "Details")[0] == (
        0x10000,
        'C:\\a "b" <c> & d#\tü.dll'.encode(),
    )
    assert list_rows(first, "free", "start", "size") == [(0, 0x10000)]
    assert (first.process["page_table"], "page_table" in second.process) == (4096, False)


def test_what_is_unknown_has_no_attribute() -> None:
    """A figure that the source does not tell stays null when it is read back."""
    row = ListRow(0x10000, 4096, "Heap (Private Data)", committed=None, private_ws=None, protection=None)
    data = xml_of(XmlSnapshot(None, None, [row]))
    assert b"Commit=" not in data
    assert b"PageTableSize" not in data
    snapshot, _ = read_one(data)
    assert list_rows(snapshot, "regions", *SHOWN[3:]) == [(b"Heap (Private Data)", None, 0, None, None)]


def test_characters_that_xml_cannot_hold_are_shown() -> None:
    """A name with an escape sequence, half a character or a line end makes neither bad XML nor two lines."""
    names = ["\x1b[31m", "a\ud800b", "x\ny", "\ufffe", "\U0001f600", "\x00"]
    data = xml_of(
        XmlSnapshot(None, 0, [ListRow(0x10000 * at, 4096, "Image", details=n) for at, n in enumerate(names)])
    )
    assert len(data.split(b"\r\n")) == 5 + len(names) + 5
    shown = [details for (details,) in list_rows(read_one(data)[0], "regions", "Details")]
    assert shown == [b"\\x1b[31m", b"a\\ud800b", b"x\ny", b"\\ufffe", "\U0001f600".encode(), b"\\x00"]


def test_csv_has_the_lines_of_vmmap() -> None:
    """Quotes, K with commas, two blanks before a part, a comma behind each heading, nothing for zero."""
    assert csv_of(ROWS[1:]).decode().split("\r\n") == [
        '"Process:","x.exe"',
        '"PID:","7"',
        "",
        '"Type","Size","Committed","Private","Total WS","Private WS","Shareable WS","Shared WS","Locked WS",'
        '"Blocks","Largest",',
        '"Total","2,112","","","","","","","","1234",""',
        '"Free","64","","","","","","","","","64"',
        "",
        '"Address","Type","Size","Committed","Private","Total WS","Private WS","Shareable WS","Shared WS",'
        '"Locked WS","Blocks","Protection","Details",',
        '"00010000","Image","2,048","1,024","4","12","4","8","4","","2","Execute/Read",'
        '"C:\\a ""b"" <c> & d#\tü.dll"',
        '"  00010000","Image","1,024","1,024","4","12","4","8","4","","","Execute/Read",""',
        '"  00110000","Image","1,024","","","","","","","","","Reserved",""',
        '"00400000","Private Data","64","64","","","","","","","1","Read/Write",""',
        "",
        "",
    ]


def test_csv_comes_back() -> None:
    """What was written is read as the same regions, 32-bit or 64-bit."""
    moved = [row._replace(address=row.address + 0x7FF6_0000_0000) for row in ROWS]
    for bits, rows, by in ((32, ROWS, 0), (64, moved, 0x7FF6_0000_0000)):
        snapshot, faults = read_one(csv_of(rows, bits))
        assert [row[0] - by for row in list_rows(snapshot, "regions", "start")] == [
            0x10000,
            0x110000,
            0x400000,
        ]
        assert list_rows(snapshot, "regions", *SHOWN[3:])[0] == (b"Image", 1024 * KIB, 4 * KIB, 4 * KIB, 0x20)
        assert (snapshot.process["bits"], faults) == (bits, [])
