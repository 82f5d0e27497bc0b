"""What a person must be told on the screen: a map that moved, lists that are not known, rows left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file, write_file
from mmpscope.formats.model import Snapshot
from support.mmp_command import run_mmp
from support.shop import write_shop
from support.smaps_text import Block, MapLine, make_block


def _write_text(path: Path, private_dirty: int) -> Path:
    line = MapLine(0x1000_0000, 0x1010_0000, path=b"[heap]")
    counters = {"Rss": 8, "Pss": private_dirty, "Private_Dirty": 8, "Anonymous": 8}
    path.write_bytes(make_block(Block(line, counters)))
    return path


def test_a_map_that_moved_while_it_was_read_is_said_in_the_head(tmp_path: Path) -> None:
    """Sums over a moving map may count a region twice: nobody may read them without knowing."""
    source = open_file(write_shop(tmp_path))
    snapshot = source.read(0)
    source.close()
    before = run_mmp("summary", _write(snapshot, tmp_path / "still.mmp", moved=False)).out
    after = run_mmp("summary", _write(snapshot, tmp_path / "moved.mmp", moved=True)).out
    assert "changed while it was read" not in before
    assert "changed while it was read" in after


def _write(snapshot: Snapshot, path: Path, *, moved: bool) -> Path:
    """Write one snapshot whose map did or did not move."""
    snapshot.moment["map_moved"] = moved
    write_file(path, [snapshot])
    return path


@pytest.mark.parametrize("kind", ["threads", "processes", "modules"])
def test_a_list_that_the_source_cannot_give_is_not_called_empty(tmp_path: Path, kind: str) -> None:
    """Text of smaps knows no threads; that is no process without threads. Exit 4, in one sentence."""
    answer = run_mmp(kind, _write_text(tmp_path / "x.smaps", 8))
    assert (answer.code, answer.out) == (4, "")
    assert f"(smaps text) cannot tell the {kind}: " in answer.err
    assert answer.err.count("\n") == 1


def test_what_can_be_listed_is_listed_before_the_rest_is_refused(tmp_path: Path) -> None:
    """One input that tells no threads does not cost the answer of another one."""
    text, shop = _write_text(tmp_path / "x.smaps", 8), write_shop(tmp_path)
    answer, alone = run_mmp("threads", text, shop), run_mmp("threads", shop)
    assert (answer.code, alone.code) == (4, 0)
    assert answer.out == alone.out
    assert "cannot tell the threads" in answer.err


def test_a_list_that_is_known_to_be_empty_is_an_answer(tmp_path: Path) -> None:
    """The kernel names [heap]: a map without one is of a process that has none."""
    path = tmp_path / "x.smaps"
    path.write_bytes(make_block(Block(MapLine(0x1000_0000, 0x1010_0000))))
    answer = run_mmp("heaps", path)
    assert (answer.code, answer.out.endswith("\n\nno heaps\n")) == (0, True)


@pytest.mark.parametrize("written", ["10080000", "0x10080000"])
def test_an_address_is_found_as_the_tables_print_it(tmp_path: Path, written: str) -> None:
    """What is copied from a table finds the region again."""
    answer = run_mmp("regions", _write_text(tmp_path / "x.smaps", 8), "--find", written)
    assert "[heap]" in answer.out


def test_changes_of_which_nothing_would_be_seen_are_counted(tmp_path: Path) -> None:
    """A row of zeros tells nothing; -v shows what changed in it."""
    pair = [_write_text(tmp_path / "a.smaps", 8), _write_text(tmp_path / "b.smaps", 7)]
    short, long = run_mmp("diff", *pair).out, run_mmp("diff", *pair, "-v").out
    assert "1 more changed only in figures that -v shows" in short
    assert "-1" in long
    assert "more changed only" not in long


def test_an_estimate_is_called_one_beside_its_figures(tmp_path: Path) -> None:
    """Without VmFlags a shadow of terabytes counts as committed: "at least" would be wrong of it."""
    path = tmp_path / "x.maps"
    path.write_bytes(b"7f0010000000-7f0020000000 rw-p 00000000 00:00 0 \n")
    vague = run_mmp("summary", path).out
    exact = run_mmp("summary", write_shop(tmp_path)).out
    assert "not exact, but estimates: committed, private" in vague
    assert "estimates" not in exact
