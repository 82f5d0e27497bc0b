"""What a command cannot do: the exit code of docs/cli.md, and one sentence: what, where and what now."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from mmpscope.analysis.cli import COMMANDS
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capability
from support.mmp_builder import MmpBuilder
from support.mmp_command import Answer, run_mmp
from support.odd_files import UNREADABLE, write_unreadable
from support.shop import make_shop, write_shop
from support.small_file import make_small_file

READERS = ("info", "summary", "regions", "threads", "modules", "heaps", "processes", "free", "diff", "export")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


def _assert_refused(answer: Answer, code: int, words: str) -> None:
    """One line on stderr, no answer on stdout, no traceback."""
    assert answer.code == code, answer
    assert words in answer.err
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1 or "Usage: " in answer.err
    assert "Traceback" not in answer.err


def _ask(command: str, path: object) -> Answer:
    more = ("--format", "csv") if command == "export" else ()
    return run_mmp(command, path, *more)


@pytest.mark.parametrize("name", UNREADABLE)
def test_input_that_cannot_be_read_is_exit_3(name: str, tmp_path: Path) -> None:
    """Text, songs, XML (F50), newer versions, cut and damaged files: named, and never a fault of ours."""
    path = write_unreadable(tmp_path, name)
    for command in ("info", "export"):
        answer = _ask(command, path)
        _assert_refused(answer, 3, UNREADABLE[name][1])
        assert str(path) in answer.err


def test_f50_xml_that_is_not_vmmaps_is_called_by_its_name(tmp_path: Path) -> None:
    """LMMS saves XML as .mmp: that is no corrupt file of ours, not even with --partial."""
    answer = run_mmp("summary", write_unreadable(tmp_path, "lmms.mmp"), "--partial")
    _assert_refused(answer, 3, "it is XML, but has no element Snapshot or Region")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("none.mmp", 3, "there is no such file"),
        ("*.xyz", 3, "no file matches it"),
        ("empty-folder", 3, "there is no file in it"),
        ("shop.mmp/x", 3, "not a directory"),
        ("shop.mmp#7", 2, "has no snapshot #7: it has 2, from #0 on"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(
    command: str, name: str, code: int, words: str, shop: Path
) -> None:
    """Missing files are exit 3, a number beyond the last snapshot exit 2; the name is in the message."""
    (shop.parent / "empty-folder").mkdir()
    answer = _ask(command, shop.parent / name)
    _assert_refused(answer, code, words)
    assert name.split("#")[0] in answer.err


def test_an_empty_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unset variable of a shell leaves an empty word."""
    write_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    _assert_refused(run_mmp("summary", ""), 2, "the name of an input is empty")


@pytest.mark.parametrize(
    "words",
    [
        "summary",
        "summary --no-such-option X",
        "no-such-command",
        "summary X --limit",
        "regions X --limit -1",
        "regions X --limit many",
        "regions X --type music",
        "regions X --type m",
        "regions X --sort colour",
        "threads X --sort colour",
        "free X --fits much",
        "free X --fits -1",
        "free X --align 2M",
        "free X --window 4G",
        "free X --window 4G-4G",
        "export X -t colours --format csv",
        "export X --format xlsx",
        "export X -o none.xlsx",
        "export X",
        "export X --format parquet",
        "export X --format smaps",
        "info X -o none.csv",
        "export X X X -t diff -o none.csv",
        "diff X --metric colour",
        "diff X --limit -1",
        "summary X -o none.smaps",
    ],
)
def test_a_command_line_that_makes_no_sense_is_exit_2(
    words: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong is named, what would be right is hinted at, and no file appears."""
    monkeypatch.chdir(shop.parent)
    answer = run_mmp(*(str(shop) if word == "X" else word for word in words.split()))
    assert answer.code == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    assert 1 <= len(answer.err.splitlines()) <= 5
    assert list(shop.parent.iterdir()) == [shop]


def test_an_output_that_exists_stays_without_force(shop: Path) -> None:
    """Exit 2 before any work is done, even for input that is not there; with -f it is replaced."""
    output = shop.parent / "a.csv"
    output.write_text("precious")
    for words in (("summary", shop), ("export", shop), ("regions", shop.parent / "none.mmp")):
        _assert_refused(run_mmp(*words, "-o", output), 2, "a.csv exists. Use --force to replace it")
    assert output.read_text() == "precious"
    assert run_mmp("summary", shop, "-f", "-o", output) == (0, "", "")
    assert output.read_text().startswith('"')
    assert sorted(path.name for path in shop.parent.iterdir()) == ["a.csv", "shop.mmp"]


@pytest.mark.parametrize("place", ["no/such/folder/a.csv", "shop.mmp/a.csv", "."])
@pytest.mark.parametrize("command", ["summary", "export"])
def test_a_place_that_cannot_be_written_is_exit_3(command: str, place: str, shop: Path) -> None:
    """A folder that is not there, a file in place of a folder, a folder in place of a file."""
    more = ("--format", "csv") if command == "export" else ()
    answer = run_mmp(command, shop, "-o", shop.parent / place, *more)
    _assert_refused(answer, 3, str(shop.parent / place))
    assert list(shop.parent.iterdir()) == [shop]


@pytest.mark.real
def test_a_folder_without_permission_is_exit_3(shop: Path) -> None:
    """/proc takes no new file from anybody, root included."""
    for name in ("/proc/none.csv", "/proc/none.txt", "/proc/none.parquet"):
        _assert_refused(run_mmp("summary", shop, "-o", name), 3, name)


def test_verify_names_each_damage_and_ends_with_1(tmp_path: Path) -> None:
    """Each file has its line; one damaged file makes the answer no, one that is no snapshot exit 3."""
    whole = tmp_path / "whole.mmp"
    whole.write_bytes(make_small_file().data)
    cut = write_unreadable(tmp_path, "cut.mmp")
    answer = run_mmp("verify", whole, cut)
    assert (answer.code, answer.err) == (1, "")
    first, second = answer.out.splitlines()
    assert first == f"{whole}: ok"
    assert re.fullmatch(rf"{cut}: .*, at byte [\d,]+ \(lost: .*\)", second)
    answer = run_mmp("verify", whole, write_unreadable(tmp_path, "notes.txt"))
    assert (answer.code, answer.out) == (3, f"{whole}: ok\n")


def test_a_request_that_fits_or_not_or_nobody_knows(shop: Path, tmp_path: Path) -> None:
    """--fits ends with 0, 1 or 4; of several snapshots a no decides. Each says why in one sentence."""
    maps = tmp_path / "a.maps"
    maps.write_text(_MAPS)
    known = tmp_path / "known.mmp"
    [first, _] = make_shop()
    write_file(known, [replace(first, capability=[Capability("cgroup", "not applicable")])])
    assert _ask_fit(known, "1M") == (0, "1 MiB fits: at 7f0a7ff00000, the highest hole with room")
    assert _ask_fit(known, "200T") == (1, "200 TiB does not fit: the overcommit rule allows 10 GiB at most")
    assert _ask_fit(shop, "200T")[0] == 1
    cannot_tell = (4, "cannot tell if 1 MiB fits: the memory cgroup is not in the snapshot")
    assert _ask_fit(f"{shop}#0", "1M") == cannot_tell
    assert _ask_fit(maps, "1M")[0] == 4
    assert run_mmp("free", known, maps, "--fits", "1M").code == 4
    assert run_mmp("free", maps, known, "--fits", "200T").code == 1


_MAPS = """\
00400000-00401000 r-xp 00000000 08:01 7                                  /bin/x
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
"""


def _ask_fit(path: object, size: str) -> tuple[int, str]:
    """Return the exit code and the beginning of the sentence of the first answer."""
    answer = run_mmp("free", path, "--fits", size, columns=1000)
    assert answer.err == ""
    sentence = answer.out.splitlines()[0].partition(": ")[2]
    return answer.code, re.split(r" below| \(|: no|: permission|: the text", sentence)[0].rstrip(".")


def test_a_fault_of_ours_is_exit_70_and_one_line(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not look like a fault of the file; the traceback comes with -v."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr("mmpscope.analysis.summary.summarize", fail)
    _assert_refused(run_mmp("summary", shop), 70, "a fault of ours, not of your file (ZeroDivisionError: a)")
    assert "Traceback" in run_mmp("summary", shop, "-v").err


def test_too_little_memory_is_said(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that asks for more than there is ends in a sentence, and is no fault of ours."""

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("mmpscope.analysis.summary.summarize", fail)
    _assert_refused(run_mmp("summary", shop), 3, "there is not enough memory for this input")


def test_an_interruption_is_exit_130(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is no fault: nothing is said."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mmpscope.analysis.summary.summarize", interrupt)
    assert run_mmp("summary", shop) == (130, "", "")


@pytest.mark.parametrize(
    "command", [*(name for name in COMMANDS if name not in ("collect", "dataset")), "dataset build"]
)
def test_an_option_that_a_command_lacks_is_exit_2(command: str) -> None:
    """typer's own words, on stderr."""
    answer = run_mmp(*command.split(), "x.mmp", "--colour", "blue")
    assert answer.code == 2
    assert "No such option" in answer.err


@pytest.mark.parametrize("command", ["summary", "free", "threads", "export"])
def test_no_snapshot_is_no_answer(command: str, shop: Path, tmp_path: Path) -> None:
    """A file that was closed before its first snapshot, and a choice of none: exit 4, not an empty page."""
    empty = tmp_path / "none.mmp"
    builder = MmpBuilder()
    builder.add_header()
    builder.close()
    empty.write_bytes(builder.data)
    _assert_refused(_ask(command, empty), 4, "there is no snapshot in")
    _assert_refused(_ask(command, f"{shop}#5:"), 4, "there is no snapshot in")
    assert "0 snapshots" in run_mmp("info", empty).out
