"""What a build adds, and that it adds it once, whole, and whatever happened before."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.bulk.files import open_hashed
from mmpscope.analysis.datasets import files as dataset_files
from mmpscope.analysis.datasets.building import Built, Plan, build_dataset
from mmpscope.analysis.datasets.layout import DESCRIPTION, list_parts, read_description
from mmpscope.analysis.datasets.writing import open_writer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.rules import RULES_VERSION
from mmpscope.formats.errors import FormatError, OutputError, UnsupportedVersionError
from support.datasets import NOVEMBER_NS, ask_rows, build, count_parts, list_files, write_run
from support.full_disk import fill_disk

HOUR_NS = 3_600_000_000_000
LONG_AGO_S = 1_700_000_000


def _age(path: Path) -> None:
    """Make a file old enough for its time to be relied on."""
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))


def _told(built: Built) -> tuple[int, int, int, int]:
    return built.files, built.snapshots, built.known, len(built.errors)


def _count(root: Path, table: str) -> int:
    count: int = ask_rows(root, f"SELECT count(*) AS n FROM {table}")[0]["n"]
    return count


def test_building_again_adds_nothing(tmp_path: Path) -> None:
    """Not a row, not a file, not a byte."""
    write_run(tmp_path / "a.mmp", range(NOVEMBER_NS, NOVEMBER_NS + 3))
    assert _told(build(tmp_path / "ds", tmp_path / "a.mmp")) == (1, 3, 0, 0)
    before = list_files(tmp_path / "ds")
    assert _told(build(tmp_path / "ds", tmp_path / "a.mmp")) == (0, 0, 1, 0)
    assert list_files(tmp_path / "ds") == before


def test_what_was_read_before_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that keeps name, size and time costs a build one look: ten thousand old files, a moment."""
    _age(write_run(tmp_path / "a.mmp"))
    build(tmp_path / "ds", tmp_path / "a.mmp")
    monkeypatch.setattr(dataset_files, "open_hashed", pytest.fail)
    assert _told(build(tmp_path / "ds", tmp_path / "a.mmp")) == (0, 0, 1, 0)


def test_a_change_that_keeps_size_and_time_of_a_fresh_file_is_seen(tmp_path: Path) -> None:
    """Within one tick of the clock a file may change twice: such times are not relied on."""
    path = write_run(tmp_path / "a.mmp", pid=1001)
    build(tmp_path / "ds", path)
    state = path.stat()
    write_run(path, pid=1002)
    assert path.stat().st_size == state.st_size
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert _told(build(tmp_path / "ds", path)) == (1, 1, 0, 0)


def test_only_what_is_new_is_added(tmp_path: Path) -> None:
    """Files arrive one by one; each build adds those of them that it does not have."""
    for number in range(3):
        write_run(tmp_path / f"{number}.mmp", pid=number + 1)
        assert _told(build(tmp_path / "ds", tmp_path / "*.mmp")) == (1, 1, number, 0)
    rows = ask_rows(tmp_path / "ds", "SELECT pid FROM captures ORDER BY pid")
    assert [row["pid"] for row in rows] == [1, 2, 3]


def test_a_copy_under_another_name_adds_nothing(tmp_path: Path) -> None:
    """A file is its content: copies, in one build or in two, are one file."""
    build(tmp_path / "alone", write_run(tmp_path / "a.mmp"))
    shutil.copy(tmp_path / "a.mmp", tmp_path / "b.mmp")
    assert _told(build(tmp_path / "ds", tmp_path / "*.mmp")) == (1, 1, 1, 0)
    shutil.copy(tmp_path / "a.mmp", tmp_path / "c.mmp")
    assert _told(build(tmp_path / "ds", tmp_path / "c.mmp")) == (0, 0, 1, 0)
    assert _count(tmp_path / "ds", "regions") == _count(tmp_path / "alone", "regions")


def test_a_series_that_has_grown_adds_its_new_snapshots_alone(tmp_path: Path) -> None:
    """Its bytes are new, and its first snapshots are not: one moment of one process is in it once."""
    times = range(NOVEMBER_NS, NOVEMBER_NS + 5 * HOUR_NS, HOUR_NS)
    write_run(tmp_path / "run.mmp", times[:2])
    build(tmp_path / "ds", tmp_path / "run.mmp")
    write_run(tmp_path / "run.mmp", times)
    assert _told(build(tmp_path / "ds", tmp_path / "run.mmp")) == (1, 3, 0, 0)
    for table in ("captures", "regions"):
        rows = ask_rows(tmp_path / "ds", f"SELECT DISTINCT time_ns FROM {table} ORDER BY ALL")
        assert [row["time_ns"] for row in rows] == list(times)
    assert _count(tmp_path / "ds", "captures") == 5
    rows = ask_rows(tmp_path / "ds", "SELECT snapshots FROM files ORDER BY ALL")
    assert [row["snapshots"] for row in rows] == [2, 3]


def test_two_versions_of_a_series_in_one_build_are_one_series(tmp_path: Path) -> None:
    """A backup of yesterday beside the file of today doubles no snapshot."""
    write_run(tmp_path / "old.mmp", [NOVEMBER_NS])
    write_run(tmp_path / "run.mmp", [NOVEMBER_NS, NOVEMBER_NS + HOUR_NS])
    assert _told(build(tmp_path / "ds", tmp_path / "*.mmp")) == (2, 2, 0, 0)


def test_snapshots_that_do_not_tell_when_are_all_kept(tmp_path: Path) -> None:
    """Without a clock nothing says that two are one; their month is null."""
    write_run(tmp_path / "a.mmp", [None, None])
    assert _told(build(tmp_path / "ds", tmp_path / "a.mmp")) == (1, 2, 0, 0)
    rows = ask_rows(tmp_path / "ds", "SELECT DISTINCT month, time_ns FROM regions")
    assert rows == [{"month": None, "time_ns": None}]


def test_a_bad_file_is_one_row_with_its_reason(tmp_path: Path) -> None:
    """The run goes on, the others are in, and a second build adds no second row."""
    write_run(tmp_path / "good.mmp")
    (tmp_path / "bad.mmp").write_bytes((tmp_path / "good.mmp").read_bytes()[:-200])
    (tmp_path / "notes.txt").write_text("Dear reader")
    for expected in ((1, 1, 0, 2), (0, 0, 1, 2)):
        assert _told(build(tmp_path / "ds", tmp_path / "*.*")) == expected
    rows = ask_rows(tmp_path / "ds", "SELECT * FROM errors ORDER BY input")
    assert [Path(row["input"]).name for row in rows] == ["bad.mmp", "notes.txt"]
    assert "starts with 'Dear" in rows[1]["error"]
    assert _count(tmp_path / "ds", "captures") == 1


def test_a_damaged_file_is_known_by_its_content(tmp_path: Path) -> None:
    """Under another name it is no second error; each build counts it as not readable, also unopened."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    write_run(old / "torn.mmp").write_bytes((old / "torn.mmp").read_bytes()[:-200])
    data = bytearray(write_run(old / "hurt.mmp").read_bytes())
    data[data.rfind(b"\xa8snapshot") + 1000] ^= 0xFF
    (old / "hurt.mmp").write_bytes(data)
    (old / "notes.txt").write_text("Dear reader")
    write_run(old / "good.mmp")
    for path in old.iterdir():
        _age(path)
    shutil.copytree(old, new)
    first, again, moved = (build(tmp_path / "ds", folder) for folder in (old, old, new))
    assert [_told(each) for each in (first, again, moved)] == [(1, 1, 0, 3), (0, 0, 1, 3), (0, 0, 1, 3)]
    assert [row.error for row in again.errors] == [row.error for row in first.errors]
    assert _count(tmp_path / "ds", "errors") == 3


def test_nothing_of_a_damaged_series_counts_unless_asked_for(tmp_path: Path) -> None:
    """Of a file whose last snapshot is damaged nothing is in; with partial, every whole one."""
    path = write_run(tmp_path / "run.mmp", range(NOVEMBER_NS, NOVEMBER_NS + 4))
    data = bytearray(path.read_bytes())
    data[data.rfind(b"\xa8snapshot") + 1000] ^= 0xFF
    path.write_bytes(data)
    build(tmp_path / "ds", write_run(tmp_path / "other.mmp", pid=1))
    before = _count(tmp_path / "ds", "regions")
    built = build(tmp_path / "ds", path)
    assert (built.files, len(built.errors)) == (0, 1)
    assert _count(tmp_path / "ds", "regions") == before
    taken = build(tmp_path / "whole", path, reading=dataset_files.Reading(partial=True))
    assert (taken.files, taken.snapshots) == (1, 3)


def test_what_was_left_out_is_taken_once_it_is_asked_for(tmp_path: Path) -> None:
    """A damaged file that has not changed is read again with partial, and is no error from then on."""
    path = write_run(tmp_path / "run.mmp", range(NOVEMBER_NS, NOVEMBER_NS + 4))
    path.write_bytes(path.read_bytes()[:-1500])
    _age(path)
    partial = dataset_files.Reading(partial=True)
    plain = dataset_files.Reading()
    ways = (plain, plain, partial, partial, plain)
    built = [build(tmp_path / "ds", path, reading=how) for how in ways]
    left_out, taken, known = (0, 0, 0, 1), (1, 3, 0, 0), (0, 0, 1, 0)
    assert [_told(each) for each in built] == [left_out, left_out, taken, known, known]
    assert _count(tmp_path / "ds", "captures") == 3


def test_an_error_is_gone_once_the_file_can_be_read(tmp_path: Path) -> None:
    """Errors lists what is still missing; files keeps what happened."""
    path = tmp_path / "a.mmp"
    path.write_text("Dear reader")
    build(tmp_path / "ds", path, write_run(tmp_path / "other.mmp", pid=1))
    assert _count(tmp_path / "ds", "errors") == 1
    write_run(path)
    assert _told(build(tmp_path / "ds", path)) == (1, 1, 0, 0)
    assert (_count(tmp_path / "ds", "errors"), _count(tmp_path / "ds", "files")) == (0, 3)


def test_a_file_that_changes_while_it_is_read_is_an_error_and_read_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows would be of neither state."""
    build(tmp_path / "ds", write_run(tmp_path / "other.mmp", pid=1))
    path = write_run(tmp_path / "a.mmp")
    states = iter([(path.stat().st_size, 1), (path.stat().st_size, 2)])
    with monkeypatch.context() as patched:
        patched.setattr(dataset_files, "find_state", lambda _: next(states))
        [row] = build(tmp_path / "ds", path).errors
    assert "changed while it was read" in (row.error or "")
    assert _count(tmp_path / "ds", "captures") == 1
    assert _told(build(tmp_path / "ds", path)) == (1, 1, 0, 0)


def test_of_a_series_that_is_being_recorded_what_is_whole_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame that is half written while it is read is no damage; the next build adds the rest."""
    path = write_run(tmp_path / "a.mmp", range(NOVEMBER_NS, NOVEMBER_NS + 9))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])

    def grow(*given: Any, **options: Any) -> Any:
        path.write_bytes(whole[: len(whole) * 3 // 4])
        return open_hashed(*given, **options)

    with monkeypatch.context() as patched:
        patched.setattr(dataset_files, "open_hashed", grow)
        built = build(tmp_path / "ds", path)
    assert (built.files, built.errors) == (1, [])
    assert 0 < built.snapshots < 9
    path.write_bytes(whole)
    assert _told(build(tmp_path / "ds", path)) == (1, 9 - built.snapshots, 0, 0)
    assert _count(tmp_path / "ds", "captures") == 9


def test_months_are_folders_and_a_batch_has_one_part_in_each(tmp_path: Path) -> None:
    """Ten million snapshots are no ten million files: parts grow with batches and months alone."""
    month_ns = 31 * 24 * HOUR_NS
    for pid in range(10):
        write_run(tmp_path / f"{pid}.mmp", [NOVEMBER_NS, NOVEMBER_NS + month_ns], pid=pid + 1)
    *_, built = build_dataset(tmp_path / "ds", Plan([str(tmp_path / "*.mmp")], workers=1))
    assert built.snapshots == 20
    root = tmp_path / "ds"
    assert sorted(path.name for path in (root / "regions").iterdir()) == ["month=2026-11", "month=2026-12"]
    assert count_parts(root, "regions") == 2 * count_parts(root, "files")


def test_the_dataset_itself_is_no_input(tmp_path: Path) -> None:
    """It may lie in the folder that is searched."""
    write_run(tmp_path / "a.mmp")
    for expected in ((1, 1, 0, 0), (0, 0, 1, 0)):
        assert _told(build(tmp_path / "ds", f"{tmp_path}/**/*")) == expected


def test_parts_of_a_batch_without_its_last_part_do_not_count(tmp_path: Path) -> None:
    """A build that was killed before the end of a batch has added nothing of it, and the next one sweeps."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", pid=1))
    whole = list_files(root)
    build(root, write_run(tmp_path / "b.mmp", pid=2))
    [last] = [name for name in list_files(root) if name.startswith("files/") and name not in whole]
    (root / last).unlink()
    assert _count(root, "captures") == 1
    (root / "regions" / "month=2026-11" / ".mmpscope-0000.tmp").write_bytes(b"torn")
    assert _told(build(root, tmp_path / "a.mmp")) == (0, 0, 1, 0)
    assert list_files(root) == whole
    assert not list(root.rglob("*.tmp"))


@pytest.mark.parametrize("fails_at", range(1, 11))
def test_a_disk_that_is_full_leaves_no_part_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Whichever of its files cannot be written, the dataset is what it was before, and can be added to."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", pid=1))
    before = list_files(root)
    write_run(tmp_path / "b.mmp", pid=2)
    with monkeypatch.context() as patched:
        fill_disk(patched, at=fails_at)
        with pytest.raises(OutputError, match="No space"):
            build(root, tmp_path / "b.mmp")
    assert list_files(root) == before
    assert _told(build(root, tmp_path / "b.mmp")) == (1, 1, 0, 0)


def test_two_builders_at_once_are_one_too_many(tmp_path: Path) -> None:
    """The second is told so, and does no harm."""
    write_run(tmp_path / "a.mmp")
    with (
        open_writer(tmp_path / "ds", RULES_VERSION, rebuild=False),
        pytest.raises(OutputError, match="another program is adding to it"),
    ):
        build(tmp_path / "ds", tmp_path / "a.mmp")
    assert _told(build(tmp_path / "ds", tmp_path / "a.mmp")) == (1, 1, 0, 0)


def test_a_rebuild_replaces_everything_at_once(tmp_path: Path) -> None:
    """Old rows count until the new ones are complete; then none of the old files is left."""
    root = tmp_path / "ds"
    for pid in (1, 2):
        write_run(tmp_path / f"{pid}.mmp", pid=pid)
        build(root, tmp_path / f"{pid}.mmp")
    old = set(list_files(root))
    work = build_dataset(root, Plan([str(tmp_path / "*.mmp")], rebuild=True, workers=1))
    next(work)
    assert _count(root, "captures") == 2
    assert old < set(list_files(root))
    list(work)
    assert not old & set(list_files(root))
    assert read_description(root).generation == 2
    assert _count(root, "captures") == 2


def test_a_rebuild_that_would_lose_files_changes_nothing(tmp_path: Path) -> None:
    """Snapshots whose files are gone are nowhere else."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", pid=1), write_run(tmp_path / "b.mmp", pid=2))
    before = list_files(root)
    with pytest.raises(UsageError, match=r"a\.mmp is in it and not among these files any more"):
        build(root, tmp_path / "b.mmp", rebuild=True)
    assert list_files(root) == before
    assert _count(root, "captures") == 2


def test_other_rules_are_told_and_add_to_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file keeps the version of the rules that it was read by; only a rebuild changes what is there."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", pid=1))
    monkeypatch.setattr(dataset_files, "RULES_VERSION", "999")
    built = build(root, write_run(tmp_path / "b.mmp", pid=2))
    assert (built.files, built.other_rules) == (1, RULES_VERSION)
    rows = ask_rows(root, "SELECT rules FROM files ORDER BY rules")
    assert [row["rules"] for row in rows] == [RULES_VERSION, "999"]
    build(root, tmp_path / "*.mmp", rebuild=True)
    assert build(root, tmp_path / "*.mmp").other_rules is None
    assert ask_rows(root, "SELECT DISTINCT rules FROM files") == [{"rules": "999"}]


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"version": 2}, UnsupportedVersionError, "version 2, and this program knows 1"),
        ({"version": 0}, FormatError, "does not describe"),
        ({"generation": True}, FormatError, "does not describe"),
        ({"rules": 2}, FormatError, "does not describe"),
        ({"more": 1}, FormatError, "does not describe"),
        ("{}", FormatError, "does not describe"),
        ("[" * 100_000, FormatError, "does not describe"),
        ("\xff", FormatError, "does not describe"),
    ],
)
def test_a_description_that_cannot_be_trusted_is_refused(
    tmp_path: Path, change: str | dict[str, object], error: type[Exception], match: str
) -> None:
    """One of a newer version names both versions; anything else is said to be damaged."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp"))
    path = root / DESCRIPTION
    text = change if isinstance(change, str) else json.dumps({**json.loads(path.read_text()), **change})
    path.write_text(text, "latin-1")
    before = list_files(root)
    with pytest.raises(error, match=match):
        build(root, tmp_path / "a.mmp")
    assert list_files(root) == before


def test_files_of_others_among_the_parts_are_left_alone(tmp_path: Path) -> None:
    """A build sweeps what has the name of a part of ours, and nothing else."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp"))
    for name in ("regions/README", "regions/month=2026-11/part-x.parquet", "notes.txt"):
        (root / name).write_text("mine")
    build(root, tmp_path / "a.mmp")
    assert (root / "regions/README").exists()
    assert (root / "regions/month=2026-11/part-x.parquet").exists()
    assert len(list_parts(root, 1, "regions")["regions"]) == 1
