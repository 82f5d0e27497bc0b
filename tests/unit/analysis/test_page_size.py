"""Large reports: a page that passes as an attachment, made in bounded memory (whole sizes in benchmarks/)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crowds import write_crowds
from support.mmp_command import PROGRAM
from support.pages import list_rows, read_page

from benchmarks.commands import run_command

_COUNT = 90
_MOST_BYTES = 6 << 20
_MOST_PEAK = 600 << 20
"""Peak resident memory in bytes."""


def _make(path: Path, written: pytest.CaptureFixture[str]) -> tuple[str, int]:
    """Make the page of a file by the program, which says nothing; return it, and its peak in bytes."""
    page = path.with_suffix(".html")
    cost = run_command([str(PROGRAM), "report", str(path), "-o", str(page)])
    assert written.readouterr().err == ""
    return page.read_text(), cost.peak_bytes


def test_sixty_thousand_regions_are_listed_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A process near the default limit of mappings fits on a page with every region, in 600 MiB of memory."""
    html, peak = _make(write_crowds(tmp_path / "large.mmp", 60_000), capfd)
    assert len(html.encode()) <= _MOST_BYTES
    assert peak <= _MOST_PEAK
    lists = read_page(html).lists(0)
    assert len(list_rows(lists["regions"], lists["texts"])) == 60_002


def test_many_snapshots_keep_their_sums(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A long series of 2,000 regions each fits with the sums of all, the lists of many, and says so."""
    html, peak = _make(write_crowds(tmp_path / "series.mmp", 2_000, _COUNT), capfd)
    assert len(html.encode()) <= _MOST_BYTES
    assert peak <= _MOST_PEAK
    read = read_page(html)
    page = read.page
    kept = [each["id"] for each in page["snapshots"] if each["has_lists"]]
    assert len(page["timelines"][0]["snapshots"]) == _COUNT
    assert all(each["totals"]["private"] for each in page["snapshots"])
    assert {0, _COUNT - 1} <= set(kept)
    assert 20 < len(kept) < _COUNT
    assert f"{len(kept)} of {_COUNT:,} snapshots have their lists on this page" in read.text
