"""What a report prints: what is chosen, of which snapshot each section is, light, and all of the chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
WORKERS = tuple(SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab")
LEAK = SAMPLES / "linux-leak-v1.0.mmp"
SHEET = 720
"""What the chart may be wide before the sheet is known: in a real print no observer of sizes runs."""
SECTIONS = ("summary", "map", "regions", "limits", "threads", "modules", "heaps", "processes")
"""Those that are about one snapshot."""
PICTURE = "document.querySelector('#timeline canvas').toDataURL()"
NOTE_STROKES = """() => {
  const pen = CanvasRenderingContext2D.prototype;
  const { beginPath, lineTo, stroke, fillText } = pen;
  window.drawn = { lines: [], texts: [] };
  let points = [];
  pen.beginPath = function () { points = []; beginPath.call(this); };
  pen.lineTo = function (x, y) { points.push([x, y]); lineTo.call(this, x, y); };
  pen.stroke = function (...path) {
    drawn.lines.push({ dash: this.getLineDash().join(), points });
    stroke.apply(this, path);
  };
  pen.fillText = function (text, x, y) {
    drawn.texts.push({ text, x, y, width: this.measureText(text).width });
    fillText.call(this, text, x, y);
  };
  dispatchEvent(new Event("themechange"));
  return new Promise(resolve => requestAnimationFrame(() => setTimeout(() => resolve(drawn))));
}"""


def wait_for_all(opened: OpenPage) -> None:
    """Wait for what is mounted last, after the chart, and for the comparison, or that there is none."""
    for last in ("#definitions details", "#diff .tools + div > *"):
        opened.page.wait_for_selector(last, state="attached")


@contextmanager
def print_report(
    browser: Browser, path: Path, fragment: str = "", *, width: int = 700, scheme: str = "light"
) -> Iterator[OpenPage]:
    """Open a report as it is printed on a sheet of that width; the window is a wide one until then."""
    with open_report(browser, path, fragment, scheme=scheme) as opened:
        wait_for_all(opened)
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": width, "height": 900})
        yield opened


@pytest.fixture(scope="session")
def leak(report_of: Callable[..., Path]) -> Path:
    """The report of a series that grows."""
    return report_of(LEAK)


def test_every_section_is_of_the_snapshot_that_is_chosen(
    browser: Browser, report_of: Callable[..., Path]
) -> None:
    """Of several processes another one is chosen: paper has it throughout, and says so at each heading."""
    path = report_of(*WORKERS)
    for number in (1, 3):
        with open_report(browser, path, f"#s={number}&sort=-committed") as opened:
            regions = [address.lstrip("▸▾▶▼ ") for address in opened.column(0)]
            name = opened.page.inner_text("h1").partition(" on ")[0]
        with print_report(browser, path, f"#s={number}") as opened:
            for section in SECTIONS:
                (told,) = opened.texts(f"#{section} > .whose")
                assert told.startswith(f"{name}, snapshot {number} of "), section
                assert ".mmp#" in told
            printed = opened.texts("#regions .paper td:first-child")
            assert len(printed) > 5
            assert printed[:10] == regions[:10]
            assert name in opened.texts("#diff > .whose")[0]
            assert opened.texts(".fallback td") == opened.texts("#roles .fallback td")


def test_a_comparison_names_both_ends_and_is_the_chosen_one(browser: Browser, leak: Path) -> None:
    """Two others than the page opens with: their numbers, times and totals."""
    for fragment in ("", "#diff=2-4"):
        with open_report(browser, leak, fragment) as opened:
            totals = opened.texts("#diff tr[data-metric=private] td.number")
        with print_report(browser, leak, fragment) as opened:
            (told,) = opened.texts("#diff > .whose")
            assert opened.texts("#diff tr[data-metric=private] td.number") == totals
            first, last = told.removeprefix("From ").split(" to ")
            if fragment:
                assert ("snapshot 2 of" in first, "snapshot 4 of" in last) == (True, True)
            for end in (first, last):
                assert all(part in end for part in ("(pid ", ".mmp#", " UTC")), end


def test_what_changed_most_tells_addresses_and_no_raw_heads(browser: Browser, pair: Path) -> None:
    """The printed list has the columns of the one on the screen; a column that says nothing is left off."""
    with print_report(browser, pair) as opened:
        table = "#diff .paper table.plain"
        heads = opened.texts(f"{table} th")
        assert {"Change", "Type", "Private", "Address"} <= set(heads)
        assert "Unit" not in heads
        assert not any(head.startswith(("After:", "Before:")) for head in heads)
        place = heads.index("Address") + 1
        assert "300012340000" in opened.texts(f"{table} td:nth-child({place})")


def test_what_is_filtered_is_filtered_on_paper(browser: Browser, pair: Path) -> None:
    """Regions of the type that is chosen, and a word about it; of Free, the holes."""
    with print_report(browser, pair, "#type=Heap") as opened:
        assert opened.texts("#regions .paper caption") == ["Largest allocations, with Heap"]
        assert set(opened.texts("#regions .paper td:nth-child(2)")) == {"Heap"}
    with print_report(browser, pair, "#type=Free") as opened:
        assert set(opened.texts("#regions .paper td:nth-child(2)")) == {"Free"}


@pytest.mark.parametrize("width", [794, 718, 500])
def test_the_whole_chart_is_on_the_sheet(browser: Browser, leak: Path, width: int) -> None:
    """A4 without margins, with those of 1 cm, and a small sheet: the picture fits, with its last moment."""
    with print_report(browser, leak, width=width) as opened:
        box = opened.page.locator("#timeline canvas").bounding_box()
        assert box is not None
        assert box["width"] > width * 0.9
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        clipped = "each => each.scrollWidth > each.clientWidth + 1"
        assert not opened.page.locator("#timeline .chart").evaluate(clipped)
        last = opened.page.locator('select[aria-label="Snapshot"] option').last.text_content()
        assert last is not None
        assert last.partition(": ")[2] in opened.texts("#timeline > .whose")[0]


def test_paper_is_light_and_the_screen_is_as_before(browser: Browser, leak: Path) -> None:
    """From a dark page, by choice or by the system, the same is printed as from a light one."""
    with print_report(browser, leak) as opened:
        light = opened.page.evaluate(PICTURE)
    with open_report(browser, leak, scheme="dark") as opened:
        page = opened.page
        wait_for_all(opened)
        dark = page.evaluate(PICTURE)
        for theme in ("auto", "dark"):
            page.evaluate(
                "theme => { document.documentElement.dataset.theme = theme;"
                " dispatchEvent(new Event('beforeprint')); }",
                theme,
            )
            page.emulate_media(media="print", color_scheme="dark")
            assert page.evaluate(PICTURE) == light
            assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
            page.emulate_media(media="screen", color_scheme="dark")
            page.evaluate("dispatchEvent(new Event('afterprint'))")
            assert page.evaluate("document.documentElement.dataset.theme") == theme
            assert page.evaluate(PICTURE) == dark
            assert page.locator(".paper").count() == 0


def test_a_dark_page_prints_dark_ink_without_the_event(browser: Browser, leak: Path) -> None:
    """A theme that a reader chose does not reach the paper."""
    with open_report(browser, leak) as opened:
        opened.page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"


def test_headings_stay_with_what_they_head(browser: Browser, pair: Path) -> None:
    """No heading ends a page, no row is parted, and a sheet has margins of its own."""
    with print_report(browser, pair) as opened:
        style = "(all, name) => [...new Set(all.map(each => getComputedStyle(each)[name]))]"
        heads = opened.page.locator("h2, .whose, .paper caption, thead, #diff .about").filter(visible=True)
        assert heads.evaluate_all(style, "breakAfter") == ["avoid"]
        rows = opened.page.locator("tr, .whose").filter(visible=True)
        assert rows.evaluate_all(style, "breakInside") == ["avoid"]
        margins = (
            "() => [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])"
            ".filter(rule => rule instanceof CSSPageRule).map(rule => rule.style.margin)"
        )
        assert opened.page.evaluate(margins) == ["12mm"]


def test_paper_without_scripts_names_what_it_is_of(pair: Path) -> None:
    """The document itself tells it, for who prints with scripts off."""
    text = pair.read_text("utf-8")
    assert '<p class="whose">reserve_commit (pid 5), snapshot 2 of 2, ' in text
    assert '<p class="whose">From reserve_commit (pid 5), snapshot 1 of 2, ' in text


def test_the_verdict_is_clear_of_its_line(browser: Browser, leak: Path) -> None:
    """Where the line is steep, as on a narrow screen, its label lies above or below all of it."""
    with open_report(browser, leak, width=400) as opened:
        wait_for_all(opened)
        drawn: dict[str, Any] = opened.page.evaluate(NOTE_STROKES)
        (line,) = (each["points"] for each in drawn["lines"] if each["dash"] == "6,4")
        (label,) = (each for each in drawn["texts"] if each["text"].endswith("/h"))
        (left, start), (right, end) = line[0], line[-1]
        sides = (label["x"] - label["width"] / 2, label["x"] + label["width"] / 2)
        heights = [start + (end - start) * (side - left) / (right - left) for side in sides]
        assert max(heights) < label["y"] - 6 or min(heights) > label["y"] + 6
