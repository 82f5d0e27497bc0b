"""Every command on clean input: exit code 0, an answer on stdout, nothing on stderr; and what options do."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import resource
import shutil
from pathlib import Path

import pytest
from mmpscope.analysis.export import EXTENSIONS
from support.mmp_command import run_mmp
from support.shop import write_shop
from support.small_file import make_small_file

READERS = ("info", "verify", "summary", "regions", "threads", "modules", "heaps", "processes", "free", "diff")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _addresses(text: str) -> list[str]:
    return [row["address"] for row in json.loads(text)["rows"]]


@pytest.mark.parametrize("command", READERS)
def test_clean_input_is_answered_on_stdout_alone(command: str, shop: Path) -> None:
    """Exit 0 and not a word on stderr, as text and as JSON."""
    for more in ((), ("--json",), ("-v",), ("-q", "--no-color", "--no-progress")):
        answer = run_mmp(command, shop if command in {"verify", "diff"} else f"{shop}#0", *more)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.endswith("\n")


def test_ps_lists_what_runs() -> None:
    """This very process is among them; what has no memory comes with -v alone."""
    answer = run_mmp("ps", "--json")
    assert (answer.code, answer.err) == (0, "")
    rows = {row["pid"]: row for row in json.loads(answer.out)["rows"]}
    assert rows[os.getpid()]["rss"] > rows[os.getpid()]["private"] > 0
    assert all(row["rss"] is not None for row in rows.values())
    for more in ((), ("-v",), ("-n", 1, "--sort", "rss")):
        answer = run_mmp("ps", *more, columns=160)
        assert (answer.code, answer.err) == (0, "")
        assert " PID  Parent  User" in answer.out
    assert "more)" in answer.out


@pytest.mark.parametrize("command", ["summary", "regions", "heaps", "free"])
def test_snapshots_follow_each_other_in_the_order_asked_for(command: str, shop: Path) -> None:
    """Two snapshots are two answers, the second after a blank line."""
    first, second = (run_mmp(command, f"{shop}#{number}").out for number in (0, 1))
    assert run_mmp(command, f"{shop}#0", f"{shop}#1").out == f"{first}\n{second}"


def test_the_content_decides_and_not_the_name(tmp_path: Path, shop: Path) -> None:
    """A packed file, one through a pipe and one under another name give the same rows."""
    expected = _addresses(run_mmp("heaps", f"{shop}#0", "--json").out)
    packed = tmp_path / "shop.mmp.gz"
    packed.write_bytes(gzip.compress(shop.read_bytes()))
    other = shutil.copy(shop, tmp_path / "notes.txt")
    assert _addresses(run_mmp("heaps", f"{packed}#0", "--json").out) == expected
    assert _addresses(run_mmp("heaps", f"{other}#0", "--json").out) == expected
    piped = run_mmp("info", "-", "--json", stdin=shop.read_bytes())
    assert [row["index"] for row in json.loads(piped.out)["rows"]] == [0, 1]


def test_smaps_text_is_as_good_as_a_file_of_ours(tmp_path: Path, shop: Path) -> None:
    """The text exported from a snapshot, read again, has the regions of that snapshot to the byte."""
    text = tmp_path / "shop.smaps"
    assert run_mmp("export", f"{shop}#0", "-o", text).code == 0
    again = tmp_path / "again.smaps"
    assert run_mmp("export", text, "-o", again).code == 0
    assert text.read_bytes() == again.read_bytes()
    figures = [json.loads(run_mmp("regions", name, "--json").out)["rows"] for name in (f"{shop}#0", text)]
    sizes = [[(row["address"], row["size"], row["total_ws"], row["pss"]) for row in rows] for rows in figures]
    assert sizes[0] == sizes[1]


def test_a_limit_folds_the_rest_and_zero_shows_all(shop: Path) -> None:
    """The sizes that are shown and the folded one add up to the size of all."""
    every, some = (
        run_mmp("regions", f"{shop}#0", "--flat", "-n", limit, columns=160).out for limit in (0, 3)
    )
    assert "(18 more)" in some
    assert "more)" not in every
    assert _add_sizes(every) == _add_sizes(some) > 80_000


def _add_sizes(text: str) -> int:
    """Add up what follows the address and type of each row, or the words for the folded one."""
    sizes = re.findall(r"^(?: *[0-9a-f]+  [A-Z]\w+(?: \w+)?|\(\d+ more\)) +([\d,]+)  ", text, re.MULTILINE)
    return sum(int(size.replace(",", "")) for size in sizes)


def test_sort_and_type_choose_rows_and_order(shop: Path) -> None:
    """Largest first for numbers; a beginning of a type's name is enough."""
    rows = json.loads(run_mmp("regions", f"{shop}#0", "--flat", "--sort", "total_ws", "--json").out)["rows"]
    sizes = [row["total_ws"] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    rows = json.loads(run_mmp("regions", f"{shop}#0", "--type", "heap", "--type", "sta", "--json").out)[
        "rows"
    ]
    assert {row["type"] for row in rows} == {"Heap", "Stack"}


def test_find_takes_text_and_addresses(shop: Path) -> None:
    """A text in any case, or an address within a region."""
    found = [
        _addresses(run_mmp("regions", f"{shop}#0", "--find", text, "--json").out)
        for text in ("LIBC", "0x407123")
    ]
    assert found[0][0] == "0x00007f0a70000000"
    assert "0x0000000000407000" in found[1]
    assert "no region fits" in run_mmp("regions", f"{shop}#0", "--find", "0x123").out


@pytest.mark.parametrize("extension", [*EXTENSIONS, ".json"])
def test_the_extension_of_the_output_is_its_format(extension: str, shop: Path, tmp_path: Path) -> None:
    """`mmp export` and `mmp summary -o` write it and print nothing."""
    source = f"{shop}#0"
    for number, words in enumerate((("export", source, "-t", "regions"), ("summary", source))):
        output = tmp_path / f"{number}{extension}"
        answer = run_mmp(*words, "-o", output)
        if answer.code == 2:  # what this command does not write, it says
            assert extension in ({".json"}, {".smaps"})[number]
            assert extension.lstrip(".") in answer.err
        else:
            assert answer == (0, "", "")
            assert output.stat().st_size > 0


def test_a_dash_writes_to_stdout(shop: Path) -> None:
    """`-o -` is standard output; the format then comes from --format."""
    answer = run_mmp("export", f"{shop}#0", "-t", "heaps", "--format", "csv", "-o", "-")
    assert [row["name"] for row in _rows(answer.out)] == ["main heap", "glibc arena"]
    assert run_mmp("heaps", f"{shop}#0", "-o", "-").out == run_mmp("heaps", f"{shop}#0").out


def test_export_stacks_snapshots_and_names_each(shop: Path) -> None:
    """The first column tells which snapshot a row is of."""
    rows = _rows(run_mmp("export", shop, "-t", "summary", "--format", "csv").out)
    assert [row["snapshot"] for row in rows if row["type"] == "Total"] == [f"{shop}#0", f"{shop}#1"]


def test_export_keeps_some_types(shop: Path) -> None:
    """--type is for the tables that have types; elsewhere it is refused."""
    rows = _rows(run_mmp("export", shop, "--type", "stack", "--format", "csv").out)
    assert {row["type"] for row in rows} == {"Stack"}
    assert run_mmp("export", shop, "-t", "threads", "--type", "stack", "--format", "csv").code == 2


def test_own_rules_go_first(shop: Path, tmp_path: Path) -> None:
    """A rule of the user's claims what ours called private data."""
    rules = tmp_path / "own.toml"
    rules.write_text('[[rule]]\nid = "cache"\ntype = "Heap"\nmin_size = 4194304\nmax_size = 4194304\n')
    rows = json.loads(run_mmp("regions", f"{shop}#0", "--rules", rules, "--json").out)["rows"]
    assert [row["rule"] for row in rows if row["address"] == "0x00007f0a80000000"] == ["user:cache"]


def test_damage_that_partial_survived_is_told(tmp_path: Path) -> None:
    """Every whole snapshot is on stdout, the loss on stderr unless -q; the exit code is 0."""
    path = tmp_path / "cut.mmp"
    path.write_bytes(make_small_file(closed=False).data[:-20])
    answer = run_mmp("summary", path, "--partial")
    assert answer.code == 0
    assert answer.out.count("Mapped File") == 4
    assert "unfinished snapshot frame, at byte" in answer.err
    assert run_mmp("summary", path, "--partial", "-q").err == ""
    shown = run_mmp("info", path, "--partial")
    assert (shown.code, shown.err) == (0, "")
    assert "fault: the file ends inside an unfinished snapshot frame" in shown.out


def test_an_empty_text_is_a_process_without_address_space(tmp_path: Path) -> None:
    """Zero bytes are what the kernel gives for a zombie, and it is said; not one figure is made up."""
    path = tmp_path / "smaps"
    path.write_bytes(b"")
    answer = run_mmp("summary", path)
    assert (answer.code, answer.err) == (0, "")
    assert "no address space" in answer.out


@pytest.mark.parametrize(
    "command", ["info", "summary", "verify", "verify --repair -o out.mmp", "trend --follow"]
)
def test_an_empty_mmp_file_is_no_process(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No collector writes one: a disk was full, or a copy broken off."""
    monkeypatch.chdir(tmp_path)
    Path("empty.mmp").write_bytes(b"")
    first, *more = command.split()
    answer = run_mmp(first, "empty.mmp", *more)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith("mmp: empty.mmp: ")
    assert "is empty" in answer.err
    assert not Path("out.mmp").exists()


@pytest.mark.parametrize(
    "words",
    ["summary", "free --fits 1M", "heaps --json", "summary -o out.csv", "export -t summary -o out.csv"],
)
def test_any_number_of_files_needs_few_open_ones(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand files are one folder to us, and the system opens a thousand at a time."""
    monkeypatch.chdir(tmp_path)
    content = write_shop(tmp_path).read_bytes()
    (tmp_path / "night").mkdir()
    for number in range(40):
        (tmp_path / "night" / f"{number}.mmp").write_bytes(content)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(link.name) for link in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, hard))
    try:
        command, *more = words.split()
        answer = run_mmp(command, "night", *more)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (answer.code, answer.err) == (4 if "--fits" in words else 0, "")


def test_a_roll_up_has_no_range_of_its_own(tmp_path: Path) -> None:
    """It lists no region: where its address space ends is not guessed from the address of none."""
    path = tmp_path / "1.smaps_rollup"
    path.write_text("5600-7f00 ---p 00000000 00:00 0 [rollup]\nRss: 8 kB\nPss: 4 kB\nAnonymous: 2 kB\n")
    answer = run_mmp("summary", path, "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["snapshot"]["usable_range"] is None
    assert "usable range" not in run_mmp("summary", path, "-v").out


def test_a_narrow_list_of_regions_keeps_what_grows(shop: Path) -> None:
    """At 80 columns Private and Total WS stand, before the rights; Committed follows these, then all else."""
    narrow, wide = (
        run_mmp("regions", f"{shop}#0", columns=width).out.split("400000", maxsplit=1)[0]
        for width in (80, 99)
    )
    assert "Private" in narrow
    assert re.search(r"\bWS\b", narrow)
    assert "Committed" in wide
    assert "Prot" in wide
    assert "Blocks" not in wide
