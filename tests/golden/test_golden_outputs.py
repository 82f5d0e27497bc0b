"""Every command's text, JSON, CSV and help, compared by the byte with what was read and found good."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.analysis.cli import COMMANDS
from mmpscope.analysis.commands import dataset
from support.fleets import write_fleet
from support.mmp_command import run_mmp
from support.shop import write_shop

Compare = Callable[[str, str], None]

_HASH = re.compile(r"\b[0-9a-f]{64}(?=:\d)")
"""The id of a snapshot begins with the hash of its file, and every file of ours has a random id in it."""

TEXTS = {
    "summary": "summary shop.mmp#0",
    "summary-verbose": "summary shop.mmp#1 -v",
    "regions": "regions shop.mmp#0",
    "regions-flat": "regions shop.mmp#1 --flat --free --sort size -n 12",
    "regions-find": "regions shop.mmp#1 --find libc",
    "free": "free shop.mmp#0 -n 5",
    "free-fits": "free shop.mmp#0 --fits 1G --align 2M -v",
    "threads": "threads shop.mmp#0",
    "modules": "modules shop.mmp#0",
    "heaps": "heaps shop.mmp#1",
    "processes": "processes shop.mmp#0",
    "info": "info shop.mmp",
    "info-verbose": "info shop.mmp -v",
    "verify": "verify shop.mmp",
    "diff": "diff shop.mmp",
    "diff-verbose": "diff shop.mmp#1 shop.mmp#0 --metric total_ws -n 3 -v",
    "diff-series": "diff shop.mmp#0 shop.mmp#1 shop.mmp#1",
    "check": "check shop.mmp#1 --baseline shop.mmp#0",
    "check-verbose": "check shop.mmp#1 --baseline shop.mmp#0 -v",
    "compare": "compare fleet -n 4",
    "compare-outliers": "compare fleet --outliers --by host --metric heap-private",
}
JSON = (
    "summary",
    "regions-find",
    "free",
    "free-fits",
    "threads",
    "modules",
    "heaps",
    "processes",
    "info",
    "verify",
    "diff",
    "diff-series",
    "check",
    "compare",
)
TABLES = (
    "regions",
    "allocations",
    "summary",
    "free",
    "threads",
    "modules",
    "heaps",
    "processes",
    "capability",
    "diff",
    "compare",
)


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files are printed: they must not hold the name of a temporary folder."""
    write_shop(tmp_path)
    write_fleet(tmp_path)
    monkeypatch.chdir(tmp_path)


def _ask(command: str, columns: int = 80) -> str:
    answer = run_mmp(*command.split(), columns=columns)
    assert answer.err == ""
    return _HASH.sub("sha256", answer.out)


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_what_was_found_good(name: str, columns: int, compare: Compare) -> None:
    """On a terminal of 80 and of 160 columns; no line is wider."""
    text = _ask(TEXTS[name], columns)
    assert max(map(len, text.splitlines())) <= columns
    compare(f"{name}.{columns}.txt", f"$ mmp {TEXTS[name]}\n{text}")


def test_markdown_is_what_was_found_good(compare: Compare) -> None:
    """The block for the text of an issue, which a tracker lays out."""
    compare("report.md", _ask("report shop.mmp --markdown"))


@pytest.mark.parametrize("name", JSON)
def test_json_is_what_was_found_good(name: str, compare: Compare) -> None:
    """Programs of others read it: a change of this file is a change of docs/json.md."""
    compare(f"{name}.json", _ask(f"{TEXTS[name]} --json"))


@pytest.mark.parametrize("table", TABLES)
def test_csv_is_what_was_found_good(table: str, compare: Compare) -> None:
    """Both snapshots stacked, told apart by the first column."""
    compare(f"{table}.csv", _ask(f"export shop.mmp -t {table} --format csv"))


@pytest.mark.exact_help
@pytest.mark.parametrize("command", ["", *COMMANDS, *(f"dataset {name}" for name in dataset.COMMANDS)])
def test_help_is_what_was_found_good(command: str, compare: Compare) -> None:
    """The help of `mmp` and of each command.

    Python 3.13 writes `-o, --output FILE` where older ones write `-o FILE, --output FILE`, and breaks lines
    elsewhere; that is no change of ours.
    """
    text = _ask(f"{command} --help".strip())
    if command == "collect":
        text = (
            re.sub(r"\s+", " ", re.sub(r"(-\w) ([A-Z]+), (--[\w-]+) \2", r"\1, \3 \2", text)).strip() + "\n"
        )
    compare(f"help-{command.replace(' ', '-') or 'mmp'}.txt", text)
