"""Lists that are laid out a part at a time read as if they were laid out at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.listing import limit_rows, nest_regions
from mmpscope.analysis.loading import load
from mmpscope.analysis.reporters import cells
from mmpscope.analysis.reporters.list_report import report_list
from mmpscope.analysis.reporters.regions_report import report_regions
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.snapshot import LoadedSnapshot

SAMPLES = Path(__file__).parents[3] / "samples"
_SCREENS = [Screen(width, verbose=verbose) for width in (40, 80, 160, None) for verbose in (False, True)]


def _report(snapshot: LoadedSnapshot, kind: str, limit: int) -> Report:
    if kind != "regions":
        return report_list(snapshot, kind, *limit_rows(getattr(snapshot, kind), limit))
    shown, rest = limit_rows(list_allocations(snapshot), limit)
    return report_regions(snapshot, lambda: shown, lambda: nest_regions(shown, snapshot.regions), rest)


@pytest.mark.parametrize("kind", ["regions", "modules", "threads"])
@pytest.mark.parametrize("limit", [0, 7])
@pytest.mark.parametrize("size", [1, 5, 7])
def test_parts_read_as_the_whole(kind: str, limit: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any width: columns that go, marks, notes, and the row that stands for the rest."""
    for name in ("linux-java-v1.0.mmp", "windows-wow64-v1.0.mmp"):
        [snapshot] = load(SAMPLES / name)
        report = _report(snapshot, kind, limit)
        whole = [list(report.draw(screen)) for screen in _SCREENS]
        with monkeypatch.context() as patched:
            patched.setattr(cells, "_PART", size)
            assert [list(report.draw(screen)) for screen in _SCREENS] == whole
