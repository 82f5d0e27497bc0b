"""The benchmarks themselves: ratios and limits are reckoned right. CI measures all of them (`--quick`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.figures import Figure, render_markdown, render_table

ROOT = Path(__file__).parents[2]


def test_a_figure_holds_up_to_its_limit() -> None:
    """A ratio equal to the limit holds, one above it does not, and one without limit always does."""
    assert Figure("ours", 4.0, "peer", 1.0, "s", 4.0).holds
    assert not Figure("ours", 4.1, "peer", 1.0, "s", 4.0).holds
    assert Figure("ours", 9.0, "peer", 1.0, "s").holds


def test_the_table_has_ratio_limit_and_verdict() -> None:
    """Each row names both sides with units, their ratio, the limit and whether it is kept."""
    table = render_table(
        [Figure("size", 50, "gzip", 200, "bytes", 0.2), Figure("wall", 0.3, "cat", 0.1, "s", 4)]
    )
    size, wall = (line.split() for line in table.splitlines()[1:])
    assert size == ["size", "50", "gzip", "200", "0.25", "0.2", "MISSED"]
    assert wall == ["wall", "0.300", "s", "cat", "0.100", "s", "3", "4", "holds"]


def test_markdown_names_the_command_that_wrote_it() -> None:
    """Whoever reads the document can print it again."""
    text = render_markdown([Figure("size", 50, "gzip", 200, "bytes", 0.2)])
    assert "python -m benchmarks --markdown" in text
    assert text.count("\n|") == 3


@pytest.mark.real
def test_stalls_can_be_measured() -> None:
    """Each source has a row of six cells, and holding the process is told with its time."""
    command = [sys.executable, "-m", "benchmarks.stall", "--mappings", "50", "--resident", "8", "--runs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 8
    assert all(row.count("|") == 8 for row in rows)
    assert "all threads held for" in rows[-1]
