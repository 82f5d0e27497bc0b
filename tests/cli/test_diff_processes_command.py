"""`mmp diff` of files with several processes: the table, one process of it in detail, JSON and refusals."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
from support.archives import make_zip
from support.diff_command import ask, draw
from support.mmp_command import Answer, run_mmp
from support.process_sets import Proc, make_set, write_set

MANAGER = Proc(10, "/usr/bin/manager", ("--fleet",), pss=5000)
READER = Proc(12, "/usr/bin/reader", ("-f", "log"), pss=700)
WORKERS = [Proc(pid, "/usr/bin/worker", ("--serve",), pss=400, rss=1000) for pid in range(20, 24)]
MORE = [Proc(pid, "/usr/bin/worker", ("--serve",), pss=450, rss=1000) for pid in range(30, 36)]
BEFORE = [MANAGER, READER, *WORKERS]
AFTER = [
    Proc(10, "/usr/bin/manager", ("--fleet",), pss=9000),
    Proc(13, "/usr/bin/reader", ("-f", "log")),
    *MORE,
]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two files of one machine a minute apart: one process grew, one restarted, workers are 6 and not 4."""
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "a.mmp", make_set(BEFORE))
    write_set(tmp_path / "b.mmp", make_set(AFTER, at=60))
    return "a.mmp", "b.mmp"


def _refuse(*words: object) -> str:
    answer: Answer = run_mmp("diff", *words)
    assert (answer.code, answer.out) == (2, "")
    return " ".join(answer.err.split())


@pytest.mark.parametrize("columns", [80, 160])
def test_the_table_has_a_row_a_role_and_the_total_last(pair: tuple[str, str], columns: int) -> None:
    """Words, names, how many there were and are, the change of PSS and its total, on both widths."""
    text = draw(*pair, columns=columns)
    assert re.search(r"^grown +manager +10 +5,000 +9,000 +\+4,000", text, re.MULTILINE)
    assert re.search(r"^restarted +worker +4 -> 6 +1,600 +2,700 +\+1,100", text, re.MULTILINE)
    assert re.search(r"^restarted +reader +12 -> 13 +700 +100 +-600", text, re.MULTILINE)
    assert re.search(r"^total +3 roles +6 -> 8 +7,300 +11,800 +\+4,500", text, re.MULTILINE)


def test_json_has_the_total_and_how_roles_were_matched(pair: tuple[str, str]) -> None:
    """The document of docs/json.md: both sides, metric, matching, total and rows in bytes."""
    found = ask(*pair)
    assert (found["schema"], found["metric"]) == ("mmpscope/diff_processes/1", "pss")
    assert (found["a"]["processes"], found["b"]["processes"]) == (6, 8)
    assert found["total"]["pss_delta"] == 4500 * 1024
    assert sum(row["pss_delta"] for row in found["rows"]) == 4500 * 1024
    assert set(found["rows"][0]) == {field.name for field in DIFF_PROCESSES}


def test_a_table_file_has_every_role(pair: tuple[str, str], tmp_path: Path) -> None:
    """-o FILE.csv holds all roles, whatever is listed."""
    assert run_mmp("diff", *pair, "--top", "1", "-o", "roles.csv").code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "roles.csv").read_text())))
    assert [row["name"] for row in rows] == ["manager", "worker", "reader"]


def test_top_folds_the_rest(pair: tuple[str, str]) -> None:
    """With --top 1 the others are one row, and the total stays."""
    text = draw(*pair, "--top", "1")
    assert re.search(r"^others +\(2 more\)", text, re.MULTILINE)
    assert re.search(r"^total .* \+4,500", text, re.MULTILINE)


def test_min_folds_what_changed_less(pair: tuple[str, str]) -> None:
    """--min 1M lists what changed by a mebibyte or more."""
    found = ask(*pair, "--min", "1M")
    assert [row["word"] for row in found["rows"]] == ["grown", "restarted", "others"]


def test_each_reason_is_told_once(tmp_path: Path) -> None:
    """What a user without rights collects is unknown for one reason, told on one line."""
    some = [Proc(pid, f"/usr/bin/p{pid}", pss=pid) for pid in range(40, 50)]
    unread = [replace(each, is_read=False) for each in some]
    a = write_set(tmp_path / "a.mmp", make_set([MANAGER, *some]))
    b = write_set(tmp_path / "b.mmp", make_set([MANAGER, *unread], at=60))
    text = " ".join(draw(a, b).split())
    assert text.count("there is no snapshot of it") == 1
    assert "p49, p48, p47 and 7 more: in b: it ran" in text
    assert "total without 10 of 11 roles" in text


def test_total_ws_comes_with_a_warning(pair: tuple[str, str]) -> None:
    """F29: asked for, it is added up, and the answer says what such a sum is worth."""
    text = " ".join(draw(*pair, "--metric", "total_ws").split())
    assert "Total WS counts a shared page once for each process" in text
    assert "Total WS" not in draw(*pair)


def test_resident_memory_with_page_tables_is_not_called_rss(pair: tuple[str, str]) -> None:
    """VmRSS has no page tables, the total of a summary has: it goes by the name that it has there."""
    assert re.search(r"^ +Total WS +Total WS +Total WS", draw(*pair, "--metric", "total_ws"), re.MULTILINE)


def test_the_earlier_capture_is_the_one_before(pair: tuple[str, str]) -> None:
    """Of one boot the clock decides, and the answer says so; --as-given keeps the order."""
    assert "taken before the first" in " ".join(draw(*reversed(pair)).split())
    assert ask(*reversed(pair))["total"]["pss_delta"] == 4500 * 1024
    assert ask(*reversed(pair), "--as-given")["total"]["pss_delta"] == -4500 * 1024


def test_one_file_of_two_captures_is_compared_with_itself(tmp_path: Path) -> None:
    """A file alone stands for its first and its last capture."""
    path = write_set(tmp_path / "day.mmp", make_set(BEFORE), make_set(AFTER, at=60))
    assert ask(path)["total"]["pss_delta"] == 4500 * 1024


def test_folders_are_compared_process_by_process(tmp_path: Path) -> None:
    """A folder of captures, one a process, is a set of processes as a file of several is."""
    for folder, processes, at in (("a", BEFORE, 0), ("b", AFTER, 60)):
        (tmp_path / folder).mkdir()
        for number, snapshot in enumerate(make_set(processes, at=at)):
            write_set(tmp_path / folder / f"{number}.mmp", [snapshot])
    assert ask(tmp_path / "a", tmp_path / "b")["total"]["pss_delta"] == 4500 * 1024


def test_series_of_one_process_stand_side_by_side_as_ever(tmp_path: Path) -> None:
    """Several snapshots of one process are no several processes."""
    paths = [
        write_set(tmp_path / f"{name}.mmp", make_set([MANAGER], at=at), make_set([MANAGER], at=at + 5))
        for name, at in (("a", 0), ("b", 60))
    ]
    assert ask(*paths)["schema"] == "mmpscope/diff/1"


@pytest.mark.parametrize("wanted", ["manager", "10", "/usr/bin/manager"])
def test_one_process_in_detail(pair: tuple[str, str], wanted: str) -> None:
    """--process takes a name, a pid or a path, and answers as for two files of that process."""
    found = ask(*pair, "--process", wanted)
    assert found["schema"] == "mmpscope/diff/1"
    assert [found[side]["snapshot"]["pid"] for side in "ab"] == [10, 10]


def test_a_name_goes_before_the_file_of_a_program(tmp_path: Path) -> None:
    """Children that call themselves otherwise have their parent's program: its name means the parent."""
    sets = [
        make_set([MANAGER, replace(WORKERS[0], exe=MANAGER.exe, called="child")], at=at) for at in (0, 60)
    ]
    a, b = (write_set(tmp_path / f"{n}.mmp", each) for n, each in enumerate(sets))
    for wanted, pid in (("manager", 10), ("child", 20)):
        found = ask(a, b, "--process", wanted)
        assert found["a"]["snapshot"]["pid"] == pid


def test_a_pid_of_before_finds_what_took_its_role(pair: tuple[str, str]) -> None:
    """A restarted process has another pid after: the one of before is enough."""
    found = ask(*pair, "--process", "12")
    assert [found[side]["snapshot"]["pid"] for side in "ab"] == [12, 13]


def test_snapshots_of_a_row_can_be_given_by_number(pair: tuple[str, str]) -> None:
    """JSON names file and number of both snapshots: they are inputs as they stand there."""
    [row] = [row for row in ask(*pair)["rows"] if row["name"] == "reader"]
    found = ask(row["snapshot_a"], row["snapshot_b"])
    assert [found[side]["snapshot"]["pid"] for side in "ab"] == [12, 13]


@pytest.mark.parametrize(
    ("words", "pids"), [(("a.mmp#1", "b.mmp"), (12, 13)), (("a.mmp", "b.mmp#-8"), (10, 10))]
)
def test_one_snapshot_beside_many_finds_its_partner(
    pair: tuple[str, str], words: tuple[str, str], pids: tuple[int, int]
) -> None:
    """Who chose one snapshot asks about that process, and not about all of the other file."""
    found = ask(*words)
    assert tuple(found[side]["snapshot"]["pid"] for side in "ab") == pids


def test_one_snapshot_without_a_partner_is_refused(pair: tuple[str, str]) -> None:
    """A worker has six that could be it: which one, nothing tells."""
    assert "is one of 1 in a and 6 in b, which nothing tells apart" in _refuse("a.mmp#2", "b.mmp")


def test_workers_have_no_partner_by_guess(pair: tuple[str, str]) -> None:
    """Nothing tells workers apart, so --process refuses and says how to choose two."""
    assert "is one of 4 in a and 6 in b, which nothing tells apart" in _refuse(*pair, "--process", "worker")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a.mmp", "b.mmp", "--process", "nobody"), "no process has the name or pid 'nobody'"),
        (("a.mmp",), "a.mmp has 6 processes, all of one moment. Give a second file"),
        (("a.mmp", "b.mmp", "b.mmp"), "a.mmp has 6 processes, and several are compared between two inputs"),
        (("a.mmp", "b.mmp", "--by", "module"), "Choose it with --process"),
        (("a.mmp", "b.mmp", "--type", "Heap"), "Choose it with --process"),
        (("a.mmp", "b.mmp", "--metric", "size"), "size is no figure of several processes"),
        (("a.mmp#0", "b.mmp#0", "--process", "10"), "each input has one. Leave it out"),
    ],
)
def test_what_makes_no_sense_is_refused(pair: tuple[str, str], words: tuple[str, ...], told: str) -> None:
    """One sentence says what is wrong and what now."""
    assert told in _refuse(*words)


def test_a_hostile_name_is_harmless(tmp_path: Path) -> None:
    """Names and arguments are shown, and act on no terminal."""
    bad = Proc(7, "/tmp/\x1b[31mred", ("\x1b]0;title\x07",), pss=10)
    a = write_set(tmp_path / "a.mmp", make_set([bad, MANAGER]))
    b = write_set(tmp_path / "b.mmp", make_set([MANAGER], at=60))
    for words in ((a, b), (a, b, "-v")):
        assert "\x1b" not in draw(*words, columns=160)


def test_processes_without_any_facts_go_by_their_files(tmp_path: Path) -> None:
    """Text of smaps names no process: the name of its file does, and the doubt is said."""
    line = "10000000-10100000 rw-p 00000000 00:00 0 \nRss: 8 kB\nPss: {} kB\n"
    for folder, sizes in (("a", (8, 16)), ("b", (8, 20))):
        (tmp_path / folder).mkdir()
        for name, size in zip(("job", "web"), sizes, strict=True):
            (tmp_path / folder / f"{name}.smaps").write_text(line.format(size))
    row = ask(tmp_path / "a", tmp_path / "b")["rows"][0]
    assert (row["name"], row["match"], row["confidence"]) == ("web.smaps", "name", "low")


def test_members_of_an_archive_that_have_pids_for_names_are_a_group(tmp_path: Path) -> None:
    """Nothing tells apart texts that are called by their pids: none is new or gone, and sums are right."""
    text = b"10000000-10100000 rw-p 00000000 00:00 0 \nRss: 8 kB\nPss: 8 kB\n"
    for name, pids in (("a", range(50, 53)), ("b", range(60, 64))):
        members = {f"{pid}.smaps": text for pid in pids}
        (tmp_path / f"{name}.zip").write_bytes(make_zip(members))
    [row] = ask(tmp_path / "a.zip", tmp_path / "b.zip")["rows"]
    assert (row["name"], row["instances_a"], row["instances_b"]) == ("unknown process", 3, 4)
    assert row["pss_delta"] == 8 << 10


def test_a_damaged_file_is_refused(pair: tuple[str, str], tmp_path: Path) -> None:
    """A file that is torn is exit 3, with several processes as with one."""
    (tmp_path / "torn.mmp").write_bytes((tmp_path / "a.mmp").read_bytes()[:-300])
    answer = run_mmp("diff", "torn.mmp", "b.mmp")
    assert (answer.code, answer.out) == (3, "")


def test_export_writes_every_role(pair: tuple[str, str], tmp_path: Path) -> None:
    """-t diff_processes is the table of all roles, in any format; of one process there is none."""
    answer = run_mmp("export", *pair, "-t", "diff_processes", "-o", "roles.jsonl")
    assert (answer.code, answer.err) == (0, "")
    rows = [json.loads(line) for line in (tmp_path / "roles.jsonl").read_text().splitlines()]
    assert [(row["name"], row["pss_delta"]) for row in rows] == [
        ("manager", 4000 << 10),
        ("worker", 1100 << 10),
        ("reader", -600 << 10),
    ]
    refused = run_mmp("export", "a.mmp#0", "b.mmp#0", "-t", "diff_processes", "-o", "one.csv")
    assert (refused.code, "Of one process take -t diff" in " ".join(refused.err.split())) == (2, True)
