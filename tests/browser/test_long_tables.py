"""Long tables of a report: every row can be reached, and few are in the document at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import OpenPage, open_report
from support.crowds import write_crowds

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

REGIONS = 3_000
IN_DOCUMENT = 120
"""Rows that may be in the document: what fits on a screen of 900 pixels, three times."""


@pytest.fixture(scope="module")
def crowd(report_of: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a process of thousands of regions."""
    return report_of(write_crowds(tmp_path_factory.mktemp("crowd") / "crowd.mmp", REGIONS))


@pytest.fixture
def opened(browser: Browser, crowd: Path) -> Generator[OpenPage]:
    """That report, open, the table of regions in focus."""
    with open_report(browser, crowd) as page:
        page.page.locator("#regions .grid").focus()
        yield page


def _rows_in_document(opened: OpenPage) -> list[int]:
    rows = opened.page.locator("#regions .grid-row").filter(visible=True)
    found: list[int] = rows.evaluate_all("rows => rows.map(row => Number(row.dataset.row))")
    return found


def _count(opened: OpenPage) -> int:
    return int(opened.page.get_attribute("#regions .grid", "aria-rowcount") or 0) - 1


def test_only_rows_in_sight_are_in_the_document(opened: OpenPage) -> None:
    """The document holds a screenful of rows, and says how many there are."""
    assert _count(opened) > REGIONS / 2
    assert len(_rows_in_document(opened)) <= IN_DOCUMENT
    assert opened.page.locator("#regions .grid-row").count() <= IN_DOCUMENT


def test_keys_reach_both_ends(opened: OpenPage) -> None:
    """End and Home select the last and the first row, bring it in sight and say which it is."""
    for key, row in (("End", _count(opened) - 1), ("Home", 0)):
        opened.page.keyboard.press(key)
        opened.page.wait_for_selector(f'#regions .grid-row[data-row="{row}"][aria-selected=true]')
        active = opened.page.get_attribute("#regions .grid", "aria-activedescendant")
        assert active == f"grid-regions-{row}"
        assert opened.page.locator(f"#{active}").is_visible()


def test_rows_stay_in_order_after_scrolling(opened: OpenPage) -> None:
    """Rows stand in the document as on the screen once scrolling has ended, whichever way it went."""
    for top in (4_000, 20_000, 1_500):
        opened.page.evaluate("top => { document.querySelector('#regions .grid').scrollTop = top; }", top)
        rows: list[int] = []
        for _ in range(40):  # scrolling has ended when a busy machine says so
            opened.page.wait_for_timeout(250)
            rows = _rows_in_document(opened)
            if rows[0] * 26 <= top <= rows[-1] * 26 and rows == sorted(rows):
                break
        assert rows == list(range(rows[0], rows[0] + len(rows)))
        assert rows[0] * 26 <= top <= rows[-1] * 26


def test_a_link_to_a_far_row_shows_it(browser: Browser, crowd: Path) -> None:
    """A link to an address opens the table at the row that holds it."""
    with open_report(browser, crowd) as opened:
        opened.page.locator("#regions .grid").focus()
        opened.page.keyboard.press("End")
        opened.page.wait_for_function("() => location.hash.includes('sel=')")
        link = opened.page.url
        chosen = opened.page.inner_text(".card h3")
    with open_report(browser, crowd, "#" + link.partition("#")[2]) as again:
        again.page.wait_for_selector("#regions .grid-row[aria-selected=true]")
        assert again.page.inner_text(".card h3") == chosen


def test_text_is_found_far_below(opened: OpenPage) -> None:
    """A text that only a row out of sight holds is found."""
    last = REGIONS // 6 - 1
    opened.page.keyboard.press("/")
    opened.page.keyboard.type(f"libpart-{last}.so")
    opened.wait("1 of", "#regions .count")
    assert len(_rows_in_document(opened)) == 1
