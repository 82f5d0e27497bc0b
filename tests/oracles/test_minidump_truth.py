"""A real dump of Windows 11 against readers that share nothing with ours."""

from __future__ import annotations

import struct
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import pytest
from support.corpus import read_corpus_file
from support.minidumps import list_rows, open_dump, read_dump

_FILE = "minidump/win11-x64-memoryinfo.dmp"
_END = 0x7FFF_FFFF_0000


class _Entry(NamedTuple):
    base: int
    allocation: int
    allocation_protect: int
    size: int
    state: int
    protect: int
    type: int


def _read_entries(data: bytes) -> list[_Entry]:
    """Read MemoryInfoList as minidumpapiset.h lays it out, from a file that is trusted."""
    count, directory = struct.unpack_from("<II", data, 8)
    places = [struct.unpack_from("<III", data, directory + 12 * i) for i in range(count)]
    at = next(offset for kind, _, offset in places if kind == 16)
    header, step, entries = struct.unpack_from("<IIQ", data, at)
    return [_Entry(*struct.unpack_from("<QQI4xQIII", data, at + header + step * i)) for i in range(entries)]


def test_the_list_covers_the_space_without_a_gap() -> None:
    """557 entries from 0 to 0x7fffffff0000; 430 of them are no free ranges."""
    data = read_corpus_file(_FILE)
    entries = _read_entries(data)
    assert len(entries) == 557
    assert entries[0].base == 0
    assert all(one.base + one.size == following.base for one, following in pairwise(entries))
    assert entries[-1].base + entries[-1].size == _END
    snapshot = read_dump(data)
    assert snapshot.process["range"] == {"start": 0, "end": _END, "source": "MemoryInfoList"}
    assert snapshot.tables["regions"].rows == 430
    sizes = sum(row[0] for row in list_rows(snapshot, "regions", "size"))
    assert sizes + sum(entry.size for entry in entries if entry.state == 0x10000) == _END


def test_every_field_is_what_an_independent_reader_finds() -> None:
    """Row by row, and so the sums by state and by type."""
    data = read_corpus_file(_FILE)
    names = ("start", "AllocationBase", "AllocationProtect", "size", "State", "Protect", "Type")
    rows = [_Entry(*row) for row in list_rows(read_dump(data), "regions", *names)]
    entries = [entry for entry in _read_entries(data) if entry.state != 0x10000]
    assert rows == entries
    for field in ("state", "type"):
        found, expected = Counter[int](), Counter[int]()
        for row, entry in zip(rows, entries, strict=True):
            found[getattr(row, field)] += row.size
            expected[getattr(entry, field)] += entry.size
        assert found == expected


def test_base_size_and_state_agree_with_the_package_minidump() -> None:
    """It knows nothing of combined protections, but these three it reads as we do."""
    minidumpfile = pytest.importorskip("minidump.minidumpfile")
    data = read_corpus_file(_FILE)
    infos = minidumpfile.MinidumpFile.parse_bytes(data).memory_info.infos
    theirs = [(info.BaseAddress, info.RegionSize, info.State.value) for info in infos]
    ours = list_rows(read_dump(data), "regions", "start", "size", "State")
    assert ours == [row for row in theirs if row[2] != 0x10000]


def test_modules_and_threads_agree_with_the_package_minidump() -> None:
    """Base, size and name of each module; id, TEB and captured stack of each thread."""
    minidumpfile = pytest.importorskip("minidump.minidumpfile")
    data = read_corpus_file(_FILE)
    theirs = minidumpfile.MinidumpFile.parse_bytes(data)
    snapshot = read_dump(data)
    modules = [(m.name.encode(), m.baseaddress, m.baseaddress + m.size) for m in theirs.modules.modules]
    assert list_rows(snapshot, "modules", "path", "low", "high") == modules
    threads = [
        (t.ThreadId, t.Teb, t.Stack.StartOfMemoryRange, t.Stack.MemoryLocation.DataSize)
        for t in theirs.threads.threads
    ]
    assert list_rows(snapshot, "threads", "tid", "teb", "stack_start", "stack_size") == threads
    ((sp, start, size),) = list_rows(snapshot, "threads", "sp", "stack_start", "stack_size")
    assert start <= sp < start + size


def test_the_copy_of_maps_is_the_text_in_the_dump() -> None:
    """Breakpad's stream 0x47670009: as many regions as lines, and the first module is the first region."""
    data = read_corpus_file("minidump/linux-maps-stream.dmp")
    snapshot = read_dump(data)
    text = data[22408 : 22408 + 3382]
    starts = [int(line.split(b"-")[0], 16) for line in text.splitlines()]
    assert [row[0] for row in list_rows(snapshot, "regions", "start")] == starts
    first, *_ = list_rows(snapshot, "modules", "path", "low", "build_id")
    record = data.index(b"LEpB") + 4  # the first module's record comes first
    name = first[0].rpartition(b"/")[2]
    assert (name, *first[1:]) == (b"crash", 0x400000, data[record : record + 20].hex().encode())


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("win11-x64-memoryinfo.dmp", "minidump with MemoryInfoList"),
        ("linux-maps-stream.dmp", "minidump with LinuxMaps"),
    ],
)
def test_public_dumps_open_without_a_complaint(name: str, known: str) -> None:
    """The format is named, and nothing is found wrong in a dump that is whole."""
    source = open_dump(read_corpus_file(f"minidump/{name}"))
    assert (source.format, source.faults) == (known, [])
