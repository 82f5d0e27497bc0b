"""Charts of the answers: what they show is what the tables hold."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import (
    diff,
    find_free,
    hole_histogram,
    load,
    measure_fragmentation,
    plots,
    summarize,
)
from mmpscope.analysis.errors import UsageError
from support.loaded import load_map, load_table

pytest.importorskip("altair", reason="needs the extra plot")

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "samples"
LEAK = str(SAMPLES / "linux-leak-v1.0.mmp")
HOSTILE = "/srv/</script><b>\u202egpj"


def _read(chart: Any) -> list[dict[str, Any]]:
    """Return the rows that a chart carries, after it passed Altair's own check of the whole of it."""
    described = chart.to_dict()
    rows: list[dict[str, Any]] = described["data"]["values"]
    return rows


def test_summary_bars_are_the_summary() -> None:
    """Each bar has the figures of its column, type by type, and neither Total nor Free."""
    [snapshot] = load(f"{LEAK}#-1")
    shown = {(row["metric"], row["type"]): row["bytes"] for row in _read(plots.plot_summary(snapshot))}
    table = [row for row in summarize(snapshot).to_pylist() if row["type"] not in ("Total", "Free")]
    wanted = {
        (name, row["type"]): row[name] for name in ("committed", "private", "total_ws") for row in table
    }
    assert shown == wanted
    assert sum(wanted.values()) > 0


def test_an_unknown_figure_is_no_bar() -> None:
    """maps alone tell no working set: nothing is drawn for it, and the subtitle says of what."""
    chart = plots.plot_summary(load_map("1000-3000 rw-p"), ["size", "total_ws"])
    assert {row["metric"] for row in _read(chart) if row["bytes"]} == {"size"}
    assert None not in [row["bytes"] for row in _read(chart)]
    assert "Private Data" in chart.to_dict()["title"]["subtitle"][0]


def test_a_sum_of_a_part_is_named() -> None:
    """Where one of two regions tells its working set, the bar is what is known, and the subtitle says so."""
    known = {"start": 0x1000000, "size": 4096, "perms": "rw-p", "Rss": 4096}
    snapshot = load_table([known, {**known, "start": 0x2000000, "Rss": None}])
    chart = plots.plot_summary(snapshot, ["total_ws"])
    assert [row["bytes"] for row in _read(chart) if row["partial"]] == [4096]
    assert "at least: Private Data" in chart.to_dict()["title"]["subtitle"]


def test_timeline_is_a_summary_a_snapshot() -> None:
    """Areas have the private bytes of every type of every snapshot, in the order of time."""
    snapshots = load(LEAK)
    rows = _read(plots.plot_timeline(reversed(snapshots)))
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)
    for snapshot in snapshots:
        shown = {row["type"]: row["bytes"] for row in rows if row["snapshot"] == snapshot.label}
        table = summarize(snapshot).to_pylist()
        assert shown == {row["type"]: row["private"] for row in table if row["type"] in shown}
        assert sum(shown.values()) == table[0]["private"]


def test_a_timeline_is_of_one_process() -> None:
    """Snapshots of two processes are refused with their names, as none are."""
    both = [load(LEAK)[0], load(str(SAMPLES / "linux-java-v1.0.mmp"))[0]]
    with pytest.raises(UsageError, match=r"one run of one process, these are 2: leak .*, java"):
        plots.plot_timeline(both)
    with pytest.raises(UsageError, match="these are 0: none"):
        plots.plot_timeline([])


def test_movers_are_those_of_the_comparison() -> None:
    """A bar a row of movers, with its change, under a name of its own."""
    first, *_, last = load(LEAK)
    result = diff(first, last, metric="total_ws")
    rows = _read(plots.plot_movers(result))
    assert [row["bytes"] for row in rows] == result.movers["total_ws_delta"].to_pylist()
    assert len({row["what"] for row in rows}) == len(rows) > 0


def test_names_cannot_act_in_a_chart() -> None:
    """Marks of direction in a name are escaped; markup stays text, since a chart draws it."""
    before, after = load_map("1000-3000 rw-p"), load_map("1000-3000 rw-p", f"5000-9000 rw-p 0 7 {HOSTILE}")
    shown = str(_read(plots.plot_movers(diff(before, after, metric="size"))))
    assert "</script><b>" in shown
    assert "\u202e" not in shown


def test_unusable_index_is_that_of_the_requests() -> None:
    """The curve has a point a window and request, exactly."""
    [snapshot] = load(str(SAMPLES / "linux-fragmented-v1.0.mmp"))
    table = measure_fragmentation(snapshot).requests
    for name in ("window", "request", "unusable_index"):
        assert [row[name] for row in _read(plots.plot_unusable(snapshot))] == table[name].to_pylist()


def test_holes_are_all_holes() -> None:
    """The bars count every free hole, and hold all free bytes."""
    [snapshot] = load(str(SAMPLES / "linux-fragmented-v1.0.mmp"))
    rows = _read(plots.plot_holes(snapshot))
    assert [row["holes"] for row in rows] == hole_histogram(snapshot)["holes"].to_pylist()
    assert sum(row["holes"] for row in rows) == find_free(snapshot).num_rows
    assert sum(row["bytes"] for row in rows) == sum(find_free(snapshot)["size"].to_pylist())


def test_an_unknown_metric_is_refused() -> None:
    """The message lists the figures that there are."""
    with pytest.raises(UsageError, match="'rss' is no figure of a summary; these are: size, committed"):
        plots.plot_summary(load(LEAK)[0], ["rss"])


def test_without_altair_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart without Altair is refused with what to install."""
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(UsageError, match=r"charts need Altair: pip install 'mmpscope\[plot\]'$"):
        plots.plot_holes(load(LEAK)[0])


def test_colours_are_those_of_report_pages() -> None:
    """A type has one colour, in a chart and on a page."""
    style = (ROOT / "analysis" / "pages" / "static" / "theme.css").read_text("utf-8")
    told = re.findall(r"--t-\w+: (?:light-dark\()?(#[0-9a-f]{6})", style)
    assert told[: len(plots.TYPE_COLORS)] == list(plots.TYPE_COLORS.values())
