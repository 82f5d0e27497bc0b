"""Inputs of at most 1 MiB that were made to be slow or large: within 512 MiB and 10 s of processor."""

from __future__ import annotations

import gzip
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.mmp_builder import MmpBuilder, column, table
from support.mmp_command import run_program

_INPUT = 1 << 20
_MEMORY = 512 << 20
_PROCESSOR_S = 10
_PATIENCE_S = 600

TINY = b"0-1 ---p 0 0:0 0\n\n"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S))


def _fill(piece: bytes) -> bytes:
    return piece * (_INPUT // len(piece))


def _count_up(line: bytes) -> bytes:
    """Repeat a line that takes a start, an end and a number, as long as there is room."""

    def write() -> Iterator[bytes]:
        size = number = 0
        while size < _INPUT - 64:
            text = line % (number * 4096, number * 4096 + 4096, number)
            size, number = size + len(text), number + 1
            yield text

    return b"".join(write())


def _make_empty_snapshots() -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({})
    for _ in range(7000):
        builder.add_snapshot({}, capture=capture, pid=1, time_ns=1)
    builder.close()
    return builder.data[:_INPUT]


def _make_constant_tables() -> bytes:
    """A thousand tables of a million rows each, in 200 KB."""
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({})
    same = column("uint", "const", value=4096)
    regions = table({"start": same, "size": same}, 1 << 20)
    for _ in range(1000):
        builder.add_snapshot({"tables": {"regions": regions}}, capture=capture, pid=1, time_ns=1)
    builder.close()
    return builder.data


INPUTS: dict[str, Callable[[], bytes]] = {
    "50,000 maps of one byte": lambda: _fill(TINY),
    "20,000 maps with counters": lambda: _fill(TINY[:-1] + b"Rss: 4 kB\n\n"),
    "a roll-up after the other": lambda: _fill(b"0-1 ---p 0 0:0 0 [rollup]\nRss: 4 kB\n"),
    "ten million counters of one region": lambda: gzip.compress(TINY[:-1] + b"Rss: 4 kB\n" * (4 << 20)),
    "a key of its own for each region": lambda: _count_up(b"%x-%x r-xp 0 0:0 0\nK%d: 4 kB\n"),
    "regions that touch": lambda: _count_up(b"%x-%x r-xp 0 0:0 %d\n"),
    "empty snapshots": _make_empty_snapshots,
    "tables of a million equal rows": _make_constant_tables,
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_small_input_is_told_or_refused_in_time(name: str, tmp_path: Path) -> None:
    """`mmp info` answers, or refuses in one sentence: 20,000 tiny maps once took more than a minute."""
    path = tmp_path / "input"
    path.write_bytes(INPUTS[name]())
    assert path.stat().st_size <= _INPUT
    done = run_program("info", path, preexec_fn=_limit, timeout=_PATIENCE_S)
    assert done.returncode in (0, 3), done.stderr[-2000:]
    assert done.stderr.count(b"\n") <= 1 or done.returncode == 0
    assert b"a fault of ours" not in done.stderr
    assert done.returncode == 0 or done.stderr.startswith(b"mmp: ")
