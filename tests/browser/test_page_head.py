"""The first screen of a report: one sentence, what changed, and whether there is room for a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import OpenPage, open_report
from support.mmp_command import run_mmp
from support.tight import write_tight

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"
PAIR = tuple(SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab")
WORKERS = tuple(SAMPLES / f"linux-workers-{side}-v1.0.mmp" for side in "ab")
SCREEN = 800
"""Pixels of the first screen, in height."""


def _ask_room(opened: OpenPage, size: str) -> str:
    opened.page.fill("#room input", size)
    opened.page.wait_for_function(
        "size => new URLSearchParams(location.hash.slice(1)).get('room') === size", arg=size
    )
    return opened.page.inner_text("#room .answer")


def _is_on_first_screen(opened: OpenPage, selector: str) -> bool:
    box = opened.page.locator(selector).first.bounding_box()
    return box is not None and box["y"] + box["height"] < SCREEN


def test_the_first_screen_answers_what_grew_and_if_there_is_room(browser: Browser, pair: Path) -> None:
    """Total, top mover and room for 200 MiB are in sight without a click, as the commands tell them."""
    diff: dict[str, Any] = json.loads(run_mmp("diff", *PAIR, "--json").out)
    [grown] = [row["delta"] for row in diff["totals"] if row["metric"] == "private"]
    mover = diff["rows"][0]
    told: dict[str, Any] = json.loads(run_mmp("free", PAIR[1], "--fits", "200M", "--json").out)
    with open_report(browser, pair) as opened:
        assert opened.page.locator("#head .says").count() == 1
        assert f"grew by {grown >> 20} MiB" in opened.page.inner_text("#head .says")
        changed = opened.page.inner_text("#changed")
        assert f"{mover['word']} {mover['type_b']}".lower() in changed.lower()
        assert f"{int(mover['address_b'], 16):x} +{mover['private_delta'] >> 20} MiB" in changed
        assert opened.page.input_value("#room input") == "200 MiB"
        assert opened.page.inner_text("#room .answer") == f"✓ 200 MiB {told['outcome']}"
        assert f"a larger one does not ({told['binding']}: " in opened.page.inner_text("#room .told")
        for place in ("#head .says", "#changed", "#room"):
            assert _is_on_first_screen(opened, place)


@pytest.mark.parametrize("size", ["1K", "251 MiB", "252M", "0x10000000", "1.5G", "20480k"])
def test_room_for_what_is_typed_is_that_of_the_command(
    browser: Browser, report_of: Callable[..., Path], size: str
) -> None:
    """A size that a reader types is answered as `mmp free --fits` answers it, to the last page."""
    path = SAMPLES / "windows-wow64-v1.0.mmp"
    told = json.loads(run_mmp("free", path, "--fits", size.replace(" ", ""), "--json").out)
    with open_report(browser, report_of(path)) as opened:
        answer = _ask_room(opened, size)
        assert told["outcome"] in answer
        assert told["binding"] in (
            opened.page.inner_text("#room .told") if told["outcome"] == "fits" else answer
        )


@pytest.mark.parametrize("is_tight", [True, False])
def test_what_stops_a_request_stands_once(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path, is_tight: bool
) -> None:
    """On top where there is next to no room, else in the line of the room; no answer says it again."""
    path = write_tight(tmp_path / "tight.mmp") if is_tight else SAMPLES / "linux-arenas-v1.0.mmp"
    reason = "limit 28 MiB, VmSize 8 MiB" if is_tight else "vm.overcommit_memory is 0"
    with open_report(browser, report_of(path)) as opened:
        assert reason in opened.page.inner_text("#head .says" if is_tight else "#room .told")
        for size, mark in (("1M", "✓"), ("99T", "✗")):
            assert _ask_room(opened, size).startswith(mark)
            head = opened.page.inner_text("#head")
            assert (head.count("ne request of up to"), head.count(reason)) == (1, 1)
        assert opened.messages == []


def test_what_is_no_size_is_told_so(browser: Browser, pair: Path) -> None:
    """Text that is no size, and a request beyond all there is, get a sentence in place of an answer."""
    with open_report(browser, pair) as opened:
        assert "write a size" in _ask_room(opened, "many <b>")
        assert "8 EiB" in _ask_room(opened, "99999999T")
        assert opened.messages == []


def test_the_answer_repeats_what_was_understood(browser: Browser, pair: Path) -> None:
    """A number without a unit is bytes, and the answer says so."""
    with open_report(browser, pair) as opened:
        assert _ask_room(opened, "200") == "✓ 200 bytes fit"
        assert _ask_room(opened, "1.5G") == "✓ 1.5 GiB fits"


def test_what_a_link_asks_for_and_nobody_has_is_told(browser: Browser, pair: Path) -> None:
    """A type and a unit that there are not are ignored, with one note on the first screen."""
    with open_report(browser, pair, "#type=Nope&unit=parsec") as opened:
        [note] = [text for text in opened.texts("#head .note") if "Nope" in text]
        assert "parsec" in note
        assert _is_on_first_screen(opened, "#head .note")
        assert opened.texts(".chip") == []
        assert opened.page.input_value('select[aria-label="Units"]') == "auto"


def test_the_head_names_all_that_grew(browser: Browser, pair: Path) -> None:
    """Private, committed, working set and reserved memory, each with its types, as `mmp diff` has them."""
    rows = {row["type"]: row for row in json.loads(run_mmp("diff", *PAIR, "--json").out)["types"]}
    mib = {name: rows["Mapped File"][f"{name}_delta"] >> 20 for name in ("total_ws",)}
    reserved = (rows["Total"]["size_delta"] - rows["Total"]["committed_delta"]) >> 20
    with open_report(browser, pair) as opened:
        changed = opened.page.inner_text("#changed")
        assert f"Mapped File +{mib['total_ws']} MiB" in changed
        assert f"reserved +{reserved} MiB (Private Data +{reserved} MiB)" in changed
        assert "committed +25 MiB (Shareable +8 MiB)" in changed


def test_what_is_given_twice_is_told(pair: Path, tmp_path: Path) -> None:
    """The same file given twice counts once, and the page says so in one line."""
    text = run_mmp("report", PAIR[0], PAIR[0], "--markdown").out
    assert "1 snapshot given twice: each counts once" in text


def test_a_link_keeps_the_request(browser: Browser, pair: Path) -> None:
    """The size that was asked about is in the address, and answered where it is opened."""
    with open_report(browser, pair, "#room=48T") as opened:
        assert opened.page.input_value("#room input") == "48T"
        assert "does not fit" in opened.page.inner_text("#room .answer")


def test_another_snapshot_has_its_own_sentence(browser: Browser, pair: Path) -> None:
    """One sentence stands on top, and it is about the snapshot that is shown."""
    with open_report(browser, pair, "#s=1") as opened:
        assert opened.texts("#head .says") == ["Private memory is 4.6 MiB, 87% of it Heap"]


def test_several_processes_are_compared_by_role(browser: Browser, report_of: Callable[..., Path]) -> None:
    """Two captures of several processes show the roles of `mmp diff`, and each snapshot has a name."""
    told: dict[str, Any] = json.loads(run_mmp("diff", *WORKERS, "--json").out)
    with open_report(browser, report_of(*WORKERS)) as opened:
        assert opened.page.inner_text("#head .says").startswith("5 processes before and 7 after")
        rows = opened.texts("#roles .grid-row")
        assert len(rows) == len(told["rows"]) + 1
        assert all(row["name"] in text for row, text in zip(told["rows"], rows, strict=False))
        choices = opened.page.locator('select[aria-label="Snapshot"] option').all_inner_texts()
        assert "worker (26), linux-workers-b-v1.0.mmp#6" in choices[-1]
        opened.page.locator("#roles .grid-row", has_text="workers").first.click()
        opened.wait("workers (pid 20)", "h1")
        assert opened.messages == []


def test_a_snapshot_without_regions_says_so(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path
) -> None:
    """A kernel thread, which has no map, leaves no part half made: each says that there is nothing."""
    path = tmp_path / "kernel.smaps"
    path.write_text("")
    with open_report(browser, report_of(path)) as opened:
        assert "nothing to draw" in opened.page.inner_text("#map")
        assert opened.texts("#summary .note") == ["No figure of its memory is known."]
        assert opened.messages == []
