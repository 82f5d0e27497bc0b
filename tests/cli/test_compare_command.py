"""`mmp compare`: exit codes, error rows, forms of output, and the same answer from any number of workers."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.comparisons.schema import COMPARE
from pyarrow import parquet
from support.datasets import NOVEMBER_NS, write_run
from support.mmp_builder import MmpBuilder
from support.mmp_command import Answer, run_mmp, run_program

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `good` with two series and one with a file that is none; empty.smaps has no memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").mkdir()
    for name in ("linux-leak-v1.0.mmp", "windows-reserve-commit-v1.0.mmp"):
        shutil.copy(SAMPLES / name, tmp_path / "good" / name)
    shutil.copytree(tmp_path / "good", tmp_path / "mixed")
    (tmp_path / "mixed" / "a note.txt").write_text("Dear reader")
    (tmp_path / "bad").mkdir()
    shutil.copy(tmp_path / "mixed" / "a note.txt", tmp_path / "bad")
    return tmp_path


def _compare(*words: object, columns: int = 100) -> Answer:
    return run_mmp("compare", *words, columns=columns)


def _read_json(*words: object) -> dict[str, Any]:
    answer = _compare(*words, "--json")
    assert answer.err == ""
    document: dict[str, Any] = json.loads(answer.out)
    return document


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("good", 0),
        ("mixed", 0),
        ("good/*.mmp --by host --where name=leak", 0),
        ("good --where name=nobody", 0),
        ("good --outliers", 0),
        ("good none.mmp", 0),
        ("bad", 3),
        ("none.mmp", 3),
        ("none/*.mmp", 3),
        ("good --rules none.toml", 3),
        ("good --scheduler nonsense://x", 3),
        ("good --by color", 2),
        ("good --by \udcff", 2),
        ("good --where name=\udcff", 0),
        ("good --where \udcff=1", 2),
        ("good --mads inf", 2),
        ("good --mads nan", 2),
        ("good --where external_fragmentation<nan", 2),
        ("good --metric weight", 2),
        ("good --where private", 2),
        ("good --sort weight", 2),
        ("good --workers 0", 2),
        ("good -o good/linux-leak-v1.0.mmp", 2),
        ("", 2),
    ],
)
def test_exit_codes(words: str, code: int, folder: Path) -> None:
    """0 where there is an answer, whatever could not be read; 3 where nothing could, 2 for words."""
    answer = _compare(*words.split())
    assert answer.code == code
    assert (answer.err == "") == (code == 0)


def test_a_bad_file_is_a_row_with_its_reason(folder: Path) -> None:
    """All others are answered, and the reason is one sentence."""
    document = _read_json("mixed")
    assert (document["snapshots"], document["unreadable"]) == (2, 1)
    last = document["rows"][-1]
    assert last["input"] == "mixed/a note.txt"
    assert "it starts with 'Dear reader'" in last["error"]
    assert "not read: mixed/a note.txt" in _compare("mixed").out


@pytest.mark.parametrize("words", ["good", "good/*"])
def test_a_link_to_nothing_is_a_row_with_its_reason(words: str, folder: Path) -> None:
    """It may have been a snapshot: leaving it out without a word would hide that."""
    (folder / "good" / "lost.mmp").symlink_to("nowhere.mmp")
    answer = _compare(words)
    assert answer.code == 0
    assert "1 file not read" in answer.out
    assert "good/lost.mmp cannot be read" in answer.out
    answer = run_mmp("dataset", "build", "ds", "--from", words)
    assert (answer.code, answer.err.count("left out: good/lost.mmp cannot be read")) == (0, 1)


def test_nothing_readable_tells_every_reason_first(folder: Path) -> None:
    """On standard output as always; then why there is no answer."""
    answer = _compare("bad")
    assert "not read: bad/a note.txt" in answer.out
    assert answer.err.startswith("mmp: bad/a note.txt: not a snapshot")
    missing = _compare("no-folder")
    assert missing.code == 3
    assert missing.err == "mmp: no-folder cannot be read: there is no such file. Check the path.\n"


def test_no_snapshot_at_all_cannot_tell(folder: Path) -> None:
    """A file without a snapshot is no bad file."""
    empty = folder / "empty.mmp"
    builder = MmpBuilder()
    builder.add_header()
    builder.close()
    empty.write_bytes(builder.data)
    assert _compare("empty.mmp").code == 4


def test_workers_change_nothing(folder: Path) -> None:
    """One process or two: the same bytes."""
    one = run_program("compare", "mixed", "--json", "--workers", "1", cwd=folder)
    two = run_program("compare", "mixed", "--json", "--workers", "2", cwd=folder)
    assert one.stdout == two.stdout
    assert (one.stderr, two.stderr) == (b"", b"")


def test_tables_have_every_column(folder: Path) -> None:
    """CSV, Parquet and `mmp export` alike, error rows too."""
    names = [field.name for field in COMPARE]
    exported = run_mmp("export", "mixed", "-t", "compare", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(exported.out)))
    assert list(rows[0]) == names
    assert len(rows) == 3
    assert _compare("mixed", "-o", "c.parquet").code == 0
    table = parquet.read_table("c.parquet")
    assert (table.column_names, table.num_rows) == (names, 3)
    assert table.schema.field("private").metadata[b"unit"] == b"bytes"


def test_rows_are_limited_and_sorted_as_asked(folder: Path) -> None:
    """What was left out is counted."""
    document = _read_json("good/linux-leak-v1.0.mmp#0:", "--sort", "total_ws", "-n", "3")
    sizes = [row["total_ws"] for row in document["rows"]]
    assert sizes == sorted(sizes, reverse=True)
    assert (len(sizes), document["rows_left_out"]) == (3, 17)


@pytest.mark.parametrize("words", [(), ("--sort", "pid"), ("--outliers",), ("--where", "name=nobody")])
def test_a_limit_costs_no_row_of_what_could_not_be_read(words: tuple[str, ...], folder: Path) -> None:
    """It is about snapshots; a file without a row would look as if it had been no input."""
    (folder / "mixed" / "b note.txt").write_text("Dear reader")
    shown, left_out = (0, 0) if {"--outliers", "--where"} & {*words} else (1, 1)
    document = _read_json("mixed", "-n", "1", *words)
    inputs = [row["input"] for row in document["rows"]]
    assert inputs[shown:] == ["mixed/a note.txt", "mixed/b note.txt"]
    assert (document["rows_left_out"], document["unreadable"]) == (left_out, 2)
    for name in ("c.csv", "c.parquet", "c.json"):
        assert _compare("mixed", "-n", "1", *words, "-o", name).code == 0
    assert [row["input"] for row in csv.DictReader(io.StringIO((folder / "c.csv").read_text()))] == inputs
    assert parquet.read_table("c.parquet")["input"].to_pylist() == inputs
    assert json.loads((folder / "c.json").read_text()) == document


@pytest.mark.parametrize("columns", [80, 160])
def test_lines_fit_the_terminal(columns: int, folder: Path) -> None:
    """Groups, reasons and errors as well as rows."""
    text = _compare("mixed", columns=columns).out
    assert max(map(len, text.splitlines())) <= columns


def test_rows_of_one_folder_can_be_told_apart(folder: Path) -> None:
    """At 80 columns each has a name of its own: the folder that all are in is told once, below."""
    (folder / "a long" / "way").mkdir(parents=True)
    for name in ("arenas", "fragmented", "java", "leak", "workers-a", "workers-b"):
        shutil.copy(SAMPLES / f"linux-{name}-v1.0.mmp", folder / "a long" / "way")
    lines = _compare("a long/way", columns=80).out.splitlines()
    table = [line for line in lines if ".mmp#" in line and not line.startswith(("a long", " " * 4))]
    rows = [line.split()[-1] for line in table]
    assert len(rows) > 10
    assert len(set(rows)) == len(rows)
    assert "snapshots are in a long/way/" in " ".join(lines)
    assert max(map(len, lines)) <= 80


def test_a_series_stands_for_its_last_snapshot(folder: Path) -> None:
    """A process is not odd beside itself an hour ago; who wants all of it says so."""
    name = "good/linux-leak-v1.0.mmp"
    assert [row["input"] for row in _read_json(name)["rows"]] == [f"{name}#19"]
    assert len(_read_json(f"{name}#0:")["rows"]) == 20


def test_captures_of_one_process_stand_for_the_last_wherever_they_lie(tmp_path: Path) -> None:
    """In a file each, in a dataset or in one series: one row, and the count says how many there were."""
    times = [NOVEMBER_NS + number for number in range(3)]
    (tmp_path / "each").mkdir()
    for number, time_ns in enumerate(times):
        write_run(tmp_path / "each" / f"{number}.mmp", [time_ns])
    write_run(tmp_path / "series.mmp", times)
    assert run_mmp("dataset", "build", tmp_path / "ds", "--from", tmp_path / "series.mmp").code == 0
    for name in ("each", "ds", "series.mmp"):
        told = _read_json(tmp_path / name)
        assert (told["snapshots"], told["earlier"]) == (1, 2)
        assert "2 others of the same processes left out" in _compare(tmp_path / name).out
    assert _read_json(tmp_path / "ds")["rows"][0]["input"].endswith("series.mmp#2")
    assert _read_json(f"{tmp_path}/series.mmp#0:")["snapshots"] == 3


def test_a_damaged_series_gives_its_whole_snapshots(folder: Path) -> None:
    """Only with --partial, and the damage is told; without it the file is a row."""
    data = (SAMPLES / "linux-leak-v1.0.mmp").read_bytes()
    (folder / "torn.mmp").write_bytes(data[:-5000])
    assert _compare("torn.mmp").code == 3
    answer = _compare("torn.mmp", "--partial")
    assert answer.code == 0
    assert "torn.mmp" in answer.err


def test_a_file_that_a_dataset_could_not_read_is_a_row_of_it(folder: Path) -> None:
    """With the reason, as when the folder itself is compared."""
    assert run_mmp("dataset", "build", "set", "--from", "mixed").code == 0
    of_files, of_dataset = (
        [row for row in _read_json(name)["rows"] if row["error"]] for name in ("mixed", "set")
    )
    assert [row["input"] for row in of_dataset] == ["mixed/a note.txt"]
    assert of_dataset == of_files


def test_what_cannot_be_told_is_marked_and_says_why(folder: Path) -> None:
    """A row that was not judged does not look like a usual one."""
    lines = _compare("good").out.splitlines()
    assert sum(line.startswith("?") for line in lines) == 2
    assert any(line.startswith("cannot tell (2: leak, python.exe): 0 others") for line in lines)
    assert any("? cannot tell" in line for line in lines)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("host=web1", "Did you mean host_id or hostname?"),
        ("privat>1M", "Did you mean private"),
        ("name=a AND private>1M", "is more than one condition"),
        ("mappings>=3k", "'3k' is no whole number. Write it as in mappings>3000"),
        ("nonsense=1", "Columns: snapshot_id"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused(folder: Path, condition: str, said: str) -> None:
    """Nobody gets an empty answer for a condition that we read otherwise than it was meant."""
    answer = _compare("good", "--where", condition)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_a_dataset_is_an_input(folder: Path) -> None:
    """It answers as the folder does that it was built from."""
    assert run_mmp("dataset", "build", "set", "--from", "good").code == 0
    of_files, of_dataset = _read_json("good"), _read_json("set")
    assert of_dataset["groups"] == of_files["groups"]
    assert len(of_dataset["rows"]) == len(of_files["rows"])


def test_equal_rows_come_in_one_order_from_files_and_from_a_dataset(tmp_path: Path) -> None:
    """By the name of their file: a dataset has its snapshots in the order of their bytes' hashes."""
    (tmp_path / "alike").mkdir()
    for number in range(12):
        write_run(tmp_path / "alike" / f"{number:02d}.mmp", (NOVEMBER_NS,), pid=5000 - number)
    assert run_mmp("dataset", "build", tmp_path / "set", "--from", tmp_path / "alike").code == 0
    of_files, of_dataset = _read_json(tmp_path / "alike"), _read_json(tmp_path / "set")
    assert of_dataset["rows"] == of_files["rows"]
    assert [row["pid"] for row in of_files["rows"]] == [5000 - number for number in range(12)]
