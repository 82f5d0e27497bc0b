"""Markdown of a report: never longer than an issue bears, sums that hold, the nearest limits."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.diffs.schema import DIFF_ROWS, DIFF_TYPES
from mmpscope.analysis.pages.page_data import Budget, PageData, build_page
from mmpscope.analysis.pages.schema import LIMITS
from mmpscope.analysis.pages.tables import Texts, encode_table
from mmpscope.analysis.reporters.markdown_report import MOST_LINES, render_markdown
from mmpscope.analysis.schema import SUMMARY, TYPES, Field
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.trends.following import Shelf
from support.mmp_command import run_mmp
from support.pages import read_page
from support.tight import SAID, write_tight

SAMPLES = Path(__file__).parents[3] / "samples"
MIB = 1 << 20
Row = dict[str, Any]


@pytest.fixture
def data() -> PageData:
    """The data of a page of two snapshots."""
    paths = [SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab"]
    with closing(Shelf((), partial=False)) as shelf:
        return build_page(shelf.list_moments(load(*paths)), shelf.read, budget=Budget(most_lists=1))


def _encode(data: PageData, fields: tuple[Field, ...], rows: list[Row]) -> Any:
    """Encode rows with texts of their own, which go behind those of the page."""
    table = build_table(fields, {f.name: [row.get(f.name) for row in rows] for f in fields}, len(rows))
    texts = Texts()
    for text in data.page["texts"]:
        texts.number(text)
    encoded = encode_table("any", fields, table, texts)
    data.page["texts"][:] = texts.list_all()
    return encoded


def _fill(data: PageData) -> None:
    """Make a page on which everything occurs that a block can hold."""
    deltas = {f"{name}_delta": MIB for name in ("size", "committed", "private", "total_ws")}
    types = [{"type": name, "size": MIB} for name in ("Total", *TYPES)]
    limits = [{"limit": f"limit {n}", "used": n, "maximum": 10, "unit": "bytes"} for n in range(1, 9)]
    movers = [{"word": "new", "rows": 1, "unit": f"unit {n}", **deltas} for n in range(30)]
    snapshot = data.page["snapshots"][data.page["shown"]]
    snapshot["summary"] = _encode(data, SUMMARY, types)
    snapshot["limits"] = _encode(data, LIMITS, limits)
    diff = data.page["diffs"][0]["tables"]
    diff["types"] = _encode(data, DIFF_TYPES, [{**row, **deltas} for row in types])
    diff["movers"] = _encode(data, DIFF_ROWS, movers)
    snapshot["head"]["notes"] += ["one", "two", "three"]
    snapshot["head"]["missing"] += [{"item": "x", "state": "unavailable", "reason": None}] * 9
    data.page["says"] = "something else stands out"


def test_a_block_is_never_too_long(data: PageData) -> None:
    """With all ten types, many movers, limits, notes and missing facts, a block has at most 60 lines."""
    _fill(data)
    text = render_markdown(data)
    assert 50 < len(text.splitlines()) <= MOST_LINES
    assert "limit 8: 8 bytes of 10 bytes" in text
    assert "limit 5" not in text


def test_what_stands_on_top_is_not_said_again(tmp_path: Path) -> None:
    """Neither a limit that is near nor how little room is left, in Markdown and on a page without scripts."""
    tight = write_tight(tmp_path / "tight.mmp")
    text = run_mmp("report", tight, "--markdown").out
    assert f"**{SAID}" in text
    assert text.count("one request of up to") == 1
    assert run_mmp("report", tight, "-o", tmp_path / "tight.html").code == 0
    page = read_page((tmp_path / "tight.html").read_text())
    assert "".join(page.texts).count(SAID) == 1
    assert [attributes for _, attributes in page.tags if attributes.get("id") == "room"] == [
        {"id": "room", "hidden": None}
    ]
    text = run_mmp("report", SAMPLES / "linux-fragmented-v1.0.mmp", "--markdown").out
    assert "**address space is at 99.9% of its limit: 50.2 MiB left" in text
    assert "- address space: " not in text


def test_folded_movers_add_up(data: PageData) -> None:
    """The movers that are shown and the row of the others are all there are, and their changes sum up."""
    _fill(data)
    rows = [line for line in render_markdown(data).splitlines() if re.match(r"\| (new|others) ", line)]
    sizes = [int(re.findall(r"\+(\d+) MiB", line)[0]) for line in rows]
    assert (len(rows), sum(sizes)) == (6, 30)
    assert "25 more" in rows[-1]


def test_what_did_not_change_is_no_row(data: PageData) -> None:
    """Types and movers of which no figure moved take no line."""
    text = render_markdown(data)
    assert "| Managed Heap |" not in text
    assert not re.search(r"^\| \w+ \|[^|]*\| 0 \| 0 \| 0 \| 0 \|$", text, re.MULTILINE)
    assert re.search(r"^\| new \|[^|]*\| \+48 MiB \| 0 \| 0 \| 0 \|$", text, re.MULTILINE)
