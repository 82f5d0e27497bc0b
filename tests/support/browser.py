"""A real Chromium that opens report pages, off line, and notes whatever it has to say about them."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["OpenPage", "browse", "find_chromium", "open_report"]

_READY = "html[data-ready]"
_ARGUMENTS = ["--no-sandbox"]
"""Chromium refuses its sandbox to root, whom tests often are."""
_PATIENCE_MS = 30_000


@dataclass
class OpenPage:
    """A page that is open: lines of its console and its errors, and the addresses that it asked for."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that are in sight."""
        shown = self.page.locator(selector).filter(visible=True)
        return [text.strip() for text in shown.all_inner_texts()]

    def column(self, place: int, section: str = "regions") -> list[str]:
        """Return the texts of one column of the rows of a long table, from the top."""
        rows = self.page.locator(f"#{section} .grid-row").filter(visible=True)
        found = rows.evaluate_all(
            "(rows, place) => rows.map(row => [Number(row.dataset.row), row.children[place].textContent])",
            place,
        )
        return [text for _, text in sorted(found)]

    def wait(self, text: str, selector: str) -> None:
        """Wait until an element has a text, as it does once a choice has taken effect."""
        self.page.locator(selector).filter(has_text=text).first.wait_for(timeout=_PATIENCE_MS)


def find_chromium() -> str:
    """Return the path of Chromium; skips the test where it or Playwright is not installed."""
    pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("needs chromium")
    return found


@contextmanager
def browse() -> Generator[Browser]:
    """Run a Chromium until the end of the block."""
    path = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def open_report(
    browser: Browser, path: Path, fragment: str = "", *, width: int = 1280, scheme: str = "light"
) -> Generator[OpenPage]:
    """Open a report without a network, and wait until all of it is there."""
    dark: Literal["dark", "light"] = "dark" if scheme == "dark" else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=dark, offline=True, locale="en-US"
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(_PATIENCE_MS)
    opened = OpenPage(context.new_page())
    opened.page.on("console", lambda message: opened.messages.append(message.text))
    opened.page.on("pageerror", lambda error: opened.messages.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto(f"{path.as_uri()}{fragment}")
    opened.page.wait_for_selector(_READY, timeout=_PATIENCE_MS, state="attached")
    yield opened
    context.close()
