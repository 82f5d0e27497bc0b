"""Processes of Wine as the collector sees them from outside, against what they say of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot
from support.wine import WinePython, read_to_end, to_windows
from support.wine_collecting import PROGRAMS, Target, WineCollector

pytestmark = pytest.mark.real

MIB = 1 << 20
PAIRS = ((64, 64), (32, 64), (32, 32))
"""Bits of the process, and of the collector that looks at it; the pair that is missing is refused."""
RAW = ("start", "AllocationBase", "AllocationProtect", "size", "State", "Protect", "Type")
MEM_COMMIT, MEM_RESERVE = 0x1000, 0x2000


class Seen(NamedTuple):
    """One process: itself, its map before and after the look, and what was collected in between."""

    target: Target
    collector_bits: int
    before: set[tuple[int, ...]]
    after: set[tuple[int, ...]]
    snapshot: LoadedSnapshot


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}-bit-by-{pair[1]}-bit")
def seen(
    request: pytest.FixtureRequest,
    targets: dict[int, Target],
    collectors: dict[int, WineCollector],
    tmp_path_factory: pytest.TempPathFactory,
) -> Seen:
    """A process, looked at while it sleeps."""
    bits, collector_bits = request.param
    target, path = targets[bits], tmp_path_factory.mktemp("target") / "target.mmp"
    before = target.walk()
    snapshot = collectors[collector_bits].collect(path, target.pid)
    return Seen(target, collector_bits, before, target.walk(), snapshot)


def test_the_map_is_the_one_that_the_process_sees(seen: Seen) -> None:
    """Every region with all seven facts is what the process' own VirtualQuery says, and none is missing.

    Regions that it had both before and after must be there; none may be there that it had at neither moment.
    """
    found = {tuple(row[name] for name in RAW) for row in seen.snapshot.raw_regions.to_pylist()}
    assert seen.before & seen.after <= found <= seen.before | seen.after
    assert len(found) == seen.snapshot.raw_regions.num_rows > 100


def test_reserved_and_committed_memory_is_told_apart(seen: Seen) -> None:
    """Of 8 MiB reserved the first MiB was committed: two regions of one allocation."""
    base = seen.target.facts["reserved"]
    rows = [row for row in seen.snapshot.raw_regions.to_pylist() if row["AllocationBase"] == base]
    assert [(row["start"], row["size"], row["State"]) for row in rows] == [
        (base, MIB, MEM_COMMIT),
        (base + MIB, 7 * MIB, MEM_RESERVE),
    ]


def test_bits_and_range_are_those_of_the_process(seen: Seen) -> None:
    """A 32-bit program ends at 2 GiB less 64 KiB, whoever looks at it; the source of the range is stated."""
    process, bits = seen.snapshot.process, seen.target.facts["bits"]
    assert process["bits"] == bits
    assert process["wow64"] == (bits == 32)
    assert process["range"]["start"] == 0
    assert process["range"]["end"] == {32: 0x7FFF_0000, 64: 0x7FFF_FFFF_0000}[bits]
    assert process["range"]["source"]


def test_regions_and_gaps_are_the_whole_range(seen: Seen) -> None:
    """Every byte of the range is in one region or in one gap."""
    summary = {row["type"]: row["size"] for row in analysis.summarize(seen.snapshot).to_pylist()}
    low, high, _ = seen.snapshot.usable_range
    covered = sum(row["size"] for row in seen.snapshot.raw_regions.to_pylist())
    assert covered + summary["Free"] + summary["Unusable"] == high - low


def test_stacks_are_those_that_the_threads_have(seen: Seen) -> None:
    """Each thread has its id, and the ends of its stack as GetCurrentThreadStackLimits told it."""
    rows = seen.snapshot.decode("threads").to_pylist()
    found = [[row["tid"], row["stack_start"], row["stack_start"] + row["stack_size"]] for row in rows]
    assert sorted(found) == sorted(seen.target.facts["stacks"])


def test_a_thread_has_the_name_that_it_was_given(seen: Seen) -> None:
    """SetThreadDescription names the second thread; the first has no name."""
    names = {row["tid"]: row["name"] for row in seen.snapshot.threads.to_pylist()}
    [first, second] = [tid for tid, *_ in seen.target.facts["stacks"]]
    assert names == {first: None, second: "a thread with a name"}


def test_both_stacks_of_a_32_bit_thread_are_known_to_a_64_bit_collector(seen: Seen) -> None:
    """Under WOW64 a thread has a 64-bit stack beside its own: another place, and memory of the process."""
    rows = seen.snapshot.decode("threads").to_pylist()
    wide = [(row.get("stack64_start"), row.get("stack64_size")) for row in rows]
    if seen.target.facts["bits"] == 64 or seen.collector_bits == 32:
        assert wide == [(None, None)] * len(rows)
        return
    regions = seen.snapshot.raw_regions.to_pylist()
    for (start, size), row in zip(wide, rows, strict=True):
        assert start != row["stack_start"]
        assert size >= 0x4000
        assert any(region["start"] <= start < region["start"] + region["size"] for region in regions)


def test_modules_are_those_of_the_process_own_toolhelp_list(seen: Seen) -> None:
    """Base, size and path of each, the 32-bit ones too; none is missing and none is there too much.

    A 32-bit process of Wine shows its modules to no 64-bit one (998): there the map tells them.
    """
    rows = seen.snapshot.decode("modules").to_pylist()
    found = {(row["low"], row["high"] - row["low"], row["path"].lower()) for row in rows}
    told = {(base, size, path.lower()) for base, size, path in seen.target.facts["modules"]}
    assert _spell_alike(found) == _spell_alike(told)


def _spell_alike(modules: set[tuple[int, int, str]]) -> set[tuple[int, int, str]]:
    r"""A 32-bit process is told C:\windows\system32 for what lies in C:\windows\syswow64."""
    return {(base, size, path.replace("\\syswow64\\", "\\system32\\")) for base, size, path in modules}


def test_every_module_has_its_sections(seen: Seen) -> None:
    """Each image tells its sections, and they lie within it."""
    modules = seen.snapshot.decode("modules").to_pylist()
    sections = seen.snapshot.decode("sections").to_pylist()
    assert {row["module"] for row in sections} == set(range(len(modules)))
    for row in sections:
        module = modules[row["module"]]
        assert module["low"] < row["start"] < row["start"] + row["size"] <= module["high"]
    assert ".text" in {row["name"] for row in sections}


def test_the_default_heap_is_known(seen: Seen) -> None:
    """It is the one that GetProcessHeap gives; more heaps Wine does not tell."""
    rows = seen.snapshot.decode("heaps").to_pylist()
    assert [row["id"] for row in rows] == [seen.target.facts["heap"]]


def test_facts_of_the_process(seen: Seen, pythons: dict[int, WinePython]) -> None:
    """Pid, program, command line and start are there."""
    process, python = seen.snapshot.process, pythons[seen.target.facts["bits"]]
    assert process["pid"] == seen.target.pid
    assert process["exe"] == to_windows(python.executable)
    assert process["name"] == "python.exe"
    assert to_windows(PROGRAMS / "target_program.py") in process["cmdline"][0]
    assert process["start_time"] > 0
    assert process["memory_counters"]["WorkingSetSize"] > 0


def test_what_wine_lacks_is_listed_with_its_code(seen: Seen) -> None:
    """Nothing that could not be had is silently absent: item, state and the code of GetLastError."""
    missing = {row.item: (row.state, row.code) for row in seen.snapshot.raw.capability if row.state != "ok"}
    expected: dict[str, tuple[str, int | None]] = {
        "working set": ("unavailable", 87),
        "allocations": ("unavailable", 1),
        "threads.sp": ("skipped", None),
        "heaps": ("partial", None),
    }
    if (seen.target.facts["bits"], seen.collector_bits) == (32, 64):
        expected["modules"] = ("partial", 998)
    assert missing == expected
    assert all(row.reason for row in seen.snapshot.raw.capability if row.state != "ok")


def test_the_heap_list_that_wine_lacks_is_named_where_it_is_asked_for(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """`--heap-blocks` needs Toolhelp's list of heaps: 120 is in the file, and the rest of the snapshot."""
    snapshot = collector.collect(tmp_path / "heaps.mmp", targets[64].pid, "--heap-blocks")
    missing = {row.item: (row.state, row.code) for row in snapshot.raw.capability}
    assert missing["heap_blocks"] == ("unavailable", 120)
    assert snapshot.decode("heaps").num_rows == 1


def test_unknown_working_sets_are_null_and_not_zero(seen: Seen) -> None:
    """Wine tells of no other process which pages are resident: that is unknown everywhere."""
    rows: list[dict[str, Any]] = seen.snapshot.regions.to_pylist()
    assert {row["total_ws"] for row in rows if row["committed"]} == {None}
    assert {row["private_ws"] for row in rows if row["committed"]} == {None}
    assert all(row["committed"] is not None for row in rows)


def test_f41_a_32_bit_collector_refuses_a_64_bit_process(
    targets: dict[int, Target], collectors: dict[int, WineCollector], tmp_path: Path
) -> None:
    """It says so in a sentence with what to do, exits with 3 and leaves no file."""
    path = tmp_path / "none.mmp"
    done = collectors[32].run(targets[64].pid, "-o", path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"mmp-collect: process {targets[64].pid} is a 64-bit program, and this Python is a 32-bit one. "
        "Use a 64-bit Python.\n"
    )
    assert not path.exists()


def test_f43_looking_makes_no_process_and_changes_nothing(
    collector: WineCollector, pythons: dict[int, WinePython], targets: dict[int, Target], tmp_path: Path
) -> None:
    """The collector starts one process, its own, and that none; the target's map is as before.

    Other tests may start a python.exe of theirs meanwhile: the one that is watched has another name.
    """
    collector = collector.rename("watched.exe")
    # The first look starts services of Wine that it needs; they run on.
    collector.collect(tmp_path / "first.mmp", targets[64].pid)
    before, again = targets[64].walk(), targets[64].walk()
    while again != before:  # what it needs to tell its map is taken from its own heap
        before, again = again, targets[64].walk()
    with pythons[64].start(to_windows(PROGRAMS / "watcher_program.py"), has_input=True) as watcher:
        assert watcher.stdin is not None
        assert watcher.stdout is not None
        watcher.stdout.readline()
        collector.collect(tmp_path / "watched.mmp", targets[64].pid)
        watcher.stdin.close()
        new = json.loads(read_to_end(watcher)[0])
    [ours] = [pid for pid, _, name in new if name == "watched.exe"]
    assert {name for _, _, name in new} <= {"watched.exe", "python.exe"}
    assert {ours, targets[64].pid}.isdisjoint(parent for _, parent, _ in new)
    assert targets[64].walk() == before
