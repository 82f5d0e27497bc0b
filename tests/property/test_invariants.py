"""Laws that hold for every region of every sample and of every public file, and sums that conserve."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, list_allocations, load, summarize
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.schema import COUNTERS, TYPES
from mmpscope.formats.proc.reader import snapshot_from_text
from support.corpus import CORPUS, read_corpus_file
from support.effort import scale
from support.laws import find_broken_laws
from support.loaded import load_blocks, load_table

ROOT = Path(__file__).parents[2]
KB = 1024
UNREADABLE = {"broken-headers.smaps"}
TOTALS = ("linux-6.18/torture", "linux-6.18/sleep", "linux-6.18/java", "linux-5.5.7/1", "linux-5.5.7/1309")
STATUS = (*TOTALS, "arm-4.1.25/1", "arm-4.1.25/606")


def _find_files() -> list[str]:
    files = [*CORPUS.glob("smaps/**/*.smaps"), *CORPUS.glob("maps/*.maps"), *ROOT.glob("samples/*.mmp")]
    return sorted(os.path.relpath(file, ROOT) for file in files if file.name not in UNREADABLE)


FILES = _find_files()


@cache
def _load(name: str) -> list[LoadedSnapshot]:
    return load(ROOT / name)


def _each_row(name: str) -> Iterator[dict[str, Any]]:
    for snapshot in _load(name):
        yield from snapshot.regions.to_pylist()


@pytest.mark.parametrize("name", FILES)
def test_every_region_obeys_the_laws_or_is_flagged(name: str) -> None:
    """Working sets nest and add up; where the source itself is wrong, the region says so."""
    for row in _each_row(name):
        broken = find_broken_laws(row)
        assert not broken or row["fault"], (hex(row["address"]), broken)
        assert row["size"] == row["end"] - row["address"] > 0
        assert row["allocation"] <= row["address"]
        assert None not in (row["type"], row["rule"], row["confidence"], row["state"])


@pytest.mark.parametrize("name", FILES)
def test_only_known_faults_of_sources_are_flagged(name: str) -> None:
    """Good files raise no suspicion: a hidden guard page, and one file that was shuffled on purpose."""
    if name.endswith("shuffled-keys.smaps"):
        assert all(row["fault"] for row in _each_row(name))
        return
    faults = [(row["details"], row["fault"]) for row in _each_row(name) if row["fault"]]
    assert faults in ([], [("[stack]", "Size counts a guard page that the range hides")])


@pytest.mark.parametrize("name", FILES)
def test_the_summary_conserves(name: str) -> None:
    """Types add up to Total, regions and holes to the range, allocations to their regions."""
    for snapshot in _load(name):
        rows = {row["type"]: row for row in summarize(snapshot).to_pylist()}
        counted = [row for row in snapshot.regions.to_pylist() if row["subtype"] != "gate"]
        for figure in ("size", *COUNTERS):
            known = [row[figure] for row in counted if row[figure] is not None]
            parts = [rows[kind][figure] for kind in TYPES if kind != "Free"]
            sums = sum(part for part in parts if part is not None) if known else None
            assert rows["Total"][figure] == sums
            outside = sum(rows[kind][figure] or 0 for kind in ("Page Table", "Unusable"))
            assert sums is None or sums - outside == sum(known)
        allocations = [row for row in list_allocations(snapshot).to_pylist() if row["subtype"] != "gate"]
        assert sum(row["size"] for row in allocations) == sum(row["size"] for row in counted)
        assert (
            sum(row["blocks"] for row in allocations)
            == len(counted)
            == (rows["Total"]["blocks"] or 0) - (rows["Unusable"]["blocks"] or 0)
        )
        if find_extent(snapshot).shown == ALL:
            low, high, _ = snapshot.usable_range
            assert sum(rows[kind]["size"] or 0 for kind in TYPES if kind != "Page Table") == high - low
        else:
            assert rows["Free"]["size"] is rows["Unusable"]["size"] is None


def _sum_text(text: str) -> dict[str, int]:
    """Sum up smaps in the plainest way: no code of ours, and no gate areas."""
    sums: dict[str, int] = {"ranges": 0}
    counts = False
    for line in text.splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) .{4} ", line):
            counts = not line.endswith(("[vsyscall]", "[vectors]"))
            sums["ranges"] += (int(found[2], 16) - int(found[1], 16)) * counts
        elif (found := re.match(r"(\w+): +(\d+) kB", line)) and counts:
            sums[found[1]] = sums.get(found[1], 0) + int(found[2]) * KB
    return sums


@pytest.mark.parametrize(
    "name", [name for name in FILES if name.endswith(".smaps") and "shuffled" not in name]
)
def test_totals_are_the_plain_sums_of_the_text(name: str) -> None:
    """Ten lines that know nothing of us come to the same."""
    [snapshot] = _load(name)
    if not snapshot.regions.num_rows:
        return
    sums = _sum_text((ROOT / name).read_text("latin-1").replace("\t", " "))
    total = {row["type"]: row for row in summarize(snapshot).to_pylist()}["Total"]
    figures = {"size": "ranges", "total_ws": "Rss", "pss": "Pss", "swap": "Swap", "locked_ws": "Locked"}
    figures |= {"thp": "AnonHugePages", "lazyfree": "LazyFree"}
    for figure, key in figures.items():
        assert (total[figure] or 0) == sums.get(key, 0), figure
    assert total["uss"] == sums["Private_Clean"] + sums["Private_Dirty"]
    assert total["shared_ws"] == sums["Shared_Clean"] + sums["Shared_Dirty"]
    assert total["private_ws"] + total["cow_shared"] == sums["Anonymous"]


def _load_with_totals(name: str) -> LoadedSnapshot:
    parts = {key: read_corpus_file(f"smaps/{name}.{key}") for key in ("smaps", "status")}
    rollup = read_corpus_file(f"smaps/{name}.smaps_rollup") if name in TOTALS else None
    snapshot = snapshot_from_text(parts["smaps"], status=parts["status"], rollup=rollup)
    return LoadedSnapshot(name, lambda: snapshot)


@pytest.mark.parametrize("name", TOTALS)
def test_resident_memory_is_exactly_that_of_the_kernel(name: str) -> None:
    """Total WS - Page Table - Unusable is Rss of smaps_rollup, to the byte; Pss and Swap likewise."""
    snapshot = _load_with_totals(name)
    rows = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    rollup = snapshot.process["smaps_rollup"]
    assert rows["Total"]["partial"] is None
    resident = rows["Total"]["total_ws"] - rows["Page Table"]["total_ws"] - rows["Unusable"]["total_ws"]
    assert resident == rollup["Rss"] == snapshot.process["status"]["VmRSS"]
    assert rows["Total"]["swap"] == rollup["Swap"]
    assert abs(rows["Total"]["pss"] - rollup["Pss"]) <= KB * snapshot.regions.num_rows  # each rounds to kB


@pytest.mark.parametrize("name", STATUS)
def test_size_is_exactly_that_of_the_kernel(name: str) -> None:
    """Size - Page Table - Unusable is VmSize; an old kernel counts one page that it hides below the stack."""
    snapshot = _load_with_totals(name)
    rows = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    size = rows["Total"]["size"] - rows["Page Table"]["size"] - rows["Unusable"]["size"]
    hidden = [row["Size"] - row["size"] for row in snapshot.regions.to_pylist() if row["fault"]]
    assert hidden in ([], [4096])
    assert size + sum(hidden) == snapshot.process["status"]["VmSize"]


COUNTER_NAMES = (
    "Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "Anonymous", "LazyFree",
    "AnonHugePages", "Shared_Hugetlb", "Private_Hugetlb", "Swap", "Locked",
)  # fmt: skip


@st.composite
def sound_regions(draw: st.DrawFn) -> tuple[str, dict[str, int], str]:
    """Draw a region whose counters a kernel could print: each page is of one kind."""
    pages = draw(st.integers(1, 64))
    kinds = [draw(st.integers(0, pages)) for _ in range(5)]
    scale = max(1, -(-sum(kinds) // pages))
    shared_file, own_file, shared_anonymous, own_anonymous, swapped = (count // scale * 4 for count in kinds)
    is_private = draw(st.booleans())
    if not is_private:
        own_file, shared_anonymous, own_anonymous = own_file + own_anonymous, 0, 0
    counters = {
        "Rss": shared_file + own_file + shared_anonymous + own_anonymous,
        "Shared_Clean": shared_file,
        "Shared_Dirty": shared_anonymous,
        "Private_Clean": own_file,
        "Private_Dirty": own_anonymous,
        "Anonymous": shared_anonymous + own_anonymous,
        "Swap": swapped,
        "Pss": own_file + own_anonymous,
    }
    rights = draw(st.sampled_from(["rw-", "r--", "r-x", "---", "-w-", "rwx"]))
    file = draw(st.sampled_from(["", " 0 2a /srv/file", " 0 0 [heap]", " 0 0 [anon:v8]"]))
    flags = draw(st.sampled_from(["", "ac", "nr", "ac nr", "ac gu"]))
    line = f"10000000-{0x10000000 + pages * 4096:x} {rights}{'p' if is_private else 's'}{file}"
    return line, counters, flags


@settings(max_examples=scale(200))
@given(sound_regions())
def test_what_a_kernel_can_print_obeys_the_laws(region: tuple[str, dict[str, int], str]) -> None:
    """Whatever rights, kind and mixture of pages: the laws hold, and nothing is flagged."""
    [row] = load_blocks(region).regions.to_pylist()
    assert row["fault"] is None
    assert find_broken_laws(row) == []


NUMBERS = st.integers(0, 1 << 20) | st.integers(0, (1 << 64) - 1) | st.none()


@settings(max_examples=scale(200))
@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(COUNTER_NAMES, NUMBERS)), min_size=1, max_size=4),
    st.sampled_from(["rw-p", "r--p", "---p", "rw-s", "", None]),
)
def test_what_no_kernel_prints_is_flagged_and_breaks_nothing(
    rows: list[dict[str, Any]], perms: str | None
) -> None:
    """Any numbers at all: laws hold or the region is flagged, and sums stay within 64 bits."""
    regions = [
        {"start": (1 + at) << 30, "size": 1 << 16, "perms": perms, **row} for at, row in enumerate(rows)
    ]
    snapshot = load_table(regions)
    for row in snapshot.regions.to_pylist():
        assert find_broken_laws(row) == [] or row["fault"]
    total = summarize(snapshot).to_pylist()[0]
    assert total["size"] == len(rows) << 16
