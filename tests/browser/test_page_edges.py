"""A report on a narrow screen and on paper: what goes on sideways shows it; tables say whose they are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.page import render_page
from mmpscope.analysis.pages.page_data import SHELL_BYTES, Budget, build_page
from mmpscope.analysis.trends.following import Shelf
from support.browser import open_report
from support.crowds import write_crowds

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

_EDGES = (
    "all => all.filter(each => each.checkVisibility()).map(each => [each.scrollWidth > each.clientWidth + 2,"
    " each.dataset.more ?? '', each.matches('.grid')"
    " ? (each.nextElementSibling.checkVisibility() ? 'scroll' : '')"
    " : getComputedStyle(each, '::after').content])"
)


@pytest.mark.parametrize("width", [400, 1280])
def test_a_table_that_goes_on_sideways_shows_it(browser: Browser, pair: Path, width: int) -> None:
    """Exactly the tables that are wider than their place have a mark at the right, and words below."""
    with open_report(browser, pair, width=width) as opened:
        opened.page.wait_for_timeout(500)
        found = opened.page.locator(".scroll, .grid").evaluate_all(_EDGES)
        assert len(found) > 5
        for is_wider, more, words in found:
            assert (more == "right", "scroll" in words) == (is_wider, is_wider)
        assert any(is_wider for is_wider, _, _ in found) or width > 400


def test_the_mark_moves_with_the_table(browser: Browser, pair: Path) -> None:
    """Scrolled to its end, a table has the mark at the left, and no words."""
    with open_report(browser, pair, width=400) as opened:
        opened.page.wait_for_selector('#summary .scroll[data-more="right"]')
        opened.page.evaluate("() => { document.querySelector('#summary .scroll').scrollLeft = 9999; }")
        opened.page.wait_for_selector('#summary .scroll[data-more="left"]')


def test_paper_has_the_tables_of_the_last_snapshot(browser: Browser, pair: Path) -> None:
    """In print the lists are those of the last snapshot, and their headings say so."""
    with open_report(browser, pair) as opened:
        opened.page.emulate_media(media="print")
        captions = opened.texts("#regions caption, #map caption, #threads caption")
        assert len(captions) >= 3
        assert all("in snapshot 2 of 2, 2026-11-29 14:48:14 UTC" in text for text in captions)
        first = opened.page.locator("#regions tbody tr").first.inner_text()
        assert first.startswith("300012340000")  # which only the second snapshot has


def test_what_is_folded_shows_on_the_map(browser: Browser, tmp_path: Path) -> None:
    """Where regions are left out, the map tells how many they are, and how large."""
    path, page = write_crowds(tmp_path / "large.mmp", 3_000), tmp_path / "folded.html"
    with closing(Shelf((), partial=False)) as shelf:
        whole = build_page(shelf.list_moments(load(path)), shelf.read)
        room = SHELL_BYTES + len(pack(whole.page)) + len(whole.lists[0]) // 3
        data = build_page(shelf.list_moments(load(path)), shelf.read, budget=Budget(room))
    page.write_text(render_page(data))
    with open_report(browser, page) as opened:
        opened.page.wait_for_selector("#map .map[data-painted]")
        opened.page.locator("#map canvas[tabindex]").focus()
        opened.page.keyboard.press("Home")
        told = []
        for _ in range(3):
            opened.page.keyboard.press("ArrowRight")
            told.append(opened.page.inner_text("#map .map-readout"))
        assert any("folded: 1 region, 1.0 MiB" in text for text in told)
        assert opened.messages == []


@pytest.mark.parametrize("width", [1000, 1280])
def test_the_end_of_a_path_is_in_sight(browser: Browser, arenas: Path, width: int) -> None:
    """Where not all columns fit, those of little worth go: shortened names stay within the list."""
    with open_report(browser, arenas, width=width) as opened:
        grid = opened.page.locator("#regions .grid")
        assert grid.evaluate("each => each.scrollWidth <= each.clientWidth")
        lasts = grid.locator(".grid-row > div:last-child").filter(visible=True, has_text="…")
        assert lasts.count() > 0
        assert lasts.evaluate_all("all => all.every(each => each.scrollWidth <= each.clientWidth)")
        assert any(text.endswith("libc.so.6") for text in lasts.all_inner_texts())
        opened.page.locator("#regions label", has_text="All columns").click()
        assert "Blocks" in " ".join(opened.texts("#regions [role=columnheader]"))
