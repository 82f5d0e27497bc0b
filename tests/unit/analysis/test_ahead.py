"""Snapshots that are read some at a time, and inputs of too many for their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.ahead import classify_ahead, read_batches
from mmpscope.analysis.density import LEAST_BYTES, MOST_UNCHOSEN, refuse_crowd
from mmpscope.analysis.loading import InputFile, open_file
from mmpscope.analysis.summary import summarize
from mmpscope.formats.errors import LimitError
from support.smaps_text import make_text

MAP = b"1000-2000 rw-p 00000000 00:00 0 \n\n"


def _write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def test_snapshots_read_ahead_are_those_read_alone(tmp_path: Path) -> None:
    """In the same order, with the same types and sums; one that cannot be read says so itself."""
    paths = [_write(tmp_path / f"{n:02}.smaps", make_text(40 + n)) for n in range(30)]
    together = [(each.label, summarize(each).to_pylist()) for each in classify_ahead(load(*paths))]
    alone = [(each.label, summarize(each).to_pylist()) for each in load(*paths)]
    assert together == alone


def test_few_are_open_at_once(tmp_path: Path) -> None:
    """Each may be a file of its own, and a process may have 24 of them."""
    paths = [_write(tmp_path / f"{n:02}.smaps", make_text(2)) for n in range(30)]
    sizes = [len(batch.snapshots) for batch in read_batches(load(*paths))]
    assert sum(sizes) == 30
    assert max(sizes) <= 12


@pytest.mark.parametrize(
    ("count", "padding", "choice", "is_refused"),
    [
        (MOST_UNCHOSEN, 0, None, False),
        (MOST_UNCHOSEN + 1, 0, None, True),
        (MOST_UNCHOSEN + 1, 0, "#0:", False),
        (MOST_UNCHOSEN + 1, (MOST_UNCHOSEN + 1) * LEAST_BYTES, None, False),
    ],
)
def test_an_input_may_have_one_snapshot_for_each_4_kib(
    tmp_path: Path, count: int, padding: int, choice: str | None, *, is_refused: bool
) -> None:
    """Or 250 of a smaller one, unless they were chosen; the sentence says how."""
    lines = b"".join(b"%x-%x r--p 0 0:0 0 \n" % (at << 12, (at + 1) << 12) for at in range(1, padding // 24))
    path = _write(tmp_path / "many.maps", MAP * (count - 1) + lines + MAP)
    opened = open_file(InputFile(path, {}, choice, is_named=True))
    if not is_refused:
        refuse_crowd(opened)
        return
    with pytest.raises(LimitError, match=f"{path}#0:"):
        refuse_crowd(opened)
