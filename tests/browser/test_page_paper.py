"""What a report looks like on paper and on a narrow screen: the answers are there, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import open_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
WORKERS = tuple(SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab")
PAPER = 700
"""Pixels between the margins of A4 at 96 a inch, about."""


def test_paper_has_the_verdict_and_no_word_for_the_mouse(browser: Browser, pair: Path) -> None:
    """The answer about room is printed; how to click is not; no word of a table is broken, none is cut."""
    with open_report(browser, pair, width=PAPER) as opened:
        opened.page.emulate_media(media="print")
        text = opened.page.inner_text("body")
        assert "200 MiB fits" in text
        assert "Click a moment" not in text
        assert "more columns" not in text
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= PAPER
        broken = (
            "() => [...document.querySelectorAll('th, td.number')].filter(each => {"
            " const range = document.createRange(); range.selectNodeContents(each);"
            " const tops = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 8)));"
            " return each.offsetParent && !/[ -]/.test(each.textContent.trim()) && tops.size > 1;"
            " }).map(each => each.textContent)"
        )
        assert opened.page.evaluate(broken) == []


def test_what_answers_comes_first_on_a_narrow_screen(
    browser: Browser, report_of: Callable[..., Path], pair: Path
) -> None:
    """At 400 pixels the change stands in sight, before pids and addresses."""
    in_sight = "each => each.getBoundingClientRect().right <= 400"
    with open_report(browser, report_of(*WORKERS), width=400) as opened:
        heads = opened.page.locator("#roles [role=columnheader]")
        assert heads.filter(has_text="Δ PSS").evaluate(in_sight)
    with open_report(browser, pair, width=400) as opened:
        heads = opened.page.locator("#movers [role=columnheader]")
        assert heads.filter(has_text="Private").first.evaluate(in_sight)


def test_the_cue_covers_no_row(browser: Browser, report_of: Callable[..., Path]) -> None:
    """That a table goes on sideways is said below it, outside of what scrolls."""
    with open_report(browser, report_of(*WORKERS), width=400) as opened:
        grid, cue = (opened.page.locator(f"#roles {each}").bounding_box() for each in (".grid", ".cue"))
        assert grid is not None
        assert cue is not None
        assert cue["y"] >= grid["y"] + grid["height"]


def test_both_maps_say_which_is_before(browser: Browser, pair: Path) -> None:
    """The heading of the maps and the labels of moments tell two snapshots of one second apart."""
    with open_report(browser, pair) as opened:
        assert "Both maps: 1 before, 2 after" in opened.page.inner_text("#diff")
        moments = opened.page.locator('select[aria-label="Snapshot"] option').all_inner_texts()
        assert len({text.partition(":")[2] for text in moments}) == len(moments)
        assert "Word" not in opened.texts("#movers [role=columnheader]")
