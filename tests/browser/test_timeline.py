"""The timeline of a report: areas by type that add up, clicks show a snapshot, drags compare two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report
from support.leaks import make_looks, write_looks
from support.mmp_command import run_mmp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

LEAK = Path(__file__).parents[2] / "samples" / "linux-rounds-leak-v1.0.mmp.gz"
LAST = 59


@pytest.fixture
def leak(report_of: Callable[..., Path]) -> Path:
    """The report of sixty snapshots of a program that leaks."""
    return report_of(LEAK)


@contextmanager
def _open(browser: Browser, path: Path, fragment: str = "", width: int = 1280) -> Iterator[OpenPage]:
    """Open a page, wait until the timeline is painted, and find its console empty at the end."""
    with open_report(browser, path, fragment, width=width) as opened:
        opened.page.wait_for_selector(".timeline[data-painted] .u-over")
        yield opened
        assert opened.messages == []


def _summarize(number: int) -> dict[str, dict[str, Any]]:
    """Return the rows of `mmp summary` of one snapshot, by type."""
    document = json.loads(run_mmp("summary", f"{LEAK}#{number}", "--json").out)
    return {row["type"]: row for row in document["rows"]}


def _read_legend(opened: OpenPage) -> dict[str, str]:
    """Return the exact bytes beside each type of the legend."""
    script = "all => all.map(each => [each.childNodes[1].textContent.trim(), each.querySelector('b').title])"
    return dict(opened.page.locator("#timeline .legend > button").evaluate_all(script))


def _find_place(opened: OpenPage, part: float) -> tuple[float, float]:
    """Return the point of the page that is a part of the way along the chart."""
    over = opened.page.locator("#timeline .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    return box["x"] + part * (box["width"] - 1), box["y"] + box["height"] / 2


def _wait_for_choice(opened: OpenPage, choice: str) -> None:
    opened.page.wait_for_function("choice => location.hash.slice(1).split('&').includes(choice)", arg=choice)


def _check_legend(opened: OpenPage, number: int, figure: str) -> None:
    rows = _summarize(number)
    told = _read_legend(opened)
    assert len(told) > 3
    assert told == {type_: f"{rows[type_][figure]:,} bytes" for type_ in told}
    shown = sum(rows[type_][figure] for type_ in told)
    assert shown == rows["Total"][figure]


def test_areas_are_the_types_of_the_command_and_add_up(browser: Browser, leak: Path) -> None:
    """What the legend tells of the snapshot shown is `mmp summary` to the byte, and its sum is the total."""
    with _open(browser, leak) as opened:
        _check_legend(opened, LAST, "private")


@pytest.mark.parametrize("figure", ["total_ws", "committed", "size"])
def test_other_figures_can_be_chosen(browser: Browser, leak: Path, figure: str) -> None:
    """Working set, committed and address space are drawn likewise, and the choice is in the link."""
    with _open(browser, leak) as opened:
        opened.page.get_by_label("Figure").select_option(figure)
        _wait_for_choice(opened, f"time={figure}")
        _check_legend(opened, LAST, figure)


def test_a_click_shows_the_snapshot_there(browser: Browser, leak: Path) -> None:
    """A click at the left edge loads the first snapshot into all views: summary, legend and map."""
    total = _summarize(0)["Total"]["private"]
    with _open(browser, leak) as opened:
        opened.page.mouse.click(*_find_place(opened, 0.001))
        _wait_for_choice(opened, "s=1")
        cell = opened.page.locator('.summary tr[data-type="Total"] [data-column="private"]')
        assert cell.get_attribute("title") == f"{total:,} bytes"
        opened.wait("#0", "#head")
        _check_legend(opened, 0, "private")


def test_a_drag_compares_the_two_moments(browser: Browser, leak: Path) -> None:
    """A drag from the first quarter to the end compares these two, whichever way it goes."""
    for ends in [(0.25, 0.999), (0.999, 0.25)]:
        with _open(browser, leak) as opened:
            opened.page.mouse.move(*_find_place(opened, ends[0]))
            opened.page.mouse.down()
            opened.page.mouse.move(*_find_place(opened, 0.6))
            opened.page.mouse.move(*_find_place(opened, ends[1]))
            opened.page.mouse.up()
            _wait_for_choice(opened, f"diff=16-{LAST + 1}")
            opened.wait("From 16 to 60: Private +", "#timeline .map-readout")
            assert opened.page.get_by_label("Before").input_value() == "15"
            assert opened.page.get_by_label("After").input_value() == str(LAST)


def test_the_change_between_two_moments_is_exact(browser: Browser, leak: Path) -> None:
    """The comparison told below the chart is the difference of the two totals."""
    grown = _summarize(LAST)["Total"]["private"] - _summarize(10)["Total"]["private"]
    with _open(browser, leak, f"#diff=11-{LAST + 1}") as opened:
        opened.wait(f"Private +{grown / 2**20 - 0.05:.1f} MiB", "#timeline .map-readout")
        opened.page.get_by_role("button", name="See what changed").click()
        _wait_for_choice(opened, "at=diff")


def test_the_keyboard_does_the_same(browser: Browser, leak: Path) -> None:
    """Home and Enter show the first snapshot; Shift with End and Enter compares it with the last."""
    with _open(browser, leak) as opened:
        opened.page.locator("#timeline .timeline").focus()
        opened.page.keyboard.press("Home")
        opened.page.keyboard.press("Enter")
        _wait_for_choice(opened, "s=1")
        opened.page.keyboard.press("Shift+End")
        opened.page.keyboard.press("Enter")
        _wait_for_choice(opened, f"diff=1-{LAST + 1}")


def test_verdicts_are_those_of_trend(browser: Browser, leak: Path) -> None:
    """The sentence and the list of verdicts are what `mmp trend` finds, and the heap is marked as growing."""
    document = json.loads(run_mmp("trend", LEAK, "--json").out)
    verdicts = [(row["name"], row["verdict"]) for row in document["rows"] if row["scope"] == "type"]
    with _open(browser, leak) as opened:
        assert opened.texts("#timeline .says")[0].lower().startswith("growing: private +")
        assert "▲ +1.6 GiB/h" in " ".join(opened.texts("#timeline .legend"))
        opened.page.locator("#timeline details summary").click()
        rows = opened.page.locator("#timeline details tbody tr").all_inner_texts()
        for name, verdict in verdicts:
            assert any(name in row and verdict in row for row in rows)


def test_the_area_of_the_heap_is_where_the_figures_say(browser: Browser, leak: Path) -> None:
    """Below the top of the last moment the chart has the colour of the heap, above it none of it."""
    rows = _summarize(LAST)
    heap = rows["Heap"]["private"] / rows["Total"]["private"]
    script = (
        "() => { const canvas = document.querySelector('.uplot canvas');"
        " const x = Math.round(canvas.width * 0.94); const hit = [213, 94, 0];"
        " const { data } = canvas.getContext('2d').getImageData(x, 0, 1, canvas.height); let found = 0;"
        " for (let at = 0; at < data.length; at += 4) found += hit.every((part, n) => data[at + n] === part);"
        " return found / document.querySelector('.u-over').clientHeight; }"
    )
    with _open(browser, leak) as opened:
        share = opened.page.evaluate(script)
        assert heap * 0.8 < share < heap


def test_a_type_stands_alone(browser: Browser, leak: Path) -> None:
    """A type chosen by its legend entry, with the keyboard, is all that is drawn: its top is the chart's."""
    heap = _summarize(LAST)["Heap"]["private"]
    tall = (
        "() => { const canvas = document.querySelector('.uplot canvas');"
        " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " let image = 0; for (let at = 0; at < data.length; at += 4)"
        " image += [204, 121, 167].every((part, n) => data[at + n] === part); return image; }"
    )
    with _open(browser, leak) as opened:
        assert opened.page.evaluate(tall) > 0
        opened.page.locator("#timeline .legend > button", has_text="Heap").focus()
        opened.page.keyboard.press("Enter")
        _wait_for_choice(opened, "type=Heap")
        assert opened.page.evaluate(tall) == 0
        opened.page.locator("#timeline .timeline").focus()
        opened.page.keyboard.press("End")
        opened.wait("Heap, Private", "#timeline .map-readout")
        assert f"{heap / 2**20 - 0.05:.1f} MiB" in opened.page.inner_text("#timeline .map-readout")


def test_the_sentence_says_of_which_figure_it_is(browser: Browser, leak: Path) -> None:
    """Where another figure is drawn than the one that was judged, the sentence says so."""
    with _open(browser, leak, "#time=size") as opened:
        assert opened.texts("#timeline .says")[0].startswith("Of Private, not of Address space")


def test_the_head_is_of_the_pair_of_the_link(browser: Browser, leak: Path) -> None:
    """A link counts snapshots from 1, as the page does, and the line of what changed is of its pair."""
    grown = _summarize(13)["Total"]["private"] - _summarize(4)["Total"]["private"]
    with _open(browser, leak, "#diff=5-14") as opened:
        opened.wait("rom 5 to 14: private", "#changed")
        told = f"{grown * 10 // 2**20 / 10:.1f}".removesuffix(".0")
        assert f"private +{told} MiB" in opened.page.inner_text("#changed")
        if _summarize(13)["Page Table"]["size"] != _summarize(4)["Page Table"]["size"]:
            assert any("Page Table" in row for row in opened.texts("#movers .grid-row"))
        assert "`" not in opened.page.inner_text("#diff")


def test_a_narrow_screen_holds_the_timeline(browser: Browser, leak: Path) -> None:
    """At 400 pixels nothing runs over the side."""
    with _open(browser, leak, width=400) as opened:
        assert opened.page.evaluate("() => document.documentElement.scrollWidth") == 400


@pytest.mark.parametrize(("limit_mib", "is_drawn"), [(48, True), (4096, False)])
def test_a_limit_is_drawn_where_it_is_near_and_told_where_not(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path, limit_mib: int, is_drawn: bool
) -> None:
    """RLIMIT_AS stands as a line in the chart of the address space, or, far above it, in words below."""
    looks = make_looks(range(8 << 10, 20 << 10, 1 << 10), rlimit=limit_mib << 20)
    path = report_of(write_looks(tmp_path / "limited.mmp", looks))
    red = (
        "() => { const canvas = document.querySelector('.uplot canvas'); let found = 0;"
        " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " for (let at = 0; at < data.length; at += 4)"
        " found += [179, 38, 30].every((part, place) => data[at + place] === part); return found; }"
    )
    with _open(browser, path, "#time=size") as opened:
        assert (opened.page.evaluate(red) > 300) == is_drawn
        told = f"RLIMIT_AS {'48.0 MiB' if is_drawn else '4.0 GiB'}"
        assert any(told in text for text in opened.texts("#timeline .note")) != is_drawn
