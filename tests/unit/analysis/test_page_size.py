"""The largest reports: a page that passes as an attachment, made in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.crowds import write_crowds
from support.mmp_command import PROGRAM
from support.pages import list_rows, read_page

_COUNT = 1_000
_MOST_BYTES = 6 << 20
_MOST_KIB = 600 << 10
"""Peak resident memory, in the unit of getrusage(2)."""


_MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""A small parent: the peak of a program begins with that of who started it (Linux, exec_mmap)."""


def _make(path: Path) -> tuple[str, int]:
    """Make the page of a file by the installed program; return it, and the peak of its memory in KiB."""
    page = path.with_suffix(".html")
    command = [sys.executable, "-c", _MEASURE, *map(str, (PROGRAM, "report", path, "-o", page))]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return page.read_text(), int(done.stdout)


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
