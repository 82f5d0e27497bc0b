"""What VMMap counted as private, against what MEMORY_BASIC_INFORMATION alone tells of the same regions."""

from __future__ import annotations

from typing import Any

from mmpscope.analysis import LoadedSnapshot, load
from support.corpus import find_corpus_file
from support.loaded import load_table

K = 1024
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
