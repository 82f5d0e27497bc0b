"""Reading a file whole: no more memory than it has bytes, and no more bytes than the limit."""

from __future__ import annotations

import io
import time
import tracemalloc
from pathlib import Path

import pytest
from mmpscope.formats.errors import LimitError
from mmpscope.formats.proc.source_text import normalize
from mmpscope.formats.whole import read_whole


def test_all_from_the_place_on_is_read() -> None:
    """Not more, and nothing before it."""
    stream = io.BytesIO(b"head and text")
    stream.seek(5)
    assert read_whole(stream) == b"and text"


def test_a_small_file_costs_little_memory(tmp_path: Path) -> None:
    """`read(n)` of Python sets n bytes aside before it reads, which would be the limit: a gigabyte."""
    path = tmp_path / "x"
    path.write_bytes(b"text")
    tracemalloc.start()
    with path.open("rb") as stream:
        assert read_whole(stream) == b"text"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_more_than_the_limit_is_not_read() -> None:
    """The sentence names both."""
    with pytest.raises(LimitError, match="a text of 2,097,153 bytes; 2 MiB is the limit"):
        read_whole(io.BytesIO(bytes((2 << 20) + 1)), most=2 << 20)


def test_line_ends_without_lines_are_told_at_once() -> None:
    """A megabyte of CR is one step for each byte, and not one for each pair."""
    started = time.process_time()
    assert normalize(b"\r" * (1 << 20)).text == b"\n" * (1 << 20)
    assert normalize(b"\r" * (1 << 20) + b"\n").form == {"newline": "\r" * (1 << 20) + "\n"}
    assert time.process_time() - started < 10
