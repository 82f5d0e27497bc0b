"""Threads, modules, heaps, processes and definitions of a report, and its colours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mmpscope.analysis.schema import SUMMARY
from support.browser import OpenPage, open_report
from support.mmp_command import run_mmp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
KEYS = {"threads": "tid", "modules": "address", "heaps": "address", "processes": "pid"}


def _place_of(opened: OpenPage, section: str, title: str) -> int:
    heads = opened.texts(f"#{section} [role=columnheader]")
    return next(place for place, text in enumerate(heads) if text.split(" ")[0].lower() == title)


@pytest.mark.parametrize("name", KEYS)
def test_lists_are_those_of_the_command(browser: Browser, arenas: Path, name: str) -> None:
    """Each list has the rows of the command of its name, with its figures to the byte."""
    rows = json.loads(run_mmp(name, SAMPLES / "linux-arenas-v1.0.mmp", "--json").out)["rows"]
    with open_report(browser, arenas) as opened:
        keys = opened.column(_place_of(opened, name, KEYS[name]), name)
        place = _place_of(opened, name, "private")
        cells = opened.page.locator(f"#{name} .grid-row > :nth-child({place + 1})").filter(visible=True)
        exact = [cell.get_attribute("title") for cell in cells.all()]
    wanted = [row[KEYS[name]] for row in rows]
    assert [int(key, 16 if KEYS[name] == "address" else 10) for key in keys] == [
        int(key, 16) if isinstance(key, str) else key for key in wanted
    ]
    assert exact == ["not known" if row["private"] is None else f"{row['private']:,} bytes" for row in rows]


def test_a_thread_selects_its_stack(browser: Browser, arenas: Path) -> None:
    """A row of a list that has an address selects the allocation there."""
    with open_report(browser, arenas) as opened:
        opened.page.locator("#threads .grid-row").filter(visible=True).nth(1).click()
        opened.wait("Stack", ".card h3")
        assert "7f4a7d9a0000" in opened.page.inner_text(".card h3")


def test_a_list_that_is_not_known_says_why(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path
) -> None:
    """A source without threads has a sentence in place of the list."""
    path = tmp_path / "one.smaps"
    path.write_text("7f0000000000-7f0000010000 rw-p 00000000 00:00 0 \nSize: 64 kB\nRss: 8 kB\n")
    with open_report(browser, report_of(path)) as opened:
        assert len(opened.page.inner_text("#threads .note")) > len("Not known.")


def test_lists_find_and_sort_for_themselves(browser: Browser, arenas: Path) -> None:
    """The field of a list filters that list alone; its heads sort it."""
    with open_report(browser, arenas) as opened:
        regions = opened.page.inner_text("#regions .count")
        opened.page.get_by_label("Find in Modules").fill("libc.so")
        opened.wait("1 of 3 rows", "#modules .count")
        assert opened.texts("#modules mark") == ["libc.so"]
        assert opened.page.inner_text("#regions .count") == regions


def test_definitions_are_those_of_the_schema(browser: Browser, arenas: Path) -> None:
    """Every column of the summary is defined in the words of docs/metrics.md, and so are the heads."""
    with open_report(browser, arenas) as opened:
        opened.page.locator("#definitions summary", has_text="summary").first.click()
        opened.page.locator("#definitions dd").first.wait_for()
        assert opened.texts("#definitions dd") == [field.meaning for field in SUMMARY]
        private = opened.page.locator(".summary thead th", has_text="Private").first
        meaning = next(field.meaning for field in SUMMARY if field.name == "private")
        assert private.get_attribute("title") == meaning


def test_colours_follow_the_system_and_the_button(browser: Browser, arenas: Path) -> None:
    """A page is dark where the system is, and light or dark where a reader says so."""
    ask = "() => getComputedStyle(document.body).backgroundColor"
    with open_report(browser, arenas) as light, open_report(browser, arenas, scheme="dark") as dark:
        colours = [light.page.evaluate(ask), dark.page.evaluate(ask)]
        assert colours[0] != colours[1]
        dark.page.click("#bar .theme")
        assert dark.page.evaluate(ask) == colours[0]
        light.page.click("#bar .theme")
        light.page.click("#bar .theme")
        assert light.page.evaluate(ask) == colours[1]


def test_units_change_every_figure(browser: Browser, arenas: Path) -> None:
    """KiB and bytes are shown everywhere once they are chosen, and a link keeps that."""
    with open_report(browser, arenas, "#unit=bytes") as opened:
        assert opened.page.inner_text('.summary tr[data-type="Total"] [data-column="size"]') == "304,783,360"
        opened.page.select_option('select[aria-label="Units"]', "KiB")
        total = opened.page.locator('.summary tr[data-type="Total"] [data-column="size"]')
        assert total.inner_text() == "297,640"
