"""Names from strangers in a report: text wherever they appear, in HTML, in the data, in Markdown."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.pages.tables import LONGEST_TEXT
from mmpscope.analysis.reporters.markdown_report import MOST_LINES
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from support.leaks import Look, make_snapshot
from support.mmp_command import run_mmp
from support.pages import list_rows, read_page
from support.smaps_text import Block, MapLine, make_block

SCRIPT = "</script><b onmouseover=alert(1)>"
NAMES = {
    "script": SCRIPT.encode(),
    "comment": b"<!--<script>",
    "address": b"javascript:alert(1)",
    "bidi": "/tmp/\u202egpj.exe\u2066".encode(),
    "long": b"/" + b"x" * 5_000,
    "no utf-8": b"/srv/\xff\xfe<i>",
    "ansi": b"/srv/\x1b[31mred\x1b]0;title\x07",
    "template": b"{{ 7 * 7 }}{% raw %}",
    "markdown": b"`|x|` ![a](http://example.org/a.png) @user #1 <img src=x>",
    "line": b"/srv/a\\012b",
}


def _make(name: bytes, number: int) -> Snapshot:
    look = make_snapshot(Look(60.0 * number, 2048 * (number + 1)))
    line = MapLine(0x7F00_0000_0000, 0x7F00_0100_0000 << number, b"rw-p", 0, (8, 1), 9, name)
    text = make_block(Block(line, {"Rss": 8192, "Private_Dirty": 8192, "Anonymous": 8192}))
    process: dict[str, Any] = {**look.process, "name": name, "exe": name, "cmdline": [name]}
    host = {**look.capture.host, "hostname": name}
    capture = dataclasses.replace(look.capture, host=host)
    raw = snapshot_from_text(text)
    return dataclasses.replace(raw, process=process, capture=capture, moment=look.moment)


@pytest.fixture(params=NAMES)
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[bytes, Path]:
    """A file of two snapshots in which all that can have a name has this one."""
    name = NAMES[request.param]
    path = tmp_path / "hostile.mmp"
    write_file(path, [_make(name, 0), _make(name, 1)])
    return name, path


def test_names_are_text_on_a_page(hostile: tuple[bytes, Path]) -> None:
    """Whatever a name is, a page has the same tags as with a plain one, and no character that acts."""
    name, path = hostile
    plain = path.with_name("plain.mmp")
    write_file(plain, [_make(b"/srv/plain", 0), _make(b"/srv/plain", 1)])
    pages = [run_mmp("report", each) for each in (path, plain)]
    assert [answer.code for answer in pages] == [0, 0]
    read, other = (read_page(answer.out) for answer in pages)
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in other.tags]
    assert read.raw["script"] == other.raw["script"]
    acting = {"\x1b", "\x07", "\u202e", "\u2066"}
    assert not acting & set(pages[0].out)
    if name.isascii() and name.isalnum():
        assert name.decode() in read.text


def test_names_are_text_in_the_data(hostile: tuple[bytes, Path]) -> None:
    """The data that scripts show has names with every acting character escaped, and not endless."""
    name, path = hostile
    read = read_page(run_mmp("report", path).out)
    lists = read.lists(1)
    [details] = {row["details"] for row in list_rows(lists["regions"], lists["texts"])}
    shown = name.decode("utf-8", "backslashreplace")
    for act, escape in (("\x1b", "\\x1b"), ("\x07", "\\x07"), ("\u202e", "\\u202e"), ("\u2066", "\\u2066")):
        shown = shown.replace(act, escape)
    if name != NAMES["line"]:
        assert details == shown
    everything = [*read.page["texts"], *lists["texts"], read.page["title"]]
    assert max(map(len, everything)) <= LONGEST_TEXT
    assert all(text.isprintable() for text in everything)


def test_names_are_text_in_markdown(hostile: tuple[bytes, Path]) -> None:
    """A block has at most 60 lines, its tables keep their columns, and a name stands in a code span."""
    _, path = hostile
    answer = run_mmp("report", path, "--markdown")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) <= MOST_LINES
    for before, line in pairwise(lines):
        if line.startswith("|") and before.startswith("|"):
            assert _count_bars(line) == _count_bars(before)
    outside = "".join(_leave_out_spans(line) for line in lines)
    assert not any(act in outside for act in ("<", "@", "![", "\x1b", "\u202e"))


def _count_bars(line: str) -> int:
    return line.replace("\\|", "").count("|")


def _leave_out_spans(line: str) -> str:
    """Leave out code spans, which begin and end with as many backticks (CommonMark 0.31, 6.1)."""
    kept, at = "", 0
    while at < len(line):
        if line[at] == "\\":
            at += 2
            continue
        if line[at] != "`":
            kept, at = kept + line[at], at + 1
            continue
        run = len(line[at:]) - len(line[at:].lstrip("`"))
        end = _find_run(line, at + run, run)
        at = len(line) if end < 0 else end + run
    return kept


def _find_run(line: str, at: int, run: int) -> int:
    while (at := line.find("`", at)) >= 0:
        length = len(line[at:]) - len(line[at:].lstrip("`"))
        if length == run:
            return at
        at += length
    return -1
