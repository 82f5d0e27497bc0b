"""What a file of several snapshots stands for where nobody chose: the last of each process, which is said."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path

import pytest
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Snapshot
from support.mmp_command import run_mmp
from support.shop import PID, make_shop, write_shop

READERS = ("summary", "regions", "threads", "modules", "heaps", "processes", "free")
SAID = "the last of 2 snapshots of this process; FILE#N shows another, FILE#0: all"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


def _with_pid(snapshot: Snapshot, pid: int) -> Snapshot:
    return dataclasses.replace(snapshot, process={**snapshot.process, "pid": pid})


def _labels(path: Path, *, command: str = "threads") -> list[str]:
    out, at, labels = run_mmp(command, path, "--json").out, 0, []
    while at < len(out):
        document, end = json.JSONDecoder().raw_decode(out, at)
        labels.append(document["snapshot"]["label"].rpartition("#")[2])
        at = end + 1
    return labels


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("command", READERS)
def test_a_series_stands_for_its_last_snapshot(command: str, columns: int, shop: Path) -> None:
    """The very answer to FILE#-1, and one line more, which tells how to see the others."""
    answer = run_mmp(command, shop, columns=columns)
    chosen = run_mmp(command, f"{shop}#-1", columns=columns)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.replace(f"{SAID}\n", "", 1) == chosen.out != answer.out
    assert SAID not in chosen.out


@pytest.mark.parametrize("command", READERS)
def test_json_is_of_the_same_snapshot_as_the_text(command: str, shop: Path) -> None:
    """One document, and it names the snapshot; a program that wants all asks for all."""
    assert _labels(shop, command=command) == ["1"]
    assert _labels(Path(f"{shop}#0:"), command=command) == ["0", "1"]


def test_all_are_shown_when_asked_for(shop: Path) -> None:
    """FILE#0: is what FILE#0 FILE#1 is, and needs no hint."""
    answer = run_mmp("heaps", f"{shop}#0:")
    assert answer == run_mmp("heaps", f"{shop}#0", f"{shop}#1")
    assert SAID not in answer.out


def test_one_snapshot_needs_no_hint(tmp_path: Path) -> None:
    """There is no other one to show."""
    path = tmp_path / "one.mmp"
    write_file(path, make_shop()[:1])
    assert run_mmp("heaps", path) == run_mmp("heaps", f"{path}#0")


def test_every_process_of_a_file_is_shown(tmp_path: Path) -> None:
    """A file of two processes is no series of one: the last of each, in the order of the file."""
    first, second = make_shop()
    path = tmp_path / "two.mmp"
    others = [_with_pid(each, PID + 1) for each in (first, second)]
    write_file(path, [first, others[0], second, others[1], _with_pid(first, PID + 2)])
    assert _labels(path) == ["2", "3", "4"]
    assert run_mmp("threads", path).out.count(SAID) == 2


def test_each_file_stands_for_its_own_last(tmp_path: Path, shop: Path) -> None:
    """Two series are two answers."""
    other = tmp_path / "other.mmp"
    other.write_bytes(shop.read_bytes())
    parts = [run_mmp("heaps", path).out for path in (shop, other)]
    assert run_mmp("heaps", shop, other).out == "\n".join(parts)


def test_a_request_is_weighed_with_the_last(shop: Path) -> None:
    """`--fits` answers once, and says of which snapshot."""
    answer = run_mmp("free", shop, "--fits", "1M")
    assert answer.out.count("shop.mmp#") == 1
    assert f"{shop}#1".rpartition("/")[2] in answer.out.replace("\n", "")
    assert SAID in answer.out
    assert answer.err == ""


def test_tables_for_programs_stack_all(shop: Path) -> None:
    """`export` takes every snapshot; its column `snapshot` tells them apart."""
    text = run_mmp("export", shop, "-t", "threads", "--format", "csv").out
    assert {row["snapshot"][-2:] for row in csv.DictReader(io.StringIO(text))} == {"#0", "#1"}
