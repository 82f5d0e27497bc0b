"""What VMMap counted as private, against what MEMORY_BASIC_INFORMATION alone tells of the same regions."""

from __future__ import annotations

from typing import Any

from mmpscope.analysis import LoadedSnapshot, load
from support.corpus import find_corpus_file
from support.loaded import load_table

K = 1024
WRITABLE_OR_COPIED = 0x04 | 0x08 | 0x40 | 0x80
TYPES = {"Image": 0x1000000, "Mapped File": 0x40000, "Shareable": 0x40000}
"""The rest is MEM_PRIVATE; heaps that are shareable do not occur in this save."""


def _load_save() -> LoadedSnapshot:
    [save] = load(find_corpus_file("vmmap/devenv-x86.csv"))
    return save


def _ask_windows(row: dict[str, Any]) -> dict[str, Any]:
    """Write what VirtualQueryEx would have said of a region of VMMap's."""
    is_reserved = row["Protection"] == 0
    basic = {"start": row["address"], "size": row["size"], "AllocationBase": row["AllocationBase"]}
    return basic | {
        "State": 0x2000 if is_reserved else 0x1000,
        "Protect": row["Protection"],
        "Type": TYPES.get(row["type"], 0x20000),
    }


def _sum_private(snapshot: LoadedSnapshot, kind: str) -> int:
    return sum(row["private"] for row in snapshot.regions.to_pylist() if row["type"] == kind)


def test_the_estimate_is_what_vmmap_counts_less_what_only_pages_tell() -> None:
    """Of 7,489 regions it misses image pages that were written to once, and counts one unwritten view."""
    stated = _load_save().regions.to_pylist()
    guessed = load_table([_ask_windows(row) for row in stated]).regions.to_pylist()
    off: dict[tuple[str, str], int] = {}
    for ours, theirs in zip(guessed, stated, strict=True):
        kind = (theirs["type"], theirs["protection"])
        off[kind] = off.get(kind, 0) + (ours["private"] - theirs["private"]) // K
    assert {kind: error for kind, error in off.items() if error} == {
        ("Image", "Execute/Read"): -24_628,
        ("Image", "Read"): -2_040,
        ("Shareable", "Copy on write"): 224,
    }


def test_commit_is_exactly_what_vmmap_states() -> None:
    """Every region is committed as a whole or not at all, also in shareable memory with reserved parts."""
    save = _load_save()
    guessed = load_table([_ask_windows(row) for row in save.regions.to_pylist()])
    assert guessed.regions.column("committed").to_pylist() == save.regions.column("committed").to_pylist()
    assert _sum_private(save, "Image") == 92_628 * K


def _say_of_pages(row: dict[str, Any]) -> dict[str, Any]:
    """Add what QueryWorkingSetEx must have said for VMMap to count what it counted.

    Of what may be written to VMMap counts all commit, shared or not: there the save tells nothing of pages.
    """
    is_charged = row["Protection"] & WRITABLE_OR_COPIED
    absent = 0 if is_charged else row["committed"] - row["shareable_ws"] - row["private"]
    pages = {"TotalWS": "total_ws", "PrivateWS": "private_ws", "ShareableWS": "shareable_ws"}
    return _ask_windows(row) | {name: row[ours] for name, ours in pages.items()} | {"AbsentShared": absent}


def test_private_of_images_is_commit_less_shared_pages_resident_or_not() -> None:
    """VMMap's 92,628 K of images leave for absent shared pages in each block what can be there: no less than
    none, and no more than is not resident. From such pages our formula gives every figure of VMMap again.
    """
    images = [row for row in _load_save().regions.to_pylist() if row["type"] == "Image"]
    asked = [_say_of_pages(row) for row in images]
    for row, pages in zip(images, asked, strict=True):
        assert 0 <= pages["AbsentShared"] <= row["committed"] - row["total_ws"]
        if row["Protection"] & WRITABLE_OR_COPIED:
            assert row["private"] == row["committed"]
    ours = load_table(asked)
    assert ours.regions.column("private").to_pylist() == [row["private"] for row in images]
    assert _sum_private(ours, "Image") == 92_628 * K
    assert ours.regions.column("fault").null_count == len(images)


def test_heaps_add_up_to_what_vmmap_says_of_heap() -> None:
    """One row a heap by VMMap's number, and together the line Heap of its own summary."""
    heaps = [row for row in _load_save().heaps.to_pylist() if row["type"] == "Heap"]
    assert sorted(row["name"] for row in heaps) == sorted(f"heap {number}" for number in range(1, 11))
    sums = [
        sum(row[name] for row in heaps) for name in ("size", "committed", "private", "total_ws", "blocks")
    ]
    assert sums == [87_464 * K, 72_356 * K, 72_356 * K, 21_812 * K, 529]
