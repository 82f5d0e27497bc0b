"""Summaries of !address and the tables of !maddress: exact numbers, whatever stands beside them."""

from __future__ import annotations

import io

import pytest
from mmpscope.formats.source import ListedSource
from mmpscope.formats.windbg.reader import open_log
from support.corpus import read_corpus_file
from support.minidumps import find_capability, list_rows
from support.windbg_text import Region, print_maddress, print_maddress_totals, print_summary

END_32 = 0x7FFF_0000
SUMS = [("Free", 5, END_32 - 0x23000), ("<unknown>", 3, 0x20000), ("Image", 2, 0x3000)]
REGIONS = [
    Region(0x7D18_A000_0000, 0x115000, "GCHeap"),
    Region(0x7D18_B000_0000, 0x1000, "Image", "dotnet", 0x1000, 0x20, 0x1000000),
    Region(0x7D18_C000_0A00, 0x600, "HighFrequencyHeap", "", 0x1000, 0x104),
]
KINDS = [(region.usage, 1, region.size) for region in REGIONS]


def _open(text: str | bytes) -> ListedSource:
    return open_log(io.BytesIO(text.encode() if isinstance(text, str) else text), "x.txt")


@pytest.mark.parametrize("bits", [32, 64])
def test_a_summary_is_totals_and_no_region(bits: int) -> None:
    """Sizes come from the hex number; what is rounded beside it is not looked at."""
    source = _open("0:000> !address -summary\n" + print_summary(SUMS, bits))
    snapshot = source.read(0)
    assert (source.format, source.faults) == ("WinDbg !address -summary", [])
    assert list_rows(snapshot, "totals") == [(name.encode(), count, size) for name, count, size in SUMS]
    assert list_rows(snapshot, "totals_by_type", "name", "RegionSize") == [(b"MEM_PRIVATE", 0x3000)]
    assert (find_capability(snapshot, "regions") or ("",))[0] == "unavailable"
    assert "regions" not in snapshot.tables


def test_a_whole_summary_gives_the_usable_range() -> None:
    """Free and all usages together are the address space; where they are not, rows are missing."""
    whole = print_summary([*SUMS, ("TEB", 1, 0), ("PEB", 1, 0)])
    snapshot = _open(whole).read(0)
    assert snapshot.process["range"]["end"] == END_32
    assert find_capability(snapshot, "totals") == ("ok", None)
    cut = _open(print_summary([*SUMS[:2], ("TEB", 1, 0)])).read(0)
    assert "range" not in cut.process
    assert (find_capability(cut, "totals") or ("",))[0] == "partial"


def test_the_largest_region_of_each_usage() -> None:
    """The largest hole decides whether a large allocation succeeds."""
    text = print_summary(SUMS) + (
        "\n--- Largest Region by Usage ----------- Base Address -------- Region Size ----------\n"
        "Free                                    236`fe910000     7bbd`6ba00000 ( 123.740 TB)\n"
        "<unknown>                              7dfe`47771000      1f6`fda67000 (   1.965 TB)\n"
    )
    rows = list_rows(_open(text).read(0), "totals", "name", "Largest")
    assert rows == [(b"Free", 0x7BBD6BA00000), (b"<unknown>", 0x1F6FDA67000), (b"Image", None)]


def test_the_end_of_an_old_summary() -> None:
    """It states the whole space, what of it is busy, and the largest hole."""
    text = (
        "-------------------- Usage SUMMARY --------------------------\n"
        "    TotSize (      KB)   Pct(Tots) Pct(Busy)   Usage\n"
        "   00010000 (      64) : 50.00%   100.00%  : RegionUsageIsVAD\n"
        "   00010000 (      64) : 50.00%   00.00%   : RegionUsageFree\n"
        "       Tot: 00020000 (128 KB) Busy: 00010000 (64 KB)\n\n"
        "Largest free region: Base 00010000 - Size 0000f000\n"
    )
    snapshot = _open(text).read(0)
    assert list_rows(snapshot, "totals", "name", "RegionSize", "Largest") == [
        (b"RegionUsageIsVAD", 0x10000, None),
        (b"RegionUsageFree", 0x10000, 0xF000),
        (b"Total", 0x10000, None),
    ]


def test_the_public_summaries() -> None:
    """Four samples of three versions in one file: four snapshots, in hex to the byte."""
    source = _open(read_corpus_file("windbg/address_summary_samples.txt"))
    assert source.format == "WinDbg !address -summary"
    assert [entry.name for entry in source.entries] == ["line 4", "line 14", "line 26", "line 41"]
    first, second, third, fourth = (source.read(i) for i in range(4))
    assert (b"Free", 0x7DF974541000) in list_rows(first, "totals", "name", "RegionSize")
    assert (first.process["range"]["end"], first.process["bits"]) == (0x7FFFFFFF0000, 64)
    assert (third.process["range"]["end"], third.process["bits"]) == (0x7FFF0000, 32)
    assert [s.process["bits"] for s in (second, fourth)] == [32, 32]
    assert (b"Stack32", 9) in list_rows(second, "totals", "name", "count")
    assert list_rows(fourth, "totals")[2] == (None, 7, 0x113A000)
    assert [(fault.what, fault.line) for fault in source.faults] == [
        ("a row of the summary has lost its name", 41)
    ]
    assert [(find_capability(s, "totals") or ("",))[0] for s in (first, second, third, fourth)] == [
        "ok",
        "partial",
        "ok",
        "partial",
    ]


@pytest.mark.parametrize("borders", [True, False])
def test_a_list_of_maddress(borders: bool) -> None:
    """What its head calls EndAddr-1 is the end; sizes are theirs and not the rounded ones."""
    text = print_maddress(REGIONS, borders=borders) + print_maddress_totals(KINDS, borders=borders)
    source = _open("0:000> !maddress\n" + text)
    snapshot = source.read(0)
    assert (source.format, source.faults, len(source.entries)) == ("SOS !maddress", [], 1)
    names = ("start", "size", "State", "Protect", "Type", "Usage", "path")
    assert list_rows(snapshot, "regions", *names) == [
        (r.start, r.size, r.state, r.protect, r.type, r.usage.encode(), r.details.encode() or None)
        for r in REGIONS
    ]
    assert list_rows(snapshot, "totals")[-1] == (b"Total", 3, sum(region.size for region in REGIONS))


def test_maddress_leaves_reserved_memory_out_unless_asked() -> None:
    """Holes of a list without it are no free memory."""
    snapshot = _open(print_maddress(REGIONS)).read(0)
    assert (find_capability(snapshot, "regions") or ("",))[0] == "partial"
    reserved = Region(0x7D18_A011_5000, 0x1000, "[GCHeapReserve]", "", 0x2000, 0)
    snapshot = _open(print_maddress([*REGIONS, reserved])).read(0)
    assert find_capability(snapshot, "regions") is None


def test_a_list_of_maddress_that_its_own_summary_contradicts_is_partial() -> None:
    """Rows are missing, though nothing else shows it."""
    source = _open(print_maddress(REGIONS[:2]) + print_maddress_totals(KINDS))
    assert [fault.what for fault in source.faults] == ["the summary and the list disagree"]
    assert (find_capability(source.read(0), "regions") or ("", ""))[1] == (
        "the summary tells of other sums than the list has"
    )


@pytest.mark.parametrize("separator", [",", ".", "\u202f", "\u00a0", "\u2019", ""])
@pytest.mark.parametrize("head", ["Memory Type", "Region Type"])
def test_sums_of_maddress_in_any_language(separator: str, head: str) -> None:
    """Thousands are grouped as the user's language has it; the bytes are exact."""
    source = _open(print_maddress_totals([("GCHeap", 1234, 5678901)], head, separator))
    assert source.format == "SOS !maddress -summary"
    assert list_rows(source.read(0), "totals")[0] == (b"GCHeap", 1234, 5678901)


def test_images_of_maddress_are_a_table() -> None:
    """-images sums up by file, which is no list of regions."""
    text = (
        print_maddress_totals([("C:\\a b\\toy.dll", 3, 4096)], "Image") + "\n" + print_maddress_totals(KINDS)
    )
    snapshot = _open(text).read(0)
    assert list_rows(snapshot, "images")[0] == (b"C:\\a b\\toy.dll", 3, 4096)
    assert len(list_rows(snapshot, "totals")) == 4


def test_kinds_of_maddress_are_a_part_of_the_list() -> None:
    """-list prints the regions of some kinds, one table each: together one partial list."""
    row = "    0000{:012x}  {:>14,}       1.08mb MEM_COMMIT  MEM_PRIVATE PAGE_READWRITE, PAGE_GUARD\n"
    head = "    Base Address   Size (bytes)         Size Mem State   Mem Type    Mem Protect\n"
    text = "0:000> !maddress -list GCHeap,Stack\n"
    for kind, start in (("GCHeap", 0x7D18A0000000), ("Stack", 0x7D18B0000000)):
        text += f"{kind} Memory Regions:\n{head}{row.format(start, 0x115000)}"
        text += "1,134,592 bytes (1.08mb) in 1 memory regions\n\n"
    source = _open(text)
    snapshot = source.read(0)
    assert (source.faults, len(source.entries)) == ([], 1)
    assert list_rows(snapshot, "regions", "start", "size", "Usage", "Protect") == [
        (0x7D18A0000000, 0x115000, b"GCHeap", 0x104),
        (0x7D18B0000000, 0x115000, b"Stack", 0x104),
    ]
    assert find_capability(snapshot, "regions") == ("partial", "only regions of GCHeap, Stack (-list)")
