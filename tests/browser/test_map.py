"""The map of the address space on a report: to scale, zoomed, walked through, and equal to `mmp free`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report
from support.mmp_command import run_mmp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
WOW64 = SAMPLES / "windows-wow64-v1.0.mmp"
FRAGMENTED = SAMPLES / "linux-fragmented-v1.0.mmp"
TO = "\N{EN DASH}"
ROWS, LABEL, BLOCK = 6, 17, 17 + 32 + 5
"""Rows of a wide map, and pixels: of the address above a row, and from one row to the next."""


def _ask(*words: object) -> dict[str, Any]:
    """Return the answer of a command as JSON."""
    document: dict[str, Any] = json.loads(run_mmp(*words, "--json").out)
    return document


def _canvas(opened: OpenPage) -> Locator:
    return opened.page.locator("#map canvas[tabindex]")


def _told(opened: OpenPage) -> str:
    """Return what the map says of the place that is pointed at."""
    return opened.page.locator("#map .map-readout").inner_text()


def _point(opened: OpenPage, part: float) -> None:
    """Put the pointer on a part of the line that is in sight: 0 is its start, 1 its end."""
    x, y = _find_point(opened, part)
    opened.page.mouse.move(x, y)


def _find_point(opened: OpenPage, part: float) -> tuple[float, float]:
    canvas = _canvas(opened)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    row = int(part * ROWS)
    return box["x"] + (part * ROWS - row) * box["width"], box["y"] + row * BLOCK + LABEL + 10


@contextmanager
def _open(browser: Browser, path: Path, fragment: str = "", width: int = 1280) -> Iterator[OpenPage]:
    """Open a page, wait until the map is painted, and find its console empty at the end."""
    with open_report(browser, path, fragment, width=width) as opened:
        opened.page.wait_for_selector("#map .map[data-painted]")
        yield opened
        assert opened.messages == []


def _wait_for_view(opened: OpenPage) -> tuple[int, int]:
    """Wait until the addresses in sight are in the fragment of the address, and return them."""
    opened.page.wait_for_function("() => /map=\\w+\\./.test(location.hash)")
    found = opened.page.evaluate("() => /map=\\w+\\.([0-9a-f]+)-([0-9a-f]+)/.exec(location.hash).slice(1)")
    return int(found[0], 16), int(found[1], 16)


@pytest.fixture
def wow64(report_of: Callable[..., Path]) -> Path:
    """The report of a 32-bit program."""
    return report_of(WOW64)


@pytest.fixture
def fragmented(report_of: Callable[..., Path]) -> Path:
    """The report of a 64-bit program that reserves almost all of its address space."""
    return report_of(FRAGMENTED)


def test_a_32_bit_space_is_drawn_to_scale(browser: Browser, wow64: Path) -> None:
    """Where a hole of `mmp free` lies by its address, there the map has it, with its exact size."""
    answer = _ask("free", WOW64, "-n", 0)
    window = next(each for each in answer["windows"] if each["window"] == "usable range")
    low, size = int(window["low"], 16), window["size"]
    largest = sorted(
        (each for each in answer["rows"] if each["type"] == "Free"), key=lambda each: -each["size"]
    )
    with _open(browser, wow64) as opened:
        for hole in largest[:2]:
            middle = int(hole["address"], 16) + hole["size"] / 2
            _point(opened, (middle - low) / size)
            start, end = int(hole["address"], 16), int(hole["end"], 16)
            assert f"{start:x} {TO} {end:x}" in _told(opened)
            assert f"{hole['size']:,} bytes" in _told(opened)


def test_arrow_keys_go_through_all_regions_and_holes(browser: Browser, wow64: Path) -> None:
    """From Home on, each step right is the next region or hole of the commands, none left out."""
    rows = _ask("regions", WOW64, "-n", 0)["rows"] + _ask("free", WOW64, "-n", 0)["rows"]
    rows.sort(key=lambda row: int(row["address"], 16))
    with _open(browser, wow64) as opened:
        _canvas(opened).focus()
        opened.page.keyboard.press("Home")
        for row in rows:
            start = int(row["address"], 16)
            assert f"{row['type']} {start:x} {TO} {start + row['size']:x}" in _told(opened)
            opened.page.keyboard.press("ArrowRight")


def test_a_region_beyond_2_53_keeps_its_last_digit(browser: Browser, fragmented: Path) -> None:
    """The page of vsyscall, whose address no floating-point number holds, is told exactly."""
    with _open(browser, fragmented) as opened:
        _canvas(opened).focus()
        opened.page.keyboard.press("End")
        assert f"ffffffffff600000 {TO} ffffffffff601000" in _told(opened)


def test_neighbours_are_told(browser: Browser, wow64: Path) -> None:
    """Of a hole the map says what lies below and above it."""
    with _open(browser, wow64, "#sel=104f0000") as opened:
        opened.wait("below: Unusable, 8 KiB", "#map .map-readout")
        opened.wait("above: Private Data, 510.0 MiB", "#map .map-readout")


def test_empty_stretches_are_folded_in_a_64_bit_space(browser: Browser, fragmented: Path) -> None:
    """Holes of 1 to 20 MiB can be pointed at although 128 TiB lie around them."""
    holes = [row for row in _ask("free", FRAGMENTED, "-n", 0)["rows"] if row["size"] >= 1 << 20]
    with _open(browser, fragmented) as opened:
        _canvas(opened).scroll_into_view_if_needed()
        box = _canvas(opened).bounding_box()
        assert box is not None
        told = ""
        for step in range(40 * ROWS):
            row, part = divmod(step / 40, 1)
            opened.page.mouse.move(box["x"] + part * box["width"], box["y"] + row * BLOCK + LABEL + 10)
            told += _told(opened)
        assert len(holes) > 5
        assert [row["size"] for row in holes if f"{int(row['address'], 16):x} {TO} " not in told] == []


def test_the_wheel_zooms_about_the_pointer_once_the_map_was_clicked(browser: Browser, wow64: Path) -> None:
    """Before a click the wheel scrolls the page; after it the address below the pointer stays where it is."""
    with _open(browser, wow64) as opened:
        x, y = _find_point(opened, 0.4)
        opened.page.mouse.move(x, y)
        before = opened.page.evaluate("() => scrollY")
        opened.page.mouse.wheel(0, 40)
        opened.page.wait_for_function("before => scrollY > before", arg=before)
        x, y = _find_point(opened, 0.4)
        opened.page.mouse.click(x, y)
        place = opened.page.evaluate("() => scrollY")
        for _ in range(6):
            opened.page.mouse.wheel(0, -200)
        low, high = _wait_for_view(opened)
        assert opened.page.evaluate("() => scrollY") == place
        assert high - low < 0x7FFF0000 / 4
        assert abs(low + (high - low) * 0.4 - 0x7FFF0000 * 0.4) < (high - low) * 0.02


def test_a_drag_pans_along_the_line(browser: Browser, wow64: Path) -> None:
    """Dragged by half a row to the left, the map moves on by half of what one row shows."""
    with _open(browser, wow64, "#map=w0.10000000-20000000") as opened:
        (x, y), row = _find_point(opened, 0.1), 0x10000000 / ROWS
        box = _canvas(opened).bounding_box()
        assert box is not None
        opened.page.mouse.move(x, y)
        opened.page.mouse.down()
        opened.page.mouse.move(x - box["width"] / 4, y)
        opened.page.mouse.move(x - box["width"] / 2, y)
        opened.page.mouse.up()
        opened.page.wait_for_function("() => !location.hash.includes('10000000')")
        low, high = _wait_for_view(opened)
        assert abs(low - (0x10000000 + row / 2)) < row * 0.01
        assert abs(high - low - 0x10000000) < 4096


def test_keys_zoom_and_show_all(browser: Browser, wow64: Path) -> None:
    """Plus halves what is in sight, 0 shows all again and takes the view out of the link."""
    with _open(browser, wow64) as opened:
        _canvas(opened).focus()
        opened.page.keyboard.press("+")
        low, high = _wait_for_view(opened)
        assert abs(high - low - 0x7FFF0000 / 2) < 4096
        opened.page.keyboard.press("0")
        opened.page.wait_for_function("() => !location.hash.includes('map=')")


def test_windows_are_those_of_the_command(browser: Browser, fragmented: Path) -> None:
    """Every window of `mmp free` can be chosen, and its figures are told exactly."""
    windows = _ask("free", FRAGMENTED)["windows"]
    with _open(browser, fragmented) as opened:
        choice = opened.page.get_by_label("Which part of the address space")
        assert [text.split(",")[0].lower() for text in choice.locator("option").all_inner_texts()[1:]] == [
            each["window"].lower() for each in windows
        ]
        for number, each in enumerate(windows):
            choice.select_option(f"w{number}")
            figures = opened.page.locator("#map .about").first
            opened.wait(f"{each['window'][1:]}:", "#map .about")
            titles = figures.locator("b").evaluate_all("all => all.map(each => each.title)")
            wanted = [each["free"], each["largest"], each["mapped"]]
            assert titles[:3] == [f"{size:,} bytes" for size in wanted]


def test_holes_and_splitters_are_those_of_the_command(browser: Browser, fragmented: Path) -> None:
    """The panels beside the map list the largest holes, and what splits them, as `mmp free` does."""
    answer = _ask("free", FRAGMENTED, "-n", 0)
    holes = sorted((row for row in answer["rows"] if row["type"] == "Free"), key=lambda row: -row["size"])
    with _open(browser, fragmented) as opened:
        panels = opened.page.locator("#map .panel")
        assert _list_titles(panels.nth(0)) == [f"{row['size']:,} bytes" for row in holes[:8]]
        splitters = answer["splitters"][:8]
        wanted = [f"{row[name]:,} bytes" for row in splitters for name in ("size", "gain", "merged")]
        assert _list_titles(panels.nth(1)) == wanted
        curve = panels.nth(2).get_by_role("img").get_attribute("aria-label") or ""
        for row in answer["requests"]:
            if row["window"] == "usable range":
                assert f"{row['unusable_index']:.3f}" in curve


def test_a_window_lists_the_holes_that_it_counts(browser: Browser, report_of: Callable[..., Path]) -> None:
    """In the window around the program, as many holes are listed as its figures count, cut ones included."""
    path = SAMPLES / "linux-java-v1.0.mmp"
    window = next(row for row in _ask("free", path)["windows"] if row["window"].startswith("within"))
    with _open(browser, report_of(path), "#map=w2") as opened:
        opened.wait(f"free in {window['holes']} holes", "#map .about")
        assert opened.page.locator("#map .panel").first.locator("tbody tr").count() == window["holes"]


def _list_titles(panel: Locator) -> list[str]:
    found: list[str] = panel.locator("td.number").evaluate_all("all => all.map(each => each.title)")
    return found


def test_a_hole_that_is_clicked_is_selected_and_in_sight(browser: Browser, wow64: Path) -> None:
    """A click on a hole of the list selects it for the whole page, and brings it into sight on the map."""
    with _open(browser, wow64) as opened:
        opened.page.locator("#map .panel").first.get_by_role("button", name="104f0000").click()
        low, high = _wait_for_view(opened)
        assert low < 0x104F0000
        assert high > 0x20000000
        opened.wait("Hole, Free", "#regions .card")


def test_a_typed_address_or_range_is_shown(browser: Browser, wow64: Path) -> None:
    """An address selects what holds it, a range is exactly what is in sight, nonsense is refused."""
    with _open(browser, wow64) as opened:
        field = opened.page.get_by_label("Go to an address")
        field.fill("0x10000123")
        field.press("Enter")
        opened.wait(f"10000000 {TO} 10001000", "#map .map-readout")
        field.fill("10000000-10800000")
        field.press("Enter")
        opened.page.wait_for_function("() => location.hash.includes('map=w0.10000000-10800000')")
        field.fill("heap")
        field.press("Enter")
        opened.wait("An address is hex digits", "#message")


def test_a_chosen_type_stands_out(browser: Browser, wow64: Path) -> None:
    """With a type chosen, pixels of the others are faint: the full colour of images is gone from the map."""
    pink = "[204, 121, 167]"
    count = (
        "() => { const canvas = document.querySelector('#map canvas'); let found = 0;"
        " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " for (let at = 0; at < data.length; at += 4)"
        f" found += {pink}.every((part, place) => data[at + place] === part); return found; }}"
    )
    with _open(browser, wow64) as opened:
        assert opened.page.evaluate(count) > 500
    with _open(browser, wow64, "#type=Stack") as opened:
        assert opened.page.evaluate(count) == 0


def test_a_narrow_screen_holds_the_map(browser: Browser, wow64: Path) -> None:
    """At 400 pixels nothing runs over the side, and the map has more rows."""
    with _open(browser, wow64, width=400) as opened:
        assert opened.page.evaluate("() => document.documentElement.scrollWidth") == 400
        box = _canvas(opened).bounding_box()
        assert box is not None
        assert box["height"] == 9 * BLOCK


def test_both_maps_of_a_comparison_stand_on_one_line(browser: Browser, pair: Path) -> None:
    """The marks are the ranges of `mmp diff`; the same place is in both maps, and each side tells its own."""
    files = [SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab"]
    new = [row for row in _ask("diff", *files, "-n", 0)["ranges"] if row["word"] == "new"]
    with open_report(browser, pair) as opened:
        opened.wait(f"{len(new)} new (+)", ".map-pair .about")
        canvas = opened.page.locator(".map-pair canvas[tabindex]")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + LABEL + 8)
        assert "Before: " in opened.texts(".map-pair .map-readout")[0]
        opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + LABEL + 22 + 12 + 8)
        told = opened.texts(".map-pair .map-readout")[0]
        assert "After: " in told
        assert f"Private Data 300012340000 {TO} 300013340000 16.0 MiB" in told
        assert opened.messages == []
