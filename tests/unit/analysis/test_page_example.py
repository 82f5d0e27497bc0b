"""The example of a report in docs/: one that this version makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.mmp_command import run_mmp
from support.pages import list_rows, read_page

ROOT = Path(__file__).parents[3]
SAMPLE = "samples/linux-leak-v1.0.mmp"
EXAMPLE = ROOT / "docs" / "examples" / "leak.html"

pytest.importorskip("scipy", reason="needs the extra stats")


def test_the_example_tells_what_is_told_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/examples/leak.html is of this version, and its figures and sentences are those of today.

    Bytes are not compared: they depend on the zlib at hand.
    """
    monkeypatch.chdir(ROOT)
    kept, made = read_page(EXAMPLE.read_text()), read_page(run_mmp("report", SAMPLE).out)
    old_page, new_page = dict(kept.page), dict(made.page)
    for name in ("version", "made", "title", "says", "snapshots", "timelines", "diffs"):
        assert old_page[name] == new_page[name]
    assert kept.raw == made.raw  # scripts and styles
    assert kept.blocks.keys() == made.blocks.keys()
    for lists in zip(*((page.lists(n) for n in range(20)) for page in (kept, made)), strict=True):
        old, new = (list_rows(each["regions"], each["texts"]) for each in lists)
        assert old == new
