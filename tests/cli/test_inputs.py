"""Folders, patterns and archives of which some files cannot be read, for every command; bounded warnings."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from mmpscope.formats import registry
from support.archives import make_zip
from support.mmp_command import run_mmp
from support.smaps_text import make_text

SMAPS = make_text(5, Rss=8, Pss=4, Anonymous=2, Swap=0)
CUT = gzip.compress(make_text(500))[:1000]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two maps, a cut one, and two files that are no maps."""
    root = tmp_path / "maps"
    root.mkdir()
    for name, data in {"a.smaps": SMAPS, "b.gz": CUT, "c.smaps": SMAPS}.items():
        (root / name).write_bytes(data)
    (root / "notes.txt").write_bytes(b"hello")
    (root / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    return root


def _labels(text: str) -> list[str]:
    return [line.split('"label": "')[1].split('"')[0] for line in text.splitlines() if '"label"' in line]


@pytest.mark.parametrize("pattern", ["", "/*"])
@pytest.mark.parametrize("command", ["summary", "regions", "info"])
def test_what_cannot_be_read_of_a_folder_is_left_out_and_told(
    command: str, pattern: str, folder: Path
) -> None:
    """One cut file among thousands must not cost the night's work; files of no known format take one line."""
    answer = run_mmp(command, f"{folder}{pattern}")
    assert answer.code == 0
    assert f"{folder}/a.smaps" in answer.out
    assert f"{folder}/c.smaps" in answer.out
    assert answer.err.splitlines() == [
        f"mmp: warning: left out: {folder}/b.gz: the gzip file ends too early. Copy it again, or use "
        "--partial.",
        f"mmp: warning: left out: 2 files of no known format: {folder}/notes.txt, {folder}/photo.jpg",
    ]
    assert run_mmp(command, f"{folder}{pattern}", "-q").err == ""


def test_a_file_that_was_named_is_an_error(folder: Path) -> None:
    """Whoever names a file wants that one; so it is with the names that a shell makes of a pattern."""
    answer = run_mmp("summary", folder / "a.smaps", folder / "b.gz")
    assert answer.code == 3
    assert answer.err == (
        f"mmp: {folder}/b.gz: the gzip file ends too early. Copy it again, or use --partial.\n"
    )


@pytest.mark.parametrize("command", ["summary", "info", "verify", "convert"])
def test_a_folder_of_nothing_readable_is_an_error(command: str, folder: Path, tmp_path: Path) -> None:
    """Exit code 3, and how to find out what can be read."""
    for name in ("a.smaps", "c.smaps", "b.gz"):
        (folder / name).unlink()
    words = ["-o", tmp_path / "out.mmp"] if command == "convert" else []
    answer = run_mmp(command, folder, *words)
    assert answer.code == 3
    assert f"{folder}: none of its 2 files can be read. `mmp formats` lists what can be.\n" in answer.err
    assert not (tmp_path / "out.mmp").exists()


def test_verify_counts_what_is_no_snapshot_as_damage(folder: Path) -> None:
    """A row for each file: nothing of a folder goes unseen."""
    answer = run_mmp("verify", folder, "--json")
    rows = json.loads(answer.out)["rows"]
    assert (answer.code, answer.err) == (1, "")
    assert [row["ok"] for row in rows] == [True, False, True, False, False]
    assert rows[1]["faults"][0]["what"] == "the gzip file ends too early"
    assert "it looks like a JPEG image" in rows[4]["faults"][0]["what"]


def test_a_folder_converts_to_one_file(folder: Path, tmp_path: Path) -> None:
    """What cannot be read is told, as with every command."""
    answer = run_mmp("convert", folder, "-o", tmp_path / "out.mmp")
    assert answer.out.startswith(f"{tmp_path / 'out.mmp'}: 2 snapshots from 2 files, ")
    assert len(answer.err.splitlines()) == 2


def test_many_files_that_cannot_be_read_take_few_lines(folder: Path) -> None:
    """All of them with -v."""
    for number in range(30):
        (folder / f"{number:02}.gz").write_bytes(CUT)
    lines = run_mmp("info", folder).err.splitlines()
    assert len(lines) == 11
    assert lines[-2] == "mmp: warning: left out: 22 more files that cannot be read (-v lists them)"
    assert len(run_mmp("info", folder, "-v").err.splitlines()) == 32


def test_the_warnings_of_one_file_are_bounded(tmp_path: Path) -> None:
    """The answer is not pushed off the screen; -v and verify tell all."""
    path = tmp_path / "x.zip"
    path.write_bytes(make_zip({"x.smaps": SMAPS} | {f"{number}.gz": CUT for number in range(30)}))
    answer = run_mmp("summary", path)
    lines = answer.err.splitlines()
    assert (answer.code, len(lines)) == (0, 10)
    assert lines[0].startswith(f"mmp: warning: {path}: 0.gz: the gzip file ends too early")
    assert lines[-1] == f"mmp: warning: {path}: and 21 more kinds: `mmp verify` lists them"
    assert len(run_mmp("summary", path, "-v").err.splitlines()) == 30
    assert len([line for line in run_mmp("info", path).out.splitlines() if "fault: " in line]) == 10
    assert len(run_mmp("verify", path).out.splitlines()) >= 30


def test_every_map_of_an_archive_is_shown(tmp_path: Path) -> None:
    """Maps that tell no pid may be of any process: none stands for the others."""
    path = tmp_path / "x.zip"
    path.write_bytes(make_zip({"web.smaps": SMAPS, "db.smaps": SMAPS}))
    assert _labels(run_mmp("summary", path, "--json").out) == [f"{path}#0", f"{path}#1"]
    assert _labels(run_mmp("summary", f"{path}#1", "--json").out) == [f"{path}#1"]


def test_archives_come_through_pipes(tmp_path: Path) -> None:
    """`ssh host tar c /some/maps | mmp info -`."""
    answer = run_mmp("info", "-", stdin=make_zip({"web.smaps": SMAPS}))
    assert (answer.code, answer.err) == (0, "")
    assert "standard input: smaps text in zip, 1 snapshot" in answer.out


def test_the_list_of_formats_is_the_registry() -> None:
    """A row for each, and with -v what each gives and lacks."""
    formats = list(registry.list_formats())
    short, long = run_mmp("formats").out, run_mmp("formats", "-v").out
    rows = json.loads(run_mmp("formats", "--json").out)["rows"]
    assert [row["name"] for row in rows] == [known.name for known in formats]
    assert [line.split()[0] for line in short.splitlines()[1:-1]] == [known.name for known in formats]
    assert all(f"{known.name}: " in long for known in formats)
    assert long.count("  gives: ") == len(formats)


@pytest.mark.skipif(sys.platform != "linux", reason="it is about /proc")
def test_a_file_of_proc_itself_is_read() -> None:
    """It has no size and no end to go to (lseek(2): EINVAL): "Check the path" was said of a right one."""
    for name in ("maps", "smaps"):
        answer = run_mmp("summary", f"/proc/self/{name}")
        assert answer.code == 0, answer.err
        assert run_mmp("verify", f"/proc/self/{name}").out == f"/proc/self/{name}: ok\n"
