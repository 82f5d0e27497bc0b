"""Laws of datasets: rows depend neither on the order of files, nor on builds, nor on batches."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis.datasets import building
from mmpscope.analysis.datasets.batches import find_month
from support.datasets import NOVEMBER_NS, ask_rows, build, write_run
from support.effort import scale

FILES = 4
DAY_NS = 86_400 * 10**9
_TABLES = (
    "captures",
    "summaries",
    "names",
    "cohorts",
    "limits",
    "regions",
    "threads",
    "modules",
    "capability",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some files, two of which share a snapshot, and one that is none."""
    made = tmp_path_factory.mktemp("laws")
    for number in range(FILES):
        write_run(made / f"{number}.mmp", [NOVEMBER_NS, NOVEMBER_NS + 20 * DAY_NS], pid=1 + number // 2)
    (made / "bad.mmp").write_text("Dear reader")
    return made


def _read_rows(root: Path) -> dict[str, list[str]]:
    """Return all rows of all tables, sorted; of a snapshot without what says from which file it came."""
    rows = {}
    for name in _TABLES:
        left_out = "snapshot_id, input" if name == "captures" else "snapshot_id"
        rows[name] = sorted(map(repr, ask_rows(root, f"SELECT * EXCLUDE ({left_out}) FROM {name}")))
    return rows


_SPLITS = st.lists(st.integers(0, 3), min_size=FILES + 1, max_size=FILES + 1)


@settings(max_examples=scale(5))
@given(splits=_SPLITS, order=st.permutations(range(FILES + 1)), batch=st.integers(1, 3))
def test_builds_in_any_order_and_number_give_the_same_rows(
    folder: Path, splits: Sequence[int], order: Sequence[int], batch: int
) -> None:
    """All at once or file by file, in whatever order and batches: a dataset is the set of its snapshots."""
    files = sorted(folder.glob("*.mmp"))
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patched:
        build(Path(made, "calm"), *files)
        patched.setattr(building, "_BATCH_FILES", batch)
        for go in range(4):
            chosen = [files[number] for number in order if splits[number] == go]
            if chosen:
                build(Path(made, "ds"), *chosen)
        assert _read_rows(Path(made, "ds")) == _read_rows(Path(made, "calm"))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_every_time_has_a_month(time_ns: int) -> None:
    """From 1677 to 2262, what 64 bits of nanoseconds reach, without an error of any library."""
    month = find_month(time_ns)
    assert month is not None
    year, _, number = month.partition("-")
    assert 1677 <= int(year) <= 2262
    assert 1 <= int(number) <= 12
