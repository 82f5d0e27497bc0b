"""Saved text as a snapshot: what it holds, what is guessed with its source, and what it says is missing."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from mmpscope.formats.mmp.columns import decode_column
from mmpscope.formats.model import Capability, Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from mmpscope.formats.proc.text_source import open_bytes
from support.smaps_text import Block, MapLine, make_block

MAIN = MapLine(0x400000, 0x401000, b"r-xp", path=b"/bin/x")
STACK = MapLine(0x7FFD91C34000, 0x7FFD91C55000, path=b"[stack]")
GATE = MapLine(0xFFFFFFFFFF600000, 0xFFFFFFFFFF601000, b"--xp", path=b"[vsyscall]")
ROLLUP = b"00400000-7ffd91c55000 ---p 00000000 00:00 0                          [rollup]\nRss:  8 kB\n"


def make_maps(*lines: MapLine) -> bytes:
    """Write maps text."""
    return b"".join(line.text + b"\n" for line in lines)


def make_smaps(*lines: MapLine, page_kb: Iterable[int] = ()) -> bytes:
    """Write smaps text; ``page_kb`` are the page sizes of the regions, 4 where they end."""
    pages = [*page_kb, *[4] * len(lines)]
    return b"".join(
        make_block(Block(line, {"KernelPageSize": page})) for line, page in zip(lines, pages, strict=False)
    )


def find(snapshot: Snapshot, item: str) -> list[Capability]:
    """Return what a snapshot says about one item."""
    return [capability for capability in snapshot.capability if capability.item == item]


def test_smaps_is_a_snapshot_of_an_unknown_process() -> None:
    """Regions are there, name and pid are not; the reader says what else is missing."""
    source = open_bytes(make_smaps(MAIN, STACK), "x.smaps")
    snapshot = source.read(0)
    assert (source.name, source.format, len(source.entries)) == ("x.smaps", "smaps text", 1)
    assert decode_column(snapshot.tables["regions"], "path") == [b"/bin/x", b"[stack]"]
    assert "pid" not in snapshot.process
    assert "name" not in snapshot.process
    assert [c.state for c in find(snapshot, "smaps")] == ["ok"]
    for item in ("status", "smaps_rollup", "threads", "modules", "stat", "auxv", "cgroup"):
        assert [(c.state, c.reason) for c in find(snapshot, item)] == [
            ("unavailable", "the text holds only regions")
        ]


def test_there_is_one_snapshot_and_no_other() -> None:
    """Any other number is an IndexError."""
    source = open_bytes(make_smaps(MAIN), "x.smaps")
    for index in (1, -1):
        with pytest.raises(IndexError):
            source.read(index)


def test_maps_has_no_counters_and_says_so() -> None:
    """From maps text alone nothing is resident or not: it is unknown."""
    source = open_bytes(make_maps(MAIN, STACK), "x.maps")
    snapshot = source.read(0)
    assert source.format == "maps text"
    assert [c.state for c in find(snapshot, "maps")] == ["ok"]
    assert [c.state for c in find(snapshot, "smaps")] == ["unavailable"]
    assert "Rss" not in snapshot.tables["regions"].columns


def test_f16_an_empty_text_is_a_state_and_no_error() -> None:
    """Zero bytes are a process without an address space, with no regions and no range."""
    source = open_bytes(b"", "x.smaps")
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == 0
    assert "range" not in snapshot.process
    [capability] = find(snapshot, "smaps")
    assert capability.state == "unavailable"
    assert "no address space" in (capability.reason or "")
    assert not source.faults


def test_f33_the_gate_is_outside_the_range() -> None:
    """The range ends below the vsyscall page, and says that it was inferred."""
    snapshot = snapshot_from_text(make_maps(MAIN, STACK, GATE))
    assert snapshot.process["range"] == {
        "start": 65536,
        "end": 0x7FFF_FFFF_F000,
        "source": "inferred: the smallest usual end above the highest region",
    }


def test_the_range_begins_at_a_region_below_the_usual_minimum() -> None:
    """Where something is mapped at 0x8000, that address can be had."""
    snapshot = snapshot_from_text(make_maps(MapLine(0x8000, 0x9000)))
    assert snapshot.process["range"]["start"] == 0x8000


def test_f24_the_page_size_is_the_smallest_of_the_regions() -> None:
    """Huge pages among pages of 16 KiB do not make the page size 2 MiB."""
    lines = [MapLine(at << 21, (at + 1) << 21) for at in (1, 2, 3)]
    snapshot = snapshot_from_text(make_smaps(*lines, page_kb=(2048, 16, 16)))
    assert snapshot.process["page_size"] == 16384


def test_f24_alignment_proves_4_kib_and_nothing_larger() -> None:
    """From maps text the page size is known only where an address is aligned to 4 KiB and no more."""
    assert snapshot_from_text(make_maps(MAIN)).process["page_size"] == 4096
    aligned = snapshot_from_text(make_maps(MapLine(0x10000, 0x20000)))
    assert "page_size" not in aligned.process
    assert [c.state for c in find(aligned, "page_size")] == ["unavailable"]


def test_status_and_rollup_are_taken_in_where_one_has_them() -> None:
    """Facts of the same moment have the shape that the collector gives them."""
    snapshot = snapshot_from_text(
        make_smaps(MAIN),
        status=b"Name:\tx\nPid:\t7\nUid:\t1000\t1000\t1000\t1000\nGid:\t5\t5\t5\t5\nVmSize:\t4 kB\n",
        rollup=ROLLUP,
        limits=b"Max address space         unlimited            unlimited            bytes     \n",
        cmdline=b"x\0-a b\0\0",
    )
    process = snapshot.process
    assert [process[key] for key in ("name", "pid", "uid", "gid")] == ["x", 7, 1000, 5]
    assert process["status"]["VmSize"] == 4096
    assert process["smaps_rollup"] == {"Rss": 8192}
    assert process["limits"] == {"Max address space": [None, None, "bytes"]}
    assert process["cmdline"] == ["x", "-a b", ""]
    assert not find(snapshot, "status")


def test_what_did_not_parse_is_partial_with_its_line() -> None:
    """The capability names the first odd line, the source lists them all."""
    source = open_bytes(make_smaps(MAIN, STACK) + b"cut off he", "x.smaps")
    [capability] = find(source.read(0), "smaps")
    assert capability.state == "partial"
    assert "line 51" in (capability.reason or "")
    assert [fault.line for fault in source.faults] == [51]


def test_descending_addresses_are_no_fault() -> None:
    """Excerpts are sometimes sorted the other way."""
    assert not open_bytes(make_maps(STACK, MAIN), "x.maps").faults


@pytest.mark.parametrize(("name", "is_noted"), [(b"[anon:pool]", True), (b"/bin/x", False)])
def test_f04_a_name_that_is_not_the_path_is_noted(name: bytes, is_noted: bool) -> None:
    """Android prints `Name:` below the map line; the map line wins, and that they differ is said."""
    snapshot = snapshot_from_text(make_maps(MAIN) + b"Name:           " + name + b"\nRss:   4 kB\n")
    assert decode_column(snapshot.tables["regions"], "path") == [b"/bin/x"]
    assert decode_column(snapshot.tables["regions"], "Name") == [name]
    assert bool(find(snapshot, "regions.Name")) is is_noted
