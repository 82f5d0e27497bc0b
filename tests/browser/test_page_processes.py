"""Reports of several processes: the head is about all, and choosing one changes all that is about one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import open_report
from support.leaks import Look, write_looks
from support.mmp_command import run_mmp
from support.pages import read_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
WORKERS = tuple(SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab")
LIMIT = 60_032 << 10
NEAR = "python (pid 1377): RLIMIT_AS is at 99.9% of its limit: 32 KiB left of 58.6 MiB"
FULL = "not in python (pid 1377): RLIMIT_AS, which allows 32 KiB"


def _look(pid: int, heap_kib: int, time_s: float, rlimit: int | None = None) -> Look:
    facts = (("status", {"VmSize": heap_kib << 10, "VmPTE": 0}),)
    return Look(
        time_s,
        heap_kib,
        rlimit=rlimit,
        facts=facts,
        pid=pid,
        started=pid,
        name="python",
        exe=f"/srv/{pid}",
    )


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two captures of three processes: one grows until its limit, one grows a little, one not at all."""
    folder = tmp_path_factory.mktemp("full")
    before = [_look(1377, 1000, 0, LIMIT), _look(1378, 1000, 0), _look(1379, 1000, 0)]
    after = [_look(1377, 60_000, 60, LIMIT), _look(1378, 3048, 60), _look(1379, 1000, 60)]
    return write_looks(folder / "a.mmp", before), write_looks(folder / "b.mmp", after)


def _ask(path: Path, count: int) -> list[str]:
    """Return what `mmp free --fits 200M` answers for each process of a capture."""
    told = [json.loads(run_mmp("free", f"{path}#{n}", "--fits", "200M", "--json").out) for n in range(count)]
    return [each["outcome"] for each in told]


@pytest.mark.parametrize("which", ["workers", "full"])
def test_room_is_answered_for_every_process(
    browser: Browser, report_of: Callable[..., Path], full: tuple[Path, Path], which: str
) -> None:
    """Page and block count the processes in which `mmp free --fits` finds room, and name those without."""
    files, count = (WORKERS, 7) if which == "workers" else (full, 3)
    outcomes = _ask(files[1], count)
    fits = outcomes.count("fits")
    many = f"all {count}" if fits == count else f"{fits} of {count}" if fits else f"none of {count}"
    markdown = run_mmp("report", *files, "--markdown").out.replace("\\", "")
    assert f"- room: 200 MiB fits in {many} processes" in markdown
    with open_report(browser, report_of(*files)) as opened:
        answer = opened.page.inner_text("#room .answer")
        assert f"200 MiB fits in {many} processes" in answer
        for text in (answer, markdown):
            assert (FULL in text) == ("does not fit" in outcomes)
        assert ("✓" in answer) == (fits == count)


def test_a_near_limit_is_told_whichever_process_is_shown(
    browser: Browser, report_of: Callable[..., Path], full: tuple[Path, Path]
) -> None:
    """The sentence on top names the process that is near its limit, and stays when another is chosen."""
    assert f"**{NEAR}**" in run_mmp("report", *full, "--markdown").out.replace("\\", "")
    page = report_of(*full)
    for fragment in ("", "#s=4", "#s=6"):
        with open_report(browser, page, fragment) as opened:
            assert opened.texts("#head .says") == [NEAR]


def test_it_opens_on_the_process_that_grew_most(full: tuple[Path, Path], tmp_path: Path) -> None:
    """By private memory; where nothing grew, on the process that is nearest a limit, and ties go by pid."""
    page = read_page(run_mmp("report", *full).out).page
    assert page["snapshots"][page["shown"]]["head"]["pid"] == 1377
    assert page["roles"] is not None
    assert page["roles"]["says"].endswith("most: python, pid 1377 (+57.6 MiB)")
    for limited, first in ((1378, 1378), (None, 1377)):
        looks = [_look(pid, 1000, 0, LIMIT if pid == limited else None) for pid in (1379, 1378, 1377)]
        later = [_look(pid, 1000, 60, LIMIT if pid == limited else None) for pid in (1379, 1378, 1377)]
        files = [write_looks(tmp_path / f"{limited}-{n}.mmp", each) for n, each in enumerate((looks, later))]
        page = read_page(run_mmp("report", *files).out).page
        assert page["snapshots"][page["shown"]]["head"]["pid"] == first


def test_choosing_another_process_changes_all_that_is_about_one(
    browser: Browser, report_of: Callable[..., Path], full: tuple[Path, Path]
) -> None:
    """A row of the processes changes title, head, comparison and timeline, and the link does the same."""
    name = "python (pid 1378)"
    with open_report(browser, report_of(*full)) as opened:
        opened.page.locator("#roles .grid-row", has_text="1378").first.click()
        opened.wait(name, "h1")
        opened.page.wait_for_function("() => location.hash.includes('s=')")
        fragment = opened.page.evaluate("location.hash")
        assert opened.messages == []
    with open_report(browser, report_of(*full), fragment) as opened:
        for place in ("h1", "#shown dd", "#changed .told", "#room .told", "#diff .says"):
            opened.wait(name, place)
        changed = opened.page.inner_text("#changed .told")
        assert changed.startswith(f"{name}: from 3 to 4: private +2 MiB (Heap +2 MiB)")
        chosen = opened.page.locator('#timeline select[aria-label="Process"] option:checked').inner_text()
        assert chosen == f"{name}, 2 snapshots"
        assert opened.messages == []


def test_pids_have_no_separators(
    browser: Browser, report_of: Callable[..., Path], full: tuple[Path, Path]
) -> None:
    """A pid is a name: on the page, in its plain tables and in the block it has no thousands separators."""
    assert "1,37" not in run_mmp("report", *full, "--markdown").out
    assert "1,37" not in read_page(run_mmp("report", *full).out).text
    with open_report(browser, report_of(*full)) as opened:
        assert "1378" in " ".join(opened.texts("#roles .grid-row"))
        assert "1,37" not in opened.page.inner_text("body")
