"""Tables of several snapshots below each other, where a source had other types of the same column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from mmpscope.analysis.tables import stack
from support.mmp_command import run_mmp

BLOCK = b"%x-%x rw-p 00000000 00:00 0\nSize: %20d kB\nShades: %s\n"
"""No kernel prints Shades."""


@pytest.mark.parametrize("output", ["csv", "parquet", "jsonl", "txt", "arrow"])
def test_a_column_that_is_a_number_here_and_a_text_there_is_text(output: str, tmp_path: Path) -> None:
    """Found by fuzzing: of two maps in a text, one had a counter without its unit."""
    for name, value in (("a", b"%20d kB" % 4), ("b", b"fifty of grey")):
        (tmp_path / f"{name}.smaps").write_bytes(BLOCK % (0x10000, 0x11000, 4, value))
    path = tmp_path / f"out.{output}"
    answer = run_mmp("export", tmp_path / "a.smaps", tmp_path / "b.smaps", "-t", "regions", "-o", path)
    assert answer.code == 0, answer.err
    assert path.stat().st_size
    told = run_mmp("regions", "--flat", "--json", tmp_path / "a.smaps", tmp_path / "b.smaps")
    assert told.code == 0, told.err


def test_signed_and_unsigned_and_unknown_columns_lose_nothing() -> None:
    """Arrow alone makes floats of some pairs, and refuses others."""
    numbers, signed = pa.table({"x": pa.array([2**64 - 1], pa.uint64())}), pa.table({"x": pa.array([-1])})
    assert stack([numbers, signed])["x"].to_pylist() == ["18446744073709551615", "-1"]
    empty = pa.table({"x": pa.nulls(1)})
    assert stack([numbers, empty])["x"].to_pylist() == [2**64 - 1, None]
    assert stack([numbers, pa.table({"y": ["a"]})]).to_pylist() == [
        {"x": 2**64 - 1, "y": None},
        {"x": None, "y": "a"},
    ]
