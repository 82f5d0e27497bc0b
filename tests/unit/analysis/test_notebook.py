"""Answers in a notebook: short HTML with the figures of the tables, in which no name can act."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from mmpscope.analysis import check_fit, diff, load, measure_fragmentation, summarize
from mmpscope.analysis.checks.snapshots import check
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.trends.following import follow_measures, measure_each
from support.loaded import load_map

SAMPLES = Path(__file__).parents[3] / "samples"
LEAK = str(SAMPLES / "linux-leak-v1.0.mmp")
HOSTILE = "</td><script>alert(1)</script>\u202egpj\x1b[31m"
ALLOWED = {"h4", "p", "table", "thead", "tbody", "tr", "th", "td"}


class _Shown(HTMLParser):
    """What a notebook makes of an answer: elements, the texts of cells, and those with exact bytes."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.texts: list[str] = []
        self.titles: list[str] = []
        self.feed(answer._repr_html_())  # type: ignore[attr-defined]  # what Jupyter itself asks for
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        self.titles += [str(value) for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_snapshot_shows_its_summary() -> None:
    """The label, and every type with its figures: readable, and exact where one points at."""
    [snapshot] = load(f"{LEAK}#-1")
    shown, [total, *rows] = _Shown(snapshot), summarize(snapshot).to_pylist()
    assert any(snapshot.label in text for text in shown.texts)
    assert {row["type"] for row in rows} <= set(shown.texts)
    assert show_size(total["private"]) in shown.texts
    assert f"{total['private']:,} bytes" in shown.titles


def test_what_is_not_known_is_a_question_mark() -> None:
    """maps alone tell no working set: it is never 0."""
    assert "?" in _Shown(load_map("1000-3000 rw-p")).texts


def test_a_comparison_shows_what_changed() -> None:
    """Why it is compared so, and changes with their sign."""
    first, *_, last = load(LEAK)
    result = diff(first, last)
    shown = _Shown(result)
    assert result.mode_reason in shown.texts
    assert f"+{show_size(result.movers['private_delta'][0].as_py())}" in shown.texts


def test_verdicts_are_told_first() -> None:
    """A trend, a check and a request begin with their answer."""
    pytest.importorskip("scipy", reason="needs the extra stats")
    first, *_, last = load(LEAK)
    [trend] = follow_measures(measure_each(load(LEAK)))
    for answer, heading in (
        (trend, trend.total["verdict"]),
        (check(last, [first]), f"Check: {check(last, [first]).outcome}"),
        (check_fit(last, 1 << 20), "A request of 1 MiB: fits"),
    ):
        assert _Shown(answer).texts[0].startswith(heading)


def test_fragmentation_shows_windows_and_requests() -> None:
    """Both tables, each number in its unit; what there is not is no unknown figure."""
    [snapshot] = load(str(SAMPLES / "linux-fragmented-v1.0.mmp"))
    shown = _Shown(measure_fragmentation(snapshot))
    assert shown.tags.count("table") == 2
    assert {"64 KiB", "-"} <= set(shown.texts)
    assert "?" not in _Shown(check_fit(snapshot, 1 << 20)).texts


def test_names_cannot_act() -> None:
    """Markup in a name is text; marks of direction and escape sequences show as their escapes."""
    before = load_map("1000-3000 rw-p", name=HOSTILE)
    after = load_map("1000-3000 rw-p", f"5000-9000 rw-p 0 7 /{HOSTILE}", name=HOSTILE)
    after.label = HOSTILE
    for answer in (after, diff(before, after, metric="size")):
        shown, text = _Shown(answer), "".join(_Shown(answer).texts)
        assert set(shown.tags) <= ALLOWED
        assert shown.names <= {"style", "title"}
        assert "<script>" in text
        assert not {"\u202e", "\x1b"} & set(text)


def test_long_tables_are_cut_and_say_so() -> None:
    """Of many changes the first 20 are shown, and the number of the others."""
    lines = [f"{at:x}000-{at:x}800 rw-p 0 {at} /srv/{at}.dat" for at in range(16, 80)]
    result = diff(load_map("1000-3000 rw-p"), load_map("1000-3000 rw-p", *lines), metric="size", limit=0)
    more = result.movers.num_rows - 20
    assert more > 20
    assert f"{more} more rows" in _Shown(result).texts
