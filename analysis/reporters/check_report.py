"""A check as text, JSON and JUnit XML: a line for each budget that does not hold, and how many do."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.checks.schema import CANNOT_TELL, CHECK, OK, VIOLATED
from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.output import open_output
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_count, show_kib
from mmpscope.analysis.reporters.head import MOVED, describe_capability, describe_snapshot
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import TextColumn, explain_marks, render_table

if TYPE_CHECKING:
    from mmpscope.analysis.checks.snapshots import CheckResult
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["report_check", "write_junit"]

Row = dict[str, Any]

_NO_CHARACTER = re.compile("[\ufffe\uffff]")
"""What XML has no place for, not even escaped, besides what `show_name` escapes (XML 1.0, 2.2 Characters)."""
_COLOURS = {OK: "32", VIOLATED: "31", CANNOT_TELL: "33"}


def report_check(new: LoadedSnapshot, result: CheckResult, budget: str | None) -> Report:
    """Make the answer of `mmp check`; ``budget`` is the file of budgets, None for the defaults."""
    rows = list(iterate_rows(describe_columns(result.table, CHECK)))
    facts: dict[str, object] = {
        "snapshot": describe_snapshot(new),
        "capability": describe_capability(new),
        "baseline": list(result.baseline),
        "budget": budget,
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "map_moved": list(result.moved),
    }
    label = new.label

    def draw(screen: Screen) -> list[str]:
        lines = [line for row in rows if row["verdict"] != OK for line in _draw_row(row, screen)]
        end = screen.wrap(show_name(f"{label}: {_count_words(rows, result)}"), "    ")
        moved = screen.wrap(show_name(f"{', '.join(result.moved)}: {MOVED}"), "    ") if result.moved else []
        return [*([*_draw_table(rows, screen), ""] if screen.verbose else []), *lines, *moved, *end]

    return Report("check", draw, facts, lambda: result.table, rows)


def _name(row: Row) -> str:
    """Name a budget as its file does: where, which figure, what kind of limit."""
    words = dict.fromkeys((row["where"], row["metric"], row["rule"]))
    return show_name(" ".join(words))


def _draw_row(row: Row, screen: Screen) -> list[str]:
    """Write one budget on one line, which only a screen breaks: who reads a log searches it by line."""
    text = f"{row['verdict']}: {_name(row)}: {show_name(row['reason'])}"
    lines = [text] if screen.width is None else screen.wrap(text, "    ")
    word = row["verdict"]
    return [screen.paint(word, _COLOURS[word]) + lines[0].removeprefix(word), *lines[1:]]


def _count_words(rows: Sequence[Row], result: CheckResult) -> str:
    words = [row["verdict"] for row in rows]
    counts = ", ".join(f"{words.count(word)} {word}" for word in (OK, VIOLATED, CANNOT_TELL) if word in words)
    beside = ""
    if len(result.baseline) == 1:
        beside = f" beside {result.baseline[0]}"
    elif result.baseline:
        beside = f" beside {len(result.baseline):,} snapshots"
    return f"{len(rows)} budget{'' if len(rows) == 1 else 's'}{beside}: {counts}"


def _draw_table(rows: Sequence[Row], screen: Screen) -> list[str]:
    columns = [
        TextColumn("Budget", [_name(row) for row in rows], least=20),
        TextColumn("Baseline", [_show(row, "baseline") for row in rows], True, worth=20),
        TextColumn("New", [_show(row, "value") for row in rows], True),
        TextColumn("Limit", [_show(row, "limit") for row in rows], True),
        TextColumn("Verdict", [row["verdict"] for row in rows]),
    ]
    return render_table(columns, screen, explain_marks(columns, "sizes in KiB"))


def _show(row: Row, name: str) -> str:
    if row[name] is None and name == "baseline" and not row["samples"] and row["verdict"] != CANNOT_TELL:
        return NOT_APPLICABLE
    return show_kib(row[name]) if row["unit"] == "bytes" else show_count(row[name])


def write_junit(result: CheckResult, path: str, *, force: bool) -> None:
    """Write the verdicts as JUnit XML: a test case a budget, a failure where it is violated, an error where
    it cannot be told (CI systems count what is skipped as passed).

    The file appears whole or not at all. Raises OutputExistsError or OutputError.
    """
    with open_output(path, force=force) as stream:
        stream.writelines(f"{line}\n".encode() for line in _write_suite(result.table.to_pylist()))


def _write_suite(rows: Sequence[Row]) -> Iterator[str]:
    words = [row["verdict"] for row in rows]
    counts = f'tests="{len(rows)}" failures="{words.count(VIOLATED)}" errors="{words.count(CANNOT_TELL)}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {counts}>"
    yield f'<testsuite name="mmp check" {counts} skipped="0" time="0">'
    seen: Counter[str] = Counter()
    for row in rows:
        seen[name := _name(row)] += 1
        name = f"{name} ({seen[name]})" if seen[name] > 1 else name  # CI systems show one of a name
        start = f'<testcase classname="mmp.check" name="{_escape(name)}" time="0"'
        if row["verdict"] == OK:
            yield f"{start}/>"
            continue
        element, reason = "failure" if row["verdict"] == VIOLATED else "error", _escape(row["reason"])
        yield f'{start}><{element} type="{row["verdict"]}" message="{reason}">{reason}</{element}></testcase>'
    yield "</testsuite>"
    yield "</testsuites>"


def _escape(text: str) -> str:
    """Write a text for XML; what XML cannot hold as its escape, as on a terminal."""
    shown = _NO_CHARACTER.sub(lambda hit: f"\\u{ord(hit[0]):04x}", show_name(text))
    return html.escape(shown)
