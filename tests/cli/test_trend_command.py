"""`mmp trend`: the line that answers, exit codes, JSON and tables, and input that is not as it should be."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mmpscope.analysis.trends.schema import TREND
from support.leaks import MIB, Look, make_looks, write_looks
from support.mmp_command import run_mmp, run_program

pytest.importorskip("scipy", reason="needs the extra stats")

LEAK = tuple(range(1024, 1024 + 20 * 64, 64))
FLAT = (1024, 1028) * 10


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a leak that nears its limit, a flat process, a short series, and texts without times."""
    write_looks(tmp_path / "leak.mmp", make_looks(LEAK, rlimit=8 * MIB))
    write_looks(tmp_path / "flat.mmp", make_looks(FLAT))
    write_looks(tmp_path / "short.mmp", make_looks(LEAK[:3]))
    facts = (("time_ns", None), ("mono_ns", None))
    write_looks(tmp_path / "timeless.mmp", [Look(0, kib, facts=facts) for kib in LEAK])
    (tmp_path / "torn.mmp").write_bytes((tmp_path / "leak.mmp").read_bytes()[:-200])
    (tmp_path / "exists.csv").write_text("mine")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("leak.mmp", 0),
        ("flat.mmp", 0),
        ("short.mmp", 4),
        ("timeless.mmp", 4),
        ("leak.mmp#0", 4),
        ("leak.mmp short.mmp --process 7", 0),
        ("leak.mmp --process nobody", 2),
        ("leak.mmp --metric rss", 2),
        ("leak.mmp --type Tissue", 2),
        ("leak.mmp --bound much", 2),
        ("leak.mmp -o exists.csv", 2),
        ("leak.mmp#99", 2),
        ("", 2),
        ("nowhere.mmp", 3),
        ("torn.mmp", 3),
        ("torn.mmp --partial", 0),
        ("exists.csv", 3),
    ],
)
@pytest.mark.usefixtures("folder")
def test_exit_codes(words: str, code: int) -> None:
    """0 an answer of any kind, 4 none, 2 and 3 as everywhere; where it is not 0 or 4, stdout is empty."""
    answer = run_mmp("trend", *words.split())
    assert answer.code == code
    assert (answer.out == "") == (code in (2, 3))
    assert (answer.err == "") == (code in (0, 4) and "partial" not in words)


@pytest.mark.usefixtures("folder")
def test_the_second_line_answers() -> None:
    """How fast with its interval, of what, which limit and when; the first says of which process."""
    first, second, *_ = run_mmp("trend", "leak.mmp", columns=200).out.splitlines()
    assert first.startswith("server (pid 7) on till-3, 20 snapshots over 19 min from 2025-06-15 15:06:40 UTC")
    assert second.startswith("growing: Private +3.75 MiB/h (3.75 to 3.75), mostly Heap; RLIMIT_AS limit")
    assert "reached in 1.6 h (1.6 h to 1.6 h)" in second
    assert "flat: Private: " in run_mmp("trend", "flat.mmp").out
    assert "cannot tell: Private: " in run_mmp("trend", "short.mmp").out


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.usefixtures("folder")
def test_a_page_holds_all(columns: int) -> None:
    """No line is wider than the screen, with and without every detail."""
    for words in (["leak.mmp"], ["leak.mmp", "-v"], ["leak.mmp", "timeless.mmp"]):
        lines = run_mmp("trend", *words, columns=columns).out.splitlines()
        assert max(map(len, lines)) <= columns


@pytest.mark.usefixtures("folder")
def test_words_that_need_it_are_explained() -> None:
    """What births are stands below them, and what never moved is named."""
    text = " ".join(run_mmp("trend", "leak.mmp", columns=160).out.split())
    assert "Births: ranges of addresses that came" in text
    assert " names, cohorts and kinds never moved" in text


@pytest.mark.usefixtures("folder")
def test_charts_are_ascii_where_the_stream_is() -> None:
    """A log of a machine may know no more; nothing is escaped, nothing is lost."""
    options = {"env": {**_environment(), "PYTHONIOENCODING": "ascii"}}
    shown = run_program("trend", "leak.mmp", **options).stdout
    assert shown.isascii()
    assert b"\\u" not in shown
    assert b"__..--==^" in shown.replace(b"_" * 3, b"_" * 2)


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


@pytest.mark.usefixtures("folder")
def test_json_has_the_series_and_every_row() -> None:
    """As docs/json.md has it: what each series rests on, and verdicts with numbers that are finite."""
    document = json.loads(run_mmp("trend", "leak.mmp", "flat.mmp", "--json").out, parse_constant=_refuse)
    assert document["schema"] == "mmpscope/trend/1"
    [series] = document["series"]
    assert (series["snapshots"], series["clock"], series["identity"]) == (20, "monotonic", "proven")
    assert any("given twice" in note for note in series["notes"])
    total = document["rows"][0]
    assert (total["scope"], total["verdict"], total["unit"]) == ("total", series["verdict"], "bytes")
    assert list(total) == [field.name for field in TREND]


@pytest.mark.parametrize("command", ["trend", "diff"])
def test_s8_the_clock_orders_files_and_no_name(command: str, folder: Path) -> None:
    """case S8: files called from z to g, as a pattern and in any order, answer like the file of all."""
    for number in range(20):
        name = f"one/{chr(ord('z') - number)}.mmp"
        (folder / "one").mkdir(exist_ok=True)
        write_looks(folder / name, make_looks(LEAK, rlimit=8 * MIB)[number : number + 1])
    whole = json.loads(run_mmp(command, "leak.mmp", "--json").out)
    names = sorted(str(path.relative_to(folder)) for path in (folder / "one").iterdir())
    for files in (names, names[::-1], names[7:] + names[:7], ["one/*.mmp"]):
        told = json.loads(run_mmp(command, *files, "--json").out)
        assert told["rows"] == whole["rows"]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


@pytest.mark.usefixtures("folder")
def test_types_leave_the_total_and_what_is_of_them() -> None:
    """Names have no type, and limits neither."""
    rows = json.loads(run_mmp("trend", "leak.mmp", "--json", "--type", "heap").out)["rows"]
    assert {row["type"] for row in rows[1:]} == {"Heap"}
    assert rows[0]["scope"] == "total"


@pytest.mark.usefixtures("folder")
def test_it_is_a_table_for_others() -> None:
    """By `export` and by the extension of -o: the columns of docs/metrics.md."""
    head, *rows = csv.reader(run_mmp("export", "leak.mmp", "-t", "trend", "--format", "csv").out.splitlines())
    assert head == [field.name for field in TREND]
    assert run_mmp("trend", "leak.mmp", "-o", "trend.csv").code == 0
    assert len(Path("trend.csv").read_text().splitlines()) == len(rows) + 1


@pytest.mark.usefixtures("folder")
def test_without_the_extra_it_says_how_to_have_it() -> None:
    """One sentence with the command, before any work that could be lost; other commands do without."""
    gone: dict[str, Any] = dict.fromkeys(("scipy", "scipy.stats"))
    with mock.patch.dict(sys.modules, gone):
        answer = run_mmp("trend", "leak.mmp")
    assert (answer.code, answer.out) == (2, "")
    assert "pip install 'mmpscope[stats]'" in answer.err
    assert answer.err.count("\n") == 1


def test_f49_a_hostile_name_acts_nowhere(tmp_path: Path) -> None:
    """The name of a process and its program come from a stranger: shown as escapes, exact in JSON."""
    name = "a\x1b[31m</script>\u202e"
    path = write_looks(tmp_path / "evil.mmp", make_looks(LEAK, name=name, exe=f"/srv/{name}"))
    text = run_mmp("trend", path).out
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert json.loads(run_mmp("trend", path, "--json").out)["series"][0]["process"] == name


def test_a_folder_of_files_with_a_bad_one_is_answered(tmp_path: Path) -> None:
    """What cannot be read is named on stderr, and costs no more than itself."""
    for number, look in enumerate(make_looks(LEAK)):
        write_looks(tmp_path / f"{number:02}.mmp", [look])
    (tmp_path / "99.mmp").write_bytes(b"\x00" * 64)
    answer = run_mmp("trend", tmp_path)
    assert answer.code == 0
    assert "growing: Private" in answer.out
    assert answer.err.count("\n") == 1
    assert "99.mmp" in answer.err


def test_standard_input_is_a_series_too(tmp_path: Path) -> None:
    """A pipe can be read only once, and its snapshots in any order."""
    looks = make_looks(LEAK)
    data = write_looks(tmp_path / "mixed.mmp", [*looks[::2], *looks[1::2]]).read_bytes()
    assert "growing: Private" in run_mmp("trend", "-", stdin=data).out


def test_a_dataset_answers_like_its_files(tmp_path: Path) -> None:
    """All but births and deaths, for which addresses are needed."""
    path = write_looks(tmp_path / "leak.mmp", make_looks(LEAK))
    assert run_mmp("dataset", "build", tmp_path / "kept", "--from", path).code == 0
    kept, read = (
        json.loads(run_mmp("trend", each, "--json").out)["rows"] for each in (tmp_path / "kept", path)
    )
    assert kept == [row for row in read if row["scope"] != "kind"]


def test_many_processes_are_a_few_pages(tmp_path: Path) -> None:
    """Three in full and a line for each of the others; -n says how many of these."""
    looks = [Look(at * 60.0, pid=pid, name=f"worker-{pid}") for pid in range(30) for at in range(3)]
    path = write_looks(tmp_path / "host.mmp", looks)
    text = run_mmp("trend", path, "-n", "5", columns=160).out
    assert text.count("Private by type") == 3
    assert "22 more (-n 0 shows all)" in text
    assert "Private by type" in run_mmp("trend", path, "--process", "worker-29").out
