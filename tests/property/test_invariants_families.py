"""Laws that hold for every region of Windows, VMMap and macOS: of made tables, and of every public file."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, list_allocations, load, summarize
from mmpscope.analysis.schema import TYPES
from support.corpus import CORPUS
from support.laws import find_broken_laws
from support.loaded import load_table

ROOT = Path(__file__).parents[2]
PAGE = 4096
LAST = (1 << 64) - 1
Row = dict[str, Any]

_SIZES = st.one_of(st.none(), st.integers(0, 1 << 20), st.integers(0, LAST))
_NUMBERS = st.one_of(
    st.none(), st.sampled_from((0, 1, 2, 4, 8, 0x20, 0x40, 0x80, 0x104, 0x404)), st.integers(0, LAST)
)
_WORKING_SETS = dict.fromkeys(
    ("TotalWS", "PrivateWS", "ShareableWS", "SharedWS", "LockedWS", "AbsentShared", "PrivateBytes"), _SIZES
)
_PLACES: dict[str, st.SearchStrategy[Any]] = {
    "start": st.integers(0, 1 << 48),
    "size": st.integers(1, 1 << 30),
    "AllocationBase": st.one_of(st.none(), st.integers(0, 1 << 48)),
}
_TEXTS = st.one_of(st.none(), st.sampled_from((r"C:\x.dll", "/usr/lib/x", ".text", "~0; 1.2")))
FAMILIES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "windows": {
        **_PLACES,
        "State": st.sampled_from((None, 0x1000, 0x2000, 7)),
        "Type": st.sampled_from((None, 0x20000, 0x40000, 0x1000000, 7)),
        "Protect": _NUMBERS,
        "Usage": st.sampled_from((None, "Image", "Stack", "Heap", "<unknown>", "GCHeap")),
        "Details": _TEXTS,
        **_WORKING_SETS,
    },
    "vmmap": {
        **_PLACES,
        "VmmapType": st.sampled_from(
            (None, "Image", "Thread Stack", "Heap (Shareable)", "Mapped File", "AWE")
        ),
        "Protection": _NUMBERS,
        "Commit": _SIZES,
        "Details": _TEXTS,
        **_WORKING_SETS,
    },
    "macos": {
        "start": _PLACES["start"],
        "size": _PLACES["size"],
        "RegionType": st.sampled_from(
            ("__TEXT", "__DATA", "Stack", "STACK GUARD", "MALLOC_TINY", "VM_ALLOCATE")
        ),
        "SHRMOD": st.sampled_from((None, "COW", "PRV", "NUL", "SHM", "ALI", "S/A", "ZER")),
        "PRT": st.sampled_from((None, "r-x", "rw-", "---")),
        "path": _TEXTS,
        **dict.fromkeys(("RSDNT", "DIRTY", "SWAP"), _SIZES),
    },
}
MODULES: list[Row] = [{"path": r"C:\x.dll", "low": 0, "high": 1 << 40}]
THREADS: list[Row] = [
    {"tid": 1, "sp": 1 << 20, "teb": 1 << 21},
    {"tid": 2, "sp": None, "stack_start": 1 << 22, "stack64_start": 1 << 23},
]
HEAPS: list[Row] = [{"id": 0, "flags": 1}, {"id": 1 << 24, "flags": 0}]
SECTIONS: list[Row] = [{"module": 0, "name": ".text", "start": 1 << 12, "size": 1 << 39}]


def _find_files() -> list[str]:
    kinds = (
        "vmmap/devenv-x86.csv",
        "minidump/*-*.dmp",
        "core/linux-*.core",
        "macos/*.txt",
        "pmap/*",
        "windbg/address_linux*",
    )
    files = [path for kind in kinds for path in CORPUS.glob(kind)]
    return sorted(os.path.relpath(path, ROOT) for path in files if path.name not in _NO_REGIONS)


_NO_REGIONS = {
    *("invalid-range.dmp", "invalid-record-count.dmp", "huge-counts.dmp"),
    *("microdump-is-text.dmp", "windows-no-memoryinfo.dmp"),
}
"""Files that have no memory map; what they are refused for is tested with their readers."""


@cache
def _load(name: str) -> list[LoadedSnapshot]:
    return load(ROOT / name)


def _check_regions(snapshot: LoadedSnapshot) -> None:
    rows = snapshot.regions.to_pylist()
    for row in rows:
        broken = find_broken_laws(row)
        assert not broken or row["fault"], (hex(row["address"]), broken)
        assert row["allocation"] <= row["address"]
        assert row["type"] in TYPES
        assert row["rule"]
    for table in (snapshot.modules, snapshot.threads, snapshot.heaps, list_allocations(snapshot)):
        table.validate(full=True)


@pytest.mark.parametrize("name", _find_files())
def test_every_region_of_a_public_file_obeys_the_laws(name: str) -> None:
    """Working sets nest and add up, whatever the source; where it is wrong itself, the region says so."""
    for snapshot in _load(name):
        _check_regions(snapshot)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_no_table_of_a_family_breaks_the_laws_unsaid(family: str, data: st.DataObject) -> None:
    """Whatever stands in the columns, every region has a type, and each contradiction is flagged."""
    rows = data.draw(st.lists(st.fixed_dictionaries(FAMILIES[family]), min_size=1, max_size=8))
    tables = {"modules": MODULES, "threads": THREADS, "heaps": HEAPS, "sections": SECTIONS}
    if family == "vmmap" and data.draw(st.booleans()):
        tables["allocations"] = rows[:3]
    snapshot = load_table(rows, tables=tables)
    _check_regions(snapshot)
    totals = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    assert totals["Total"]["size"] is not None
