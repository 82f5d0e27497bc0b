"""Inputs: files, some of their snapshots, folders, patterns, pipes; and what a stranger may put into them."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.loading import expand_input
from mmpscope.formats.errors import CorruptError, InputError, UnknownFormatError
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capture, Column, Snapshot, Table
from mmpscope.formats.proc.reader import snapshot_from_text
from support.loaded import load_table

MAPS = b"00010000-00011000 rw-p 00000000 00:00 0 \n"


def _make_series(path: Path, count: int) -> Path:
    capture = Capture()
    snapshots = []
    for number in range(count):
        snapshot = snapshot_from_text(MAPS)
        snapshots.append(Snapshot(capture, {**snapshot.process, "pid": number}, {}, snapshot.tables))
    write_file(path, snapshots)
    return path


def _pids(snapshots: list[LoadedSnapshot]) -> list[int]:
    return [snapshot.process["pid"] for snapshot in snapshots]


def test_a_file_gives_all_its_snapshots_in_order(tmp_path: Path) -> None:
    """Labels are file and number."""
    path = _make_series(tmp_path / "run.mmp", 3)
    snapshots = load(path)
    assert _pids(snapshots) == [0, 1, 2]
    assert [snapshot.label for snapshot in snapshots] == [f"{path}#{number}" for number in range(3)]
    assert repr(snapshots[0]) == f"<LoadedSnapshot {path}#0>"


@pytest.mark.parametrize(
    ("choice", "pids"),
    [
        ("#3", [3]),
        ("#-1", [4]),
        ("#0:2", [0, 1]),
        ("#-2:", [3, 4]),
        ("#:1", [0]),
        ("#3:9", [3, 4]),
        ("#4:1", []),
    ],
)
def test_a_choice_takes_some_snapshots(tmp_path: Path, choice: str, pids: list[int]) -> None:
    """Numbers count from 0, negative ones from the end; a range leaves its last out, as in Python."""
    path = _make_series(tmp_path / "run.mmp", 5)
    assert _pids(load(f"{path}{choice}")) == pids


def test_a_snapshot_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """The message names how many there are."""
    path = _make_series(tmp_path / "run.mmp", 2)
    with pytest.raises(UsageError, match=r"run\.mmp has no snapshot #7: it has 2, from #0 on"):
        load(f"{path}#7")


def test_a_file_whose_name_has_a_number_goes_first(tmp_path: Path) -> None:
    """`run.mmp#1` may be a file."""
    _make_series(tmp_path / "run.mmp", 2)
    path = _make_series(tmp_path / "run.mmp#1", 3)
    assert _pids(load(path)) == [0, 1, 2]
    assert _pids(load(f"{path}#2")) == [2]


def test_inputs_keep_their_order(tmp_path: Path) -> None:
    """As given, and as often as given."""
    first, second = _make_series(tmp_path / "b.mmp", 2), _make_series(tmp_path / "a.mmp", 1)
    labels = [snapshot.label for snapshot in load(f"{first}#1", second, f"{first}#0", second)]
    assert labels == [f"{first}#1", f"{second}#0", f"{first}#0", f"{second}#0"]


def test_folders_and_patterns_are_sorted(tmp_path: Path) -> None:
    """A folder is all its files, hidden ones apart; a pattern is what it matches."""
    for name in ("b.mmp", "a.mmp", ".hidden"):
        _make_series(tmp_path / name, 1)
    (tmp_path / "below").mkdir()
    expected = [f"{tmp_path}/a.mmp#0", f"{tmp_path}/b.mmp#0"]
    assert [snapshot.label for snapshot in load(tmp_path)] == expected
    assert [snapshot.label for snapshot in load(f"{tmp_path}/*.mmp")] == expected
    assert [snapshot.label for snapshot in load(f"{tmp_path}/*.mmp#-1")] == expected


def test_an_empty_folder_or_pattern_is_refused(tmp_path: Path) -> None:
    """Nothing is not the same as no snapshots."""
    for text in (str(tmp_path), f"{tmp_path}/*.mmp"):
        with pytest.raises(InputError, match="no file"):
            load(text)


def test_what_cannot_be_read_of_a_folder_is_a_python_warning(tmp_path: Path) -> None:
    """A notebook over ten thousand files goes on, and says what it left out; a named file is an error."""
    _make_series(tmp_path / "a.mmp", 1)
    (tmp_path / "b.txt").write_bytes(b"hello")
    with pytest.warns(UserWarning, match=r"left out: .*b\.txt: not a snapshot that I can read"):
        assert len(load(tmp_path)) == 1
    with pytest.raises(UnknownFormatError):
        load(tmp_path / "b.txt")
    (tmp_path / "a.mmp").unlink()
    with pytest.warns(UserWarning, match="left out"), pytest.raises(InputError, match="only file cannot"):
        load(tmp_path)


def test_a_captured_proc_is_one_input(tmp_path: Path) -> None:
    """Any other folder stands for its files."""
    (tmp_path / "4711").mkdir()
    (tmp_path / "4711" / "maps").write_bytes(MAPS)
    assert expand_input(str(tmp_path)) == [str(tmp_path)]
    assert _pids(load(tmp_path)) == [4711]


def test_text_gzip_and_pipes_are_inputs_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is is told by content."""
    (tmp_path / "text").write_bytes(MAPS)
    (tmp_path / "packed").write_bytes(gzip.compress(MAPS))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MAPS)))
    for snapshot in load(tmp_path / "text", tmp_path / "packed", "-"):
        assert snapshot.regions.column("address").to_pylist() == [0x10000]


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """One sentence with its name."""
    with pytest.raises(InputError, match=r"gone\.mmp"):
        load(tmp_path / "gone.mmp")


def test_tables_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    """Loading reads no table, and each only once."""
    [snapshot] = load(_make_series(tmp_path / "run.mmp", 1))
    assert "raw" not in vars(snapshot)
    assert snapshot.raw_regions is snapshot.raw_regions
    assert "classified" not in vars(snapshot)
    assert snapshot.regions is snapshot.regions


def test_regions_are_sorted_by_address() -> None:
    """Whatever the order of the source, as in text that somebody edited."""
    rows = [
        {"start": start, "size": 4096, "perms": "rw-p", "Rss": start} for start in (0x3000, 0x1000, 0x2000)
    ]
    table = load_table(rows).regions
    assert table.column("address").to_pylist() == table.column("Rss").to_pylist() == [0x1000, 0x2000, 0x3000]


def test_raw_columns_follow_under_their_own_names() -> None:
    """Every counter is kept; one that is called like a figure of ours stands aside."""
    row = {"start": 0x1000, "size": 4096, "perms": "rw-p", "FooPages": 7, "swap": 8}
    table = load_table([row]).regions
    assert (table.column("FooPages").to_pylist(), table.column("raw.swap").to_pylist()) == ([7], [8])
    assert table.column_names[-3:] == ["perms", "FooPages", "raw.swap"]


@pytest.mark.parametrize(
    "facts",
    [
        {"status": [], "limits": 7, "range": "all", "elf": b"64", "page_size": -1},
        {"status": {"VmPTE": "many", "Threads": None}, "limits": {"Max stack size": "big"}, "page_size": 3},
        {"range": {"start": -1, "end": 1 << 70}, "elf": {"class": [64]}, "status": {"VmPTE": (1 << 64) - 1}},
        {"range": {"start": 9, "end": 5, "source": None}, "limits": {"Max stack size": []}},
    ],
)
def test_facts_of_the_wrong_kind_are_no_facts(facts: dict[str, Any]) -> None:
    """A stranger's file may hold anything under any name: figures stay sound, nothing breaks."""
    snapshot = load_table([{"start": 0x10000, "size": 4096, "perms": "rw-p"}], **facts)
    rows = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    assert rows["Private Data"]["size"] == 4096
    assert snapshot.granularity == 4096
    assert snapshot.usable_range.start <= 0x10000


@pytest.mark.parametrize(
    "change",
    [
        lambda columns: columns.pop("start"),
        lambda columns: columns.update(size=Column("text", "const", value=b"x")),
        lambda columns: columns.update(perms=Column("uint", "const", value=1)),
        lambda columns: columns.update(Rss=Column("int", "const", value=-1)),
        lambda columns: columns.update(size=Column("uint", "const", value=(1 << 64) - 1)),
    ],
)
def test_tables_of_the_wrong_form_are_refused(change: Callable[[dict[str, Column]], object]) -> None:
    """Only our own errors come out of a table that no collector writes."""
    plain = {"start": Plain("uint", [4096]), "size": Plain("uint", [4096]), "perms": Plain("text", [b"rw-p"])}
    columns = dict(encode_table(plain, 1).columns)
    change(columns)
    snapshot = Snapshot(Capture(), tables={"regions": Table(1, columns)})
    with pytest.raises(CorruptError):
        _ = LoadedSnapshot("test#0", lambda: snapshot).regions
