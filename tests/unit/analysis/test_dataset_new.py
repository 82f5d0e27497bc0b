"""A new dataset: where it may be, and that nothing is left of one that nothing came to."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis.datasets import writing
from mmpscope.analysis.datasets.building import Built, Plan, build_dataset
from mmpscope.analysis.errors import UsageError
from mmpscope.formats.errors import InputError, OutputError
from support.datasets import ask_rows, build, write_run
from support.full_disk import fill_disk


def _told(built: Built) -> tuple[int, int, int, int]:
    return built.files, built.snapshots, built.known, len(built.errors)


def _count(root: Path, table: str) -> int:
    count: int = ask_rows(root, f"SELECT count(*) AS n FROM {table}")[0]["n"]
    return count


def _press_ctrl_c(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Nothing is written beside what is not ours."""
    write_run(tmp_path / "a.mmp")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("Dear")
    with pytest.raises(UsageError, match="is no dataset, and holds other files"):
        build(tmp_path / "home", tmp_path / "a.mmp")
    with pytest.raises(UsageError, match="is no folder"):
        build(tmp_path / "a.mmp", tmp_path / "a.mmp")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["letter.txt"]


def test_an_empty_folder_becomes_a_dataset(tmp_path: Path) -> None:
    """So does one in which a build was stopped before it had begun."""
    (tmp_path / "ds").mkdir()
    (tmp_path / "ds" / ".mmpscope-1234.tmp").write_bytes(b"")
    assert _told(build(tmp_path / "ds", write_run(tmp_path / "a.mmp"))) == (1, 1, 0, 0)


def test_inputs_that_are_nothing_make_no_dataset(tmp_path: Path) -> None:
    """A mistaken pattern leaves no empty folder behind."""
    with pytest.raises(InputError):
        build(tmp_path / "ds", f"{tmp_path}/*.mmp")
    with pytest.raises(UsageError, match=r"takes files whole\. Leave #0 out"):
        build(tmp_path / "ds", f"{write_run(tmp_path / 'a.mmp')}#0")
    assert not (tmp_path / "ds").exists()


@pytest.mark.parametrize("place", ["new", "new/in/new", "empty", "stopped", "locked"])
@pytest.mark.parametrize("way", ["unreadable", "no scheduler", "full disk", "left", "interrupted"])
def test_a_build_that_read_nothing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, way: str
) -> None:
    """No folder, lock or description of a new dataset stays, whatever its build ended by."""
    (tmp_path / "notes.txt").write_text("Dear reader")
    write_run(tmp_path / "a.mmp")
    (tmp_path / "empty").mkdir()
    root = tmp_path / place
    if place in ("stopped", "locked"):  # a build was killed in it
        root.mkdir()
        (root / (".mmpscope-1234.tmp" if place == "stopped" else "mmpscope-dataset.lock")).touch()
    folders = [path for path in tmp_path.rglob("*") if path.parent != root]
    if way == "unreadable":
        assert _told(build(root, tmp_path / "notes.txt")) == (0, 0, 0, 1)
    elif way == "no scheduler":
        with pytest.raises((InputError, UsageError)):  # the latter without the extra
            build(root, tmp_path / "a.mmp", scheduler="nonsense://x")
    elif way == "full disk":
        fill_disk(monkeypatch, at=7)
        with pytest.raises(OutputError, match="No space"):
            build(root, tmp_path / "a.mmp")
    elif way == "interrupted":
        monkeypatch.setattr(writing, "read_description", _press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            build(root, tmp_path / "a.mmp")
    else:
        work = build_dataset(root, Plan([str(tmp_path / "notes.txt")], workers=1))
        next(work)
        work.close()
    assert [path for path in tmp_path.rglob("*") if path != root / ".mmpscope-1234.tmp"] == folders


@pytest.mark.parametrize("fails_at", range(1, 11))
def test_a_disk_that_is_full_leaves_nothing_of_a_new_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Whichever of its files cannot be written, its description among them."""
    fill_disk(monkeypatch, at=fails_at)
    with pytest.raises(OutputError, match="No space"):
        build(tmp_path / "ds", write_run(tmp_path / "a.mmp"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.mmp"]


def test_a_dataset_with_one_file_stays_whatever_comes_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed counts, though its build was the first and did not come to an end."""
    root = tmp_path / "ds"
    for pid in range(1, 9):
        write_run(tmp_path / f"{pid}.mmp", pid=pid)
    work = build_dataset(root, Plan([str(tmp_path / "*.mmp")], workers=1))
    next(work)
    work.close()
    assert 0 < _count(root, "captures") < 8
    fill_disk(monkeypatch, at=3)
    with pytest.raises(OutputError, match="No space"):
        build(root, tmp_path / "*.mmp")
    assert 0 < _count(root, "captures") < 8
