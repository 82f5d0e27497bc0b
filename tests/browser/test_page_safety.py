"""Reports in a browser: they load nothing, say nothing on the console, and names are text on them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.proc.reader import snapshot_from_text
from support.browser import open_report
from support.smaps_text import Block, MapLine, make_block

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
CHOICES = (
    "",
    "#s=1&type=Heap&all=1&free=1",
    "#find=lib&sort=-size&unit=bytes",
    "#diff=9-0&s=999&sel=zz&type=%00",
)
NAMES = (
    b"/srv/</script><b id=acted>bold</b>",
    b"/srv/<img src=x onerror=document.title='acted'>",
    b"javascript:document.title='acted'",
    "/srv/\u202egpj.exe".encode(),
    b"/srv/" + b"x" * 5_000,
    b"/srv/\xff\xfe\x1b[31m",
    b"=HYPERLINK(1)\there",
)


@pytest.mark.parametrize(
    ("sample", "width"),
    list(zip(sorted(SAMPLES.glob("*.mmp")), cycle((1280, 400)), strict=False)),
    ids=lambda value: str(getattr(value, "stem", value)),
)
def test_samples_open_in_silence(
    browser: Browser, report_of: Callable[..., Path], sample: Path, width: int
) -> None:
    """A report of each sample opens off line with no message and no request, and fits the width."""
    path = report_of(sample)
    with open_report(browser, path, width=width, scheme="dark" if width == 400 else "light") as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        opened.page.locator("#regions .grid-row").filter(visible=True).first.click()
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert (opened.messages, opened.requests) == ([], [path.as_uri()])


@pytest.mark.parametrize("fragment", CHOICES)
def test_any_fragment_opens_in_silence(browser: Browser, pair: Path, fragment: str) -> None:
    """Choices in the address, sensible or not, show a page with rows and without a message."""
    with open_report(browser, pair, fragment) as opened:
        assert opened.texts(".summary tbody tr")
        assert opened.messages == []


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_are_text(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path, name: bytes
) -> None:
    """A name that is markup, a script, a formula, endless or no text is shown as text, and copied as text."""
    line = MapLine(0x7F00_0000_0000, 0x7F00_0001_0000, b"rw-p", 0, (8, 1), 9, name.replace(b"\t", b"\\011"))
    text = make_block(Block(line, {"Rss": 8, "Private_Dirty": 8, "Anonymous": 8}))
    path = tmp_path / "hostile.mmp"
    write_file(path, [snapshot_from_text(text)])
    with open_report(browser, report_of(path)) as opened:
        opened.page.locator("#regions .grid-row").filter(visible=True).first.click()
        shown = opened.page.inner_text(".card .path")
        assert shown.startswith(name.decode("utf-8", "backslashreplace")[:5])
        opened.page.locator("#regions").get_by_role("button", name="Copy table").click()
        opened.wait("Copied 1 row", "#message")
        copied = opened.page.evaluate("navigator.clipboard.readText()")
        assert len(copied.splitlines()) == 2
        assert "\t=" not in copied
        assert opened.page.locator("#acted, section img, section b b").count() == 0
        assert opened.page.title() != "acted"
        assert opened.messages == []


def test_scripts_from_elsewhere_do_not_run(browser: Browser, arenas: Path) -> None:
    """The policy of a page stops an inline script, an event attribute and an image of the network."""
    with open_report(browser, arenas) as opened:
        opened.page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title='acted'\">"
            "<script>document.title='acted'</script><img src='https://example.org/a.png'>`)"
        )
        opened.page.wait_for_timeout(200)
        assert opened.page.title() != "acted"
        assert all("Content Security Policy" in message for message in opened.messages)
        assert opened.messages


def test_main_tables_are_there_without_scripts(browser: Browser, arenas: Path) -> None:
    """With scripts off a page still has its summary and its largest allocations as tables."""
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(arenas.as_uri())
    assert "38,524" in page.inner_text("#summary") or "37.6 MiB" in page.inner_text("#summary")
    assert page.locator("#regions table tbody tr").count() > 5
    context.close()
