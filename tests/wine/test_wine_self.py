"""`mmp-collect.pyz --self` under Wine, and every command of `mmp` on the file that it made."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot
from support.mmp_command import run_mmp
from support.wine import BITS
from support.wine_collecting import WineCollector

pytestmark = pytest.mark.real

PAGE = 4096


@pytest.fixture(scope="module", params=BITS, ids=lambda bits: f"{bits}-bit")
def own(
    request: pytest.FixtureRequest,
    collectors: dict[int, WineCollector],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, LoadedSnapshot]:
    """A file with the collector's own memory, and the snapshot in it."""
    path = tmp_path_factory.mktemp("self") / "own.mmp"
    return path, collectors[request.param].collect(path, "--self")


def _summarize(snapshot: LoadedSnapshot) -> dict[str, dict[str, int]]:
    return {row["type"]: row for row in analysis.summarize(snapshot).to_pylist()}


def test_working_sets_are_known_for_every_committed_region(own: tuple[Path, LoadedSnapshot]) -> None:
    """Of its own process Wine tells each page; what is only reserved has none resident."""
    rows: list[dict[str, Any]] = own[1].regions.to_pylist()
    assert all(row["total_ws"] is not None for row in rows)
    assert all(row["total_ws"] == 0 for row in rows if not row["committed"])
    assert sum(row["total_ws"] for row in rows) > 4 << 20


def test_figures_of_every_region_are_in_order(own: tuple[Path, LoadedSnapshot]) -> None:
    """shared <= shareable <= total <= size, private + shareable = total, private <= committed <= size."""
    for row in own[1].regions.to_pylist():
        assert row["shared_ws"] <= row["shareable_ws"] <= row["total_ws"] <= row["committed"] <= row["size"]
        assert row["private_ws"] + row["shareable_ws"] == row["total_ws"]
        assert row["private_ws"] <= row["private"] <= row["committed"]
        assert row["size"] % PAGE == row["total_ws"] % PAGE == 0


def test_regions_and_gaps_are_the_whole_range(own: tuple[Path, LoadedSnapshot]) -> None:
    """Every byte of the range is in one region or in one gap."""
    snapshot, summary = own[1], _summarize(own[1])
    low, high, _ = snapshot.usable_range
    covered = sum(row["size"] for row in snapshot.raw_regions.to_pylist())
    assert covered + summary["Free"]["size"] + summary["Unusable"]["size"] == high - low


def test_rows_add_up_to_the_total(own: tuple[Path, LoadedSnapshot]) -> None:
    """Total is the sum of all types but Free, in every column that adds up."""
    summary = _summarize(own[1])
    parts = [row for name, row in summary.items() if name not in ("Total", "Free")]
    for column in ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws"):
        assert summary["Total"][column] == sum(row[column] or 0 for row in parts), column


def test_types_are_those_of_vmmap(own: tuple[Path, LoadedSnapshot]) -> None:
    """Images, mapped files, a stack and private data are found; no region is without a type."""
    sizes = {name: row["size"] for name, row in _summarize(own[1]).items()}
    assert all(sizes[name] for name in ("Image", "Mapped File", "Stack", "Private Data"))
    assert None not in own[1].regions["type"].to_pylist()


def test_the_python_library_has_its_sections(own: tuple[Path, LoadedSnapshot]) -> None:
    """python311.dll is an image with a path of drive Z, and its parts have different rights."""
    rows = [row for row in own[1].regions.to_pylist() if (row["path"] or "").endswith("python311.dll")]
    assert {row["type"] for row in rows} == {"Image"}
    assert {row["path"][:3] for row in rows} == {"Z:\\"}
    assert len({row["protection"] for row in rows}) > 2


def test_facts_of_the_system(own: tuple[Path, LoadedSnapshot]) -> None:
    """Host, version and the commit of the system are in the capture, and the list of processes."""
    capture = own[1].capture
    assert capture.host["os"] == "windows"
    assert capture.host["page_size"] == PAGE
    assert capture.host["allocation_granularity"] == 16 * PAGE
    assert capture.system["performance"]["CommitLimit"] > capture.system["performance"]["CommitTotal"] > 0
    assert "services.exe" in own[1].processes["name"].to_pylist()


@pytest.mark.parametrize(
    "words",
    [
        ["info"],
        ["verify"],
        ["summary"],
        ["regions"],
        ["regions", "--free"],
        ["threads"],
        ["modules"],
        ["heaps"],
        ["processes"],
        ["free"],
        ["free", "--fits", "1M"],
    ],
    ids=" ".join,
)
def test_every_command_answers(own: tuple[Path, LoadedSnapshot], words: list[str]) -> None:
    """On Linux each command reads the file, as text and as JSON, and has nothing to complain of."""
    command, *options = words
    for more in ([], ["--json"]):
        answer = run_mmp(command, own[0], *options, *more)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out


def test_a_snapshot_does_not_differ_from_itself(own: tuple[Path, LoadedSnapshot]) -> None:
    """The diff of a file with itself is of the same instance and says that nothing changed."""
    answer = run_mmp("diff", own[0], own[0])
    assert (answer.code, answer.err) == (0, "")
    assert "mode same: same instance" in answer.out
    assert "0 ranges" in answer.out or "no range" in answer.out or "new" not in answer.out


def test_regions_go_out_as_csv(own: tuple[Path, LoadedSnapshot], tmp_path: Path) -> None:
    """`mmp export` writes a row a region."""
    path = tmp_path / "regions.csv"
    assert run_mmp("export", own[0], "-t", "regions", "-o", path).code == 0
    with path.open(newline="") as lines:
        assert len(list(csv.DictReader(lines))) == own[1].regions.num_rows
