"""One function over many files: every file once and in order, whatever happens to a worker."""

from __future__ import annotations

import gzip
import shutil
from functools import partial
from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.bulk.files import list_inputs, make_batches, open_hashed
from mmpscope.analysis.bulk.measuring import Measured, Measuring, join_measured, measure_batch
from mmpscope.analysis.bulk.run import Outcome, run_files
from mmpscope.analysis.datasets.files import Reading, read_batch
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.loading import InputFile
from mmpscope.formats.errors import InputError
from support.datasets import write_run
from support.workers import name_files, name_or_die, raise_fault, tell_process

LEAK = Path(__file__).parents[3] / "samples" / "linux-leak-v1.0.mmp"


def _make_files(*names: str) -> list[InputFile]:
    return [InputFile(name, {}, None, True) for name in names]


def _measure(*inputs: object, measuring: Measuring = Measuring(("captures",)), workers: int = 1) -> Measured:  # noqa: B008  # frozen
    files = list_inputs(map(str, inputs))
    return join_measured(run_files(partial(measure_batch, measuring=measuring), files, workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_every_file_once_and_in_order(workers: int) -> None:
    """However many work: an answer does not depend on it."""
    names = [f"{number:03}" for number in range(50)]
    outcomes = run_files(name_files, _make_files(*names), workers=workers)
    assert [name for outcome in outcomes for name in outcome.result or ()] == names


def test_a_file_that_kills_its_worker_is_one_error() -> None:
    """All others have their results, those of its batch too, and their order is kept."""
    names = ["a", "b", "killer", "c", *(f"{number:02}" for number in range(30)), "killer too", "z"]
    done, killed = list[str](), list[str]()
    for outcome in run_files(name_or_die, _make_files(*names), workers=2):
        done += outcome.result or ()
        killed += [file.path for file in outcome.files if outcome.error is not None]
    assert done == [name for name in names if "killer" not in name]
    assert killed == ["killer", "killer too"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_of_ours_is_not_swallowed(workers: int) -> None:
    """An error that no file is to blame for ends the work; nobody would look for it in a row."""
    with pytest.raises(RuntimeError, match="a fault"):
        list(run_files(raise_fault, _make_files("a"), workers=workers))


def test_workers_are_processes_and_arrow_has_one_thread_there() -> None:
    """As many workers as processors, each with as many threads, would be too many."""
    import os

    [outcome] = run_files(tell_process, _make_files("a"), workers=2)
    assert outcome.result is not None
    pid, threads = outcome.result
    assert (pid != os.getpid(), threads) == (True, 1)


def test_a_scheduler_gets_no_standard_input() -> None:
    """Its workers have another one."""
    with pytest.raises(UsageError, match="standard input"):
        list(run_files(name_files, _make_files("-"), scheduler="tcp://127.0.0.1:9"))


@pytest.mark.parametrize("count", [0, 1, 7, 64, 1000])
def test_batches_hold_every_file_once(count: int) -> None:
    """In order, none empty, and several for each worker."""
    files = _make_files(*map(str, range(count)))
    batches = list(make_batches(files, 2))
    assert [file for batch in batches for file in batch] == files
    assert all(0 < len(batch) <= 64 for batch in batches)
    assert len(batches) >= min(count, 8)


def test_the_id_of_a_snapshot_goes_by_content(tmp_path: Path) -> None:
    """The same file elsewhere, under another name, has the same ids; they tell its snapshots apart."""
    copy = shutil.copy(LEAK, tmp_path / "other.mmp")
    ids = [_measure(path).measures.captures["snapshot_id"].to_pylist() for path in (LEAK, copy)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0]) == 20
    assert _measure(f"{LEAK}#3").measures.captures["snapshot_id"].to_pylist() == [ids[0][3]]


def test_a_captured_folder_has_an_id_too(tmp_path: Path) -> None:
    """Of the names and bytes of its files: another byte is another id."""
    digests = list[str]()
    for rss in (4, 8, 4):
        folder = tmp_path / f"{len(digests)}" / "proc" / "7"
        folder.mkdir(parents=True)
        (folder / "smaps").write_text(f"1000-3000 rw-p 00000000 00:00 0 \nSize: 8 kB\nRss: {rss} kB\n")
        [file] = list_inputs([str(tmp_path / f"{len(digests)}")])
        with open_hashed(file) as (_, digest):
            digests.append(digest)
    assert digests[0] == digests[2] != digests[1]


def test_a_bad_file_and_a_bad_snapshot_are_rows(tmp_path: Path) -> None:
    """The others are measured; each error names its file and why."""
    (tmp_path / "0.mmp").write_text("no snapshot")
    shutil.copy(LEAK, tmp_path / "1.mmp")
    (tmp_path / "2.mmp").write_bytes(LEAK.read_bytes()[:-5000])
    (tmp_path / "3.mmp.gz").write_bytes(gzip.compress(LEAK.read_bytes()))
    measured = _measure(tmp_path)
    assert [Path(error.input).name for error in measured.errors] == ["0.mmp", "2.mmp"]
    assert len(measured.measures.captures) == 40


def test_damage_that_is_survived_is_told(tmp_path: Path) -> None:
    """With --partial the whole snapshots count, and the fault is kept for whoever asks."""
    torn = tmp_path / "torn.mmp"
    torn.write_bytes(LEAK.read_bytes()[:-5000])
    measured = _measure(torn, measuring=Measuring(("captures",), partial=True))
    assert len(measured.measures.captures) in range(1, 20)
    assert [path for path, _ in measured.faults] == [str(torn)]


def test_a_snapshot_that_is_not_there_is_a_row() -> None:
    """One wrong number does not cost the answers about a thousand other files."""
    measured = _measure(f"{LEAK}#99", LEAK)
    assert [error.input for error in measured.errors] == [f"{LEAK}#99"]
    assert len(measured.measures.captures) == 20


def test_no_answer_of_a_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address, and soon."""
    pytest.importorskip("distributed", reason="the extra cluster")
    monkeypatch.setattr("mmpscope.analysis.bulk.pools._CONNECT_S", 1)
    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9: no scheduler answers"):
        list(run_files(name_files, _make_files("a"), scheduler="tcp://127.0.0.1:9"))


def test_a_name_is_relative_to_the_folder_it_was_given_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of a cluster has another current folder; what it tells goes by the name as it was given."""
    shutil.copy(LEAK, tmp_path / "run.mmp")
    monkeypatch.chdir(tmp_path)
    [file] = list_inputs(["run.mmp"])
    sent = [file._replace(folder=str(tmp_path)), file._replace(path="gone.mmp", folder=str(tmp_path))]
    monkeypatch.chdir(tmp_path.parent)
    measured = measure_batch(sent, Measuring(("captures",)))
    assert measured.measures.captures["input"].to_pylist() == [f"run.mmp#{n}" for n in range(len(load(LEAK)))]
    assert [error.reason for error in measured.errors] == [
        "gone.mmp cannot be read: there is no such file. Check the path."
    ]
    batch = read_batch(Reading(), sent)
    assert [(row.input, row.error is None) for row in batch.files] == [("run.mmp", True), ("gone.mmp", False)]


def test_measures_of_many_batches_keep_their_order_and_miss_none(tmp_path: Path) -> None:
    """They are joined some at a time as they come: 70 batches are two of these and a rest."""
    paths = [str(write_run(tmp_path / f"{number:02}.mmp", pid=1000 + number)) for number in range(70)]
    files = [file for path in paths for file in list_inputs([path])]
    outcomes = [Outcome((file,), measure_batch([file], Measuring())) for file in files]
    joined = join_measured(outcomes).measures
    assert joined.captures["pid"].to_pylist() == [1000 + number for number in range(70)]
    one = measure_batch([files[0]], Measuring()).measures
    for name in ("summaries", "names", "cohorts", "limits"):
        assert getattr(joined, name).num_rows == 70 * getattr(one, name).num_rows
