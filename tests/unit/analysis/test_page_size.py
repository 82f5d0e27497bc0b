"""The largest reports: a page that passes as an attachment, made in bounded memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.crowds import write_crowds
from support.mmp_command import PROGRAM
from support.pages import list_rows, read_page

_COUNT = 1_000
_MOST_BYTES = 6 << 20
_MOST_KIB = 600 << 10
"""Peak resident memory, in the unit of getrusage(2)."""


def _make(path: Path) -> tuple[str, int]:
    """Make the page of a file by the installed program; return it, and the peak of its memory in KiB."""
    page = path.with_suffix(".html")
    process = subprocess.Popen([PROGRAM, "report", path, "-o", page], stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    assert process.stderr is not None
    with process.stderr:
        assert (os.waitstatus_to_exitcode(status), process.stderr.read()) == (0, b"")
    process.returncode = 0
    return page.read_text(), usage.ru_maxrss


def test_sixty_thousand_regions_are_listed_whole(tmp_path: Path) -> None:
    """A process near the default limit of mappings fits on a page with every region, in 600 MiB of memory."""
    html, peak = _make(write_crowds(tmp_path / "large.mmp", 60_000))
    assert len(html.encode()) <= _MOST_BYTES
    assert peak <= _MOST_KIB
    lists = read_page(html).lists(0)
    assert len(list_rows(lists["regions"], lists["texts"])) == 60_002


def test_a_thousand_snapshots_keep_their_sums(tmp_path: Path) -> None:
    """A long series of 2,000 regions each fits with the sums of all, the lists of many, and says so."""
    html, peak = _make(write_crowds(tmp_path / "series.mmp", 2_000, _COUNT))
    assert len(html.encode()) <= _MOST_BYTES
    assert peak <= _MOST_KIB
    read = read_page(html)
    page = read.page
    kept = [each["id"] for each in page["snapshots"] if each["has_lists"]]
    assert len(page["timelines"][0]["snapshots"]) == _COUNT
    assert all(each["totals"]["private"] for each in page["snapshots"])
    assert {0, _COUNT - 1} <= set(kept)
    assert len(kept) > 20
    assert f"{len(kept)} of {_COUNT:,} snapshots have their lists on this page" in read.text
