"""`mmp check`: exit codes, one line a budget, JSON and JUnit XML, and that no input is ever written."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.checks.schema import CHECK
from mmpscope.formats.mmp.writer import write_file
from support.checks import write_heaps
from support.mmp_command import Answer, run_mmp
from support.shop import make_shop, write_shop

INPUTS = ("good/0.smaps", "good/../good/0.smaps", "good/new.txt", "grown.smaps", "budget.toml")
HOSTILE = "7f0000200000-7f0000201000 rwxp 00000000 fe:00 120  "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `good` of six runs of 1 MiB and a bit, and the files same.smaps and grown.smaps to check."""
    monkeypatch.chdir(tmp_path)
    write_heaps(tmp_path / "good", 1024, 1028, 1024, 1032, 1024, 1028)
    for name, kib in (("same", 1028), ("grown", 16 << 10)):
        write_heaps(tmp_path, kib)[0].rename(tmp_path / f"{name}.smaps")
    (tmp_path / "budget.toml").write_text("[type.Heap]\nprivate = {spread = 6}\n")
    return tmp_path


def _check(*words: object) -> Answer:
    return run_mmp("check", *words, columns=0)


def _read_all(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("same.smaps --baseline good", 0),
        ("same.smaps --baseline good/*.smaps --budget budget.toml", 0),
        ("same.smaps --baseline same.smaps", 4),
        ("grown.smaps --baseline good", 1),
        ("grown.smaps --baseline good --budget budget.toml", 1),
        ("grown.smaps --baseline good/0.smaps", 1),
        ("same.smaps --baseline good/0.smaps --budget budget.toml", 4),
        ("same.smaps --baseline good/0.smaps --baseline good/1.smaps", 4),
        ("same.smaps --budget budget.toml", 4),
        ("same.smaps", 2),
        ("same.smaps grown.smaps --baseline good", 2),
        ("good --baseline good", 2),
        ("same.smaps --baseline good --junit -", 2),
        ("same.smaps --baseline good --junit x.txt -o x.txt", 2),
        ("none.smaps --baseline good", 3),
        ("same.smaps --baseline none.smaps", 3),
        ("same.smaps --baseline good --budget none.toml", 3),
        ("same.smaps --baseline good --budget same.smaps", 3),
        ("same.smaps --baseline good --junit none/check.xml", 3),
    ],
)
def test_exit_codes(words: str, code: int, folder: Path) -> None:
    """0 all hold, 1 one is violated, 4 none is and one cannot be told; 2 and 3 as everywhere."""
    answer = _check(*words.split())
    assert answer.code == code
    assert (answer.err == "") == (code in (0, 1, 4) and "same.smaps --baseline same" not in words)
    assert (answer.out == "") == (code in (2, 3))


def test_one_line_for_each_budget_that_does_not_hold(folder: Path) -> None:
    """Lines of a log are searched: each says what, how much, and what is allowed; then how many hold."""
    answer = _check("grown.smaps", "--baseline", "good")
    *lines, last = answer.out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["violated", "violated"]
    assert lines[0].startswith(
        "violated: total private spread: 16 MiB, 14.9 MiB more than the baseline's 1 MiB"
    )
    assert last.startswith("grown.smaps#0: 4 budgets beside 6 snapshots: 2 ok, 2 violated")


def test_a_page_of_80_columns_holds_all(folder: Path) -> None:
    """-v shows each budget in a table; prose goes on after a hanging indent."""
    answer = run_mmp("check", "grown.smaps", "--baseline", "good", "-v", columns=80)
    assert max(map(len, answer.out.splitlines())) <= 80
    assert answer.out.startswith("Budget ")


def test_json_tells_every_budget(folder: Path) -> None:
    """Rows as in docs/json.md, also of those that hold; the exit code is in it."""
    answer = _check("grown.smaps", "--baseline", "good", "--budget", "budget.toml", "--json")
    document: dict[str, Any] = json.loads(answer.out)
    assert document["schema"] == "mmpscope/check/1"
    assert (document["outcome"], document["exit_code"], answer.code) == ("violated", 1, 1)
    assert len(document["baseline"]) == 6
    [row] = document["rows"]
    assert (row["where"], row["metric"], row["verdict"]) == ("Heap", "private", "violated")
    assert (row["baseline"], row["value"], row["samples"]) == (1026 << 10, 16 << 20, 6)


@pytest.mark.parametrize(
    ("words", "counts", "element"),
    [
        ("grown.smaps --baseline good", ("4", "2", "0"), "failure"),
        ("same.smaps --baseline good/0.smaps --budget budget.toml", ("1", "0", "1"), "error"),
        ("same.smaps --baseline good", ("4", "0", "0"), None),
    ],
)
def test_junit_has_a_case_a_budget(
    words: str, counts: tuple[str, ...], element: str | None, folder: Path
) -> None:
    """A failure where it is violated, an error where it cannot be told: skipped would count as passed."""
    code = _check(*words.split(), "--junit", "check.xml").code
    [suite] = ET.parse(folder / "check.xml").getroot()
    assert tuple(suite.get(name) for name in ("tests", "failures", "errors")) == counts
    assert len(suite.findall("testcase")) == int(counts[0])
    found = {child.tag for case in suite for child in case}
    assert found == ({element} if element else set())
    assert (code == 0) == (element is None)


def test_junit_cases_have_names_of_their_own(folder: Path) -> None:
    """CI systems show one case of a name: two budgets of one figure are told apart."""
    (folder / "budget.toml").write_text('[total]\nprivate = ["1M", "10%"]\n')
    _check("same.smaps", "--baseline", "good", "--budget", "budget.toml", "--junit", "check.xml")
    names = [case.get("name") for case in ET.parse(folder / "check.xml").getroot().iter("testcase")]
    assert names == ["total private growth", "total private growth (2)"]


def test_f49_hostile_names_stay_text_everywhere(folder: Path) -> None:
    """A file may be called like markup, or move the cursor: XML stays well-formed, no escape comes out."""
    name = b'/opt/<![CDATA[]]>&"\x1b[31m\x01\xff\xef\xbf\xbe.so'
    text = (folder / "same.smaps").read_bytes() + HOSTILE.encode() + name + b"\nSize: 4 kB\nRss: 0 kB\n"
    (folder / "evil.smaps").write_bytes(text)
    (folder / "budget.toml").write_text(
        'no_new_executable_writable = true\n[module."<b>&\\u001b*"]\nsize = 1\n'
    )
    words = ("evil.smaps", "--baseline", "same.smaps", "--budget", "budget.toml", "--junit", "check.xml")
    answer = _check(*words)
    assert answer.code == 1
    assert "\x1b" not in answer.out
    cases = list(ET.parse(folder / "check.xml").getroot().iter("testcase"))
    assert len(cases) == 2
    message = cases[0][0].get("message") or ""
    assert message == '4 KiB new: <![CDATA[]]>&"\\x1b[31m\\x01\\xff\\ufffe.so'


@pytest.mark.parametrize("words", ["grown.smaps --baseline good", "same.smaps --baseline good"])
def test_s06_a_baseline_is_never_written(words: str, folder: Path) -> None:
    """Whether a run fails or passes, every input is what it was, and nothing is added to it."""
    before = _read_all(folder)
    _check(*words.split(), "--json")
    assert _read_all(folder) == before


@pytest.mark.parametrize("option", ["--junit", "-o"])
@pytest.mark.parametrize("path", INPUTS)
def test_s06_an_input_is_no_output_even_with_force(option: str, path: str, folder: Path) -> None:
    """A baseline that a failed run replaces lets the next one pass: refused, also by another name of it."""
    before = _read_all(folder)
    words = ("grown.smaps", "--baseline", "good", "--budget", "budget.toml", option, path, "-f")
    answer = _check(*words)
    assert answer.code == 2
    assert "never written to" in answer.err
    assert _read_all(folder) == before


def test_outputs_that_exist_are_kept_unless_forced(folder: Path) -> None:
    """Both files, before any work; with --force both are replaced."""
    (folder / "check.xml").write_text("mine")
    words = ("same.smaps", "--baseline", "good", "--junit", "check.xml")
    answer = _check(*words)
    assert (answer.code, answer.out) == (2, "")
    assert "Use --force" in answer.err
    assert (folder / "check.xml").read_text() == "mine"
    assert _check(*words, "-f").code == 0
    assert (folder / "check.xml").read_text().startswith("<?xml")


def test_the_table_goes_to_a_file_too(folder: Path) -> None:
    """As every answer: CSV by the extension, and the exit code is the same."""
    answer = _check("grown.smaps", "--baseline", "good", "-o", "check.csv")
    assert (answer.code, answer.out) == (1, "")
    head, *rows = csv.reader((folder / "check.csv").read_text().splitlines())
    assert head == [field.name for field in CHECK]
    assert len(rows) == 4


def test_a_series_stands_for_its_last_snapshot(tmp_path: Path) -> None:
    """On both sides; FILE#0 chooses another, and what is left out is told."""
    shop = write_shop(tmp_path)
    answer = _check(shop, "--baseline", f"{shop}#0", "--json")
    document = json.loads(answer.out)
    assert (document["snapshot"]["label"], document["baseline"]) == (f"{shop}#1", [f"{shop}#0"])
    assert "the baseline is the snapshot that is checked" in _check(shop, "--baseline", shop).err


def test_damage_in_a_folder_is_told_and_costs_one_sample(folder: Path) -> None:
    """Five whole runs are still enough, and stderr names the sixth."""
    (folder / "good" / "0.smaps").write_bytes(b"\x00" * 64)
    answer = _check("same.smaps", "--baseline", "good")
    assert answer.code == 0
    assert "0.smaps" in answer.err
    assert "beside 5 snapshots" in answer.out


def test_mistakes_of_a_budget_file_are_one_sentence(folder: Path) -> None:
    """Exit 2: file, key, and what is allowed there."""
    (folder / "budget.toml").write_text("[total]\nprivat = '1M'\n")
    answer = _check("same.smaps", "--baseline", "good", "--budget", "budget.toml")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("mmp: budget.toml: total.privat: there is no such key, only size, ")
    assert answer.err.count("\n") == 1


def test_a_map_that_moved_while_it_was_read_is_told(tmp_path: Path) -> None:
    """Sums are not of one moment then: a line says of which snapshot, and JSON lists them."""
    first, second = make_shop()
    moved = replace(second, moment={**second.moment, "map_moved": True})
    write_file(tmp_path / "old.mmp", [first])
    write_file(tmp_path / "new.mmp", [moved])
    new, old = tmp_path / "new.mmp", tmp_path / "old.mmp"
    answer = run_mmp("check", new, "--baseline", old)
    assert f"{new}#0: the map changed while it was read" in " ".join(answer.out.split())
    assert json.loads(run_mmp("check", new, "--baseline", old, "--json").out)["map_moved"] == [f"{new}#0"]
    turned = json.loads(run_mmp("check", old, "--baseline", new, "--json").out)
    assert turned["map_moved"] == [f"{new}#0"]
    assert "the map changed" not in run_mmp("check", old, "--baseline", old).out


def test_a_baseline_of_which_nothing_counts_hides_no_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of the value itself are judged, with exit code 1; the others cannot be told, nor in JUnit."""
    monkeypatch.chdir(tmp_path)
    base, _ = make_shop()
    for number, name in enumerate(("shop", "java", "cron", "shop")):
        process, moment = {**base.process, "name": name}, {**base.moment, "time_ns": number}
        write_file(f"{number}.mmp", [replace(base, process=process, moment=moment)])
    run_mmp("dataset", "build", "ds", "--from", "1.mmp")
    (tmp_path / "budget.toml").write_text('[total]\nprivate = ["1M", {at_most = 1}]\n')
    for baseline in (("1.mmp", "2.mmp"), ("ds",), ("ds", "1.mmp", "2.mmp")):
        words = [word for name in baseline for word in ("--baseline", name)]
        answer = _check("0.mmp", *words, "--budget", "budget.toml", "--junit", "check.xml", "-f")
        assert answer.code == 1
        assert "of shop" in answer.err
        assert [line.partition(":")[0] for line in answer.out.splitlines()][:2] == ["cannot tell", "violated"]
        assert "there is no baseline" in (tmp_path / "check.xml").read_text()
        assert _check("0.mmp", *words).code == 4
        words += ["--baseline", "3.mmp"]
        assert _check("0.mmp", *words).code == 0
