"""What a reader does with a report: filter, sort, find, open, select, copy, and send a link to it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report
from support.mmp_command import run_mmp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
ARENAS = SAMPLES / "linux-arenas-v1.0.mmp"
ADDRESS, TYPE, SIZE = range(3)


def _ask(*words: object) -> dict[str, Any]:
    """Return the answer of a command as JSON."""
    document: dict[str, Any] = json.loads(run_mmp(*words, "--json").out)
    return document


def _rows(opened: OpenPage) -> int:
    return opened.page.locator("#regions .grid-row").filter(visible=True).count()


def _find(opened: OpenPage, text: str) -> None:
    opened.page.fill("#find", text)
    opened.page.wait_for_function(
        "text => new URLSearchParams(location.hash.slice(1)).get('find') === (text || null)", arg=text
    )


def test_summary_has_the_figures_of_the_command(browser: Browser, arenas: Path) -> None:
    """Every figure of the summary on a page is that of `mmp summary --json`, to the byte."""
    with open_report(browser, arenas) as opened:
        for row in _ask("summary", ARENAS)["rows"]:
            place = opened.page.locator(f'.summary tr[data-type="{row["type"]}"]')
            for column in ("size", "committed", "private", "total_ws", "shareable_ws", "shared_ws"):
                title = place.locator(f'[data-column="{column}"]').get_attribute("title")
                assert title == f"{row[column]:,} byte{'s' * (row[column] != 1)}"


def test_rows_are_the_allocations_of_the_command(browser: Browser, arenas: Path) -> None:
    """Addresses and exact sizes of the rows are those of the regions' allocations, by address."""
    sizes: dict[str, int] = {}
    for region in _ask("regions", ARENAS)["rows"]:
        address = f"{int(region['allocation'], 16):x}"
        sizes[address] = sizes.get(address, 0) + region["size"]
    with open_report(browser, arenas) as opened:
        cells = opened.page.locator(f"#regions .grid-row > :nth-child({SIZE + 1})").filter(visible=True)
        shown = opened.column(ADDRESS)
        assert [text.lstrip("▸") for text in shown] == list(sizes)
        titles = cells.evaluate_all("all => all.map(c => [Number(c.parentElement.dataset.row), c.title])")
        assert [title for _, title in sorted(titles)] == [f"{size:,} bytes" for size in sizes.values()]


def test_a_type_filters_the_page(browser: Browser, arenas: Path) -> None:
    """Pressing a type shows its allocations alone, says so in the bar, and pressing it again ends that."""
    with open_report(browser, arenas) as opened:
        everything = _rows(opened)
        opened.page.click('.summary tr[data-type="Heap"] button')
        opened.wait("Heap", "#bar .chip")
        assert set(opened.column(TYPE)) == {"H Heap"}
        assert opened.page.get_attribute('.summary tr[data-type="Heap"] button', "aria-pressed") == "true"
        opened.page.click('.summary tr[data-type="Heap"] button')
        opened.page.wait_for_selector("#bar .chip", state="hidden")
        assert _rows(opened) == everything


def test_a_part_of_a_bar_filters_too(browser: Browser, arenas: Path) -> None:
    """The parts of the bars are buttons that filter by their type, from the keyboard as well."""
    with open_report(browser, arenas) as opened:
        part = opened.page.locator('.bar[aria-label="Committed by type"] .t-stack')
        part.focus()
        opened.page.keyboard.press("Enter")
        opened.wait("Stack", "#bar .chip")
        assert set(opened.column(TYPE)) == {"K Stack"}
        opened.page.keyboard.press("Escape")
        opened.page.wait_for_selector("#bar .chip", state="hidden")


def test_every_column_sorts(browser: Browser, arenas: Path) -> None:
    """Pressing a head sorts numbers downwards, pressing it again upwards, each time by exact values."""
    with open_report(browser, arenas, "#all=1") as opened:
        heads = opened.page.locator("#regions [role=columnheader] button")
        for place in range(heads.count()):
            heads.nth(place).click()
            order = opened.page.locator("#regions [role=columnheader]").nth(place).get_attribute("aria-sort")
            assert order in ("ascending", "descending")
        opened.page.locator("#regions [role=columnheader] button", has_text="Size").first.click()
        falling = opened.page.evaluate(
            "[...document.querySelectorAll('#regions .grid-row:not([hidden])')]"
            ".sort((a, b) => a.dataset.row - b.dataset.row)"
            ".map(row => Number(row.children[2].title.replace(/\\D/g, '')))"
        )
        assert falling == sorted(falling, reverse=True)
        assert len(set(falling)) > 1


def test_text_is_found_in_sub_blocks(browser: Browser, arenas: Path) -> None:
    """A text that only a region has shows its allocation with that region, marked; no other row."""
    with open_report(browser, arenas) as opened:
        _find(opened, ".bss")
        rows = opened.page.locator("#regions .grid-row").filter(visible=True)
        levels = rows.evaluate_all("rows => rows.map(row => row.dataset.level)")
        assert levels == ["1", "2"] * (len(levels) // 2)
        assert set(opened.texts('#regions .grid-row[data-level="2"] mark')) == {".bss"}
        assert opened.texts('#regions .grid-row[data-level="1"] mark') == []


def test_an_address_finds_the_region_that_holds_it(browser: Browser, arenas: Path) -> None:
    """An address inside a region finds that region, though no column shows it."""
    with open_report(browser, arenas) as opened:
        _find(opened, "0x7f4a68000abc")
        assert [text.lstrip("▸") for text in opened.column(ADDRESS)][:1] == ["7f4a68000000"]
        assert set(opened.column(TYPE)) == {"H Heap"}


def test_allocations_open_into_their_regions(browser: Browser, arenas: Path) -> None:
    """The sign, the right arrow and the button open allocations; the left arrow closes one."""
    with open_report(browser, arenas) as opened:
        closed = _rows(opened)
        opened.page.locator("#regions .twist").first.click()
        assert _rows(opened) == closed + 6
        first = opened.page.locator("#regions .grid-row[aria-expanded=true]")
        assert first.count() == 1
        opened.page.locator("#regions .grid").focus()
        opened.page.keyboard.press("ArrowLeft")
        assert _rows(opened) == closed
        opened.page.keyboard.press("ArrowRight")
        assert opened.page.locator('#regions .grid-row[data-level="2"]').filter(visible=True).count() == 6
        opened.page.get_by_role("button", name="Open all").click()
        parts = Counter(row["allocation"] for row in _ask("regions", ARENAS)["rows"]).values()
        rows = 1 + len(parts) + sum(count for count in parts if count > 1)
        assert opened.page.get_attribute("#regions .grid", "aria-rowcount") == str(rows)


def test_free_rows_are_the_holes_of_the_command(browser: Browser, arenas: Path) -> None:
    """Show free adds each hole of `mmp free` as a row, in its place by address."""
    holes = [f"{int(row['address'], 16):x}" for row in _ask("free", ARENAS)["rows"]]
    with open_report(browser, arenas) as opened:
        opened.page.get_by_label("Show free").check()
        rows = zip(opened.column(ADDRESS), opened.column(TYPE), strict=True)
        assert [address for address, kind in rows if kind.endswith(" Free")] == holes


def test_a_link_restores_what_was_chosen(browser: Browser, arenas: Path) -> None:
    """The address of a page after some choices opens the same view in another window."""
    with open_report(browser, arenas) as opened:
        opened.page.click('.summary tr[data-type="Stack"] button')
        _find(opened, "tid")
        opened.page.locator("#regions [role=columnheader] button", has_text="Size").first.click()
        opened.page.locator("#regions .grid-row").filter(visible=True).first.click()
        opened.page.wait_for_function("() => location.hash.includes('sel=')")
        link, card = opened.page.url, opened.page.inner_text(".card h3")
        rows = opened.column(ADDRESS)
    with open_report(browser, arenas, "#" + link.partition("#")[2]) as again:
        assert again.column(ADDRESS) == rows
        assert again.page.inner_text(".card h3") == card
        assert again.page.input_value("#find") == "tid"
        assert again.page.inner_text("#bar .chip").endswith("Stack ✕")


def test_addresses_and_tables_are_copied_exactly(browser: Browser, arenas: Path) -> None:
    """The copy of a table has a line a row with exact bytes and whole addresses; c copies an address."""
    with open_report(browser, arenas, "#type=Heap") as opened:
        opened.page.locator("#regions .grid-row").filter(visible=True).first.click()
        opened.page.locator("#regions .grid").focus()
        opened.page.keyboard.press("c")
        opened.wait("Copied", "#message")
        assert opened.page.evaluate("navigator.clipboard.readText()") == "0x5635f7f9f000"
        opened.page.locator("#regions").get_by_role("button", name="Copy table").click()
        opened.wait("5 rows", "#message")
        head, *lines = opened.page.evaluate("navigator.clipboard.readText()").splitlines()
    assert len(lines) == len([row for row in _ask("heaps", ARENAS)["rows"] if row["type"] == "Heap"])
    names = head.split("\t")
    found = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
    assert [row["address"] for row in found][:2] == ["0x00005635f7f9f000", "0x00007f4a68000000"]
    assert found[1]["size"] == str(65_536 * 1024)
    assert found[1]["row"] == "allocation"


def test_the_pair_has_the_changes_of_the_command(browser: Browser, pair: Path) -> None:
    """Totals of a comparison on a page are those of `mmp diff --json`, to the byte."""
    sides = [SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab"]
    with open_report(browser, pair) as opened:
        for row in _ask("diff", *sides)["totals"]:
            place = opened.page.locator(f'#diff tr[data-metric="{row["metric"]}"] td')
            if place.count() and row["delta"]:
                assert place.nth(2).get_attribute("title") == f"{row['delta']:+,} bytes"
        assert opened.texts("#movers .grid-row")[0].startswith("+ new")


def test_another_snapshot_loads_into_every_view(browser: Browser, pair: Path) -> None:
    """Choosing a snapshot, by the list or by a key, shows its figures, its regions and its threads."""
    with open_report(browser, pair) as opened:
        assert opened.page.inner_text("#threads .count") == "2 rows"
        opened.page.select_option('select[aria-label="Snapshot"]', "0")
        opened.wait("1 row", "#threads .count")
        assert opened.page.inner_text("#regions .count").startswith("13 allocations")
        opened.page.keyboard.press("]")
        opened.wait("2 rows", "#threads .count")


def test_two_snapshots_without_a_comparison_are_compared(
    browser: Browser, report_of: Callable[..., Path]
) -> None:
    """Of a series any two are compared on the page: totals, types and allocations, and sums hold."""
    series = SAMPLES / "linux-leak-v1.0.mmp"
    with open_report(browser, report_of(series), "#diff=1-10") as opened:
        [row] = [
            row for row in _ask("diff", f"{series}#0", f"{series}#9")["totals"] if row["metric"] == "private"
        ]
        title = opened.page.locator('#diff tr[data-metric="private"] td').nth(2).get_attribute("title")
        assert title == f"{row['delta']:+,} bytes"
        rows = opened.texts("#movers .grid-row")
        assert [text.split()[1] for text in rows] == ["grown", "grown"]
        assert ["Heap" in rows[0], "Page Table" in rows[1]] == [True, True]
