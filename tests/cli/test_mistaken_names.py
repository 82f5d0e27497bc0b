"""What people mistype: the name of an output that promises another format, a file for a command, no input."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.corpus import find_corpus_file
from support.mmp_command import run_mmp
from support.shop import write_shop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


@pytest.mark.parametrize("extension", [".csv", ".parquet", ".json", ".txt", ".XLSX", ".html", ".smaps"])
def test_convert_writes_no_other_format(shop: Path, tmp_path: Path, extension: str) -> None:
    """A spreadsheet that opens a .csv must not meet bytes of ours."""
    output = tmp_path / f"out{extension}"
    answer = run_mmp("convert", shop, "-o", output)
    assert answer.code == 2
    assert "Use `mmp export FILE -o FILE.csv` for a table" in answer.err
    assert not output.exists()


@pytest.mark.parametrize("extension", [".mmp", ".bin", ""])
def test_convert_takes_names_that_promise_nothing_else(shop: Path, tmp_path: Path, extension: str) -> None:
    """An extension that no format has is its user's choice."""
    assert run_mmp("convert", shop, "-o", tmp_path / f"out{extension}").code == 0


@pytest.mark.parametrize("words", [(), ("--json",)])
@pytest.mark.parametrize("extension", [".xlsx", ".mmp", ".xml"])
def test_a_text_is_no_spreadsheet(shop: Path, tmp_path: Path, extension: str, words: tuple[str, ...]) -> None:
    """What cannot be written is refused, not written as something else under that name."""
    output = tmp_path / f"out{extension}"
    answer = run_mmp("summary", shop, "-o", output, *words)
    assert answer.code == 2
    assert f"does not belong in a {extension} file" in answer.err
    assert not output.exists()


def test_json_is_no_csv(shop: Path, tmp_path: Path) -> None:
    """--json and the extension of a table contradict each other; a log or text may hold JSON."""
    assert run_mmp("summary", shop, "--json", "-o", tmp_path / "x.csv").code == 2
    assert run_mmp("summary", shop, "--json", "-o", tmp_path / "x.log").code == 0


def test_export_of_a_table_names_convert_for_mmp(shop: Path, tmp_path: Path) -> None:
    """Whoever wants an .mmp file means another command."""
    answer = run_mmp("export", shop, "-o", tmp_path / "x.mmp")
    assert (answer.code, "use `mmp convert FILE -o" in answer.err) == (2, True)


def test_a_file_is_no_command(shop: Path) -> None:
    """`mmp FILE` says what to type instead, also for a choice of snapshots and for standard input."""
    answer = run_mmp(shop)
    assert answer.code == 2
    assert f"{shop} is a file: ask something of it, as in `mmp summary {shop}`" in answer.err
    assert f"{shop}#0 is a file" in run_mmp(f"{shop}#0").err
    assert "nothing.mmp is no command, maybe a file" in run_mmp("nothing.mmp").err
    assert "- is standard input" in run_mmp("-").err
    assert "No such command 'sumary'" in run_mmp("sumary").err


def test_what_is_piped_in_has_a_name() -> None:
    """`cat x | mmp summary` lacks an input, and is told the name of the one that it has."""
    answer = run_mmp("summary", stdin=b"x")
    assert answer.code == 2
    assert "to read what is piped in, give -, as in `mmp summary -`" in answer.err
    assert "piped" not in run_mmp("summary", terminal=True).err


def test_an_empty_pipe_is_a_command_that_failed(tmp_path: Path) -> None:
    """`ssh host cat ... | mmp summary -` that printed nothing is not a process without memory."""
    for command in ("summary", "verify", "info"):
        answer = run_mmp(command, "-")
        assert (answer.code, answer.out) == (3, "")
        assert answer.err == "mmp: standard input is empty: the command before it printed nothing.\n"


def test_an_empty_file_may_be_a_failed_copy(tmp_path: Path) -> None:
    """It is what the kernel gives for a process without memory, and what a full disk leaves."""
    empty = tmp_path / "1.smaps"
    empty.touch()
    assert "failed copy" in run_mmp("verify", empty).out
    assert "failed copy" in run_mmp("info", empty, columns=1000).out
    assert run_mmp("verify", empty).code == 0


def test_a_comparison_of_one_snapshot_asks_for_a_second_file(shop: Path) -> None:
    """There is nothing to choose from."""
    answer = run_mmp("diff", f"{shop}#0")
    assert answer.code == 2
    assert "a comparison takes two snapshots, and this is one. Give a second file" in answer.err


@pytest.mark.parametrize(
    ("option", "lacking"),
    [
        ("-x", "offsets, devices, inodes, whole names"),
        ("-d", "inodes, Rss, whole names"),
        ("-X", "whole names"),
    ],
)
def test_what_the_kernel_wrote_is_not_made_up(option: str, lacking: str) -> None:
    """A listing of pmap lacks what smaps has: there is no text of the kernel to write again."""
    path = find_corpus_file(f"pmap/torture.pmap{option}")
    answer = run_mmp("export", path, "--format", "smaps")
    assert (answer.code, answer.out) == (3, "")
    assert f"{path}#0 does not tell {lacking}, which smaps has" in answer.err


def test_a_core_does_not_become_smaps() -> None:
    """It has no counters and no device."""
    answer = run_mmp("export", find_corpus_file("core/linux-x86_64.core"), "--format", "smaps")
    assert "does not tell offsets, devices, inodes, Rss, private or shared" in answer.err
