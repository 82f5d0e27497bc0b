"""Reports as assistive tools meet them: axe-core finds nothing that is serious or critical."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
PAGES = {
    "windows": ["windows-wow64-v1.0.mmp"],
    "series": ["linux-leak-v1.0.mmp"],
    "pair": ["linux-reserve-commit-a-v1.0.mmp", "linux-reserve-commit-b-v1.0.mmp"],
}
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which the policy of a page would not load as a script."""
    package = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    return (Path(str(package.__path__[0])) / "axe.min.js").read_text("utf-8")


def _list_findings(opened: OpenPage, axe: str, *rules: str) -> list[tuple[str, str, str]]:
    """Ask axe-core for grave findings, of all rules or of some: rule, element, and what is wrong."""
    opened.page.evaluate(axe)
    how = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    answer: dict[str, Any] = opened.page.evaluate("how => axe.run(document, how)", how)
    assert answer["passes"]
    return [
        (found["id"], str(node["target"]), node["failureSummary"])
        for found in answer["violations"]
        if found["impact"] in GRAVE
        for node in found["nodes"]
    ]


def _unfold(opened: OpenPage) -> None:
    """Show all that a page has, with a region and a type chosen."""
    opened.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    opened.page.locator("#regions .grid-row").filter(visible=True).first.click()
    opened.page.click('.summary tr[data-type="Image"] button')
    opened.page.wait_for_selector("#bar .chip")


@pytest.mark.parametrize("names", PAGES.values(), ids=PAGES)
def test_a_page_has_no_grave_finding(
    browser: Browser, report_of: Callable[..., Path], axe: str, names: list[str]
) -> None:
    """A report with all of it unfolded, and with something chosen."""
    with open_report(browser, report_of(*(SAMPLES / name for name in names))) as opened:
        _unfold(opened)
        assert _list_findings(opened, axe) == []


@pytest.mark.parametrize("names", [PAGES["pair"]], ids=["pair"])
def test_a_dark_page_has_no_pale_text(
    browser: Browser, report_of: Callable[..., Path], axe: str, names: list[str]
) -> None:
    """The dark scheme has other colours, and nothing else."""
    with open_report(browser, report_of(*(SAMPLES / name for name in names)), scheme="dark") as opened:
        _unfold(opened)
        assert _list_findings(opened, axe, "color-contrast") == []


def test_a_narrow_page_has_no_grave_finding(
    browser: Browser, report_of: Callable[..., Path], axe: str
) -> None:
    """A report as it opens on a telephone."""
    with open_report(browser, report_of(SAMPLES / PAGES["series"][0]), width=400) as opened:
        assert _list_findings(opened, axe) == []


def test_what_is_wrong_is_found(browser: Browser, pair: Path, axe: str) -> None:
    """A button without a name and pale text are findings, so that finding none says something."""
    with open_report(browser, pair) as opened:
        opened.page.evaluate("document.querySelector('#bar').append(document.createElement('button'))")
        opened.page.evaluate("document.querySelector('h1').style.color = '#ddd'")
        assert {rule for rule, _, _ in _list_findings(opened, axe)} >= {"button-name", "color-contrast"}
