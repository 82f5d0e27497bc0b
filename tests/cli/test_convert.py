"""`mmp convert`: any readable input becomes a file of ours that answers as the original does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file, verify
from mmpscope.formats.mmp.reader import MmpFile
from support.archives import make_zip
from support.corpus import find_corpus_file
from support.mmp_builder import MmpBuilder
from support.mmp_command import run_mmp
from support.shop import write_shop
from support.small_file import make_small_file
from support.smaps_text import make_text

SMAPS = make_text(40, Rss=8, Pss=4, Anonymous=2, Swap=0)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file of smaps text."""
    path = tmp_path / "x.smaps"
    path.write_bytes(SMAPS)
    return path


def _read(path: Path) -> MmpFile:
    return open_file(io.BytesIO(path.read_bytes()))


def test_text_becomes_a_file_that_gives_the_very_text_back(text: Path, tmp_path: Path) -> None:
    """Nothing is lost on the way, and the file says what it came from."""
    out, back = tmp_path / "x.mmp", tmp_path / "back.smaps"
    answer = run_mmp("convert", text, "-o", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{out}: 1 snapshot from smaps text, ")
    assert verify(out) == []
    assert _read(out).read(0).process["source"]["format"].startswith("smaps")
    assert run_mmp("export", out, "--format", "smaps", "-o", back).code == 0
    assert back.read_bytes() == SMAPS


@pytest.mark.parametrize(
    "name", ["smaps/linux-6.18/torture.smaps", "smaps/firefox-4.4.smaps", "smaps/arm-tabs.smaps"]
)
def test_smaps_of_the_world_come_back_by_the_byte(name: str, tmp_path: Path) -> None:
    """Vendor keys, tabs, names that are no UTF-8."""
    path, out, back = find_corpus_file(name), tmp_path / "x.mmp", tmp_path / "back.smaps"
    assert run_mmp("convert", path, "-o", out).code == 0
    assert run_mmp("export", out, "--format", "smaps", "-o", back).code == 0
    assert back.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("command", ["summary", "regions", "free"])
def test_the_converted_file_answers_as_the_original(command: str, text: Path, tmp_path: Path) -> None:
    """Every figure and every reason; only the name differs."""
    out = tmp_path / "x.mmp"
    run_mmp("convert", text, "-o", out)
    before, after = (run_mmp(command, path, "--json").out for path in (text, out))
    assert after.replace(str(out), "FILE") == before.replace(str(text), "FILE")


def test_a_diff_with_the_original_is_empty(text: Path, tmp_path: Path) -> None:
    """Nothing changed."""
    out = tmp_path / "x.mmp"
    run_mmp("convert", text, "-o", out)
    answer = json.loads(run_mmp("diff", text, out, "--mode", "same", "--json").out)
    assert answer["rows"] == []


def test_several_inputs_follow_each_other(text: Path, tmp_path: Path) -> None:
    """A chosen snapshot, a whole file, text; a row for each in JSON."""
    shop, out = write_shop(tmp_path), tmp_path / "all.mmp"
    answer = run_mmp("convert", f"{shop}#1", shop, text, "-o", out, "--json")
    told = json.loads(answer.out)
    assert (told["schema"], told["output"], told["snapshots"]) == ("mmpscope/convert/1", str(out), 4)
    assert told["bytes"] == out.stat().st_size
    assert told["rows"] == [
        {"file": str(shop), "format": "mmp 1.0", "snapshots": 1},
        {"file": str(shop), "format": "mmp 1.0", "snapshots": 2},
        {"file": str(text), "format": "smaps text", "snapshots": 1},
    ]
    original, copy = _read(shop), _read(out)
    assert [copy.read(i).process for i in range(3)] == [original.read(i).process for i in (1, 0, 1)]
    assert copy.read(1).capture == original.read(0).capture
    assert verify(out) == []


def test_what_a_newer_version_wrote_comes_along(text: Path, tmp_path: Path) -> None:
    """Unknown frames, keys and notes, and the header that governs them; what follows is of our version."""
    builder = MmpBuilder()
    builder.add_header({"version": [1, 7], "producer": "of the future", "required": [], "optional": []})
    builder.add("note", b"a note")
    builder.add("future", b"payload", key=1)
    capture = builder.add_capture({"host": {"hostname": "one"}})
    builder.add_snapshot({"process": {"pid": 5}, "future": {"x": 1}}, capture=capture, pid=5, time_ns=7)
    builder.close()
    newer, out = tmp_path / "newer.mmp", tmp_path / "out.mmp"
    newer.write_bytes(builder.data)
    assert run_mmp("convert", newer, text, "-o", out).code == 0
    copy = _read(out)
    assert copy.read_notes() == ["a note"]
    assert copy.read(0).extra == {"future": {"x": 1}}
    assert b"payload" in out.read_bytes()
    assert copy.format == "mmp 1.0"
    assert verify(out) == []


def test_a_damaged_file_needs_partial(tmp_path: Path) -> None:
    """Without it nothing is written; with it, every whole snapshot is, and the loss is told."""
    torn, out = tmp_path / "torn.mmp", tmp_path / "out.mmp"
    torn.write_bytes(make_small_file(closed=False).data[:-20])
    refused = run_mmp("convert", torn, "-o", out)
    assert (refused.code, out.exists()) == (3, False)
    answer = run_mmp("convert", torn, "-o", out, "--partial")
    assert (answer.code, len(_read(out).entries)) == (0, 4)
    assert "ends inside an unfinished snapshot frame" in answer.err


def test_an_output_is_not_replaced_unless_forced(text: Path, tmp_path: Path) -> None:
    """As with every command."""
    out = tmp_path / "out.mmp"
    out.write_bytes(b"precious")
    assert run_mmp("convert", text, "-o", out).code == 2
    assert out.read_bytes() == b"precious"
    assert run_mmp("convert", text, "-o", out, "--force").code == 0
    assert len(_read(out).entries) == 1


@pytest.mark.parametrize("words", [[], ["-o", "-"]])
def test_a_file_must_be_named(text: Path, words: list[str]) -> None:
    """What is written is a file with an index at its end."""
    answer = run_mmp("convert", text, *words)
    assert (answer.code, answer.out) == (2, "")
    assert "Name it, as in -o run.mmp" in answer.err


def test_nothing_to_write_leaves_no_file(tmp_path: Path) -> None:
    """A choice may be empty."""
    shop, out = write_shop(tmp_path), tmp_path / "out.mmp"
    answer = run_mmp("convert", f"{shop}#5:", "-o", out)
    assert (answer.code, out.exists()) == (4, False)


def test_an_archive_keeps_the_names_of_its_members(tmp_path: Path) -> None:
    """`mmp info` shows them for the archive and for what became of it."""
    archive, out = tmp_path / "x.zip", tmp_path / "out.mmp"
    archive.write_bytes(make_zip({"web.smaps": SMAPS, "db.smaps": SMAPS, "README": b"hello"}))
    answer = run_mmp("convert", archive, "-o", out)
    assert (answer.code, answer.err) == (0, f"mmp: warning: {archive}: 1 member is no snapshot: README\n")
    for path in (archive, out):
        rows = json.loads(run_mmp("info", path, "--json").out)["rows"]
        assert [(row["member"], row["from"]) for row in rows] == [
            ("web.smaps", "smaps text"),
            ("db.smaps", "smaps text"),
        ]
        shown = run_mmp("info", path, columns=100).out
        assert "web.smaps" in shown
        assert "db.smaps" in shown
