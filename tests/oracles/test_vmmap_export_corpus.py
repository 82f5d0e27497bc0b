"""Maps that real kernels wrote, through VMMap's formats and back: the same memory, to the byte."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.export_vmmap import FIGURES, list_rows, write_vmmap_csv, write_vmmap_xml
from support.corpus import CORPUS, find_corpus_file
from support.vmmap_public_readers import read_leaves

NAMES = sorted(str(path.relative_to(CORPUS)) for path in CORPUS.glob("smaps/**/*.smaps"))
BROKEN = ("broken-headers", "EMPTY", "rollup")
KIB = 1024
STORED = {
    "committed": "Commit",
    "private": "PrivateBytes",
    "private_ws": "PrivateWS",
    "shareable_ws": "ShareableWS",
    "shared_ws": "SharedWS",
}
"""Our figures, and the raw columns that a `.mmp` has for them: impossible ones are kept there, too."""


def load_whole(name: str) -> LoadedSnapshot:
    """Load the last snapshot of a file that has regions, or skip."""
    return load(find_corpus_file(name))[-1]


def show(snapshot: LoadedSnapshot, *figures: str) -> list[tuple[Any, ...]]:
    """Return address, size and figures of the regions, without gate areas."""
    names = ["address", "size", *figures]
    rows = snapshot.regions.select([*names, "subtype"]).to_pylist()
    return [tuple(row[name] for name in names) for row in rows if row["subtype"] != "gate"]


@pytest.mark.parametrize("name", [name for name in NAMES if not any(word in name for word in BROKEN)])
def test_smaps_come_back_from_xml(name: str, tmp_path: Path) -> None:
    """Every region and every figure that a `.mmp` has an attribute for, null where it was null."""
    snapshot = load_whole(name)
    stream = io.BytesIO()
    write_vmmap_xml(stream, [snapshot])
    path = tmp_path / "written"
    path.write_bytes(stream.getvalue())
    [back] = load(path)
    assert sorted(show(back, *STORED.values())) == sorted(show(snapshot, *STORED))
    wanted = {row.address: row.protection for row in list_rows(snapshot, with_holes=False) if row.is_part}
    protections = zip(
        *(back.regions.column(column).to_pylist() for column in ("address", "Protection")), strict=True
    )
    assert dict(protections) == wanted


def test_devenv_comes_back_from_xml(tmp_path: Path) -> None:
    """The real process of VMMap's CSV, written as XML: the same summary, types, blocks and holes."""
    [snapshot] = load(find_corpus_file("vmmap/devenv-x86.csv"))
    path = tmp_path / "written"
    with path.open("wb") as stream:
        write_vmmap_xml(stream, [snapshot])
    [back] = load(path)
    names = ["address", "size", "VmmapType", "type", "protection", "details", *FIGURES, "Blocks"]
    names.remove("locked_ws")
    assert back.regions.select(names).to_pylist() == snapshot.regions.select(names).to_pylist()
    answers = [summarize(one).drop_columns(["locked_ws", "partial"]).to_pylist() for one in (back, snapshot)]
    assert answers[0] == answers[1]
    leaves = read_leaves(path.read_bytes())
    sizes = {row["type"]: row["size"] // KIB for row in answers[1]}
    rounded = sizes["Managed Heap"] - 2  # generations are no whole K
    assert leaves["Managed Heap"] == rounded
    assert all(leaves[name] == sizes[name] for name in leaves if name != "Managed Heap")


def test_a_list_with_holes_comes_back_from_csv(tmp_path: Path) -> None:
    """The summary that we write above a list tells the reader that nothing is missing below it."""
    snapshot = load_whole("smaps/linux-6.18/java.smaps")
    path = tmp_path / "written"
    with path.open("wb") as stream:
        write_vmmap_csv(stream, snapshot)
    [back] = load(path)
    assert show(back, *FIGURES) == show(snapshot, *FIGURES)
    assert [row for row in back.capability.to_pylist() if row["item"] == "regions"] == []
