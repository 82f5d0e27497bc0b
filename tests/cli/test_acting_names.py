"""Text that acts, in every column and fact that a snapshot can have: no command lets any of it act."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.mmp.writer import SnapshotWriter
from mmpscope.formats.model import Capability, Capture, Snapshot, Table
from mmpscope.formats.redaction.rules import COLUMNS, FACTS, ITEMS, NUMBERS, Kind
from support.mmp_command import Answer, run_mmp

ACTING = "=\x1b]0;t\x07\u202e\r\x9b1m\u2028\u200b\n\x1b[2J"
"""A title, a colour, a direction, a line of its own, and a formula."""
SHAPES = ("{}", "/usr/lib/{}.so.6", "/home/{} (deleted)", "[anon:{}]", "[{}]", "C:\\{}\\x.dll")
TEXTS = tuple(shape.format(ACTING) for shape in SHAPES)
STEP_NS = 3_600_000_000_000
_ANSWERS = {0, 1, 3, 4}


def _plant(rule: Any, number: int) -> Any:
    if isinstance(rule, dict):
        planted = {name: _plant(inner, number) for name, inner in rule.items() if name != "*"}
        return {**planted, ACTING: TEXTS[number]}
    return TEXTS[number] if number else [*TEXTS, TEXTS[0].encode() + b"\xff", {ACTING: ACTING}]


def _plant_table(name: str, is_plausible: bool) -> Table:
    """Make a table with text that acts in every column; a plausible one has the rights of Linux."""
    rows = len(TEXTS)
    texts = [text.encode() + b"\xff" * (not number) for number, text in enumerate(TEXTS)]
    columns = {column: Plain("text", texts, "bytes") for column in (*COLUMNS.get(name, {}), ACTING)}
    if is_plausible and name == "regions":
        columns["perms"] = Plain("text", [b"rw-p", b"r-xp"] * (rows // 2), "bytes")
    numbers = {column: Plain("uint", [5] * rows) for column in NUMBERS if column not in columns}
    numbers["start"] = Plain("uint", [0x10000 * (row + 1) for row in range(rows)])
    numbers["size"] = Plain("uint", [0x1000] * rows)
    return encode_table({**numbers, **columns}, rows)


def _make(number: int, moment: int) -> Snapshot:
    facts = {what: _plant(dict(rules), number % len(TEXTS)) for what, rules in FACTS.items()}
    for what, rules in FACTS.items():
        own = {name for name, rule in rules.items() if isinstance(rule, Kind)}
        facts[what] |= dict.fromkeys(own, TEXTS[number % len(TEXTS)])
    facts["process"] |= {"pid": number, "cmdline": [ACTING, ACTING], "range": {"source": ACTING}}
    facts["moment"] |= {"time_ns": moment * STEP_NS}
    facts["host"] |= {"os": "linux"} if number % 2 else {}
    capability = [Capability(item, "partial", 5, ACTING) for item in sorted(ITEMS)]
    capability += [Capability(ACTING, "unavailable", None, ACTING), Capability("smaps", ACTING, None, ACTING)]
    tables = {name: _plant_table(name, number % 2 == 1) for name in COLUMNS}
    capture = Capture(facts["host"], facts["system"], facts["moment"], tables, capability, {ACTING: ACTING})
    return Snapshot(capture, facts["process"], facts["moment"], tables, capability, {ACTING: ACTING})


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two processes, one with rights that are none, at three moments each; the file has such a name, too."""
    path = tmp_path_factory.mktemp("acting") / "in\x1bput\u202e.mmp"
    with SnapshotWriter.create(path) as writer:
        for moment in (1, 2, 3):
            for number in (1, 2):
                writer.write_snapshot(_make(number, moment))
        writer.write_note(ACTING)
    return path


def _find_acting(text: str) -> set[str]:
    return {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}


def _run(command: str, path: Path) -> Answer:
    word, *options = command.format(path=path).split("|")
    return run_mmp(word, *(options or [str(path)]))


COMMANDS = (
    "info", "info|{path}|-v", "verify", "summary", "summary|{path}|-v", "regions", "regions|{path}|--flat",
    "regions|{path}|--free", "free", "free|{path}|--fits|1M", "threads", "modules", "heaps", "processes",
    "diff|{path}#0|{path}#2", "diff|{path}#0|{path}#1", "diff|{path}#0|{path}#2|--by|name", "diff", "compare",
    "trend", "check|{path}#2|--baseline|{path}#0", "report|{path}|--markdown", "summary|{path}#99",
    "regions|{path}|--sort|\x1b", "trend|{path}|--process|\x1b", "export|{path}|-t|regions|--format|txt",
    "export|{path}|-t|capability|--format|txt", "export|{path}|-t|modules|--format|txt",
    "convert|{path}|-o|{path}.mmp|-f", "redact|{path}|-o|{path}.mmp|-f", "summary|{path}.\x1b",
)  # fmt: skip
"""A bar parts the words: names of files have blanks."""


@pytest.mark.parametrize("command", COMMANDS)
def test_no_text_of_a_snapshot_acts_on_a_terminal(command: str, planted: Path) -> None:
    """Standard output and error hold what is seen and line breaks, whatever stands in whatever field."""
    answer = _run(command, planted)
    assert answer.code in _ANSWERS | {2}, answer.err
    assert "a fault of ours" not in answer.err
    assert answer.out or answer.err
    assert _find_acting(answer.out + answer.err) == set()


@pytest.mark.parametrize("table", ["regions", "threads", "modules", "processes", "capability", "diff"])
def test_no_cell_of_a_table_file_is_a_formula(table: str, planted: Path) -> None:
    """Cells and headings of CSV begin with nothing that a spreadsheet runs."""
    inputs = [f"{planted}#0", f"{planted}#2"] if table == "diff" else [f"{planted}#0"]
    answer = run_mmp("export", *inputs, "-t", table, "--format", "csv")
    assert answer.code == 0, answer.err
    cells = [cell for row in csv.reader(io.StringIO(answer.out)) for cell in row if cell]
    assert cells
    assert table in ("modules", "diff") or any("[2J" in cell for cell in cells)
    assert not [cell for cell in cells if cell[0] in "=@+\t\r"]
    assert not [cell for cell in cells if cell[0] == "-" and not re.fullmatch(r"-\d+(\.\d+)?", cell)]


@pytest.mark.parametrize("command", ["info", "summary", "regions", "threads", "modules", "diff", "compare"])
def test_json_holds_it_escaped(command: str, planted: Path) -> None:
    """JSON is ASCII, a row a line, and a program gets the very text."""
    answer = run_mmp(command, planted, "--json")
    assert answer.code in (0, 4), answer.err
    assert answer.out.isascii()
    assert _find_acting(answer.out) == set()
    whole, at = json.JSONDecoder(), 0
    while at < len(answer.out.rstrip()):
        _, end = whole.raw_decode(answer.out, at)
        at = end + 1
