"""`mmp report` and `mmp view`: one file, the same figures as every other command, nothing obeyed in names."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.pages.page_data import SHELL_BYTES
from support.mmp_command import run_mmp
from support.pages import ReadPage, list_rows, read_page
from support.shop import write_shop

SAMPLES = Path(__file__).parents[2] / "samples"
LEAK = SAMPLES / "linux-leak-v1.0.mmp"
PAIR = (SAMPLES / "linux-reserve-commit-a-v1.0.mmp", SAMPLES / "linux-reserve-commit-b-v1.0.mmp")
ONES = ("linux-java-v1.0.mmp", "linux-fragmented-v1.0.mmp", "windows-wow64-v1.0.mmp")
SAME = {
    "regions": "regions --flat",
    "free": "free",
    "threads": "threads",
    "modules": "modules",
    "heaps": "heaps",
}


@functools.cache
def _make(*words: object) -> ReadPage:
    answer = run_mmp("report", *words)
    assert (answer.code, answer.err) == (0, "")
    return read_page(answer.out)


@functools.cache
def _ask(*words: object) -> dict[str, Any]:
    answer = run_mmp(*words, "--json")
    assert answer.code in (0, 1, 4)
    return dict(json.loads(answer.out))


def _clean(rows: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """Keep some columns of JSON rows, their addresses as numbers."""
    return [
        {
            name: int(value, 16) if isinstance(value, str) and value.startswith("0x") else value
            for name, value in row.items()
            if name in names
        }
        for row in rows
    ]


def _compare(rows: list[dict[str, Any]], told: list[dict[str, Any]]) -> None:
    names = set(rows[0]) & set(told[0]) if rows and told else set()
    assert len(rows) == len(told)
    assert not rows or len(names) > 2
    assert _clean(rows, names) == _clean(told, names)


@pytest.mark.parametrize("name", ONES)
@pytest.mark.parametrize("kind", SAME)
def test_lists_are_those_of_the_commands(name: str, kind: str) -> None:
    """Every row and figure of a list on the page is that of `--json` of its command, to the byte."""
    lists: Any = _make(SAMPLES / name).lists(0)
    if lists[kind] is None:
        assert kind in lists["why"]
        return
    command, *words = SAME[kind].split()
    _compare(list_rows(lists[kind], lists["texts"]), _ask(command, SAMPLES / name, *words)["rows"])


def test_a_module_with_a_gap_ends_where_its_command_says(tmp_path: Path) -> None:
    """The size of a module is that of its parts: its end is stored where a gap makes that something else."""
    path = tmp_path / "gap.maps"
    parts = ("00400000-00401000 r-xp 00000000", "00600000-00601000 rw-p 00001000")
    path.write_text("".join(f"{part} 08:01 7 /usr/bin/gap\n" for part in parts))
    lists = _make(path).lists(0)
    [row] = list_rows(lists["modules"], lists["texts"])
    [told] = _ask("modules", path)["rows"]
    assert row["end"] == int(told["end"], 16) == 0x601000
    assert row["address"] + row["size"] < row["end"]


@pytest.mark.parametrize("name", ONES)
def test_figures_of_space_are_those_of_free(name: str) -> None:
    """Windows, requests, histogram and splitters are those of `mmp free --json`."""
    lists: Any = _make(SAMPLES / name).lists(0)
    told = _ask("free", SAMPLES / name)
    for kind in ("windows", "requests", "histogram", "splitters"):
        _compare(list_rows(lists[kind], lists["texts"]), told[kind])


@pytest.mark.parametrize("name", ONES)
@pytest.mark.parametrize("size", ["1", "20M", "20481K", "200M", "251M", "252M", "23G", "24G", "48T"])
def test_room_is_what_fits_says(name: str, size: str) -> None:
    """Whether a request fits, what decides it, and what that leaves is what `mmp free --fits` answers."""
    lists = _make(SAMPLES / name).lists(0)
    told = _ask("free", SAMPLES / name, "--fits", size)
    rows = list_rows(lists["room"], lists["texts"])
    row = next(row for row in rows if row["upto"] >= told["size"])
    binding = next(r for r in told["rows"] if r["check"] == told["binding"])
    assert (row["outcome"], row["check"]) == (told["outcome"], told["binding"])
    assert row["available"] == binding["available"]


@pytest.mark.parametrize("name", ONES)
def test_heads_are_those_of_the_commands(name: str) -> None:
    """Process, moment, usable range, mappings and what is missing are what `mmp free --json` says of them."""
    [snapshot] = _make(SAMPLES / name).page["snapshots"]
    told = _ask("free", SAMPLES / name)
    head, about = snapshot["head"], told["snapshot"]
    assert (head["process"], head["pid"], head["host"]) == (about["name"], about["pid"], about["host"])
    assert head["time_ns"] == str(about["time_ns"])
    assert snapshot["usable"] == [*about["usable_range"].values()]
    assert {name: snapshot["mappings"][name] for name in ("count", "limit")} == told["mappings"]
    missing = [row for row in told["capability"] if row["state"] != "ok"]
    assert [(row["item"], row["reason"]) for row in head["missing"]] == [
        (row["item"], row["reason"]) for row in missing
    ]


def test_every_snapshot_of_a_series_has_its_summary() -> None:
    """The summary of each snapshot of a series is that of `mmp summary --json`, and the timeline has all."""
    page = _make(LEAK).page
    assert page["timelines"][0]["snapshots"] == list(range(20))
    for number in (0, 7, 19):
        rows = list_rows(page["snapshots"][number]["summary"], page["texts"])
        _compare(rows, _ask("summary", f"{LEAK}#{number}")["rows"])
        total = page["snapshots"][number]["totals"]
        assert total == {name: rows[0][name] for name in total}


def test_the_roles_are_those_of_diff() -> None:
    """Roles and total of two captures of several processes are those of `mmp diff --json`, also in text."""
    workers = [SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab"]
    page, told = _make(*workers).page, _ask("diff", *workers)
    assert page["roles"] is not None
    _compare(list_rows(page["roles"]["rows"], page["texts"]), [*told["rows"], told["total"]])
    text = run_mmp("report", *workers, "--markdown").out
    assert "**5 processes before and 7 after" in text
    assert "| restarted | `worker` | 4 \u2192 6 |" in text


def test_the_comparison_is_that_of_diff() -> None:
    """Totals, types, movers, modules and threads of two snapshots are those of `mmp diff --json`."""
    page = _make(*PAIR).page
    told = _ask("diff", *PAIR, "-n", "200")
    [diff] = page["diffs"]
    assert (diff["mode"], diff["metric"]) == (told["mode"], told["metric"])
    for name, table in diff["tables"].items():
        rows = list_rows(table, page["texts"])
        expected = told["rows"] if name == "movers" else told[name]
        _compare(rows, [dict(row) for row in expected])


def test_regions_and_allocations_refer_to_each_other() -> None:
    """The parent of a region is its allocation, and the first region of an allocation is its own."""
    lists = _make(SAMPLES / ONES[0]).lists(0)
    regions, allocations = (list_rows(t, lists["texts"]) for t in (lists["regions"], lists["allocations"]))
    assert all(
        allocations[r["parent"]]["address"] <= r["address"] < r["end"] <= allocations[r["parent"]]["end"]
        for r in regions
    )
    assert all(regions[a["first"]]["parent"] == number for number, a in enumerate(allocations))


def test_the_page_loads_nothing_and_runs_its_own_script_only() -> None:
    """The policy forbids all but the one script and the one style by their hashes; nothing has a handler."""
    read = _make(LEAK)
    policy = read.policy
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        [text] = read.raw[tag]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"
    for tag, attributes in read.tags:
        assert not {"src", "href", "style", "srcset", "action"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag


@pytest.mark.parametrize("name", [ONES[0], "linux-warm-up-v1.0.mmp.gz"])
def test_a_page_without_data_is_small(name: str) -> None:
    """What a page is besides its packed data takes at most 400 KiB, plain tables included."""
    answer = run_mmp("report", SAMPLES / name)
    blocks = read_page(answer.out).blocks
    assert len(answer.out.encode()) - sum(map(len, blocks.values())) <= SHELL_BYTES


def test_the_same_input_makes_the_same_page() -> None:
    """A page holds no time of its own: two of the same snapshots are equal by the byte."""
    assert run_mmp("report", LEAK).out == run_mmp("report", LEAK).out


def test_main_tables_are_readable_without_scripts() -> None:
    """Head, summary, largest allocations, changes and modules stand in the page as plain tables."""
    read = _make(*PAIR)
    assert "This part needs scripts" in read.text  # definitions
    captions = [attributes for tag, attributes in read.tags if tag == "caption"]
    assert len(captions) >= 7
    for text in ("Private Data", "reserve_commit", "/srv/demo/backing.dat", "21.6 MiB", "What changed most"):
        assert text in read.text


def test_a_series_is_readable_without_scripts() -> None:
    """The first, the last and evenly chosen snapshots of a series stand as a table: when, and the totals."""
    read = _make(LEAK)
    assert all(f"linux-leak-v1.0.mmp#{number} " in read.text for number in range(20))
    long = _make(SAMPLES / "linux-warm-up-v1.0.mmp.gz")
    assert {0, 59} <= {n for n in range(60) if f"linux-warm-up-v1.0.mmp.gz#{n} " in long.text}
    assert "Snapshots (35 more)" in long.text


def test_a_file_is_written_once(tmp_path: Path) -> None:
    """An existing report is not replaced without --force, and then as a whole."""
    path = tmp_path / "report.html"
    assert run_mmp("report", LEAK, "-o", path).code == 0
    before = path.read_bytes()
    refused = run_mmp("report", *PAIR, "-o", path)
    assert refused.code == 2
    assert "--force" in refused.err
    assert path.read_bytes() == before
    assert run_mmp("report", *PAIR, "-o", path, "--force").code == 0
    assert path.read_bytes() != before


def test_a_full_disk_leaves_nothing_behind(small_disk: Path) -> None:
    """Where a page cannot be written whole, the answer is 3, and no half of it lies there."""
    answer = run_mmp("report", LEAK, "-o", small_disk / "report.html")
    assert answer.code == 3
    assert "report.html" in answer.err
    assert not list(small_disk.iterdir())


def test_an_interruption_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a page is made is no fault, and leaves no page."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mmpscope.analysis.pages.page_data.keep_lists", interrupt)
    assert run_mmp("report", LEAK) == (130, "", "")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("report", LEAK, "-o", "page.csv"), 2, "Name an .html file"),
        (("report", LEAK, "--markdown", "-o", "page.html"), 2, "Name an .md file"),
        (("report", "absent.mmp"), 3, "absent.mmp"),
        (("view", "absent.mmp"), 3, "absent.mmp"),
        (("report", f"{LEAK}#99"), 2, "no snapshot #99"),
        (("report", LEAK, "--keep", "20"), 2, "snapshots are 0 to 19"),
    ],
)
def test_refusals_say_what_now(
    words: tuple[object, ...], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes no sense is 2, what cannot be read is 3; one sentence, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    answer = run_mmp(*words)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert not list(tmp_path.iterdir())


def test_a_page_is_nothing_for_a_terminal() -> None:
    """On a terminal `mmp report` asks for a file, as no one reads HTML there."""
    answer = run_mmp("report", LEAK, terminal=True)
    assert (answer.code, answer.out) == (2, "")
    assert "-o report.html" in answer.err


def test_no_snapshot_is_no_answer(tmp_path: Path) -> None:
    """Where the last snapshot is chosen away, the answer is that it cannot be told."""
    answer = run_mmp("report", f"{LEAK}#0:0", "-o", tmp_path / "page.html")
    assert answer.code == 4
    assert not list(tmp_path.iterdir())


def test_damage_is_refused_or_told(tmp_path: Path) -> None:
    """A torn file is 3; with --partial its whole snapshots make a page, and the loss is told."""
    torn = tmp_path / "torn.mmp"
    torn.write_bytes(LEAK.read_bytes()[:-9000])
    assert run_mmp("report", torn).code == 3
    answer = run_mmp("report", torn, "--partial")
    assert answer.code == 0
    assert "torn.mmp" in answer.err
    assert 1 < len(read_page(answer.out).page["snapshots"]) < 20


def test_without_scipy_the_page_has_no_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra stats is not needed for a page: it says what its verdicts need, and has all else."""
    monkeypatch.setattr("mmpscope.analysis.pages.trends.find_spec", lambda name: None)
    page = read_page(run_mmp("report", LEAK).out).page
    assert page["trends"] == []
    assert "mmpscope[stats]" in page["notes"][0]
    assert len(page["timelines"][0]["snapshots"]) == 20


def test_view_makes_a_page_of_its_own_and_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mmp view` prints where the page is, which only its owner may read, and hands it to the browser."""
    opened: list[str] = []

    def open_url(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("webbrowser.open", open_url)
    answer = run_mmp("view", write_shop(tmp_path))
    assert (answer.code, answer.err) == (0, "")
    path = Path(answer.out.strip())
    assert opened == [path.as_uri()]
    assert path.parent.stat().st_mode & 0o077 == 0
    assert read_page(path.read_text()).page["snapshots"]


def test_view_without_a_browser_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no browser can be started, the page is there all the same, and a warning says what to do."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    answer = run_mmp("view", LEAK)
    assert answer.code == 0
    assert "BROWSER" in answer.err
    assert Path(answer.out.strip()).exists()
    assert run_mmp("view", LEAK, "--no-open").err == ""


def test_what_was_left_out_is_told_on_the_page(tmp_path: Path) -> None:
    """Who gets the page does not see the standard error of whoever made it."""
    write_shop(tmp_path)
    whole = next(tmp_path.glob("*.mmp")).read_bytes()
    for number in range(7):
        (tmp_path / f"{number}.mmp").write_bytes(whole[: 900 + number])
    for words in ((), ("-q",)):
        notes = read_page(run_mmp("report", tmp_path, *words).out).page["notes"]
        told = [note for note in notes if note.startswith("left out: ")]
        assert len(told) == 5
        assert "0.mmp: the file ends inside" in told[0]
        assert "2 more were told as the page was made" in notes


def test_one_capture_of_several_processes_given_twice_is_not_compared_with_itself() -> None:
    """Nothing lies between a file and itself, and each counts once."""
    workers = SAMPLES / "linux-workers-a-v1.0.mmp"
    page = _make(workers, workers).page
    assert page["roles"] is None
    assert any(note.endswith("given twice: each counts once") for note in page["notes"])


def test_markdown_tells_processes_of_one_name_apart() -> None:
    """By their pids, where a row is one process."""
    workers = [SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab"]
    block = run_mmp("report", *workers, "--markdown").out
    assert re.search(r"\| `\w+ \(pid \d+\)` \| 1 ", block)
