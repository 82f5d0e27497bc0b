"""A dataset as the baseline of a check: the verdicts are those of the files that it was built from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from mmpscope.analysis import LoadedSnapshot, load
from mmpscope.analysis.checks.budget import Budget
from mmpscope.analysis.checks.budgets import read_budgets
from mmpscope.analysis.checks.snapshots import check
from mmpscope.analysis.datasets.baseline import read_baseline
from mmpscope.analysis.errors import CannotTellError
from support.datasets import NOVEMBER_NS, build, write_run
from support.mmp_command import run_mmp

SAMPLES = Path(__file__).parents[3] / "samples"
SECOND_NS = 10**9
BUDGETS = """\
no_new_executable_writable = true
modules_allowed = ["/nothing/*"]
[total]
size = "1M"
private = {spread = 6, grow = "1K"}
total_ws = "5%"
pss = "1K"
[type.Heap]
private = "1K"
[type."Private Data"]
total_ws = "1K"
[module."libc*"]
total_ws = "1K"
pss = "1K"
swap = [0, {at_most = 0}]
[mappings]
grow = 1
"""


@pytest.fixture
def budgets(tmp_path: Path) -> Sequence[Budget]:
    """Budgets of every kind that takes a baseline, so small that most are violated."""
    path = tmp_path / "budgets.toml"
    path.write_text(BUDGETS)
    return read_budgets(path)


def _judge(new: LoadedSnapshot, files: Sequence[Path], root: Path, budgets: Sequence[Budget]) -> None:
    """Compare the rows of both checks but for their reasons, which may name other lacks in other words."""
    build(root, *files)
    told: list[str] = []
    by_files = check(new, load(*files), budgets)
    by_dataset = check(new, (), budgets, read_baseline(root, new, told))
    assert told == []
    columns = ["rule", "where", "metric", "limit", "baseline", "value", "samples", "verdict"]
    one, two = (result.table.select(columns).to_pylist() for result in (by_files, by_dataset))
    assert two == one
    assert sorted(by_dataset.baseline) == sorted(by_files.baseline)


def test_verdicts_are_those_of_the_files(tmp_path: Path, budgets: Sequence[Budget]) -> None:
    """Of six runs of one program, every figure, limit and verdict."""
    files = [write_run(tmp_path / f"{n}.mmp", [NOVEMBER_NS + n * SECOND_NS], 100 + n) for n in range(6)]
    [_, new] = load(write_run(tmp_path / "new.mmp", [NOVEMBER_NS - 1, NOVEMBER_NS - 2], 99))
    _judge(new, files, tmp_path / "ds", budgets)


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_verdicts_on_samples_are_those_of_the_files(
    tmp_path: Path, system: str, budgets: Sequence[Budget]
) -> None:
    """Of real processes, which have grown."""
    if system == "linux":
        files, new = (
            [SAMPLES / "linux-reserve-commit-a-v1.0.mmp"],
            SAMPLES / "linux-reserve-commit-b-v1.0.mmp",
        )
        _judge(load(new)[0], files, tmp_path / "ds", budgets)
    else:
        file = SAMPLES / "windows-reserve-commit-v1.0.mmp"
        new_one = load(file)[0]
        build(tmp_path / "ds", file)
        kept = read_baseline(tmp_path / "ds", new_one, [])
        by_dataset = check(new_one, (), budgets, kept).table
        by_files = check(new_one, load(file)[-1:], budgets).table
        columns = ["where", "metric", "baseline", "value", "samples", "verdict"]
        assert by_dataset.select(columns).to_pylist() == by_files.select(columns).to_pylist()


def test_the_snapshot_itself_and_other_programs_do_not_count(tmp_path: Path) -> None:
    """As in a folder: each is told, and neither is a sample."""
    files = [write_run(tmp_path / f"{n}.mmp", [NOVEMBER_NS + n], 100 + n) for n in range(3)]
    build(tmp_path / "ds", *files, SAMPLES / "linux-leak-v1.0.mmp")
    told: list[str] = []
    [new] = load(files[0])
    kept = list(read_baseline(tmp_path / "ds", new, told))
    assert sorted(Path(each.label).name for each in kept) == ["1.mmp#0", "2.mmp#0"]
    assert "has the snapshot that is checked" in told[0]
    assert "of other programs" in told[1]


def test_of_a_series_the_last_snapshot_of_each_process_counts(tmp_path: Path) -> None:
    """Two runs of many snapshots are two samples, as they are from files, also where a series has grown."""
    moments = [NOVEMBER_NS + n * SECOND_NS for n in range(4)]
    [new] = load(write_run(tmp_path / "new.mmp", [NOVEMBER_NS - 1], 99))
    first = write_run(tmp_path / "0.mmp", moments[:2], 100)
    build(tmp_path / "ds", first)
    build(tmp_path / "ds", write_run(first, moments, 100), write_run(tmp_path / "1.mmp", moments[:3], 101))
    kept = read_baseline(tmp_path / "ds", new, [])
    assert sorted(Path(each.label).name for each in kept) == ["0.mmp#3", "1.mmp#2"]


def test_a_dataset_of_other_programs_is_no_baseline(tmp_path: Path) -> None:
    """It cannot tell, and says so."""
    build(tmp_path / "ds", SAMPLES / "linux-leak-v1.0.mmp")
    [new] = load(write_run(tmp_path / "new.mmp"))
    with pytest.raises(CannotTellError, match=r"no other snapshot of .* is of shop"):
        list(read_baseline(tmp_path / "ds", new, []))


def test_copies_in_files_and_datasets_are_one_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs, given as files and as two datasets, are no six: that would be enough for a spread."""
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        write_run(tmp_path / f"{number}.mmp", [NOVEMBER_NS + number], 100 + number)
    for name, numbers in (("ds", (1, 2)), ("more", (2, 3))):
        build(tmp_path / name, *(tmp_path / f"{number}.mmp" for number in numbers))
    words = [word for name in ("1.mmp", "ds", "more") for word in ("--baseline", name)]
    answer = run_mmp("check", "0.mmp", *words, "--json")
    assert len(json.loads(answer.out)["baseline"]) == 3
    assert answer.err.splitlines() == [
        f"mmp: warning: 1 of {name} are copies of others, and do not count" for name in ("ds", "more")
    ]


def test_check_takes_a_dataset_beside_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they are one baseline; the dataset is an input, and no output."""
    monkeypatch.chdir(tmp_path)
    for number in range(6):
        write_run(tmp_path / f"{number}.mmp", [NOVEMBER_NS + number], 100 + number)
    build(tmp_path / "ds", *(tmp_path / f"{number}.mmp" for number in range(1, 5)))
    answer = run_mmp("check", "0.mmp", "--baseline", "ds", "--baseline", "5.mmp", "--json")
    told = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert {Path(label).name for label in told["baseline"]} == {f"{n}.mmp#0" for n in range(1, 6)}
    answer = run_mmp("check", "0.mmp", "--baseline", "ds", "-o", "ds/out.json")
    assert (answer.code, "belongs to the inputs" in answer.err) == (2, True)
