"""Small things that would mislead: sums of a part, escapes in names, rows that say nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.proc.reader import snapshot_from_text
from support.browser import open_report
from support.leaks import make_looks, write_looks
from support.smaps_text import Block, MapLine, make_block

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.real

SAMPLES = Path(__file__).parents[2] / "samples"


def _write(path: Path, name: bytes) -> Path:
    line = MapLine(0x7F00_0000_0000, 0x7F00_0010_0000, b"rw-p", 0, (8, 1), 9, name)
    text = make_block(Block(line, {"Rss": 8, "Private_Dirty": 8, "Anonymous": 8}))
    write_file(path, [snapshot_from_text(text)])
    return path


def test_a_sum_of_a_part_has_its_sign_everywhere(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path
) -> None:
    """Where page tables are not known, bar, total and sentence say at least; an unknown does not."""
    with open_report(browser, report_of(_write(tmp_path / "part.mmp", b"/srv/part"))) as opened:
        bar = opened.page.locator(".bar-row b").nth(1).inner_text()
        cell = opened.page.inner_text('.summary tr[data-type="Total"] [data-column="private"]')
        assert bar == cell
        assert bar.startswith("≥ ")
        assert "is at least" in opened.page.inner_text("#head .says")
        assert "≥ ?" not in opened.page.inner_text("#summary")


def test_an_escape_in_a_name_parts_no_path(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path
) -> None:
    """The backslash of an escape is no separator of Windows: the last part of the name is all of it."""
    path = _write(tmp_path / "escape.mmp", "/srv/\u202egpj.exe".encode())
    with open_report(browser, report_of(path)) as opened:
        between = opened.texts("#map .panel td.text")
        assert any("\\u202egpj.exe" in text for text in between)


def test_rows_that_say_nothing_are_counted(browser: Browser, pair: Path) -> None:
    """Changes of which no shown figure moved are a line below the list, until all columns are asked for."""
    with open_report(browser, pair) as opened:
        rows = opened.texts("#movers .grid-row")
        assert rows
        assert not [text for text in rows if text.startswith("≠") and "MiB" not in text and "KiB" not in text]
        told = opened.page.locator("#diff .note", has_text="changed only in figures").inner_text()
        hidden = int(told.split()[0])
        opened.page.get_by_label("All columns").first.check()
        opened.page.wait_for_function("() => location.hash.includes('all=1')")
        opened.page.wait_for_function(
            "count => document.querySelectorAll('#movers .grid-row:not([hidden])').length === count",
            arg=len(rows) + hidden,
        )


def test_another_snapshot_ticks_nothing(browser: Browser, pair: Path) -> None:
    """Where what is selected is free in another snapshot, holes are not listed unasked."""
    with open_report(browser, pair, "#sel=300012340000") as opened:
        opened.page.select_option('select[aria-label="Snapshot"]', "0")
        opened.wait("1 row", "#threads .count")
        assert not opened.page.get_by_label("Show free").is_checked()


def test_limits_of_the_whole_system_are_not_drawn(
    browser: Browser, report_of: Callable[..., Path], tmp_path: Path
) -> None:
    """RLIMIT_AS bounds the address space: beside private memory it is neither drawn nor told."""
    looks = make_looks(range(8 << 10, 20 << 10, 1 << 10), rlimit=48 << 20)
    path = report_of(write_looks(tmp_path / "limited.mmp", looks))
    red = (
        "() => { const canvas = document.querySelector('.uplot canvas'); let found = 0;"
        " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " for (let at = 0; at < data.length; at += 4)"
        " found += [179, 38, 30].every((part, place) => data[at + place] === part); return found; }"
    )
    with open_report(browser, path, "#time=private") as opened:
        opened.page.wait_for_selector(".timeline[data-painted=private] .u-over")
        assert opened.page.evaluate(red) == 0
        assert not any("limit" in text for text in opened.texts("#timeline .note"))
