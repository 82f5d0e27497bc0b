"""What one snapshot is worth in small tables: sums that conserve, figures of the summary, ids that stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.measures.measure import Gatherer, Measures, join_measures, measure
from mmpscope.analysis.measures.schema import FIGURES, MEASURES
from mmpscope.analysis.tables import find_arrow_type
from support.loaded import load_blocks, load_map, load_text

SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("*.mmp"))
HEAP = (
    "1000-9000 rw-p 0 0 [heap]",
    {"Rss": 32, "Pss": 32, "Private_Dirty": 32, "Anonymous": 32},
    "rd wr mr mw me ac",
)


def _sum(values: Sequence[int | None]) -> int:
    return sum(value or 0 for value in values)


def _capture(snapshot: LoadedSnapshot) -> dict[str, Any]:
    row: dict[str, Any] = measure(snapshot, "f:0").captures.to_pylist()[0]
    return row


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_names_and_cohorts_hold_every_region_once(path: Path) -> None:
    """Their sizes and blocks of names add up to the regions: what a series follows leaves nothing out."""
    snapshot = load(path)[-1]
    measures = measure(snapshot, "f:0")
    rows = {row["type"]: row for row in measures.summaries.to_pylist()}
    outside = sum(rows[name]["size"] or 0 for name in ("Page Table", "Unusable"))
    parts = [*measures.names["size"].to_pylist(), *measures.cohorts["size"].to_pylist()]
    assert _sum(parts) == rows["Total"]["size"] - outside


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_summaries_and_captures_are_the_summary(path: Path) -> None:
    """Figure by figure: there is one way to count."""
    snapshot = load(path)[-1]
    measures = measure(snapshot, "f:0")
    known = summarize(snapshot).to_pylist()
    assert measures.summaries.drop_columns("snapshot_id").to_pylist() == known
    total, capture = known[0], measures.captures.to_pylist()[0]
    names = [*FIGURES, "blocks", "allocations", "largest", "partial"]
    assert {name: capture[name] for name in names} == {name: total[name] for name in names}
    assert capture["modules"] == len(snapshot.modules)


@pytest.mark.parametrize("name", MEASURES)
def test_every_table_has_the_columns_of_the_schema(name: str) -> None:
    """Also where there is no row, and the id of the snapshot comes first."""
    for measures in (measure(load(SAMPLES[0])[0], "f:0"), Gatherer().build()):
        table = getattr(measures, name)
        expected = {field.name: find_arrow_type(field) for field in MEASURES[name]}
        assert dict(zip(table.schema.names, table.schema.types, strict=True)) == expected
        assert table.column_names[0] == "snapshot_id"


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    """Gathering rows is only a way to make fewer tables."""
    snapshots = load(next(path for path in SAMPLES if "leak" in path.name))[:3]
    gatherer = Gatherer()
    for number, snapshot in enumerate(snapshots):
        gatherer.add(snapshot, f"f:{number}")
    apart = join_measures([measure(snapshot, f"f:{n}") for n, snapshot in enumerate(snapshots)])
    assert _as_lists(gatherer.build()) == _as_lists(apart)


def _as_lists(measures: Measures) -> dict[str, Any]:
    return {name: getattr(measures, name).to_pylist() for name in MEASURES}


def test_only_what_is_wanted_is_measured() -> None:
    """Tables that nobody asks for stay empty: names and cohorts are most of the work."""
    gatherer = Gatherer(("captures",))
    gatherer.add(load(SAMPLES[0])[0], "f:0")
    sizes = {name: len(getattr(gatherer.build(), name)) for name in MEASURES}
    assert sizes == {"captures": 1, "summaries": 0, "names": 0, "cohorts": 0, "limits": 0}


def test_maps_alone_are_not_complete_and_say_so() -> None:
    """What no smaps tells is null, and named; address space and holes are known all the same."""
    row = _capture(load_map("10000-12000 rw-p"))
    assert (row["total_ws"], row["complete"]) == (None, False)
    assert "total_ws" in row["lacks"]
    assert row["free_blocks"] is not None


def test_a_process_without_memory_has_no_figures() -> None:
    """A kernel thread is no process of 0 bytes."""
    row = _capture(load_text("", pid=2, name="kthreadd"))
    assert (row["extent"], row["complete"], row["size"], row["largest_free"]) == (
        "nothing",
        False,
        None,
        None,
    )


def test_the_version_is_the_build_of_the_program() -> None:
    """By path, wherever it is in the list; null where nobody read it."""
    tables = {"modules": [{"path": "/lib/x.so", "build_id": "ff"}, {"path": "/bin/app", "build_id": "ab12"}]}
    assert _capture(load_blocks(HEAP, tables=tables, exe="/bin/app"))["version"] == "ab12"
    assert _capture(load_blocks(HEAP, tables=tables, exe="/bin/app (deleted)"))["version"] == "ab12"
    assert _capture(load_blocks(HEAP, exe="/bin/app"))["version"] is None


def test_a_program_under_another_path_is_known_by_its_entry() -> None:
    """Within a container its path may be another than that of the map."""
    tables = {"modules": [{"path": "/a/app", "build_id": "ab12", "low": 0x1000, "high": 0x9000}]}
    row = _capture(load_blocks(HEAP, tables=tables, exe="/b/app", auxv={"AT_ENTRY": 0x2000}))
    assert row["version"] == "ab12"


def test_stacks_and_the_main_heap_have_names() -> None:
    """They are followed by what they are, not by size."""
    snapshot = load_blocks(HEAP, ("20000-22000 rw-p 0 0 [stack]", {"Rss": 8}, "rd wr"))
    kinds = {(row["kind"], row["name"]): row["size"] for row in measure(snapshot, "f:0").names.to_pylist()}
    assert kinds == {("name", "main heap"): 0x8000, ("stack", "main stack"): 0x2000}


def test_blocks_of_one_cohort_are_one_row() -> None:
    """Of one type, right and class of sizes; the class is told by its least size."""
    blocks = [(f"{at:x}000-{at + 16:x}000 rw-p", {"Rss": 4}, "rd wr") for at in (0x100, 0x200, 0x300)]
    [row] = measure(load_blocks(*blocks), "f:0").cohorts.to_pylist()
    assert (row["type"], row["size_class"], row["blocks"], row["size"]) == (
        "Private Data",
        65536,
        3,
        3 * 65536,
    )
