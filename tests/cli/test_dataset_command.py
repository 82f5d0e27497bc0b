"""`mmp dataset` as it is typed: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from mmpscope.analysis.datasets.layout import DESCRIPTION
from support.datasets import NOVEMBER_NS, write_run
from support.mmp_command import run_mmp


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: two files, and a dataset `ds` of them."""
    monkeypatch.chdir(tmp_path)
    for pid in (1, 2):
        write_run(tmp_path / f"{pid}.mmp", [NOVEMBER_NS, NOVEMBER_NS + 1], pid=pid)
    assert run_mmp("dataset", "build", "ds", "--from", "*.mmp").code == 0
    return tmp_path


def test_a_build_tells_what_it_added(folder: Path) -> None:
    """In one sentence, with nothing on stderr."""
    answer = run_mmp("dataset", "build", "new", "--from", "*.mmp")
    assert answer == (0, "new: 2 files with 4 snapshots added, 0 known already, 0 not readable\n", "")
    answer = run_mmp("dataset", "build", "new", "--from", "1.mmp", "--from", "2.mmp")
    assert answer == (0, "new: 0 files with 0 snapshots added, 2 known already, 0 not readable\n", "")


def test_a_build_in_json(folder: Path) -> None:
    """Counts, and one row for each file that could not be read."""
    (folder / "bad.mmp").write_text("Dear reader")
    answer = run_mmp("dataset", "build", "ds", "--from", "*.mmp", "--json", "-q")
    told = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert {key: told[key] for key in ("schema", "dataset", "files", "snapshots", "known", "errors")} == {
        "schema": "mmpscope/dataset-build/1",
        "dataset": "ds",
        "files": 0,
        "snapshots": 0,
        "known": 2,
        "errors": 1,
    }
    assert [row["input"] for row in told["rows"]] == ["bad.mmp"]


def test_files_that_cannot_be_read_are_told_and_the_rest_goes_on(folder: Path) -> None:
    """Ten of them on stderr and the others by number: a folder may hold thousands."""
    for number in range(13):
        (folder / f"bad{number:02}.txt").write_text("Dear reader")
    answer = run_mmp("dataset", "build", "ds", "--from", "*.*")
    assert answer.code == 0
    lines = answer.err.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("mmp: warning: left out: bad00.txt: not a snapshot")
    assert lines[-1] == "mmp: warning: left out: 3 more files (the table errors has all of them)"
    assert run_mmp("dataset", "build", "ds", "--from", "*.*", "-q").err == ""


def test_nothing_that_can_be_read_is_exit_3(folder: Path) -> None:
    """As with every command that was given no snapshot; no dataset is made, nor its table of errors named."""
    for number in range(13):
        (folder / f"bad{number:02}.txt").write_text("Dear reader")
    lines = run_mmp("dataset", "build", "new", "--from", "bad*.txt").err.splitlines()
    assert lines[-2:] == [
        "mmp: warning: left out: 3 more files",
        "mmp: bad*.txt: no file can be read. `mmp formats` lists what can be.",
    ]
    (folder / "notes.txt").write_text("Dear reader")
    answer = run_mmp("dataset", "build", "new", "--from", "notes.txt", "-q")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == "mmp: notes.txt: no file can be read. `mmp formats` lists what can be.\n"
    assert not (folder / "new").exists()


REFUSALS = {
    "no input": (2, "dataset build new", "nothing to build from"),
    "a bucket to build in": (2, "dataset build s3://b/ds --from 1.mmp", "no folder of this machine"),
    "a pattern of nothing": (3, "dataset build new --from no/*.mmp", "no file matches it"),
    "no such file": (3, "dataset build new --from no.mmp -q", "no file can be read"),
    "a chosen snapshot": (2, "dataset build new --from 1.mmp#0", "takes files whole"),
    "a file as dataset": (2, "dataset build 1.mmp --from 2.mmp", "is no folder"),
    "a folder of other files": (2, "dataset build . --from 2.mmp", "is no dataset, and holds other files"),
    "no workers": (2, "dataset build new --from 1.mmp --workers 0", "workers"),
    "no scheduler": (3, "dataset build new --from 1.mmp --scheduler nonsense://x", "nonsense"),
    "an output of a build that is there": (2, "dataset build new --from 1.mmp -o 2.mmp", "exists"),
    "a build as a page": (2, "dataset build new --from 1.mmp -o x.html", "does not belong"),
    "rules that are not there": (3, "dataset build new --from 1.mmp --rules no.toml", "no.toml"),
    "SQL on no dataset": (2, "dataset sql 1.mmp SELECT", "is no dataset"),
    "SQL on nothing": (2, "dataset sql no SELECT", "is no dataset"),
    "wrong SQL": (2, "dataset sql ds SELECT", "DuckDB refuses the SQL: Parser Error"),
    "no SQL": (2, "dataset sql ds", "SQL"),
    "SQL that is no text": (2, "dataset sql ds SELECT\udcff1", "not UTF-8"),
    "an output that is there": (2, "dataset sql ds SELECT -o 1.mmp", "exists. Use --force"),
    "info on no dataset": (2, "dataset info .", "is no dataset"),
    "an unknown subcommand": (2, "dataset ask ds", "ask"),
    "the new folder in no folder": (3, "dataset build 1.mmp/ds --from 2.mmp", "1.mmp/ds"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_done_is_said_in_one_sentence(folder: Path, name: str) -> None:
    """What, where, what now; and no dataset is made."""
    code, words, told = REFUSALS[name]
    before = sorted(folder.rglob("*"))
    answer = run_mmp(*words.split())
    assert (answer.code, answer.out) == (code, "")
    assert told in answer.err
    assert "Traceback" not in answer.err
    assert sorted(folder.rglob("*")) == before


def test_a_newer_dataset_is_refused_by_all(folder: Path) -> None:
    """Naming both versions, with exit code 3."""
    path = folder / "ds" / DESCRIPTION
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 7}))
    for words in (["build", "ds", "--from", "1.mmp"], ["sql", "ds", "SELECT 1"], ["info", "ds"]):
        answer = run_mmp("dataset", *words)
        assert answer.code == 3
        assert "the dataset is of version 7, and this program knows 1. Use a newer mmpscope" in answer.err


def test_rows_as_text(folder: Path) -> None:
    """Numbers as they are, addresses in hex, NULL by its name."""
    joined = "captures JOIN regions USING (snapshot_id)"
    sql = f"SELECT pid, regions.size, address, NULL AS n FROM {joined} ORDER BY ALL LIMIT 2"
    answer = run_mmp("dataset", "sql", "ds", sql)
    assert answer.err == ""
    assert answer.out.splitlines() == [
        "pid  size  address  n",
        "  1  4096   400000  NULL",
        "  1  4096   400000  NULL",
    ]


def test_rows_in_every_form(folder: Path) -> None:
    """The same rows in JSON, CSV and Parquet: addresses are hex text in the first two."""
    sql = "SELECT DISTINCT max(address) AS address, count(*) AS n FROM regions"
    told = json.loads(run_mmp("dataset", "sql", "ds", sql, "--json").out)
    assert told == {
        "schema": "mmpscope/sql/1",
        "sql": sql,
        "rows": [{"address": "0xffffffffff600000", "n": told["rows"][0]["n"]}],
    }
    assert run_mmp("dataset", "sql", "ds", sql, "-o", "a.csv").code == 0
    assert (folder / "a.csv").read_text().splitlines()[1].startswith('"0xffffffffff600000",')
    assert run_mmp("dataset", "sql", "ds", sql, "-o", "a.parquet").code == 0
    assert pq.read_table(folder / "a.parquet")["address"].to_pylist() == [0xFFFF_FFFF_FF60_0000]


def test_no_rows_are_said(folder: Path) -> None:
    """Not an empty screen."""
    assert run_mmp("dataset", "sql", "ds", "SELECT pid FROM captures WHERE false").out == "pid\nno rows\n"


def test_info_lists_tables_and_their_columns(folder: Path) -> None:
    """With units, those of the source among them."""
    answer = run_mmp("dataset", "info", "ds")
    assert answer.code == 0
    assert "captures" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    told = json.loads(run_mmp("dataset", "info", "ds", "--json").out)
    sizes = {table["table"]: table["rows"] for table in told["tables"]}
    assert (sizes["captures"], sizes["files"], told["months"]) == (4, 2, ["2026-11"])
    units = {(row["table"], row["column"]): row["unit"] for row in told["rows"]}
    assert (units["regions", "address"], units["regions", "pss"]) == ("address", "bytes")
    assert ("regions", "raw_Pss") in units
    assert "raw_Pss" in run_mmp("dataset", "info", "ds", "-v").out


def test_without_duckdb_all_but_sql_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named with the command that installs it."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert run_mmp("dataset", "build", "new", "--from", "1.mmp").code == 0
    assert run_mmp("dataset", "info", "new").code == 0
    answer = run_mmp("dataset", "sql", "new", "SELECT 1")
    assert (answer.code, answer.err) == (2, "mmp: SQL needs DuckDB: pip install 'mmpscope[sql]'.\n")


def test_a_full_disk_is_one_sentence_and_loses_nothing(folder: Path, small_disk: Path) -> None:
    """What was in the dataset stays, and counts."""
    root = small_disk / "ds"
    assert run_mmp("dataset", "build", root, "--from", "1.mmp").code == 0
    with pytest.raises(OSError, match="No space"):
        (small_disk / "filler").write_bytes(bytes(1 << 20))
    answer = run_mmp("dataset", "build", root, "--from", "2.mmp")
    assert (answer.code, answer.out) == (3, "")
    assert "No space left on device" in answer.err
    assert not list(root.rglob("*.tmp"))
    told = json.loads(run_mmp("dataset", "sql", root, "SELECT count(*) AS n FROM captures", "--json").out)
    assert told["rows"] == [{"n": 2}]


def test_a_full_disk_leaves_nothing_of_a_new_dataset(folder: Path, small_disk: Path) -> None:
    """Neither a folder nor the lock, for which there is room."""
    with pytest.raises(OSError, match="No space"):
        (small_disk / "filler").write_bytes(bytes(1 << 20))
    answer = run_mmp("dataset", "build", small_disk / "new" / "ds", "--from", "2.mmp")
    assert (answer.code, "No space left on device" in answer.err) == (3, True)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_dataset_that_is_read_only_can_be_asked_and_not_added_to(folder: Path, small_disk: Path) -> None:
    """An answer needs no right to write; a build says that it does."""
    root = small_disk / "ds"
    assert run_mmp("dataset", "build", root, "--from", "1.mmp").code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert run_mmp("dataset", "sql", root, "SELECT count(*) AS n FROM captures").out == "n\n2\n"
    assert run_mmp("dataset", "info", root).code == 0
    answer = run_mmp("dataset", "build", root, "--from", "2.mmp")
    assert (answer.code, answer.out) == (3, "")
    assert "Read-only file system" in answer.err
    answer = run_mmp("dataset", "build", small_disk / "new", "--from", "2.mmp")
    assert (answer.code, "Read-only file system" in answer.err) == (3, True)


@pytest.mark.parametrize("command", ["compare ds", "trend ds", "check 1.mmp#0 --baseline ds"])
def test_rules_ask_nothing_new_of_a_dataset(folder: Path, command: str) -> None:
    """Its types are those of its build: other ones are refused, and not left out without a word."""
    (folder / "own.toml").write_text('[[rule]]\nid = "all"\ntype = "Heap"\nmin_size = 4096\n')
    answer = run_mmp(*command.split(), "--rules", "own.toml")
    assert (answer.code, answer.out) == (2, "")
    assert "Build it with `mmp dataset build --rules own.toml --rebuild`" in answer.err
    assert run_mmp("dataset", "build", "ds", "--from", "*.mmp", "--rules", "own.toml", "--rebuild").code == 0
    assert "mmp dataset build" not in run_mmp(*command.split(), "--rules", "own.toml").err


@pytest.mark.parametrize(
    "command", ["info", "summary", "regions", "free", "export -t regions -o x.csv", "report -o x.html"]
)
def test_a_dataset_holds_no_snapshots_to_be_shown(folder: Path, command: str) -> None:
    """Its files, an empty lock among them, are not taken for snapshots; the sentence says who takes it."""
    answer = run_mmp(*command.split(), "ds")
    assert (answer.code, answer.out) == (2, "")
    assert "ds is a dataset" in answer.err
    assert "`mmp compare`" in answer.err
