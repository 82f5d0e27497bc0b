"""What a benchmark yields, and how the table of ratios is printed; it measures nothing itself."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

__all__ = ["Figure", "Options", "render_markdown", "render_table"]


@dataclass(frozen=True)
class Options:
    """How to run: ``quick`` takes tiny inputs and one run, so that its ratios prove only that the code works.

    ``folder`` takes temporary files, ``corpus`` is where real smaps files are, None without them.
    """

    folder: Path
    corpus: Path | None
    quick: bool = False

    @property
    def runs(self) -> int:
        """Return how often each command is run for its median."""
        return 1 if self.quick else 7


@dataclass(frozen=True)
class Figure:
    """One ratio, ours to theirs, both in ``unit``: s (seconds, wall), bytes or MiB.

    ``limit`` is the most that the ratio may be; None where the ratio is only for comparison.
    """

    name: str
    ours: float
    peer: str
    theirs: float
    unit: str
    limit: float | None = None
    note: str = field(default="")

    @property
    def ratio(self) -> float:
        """Return ours / theirs."""
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        """Whether the ratio is within its limit, or has none."""
        return self.limit is None or self.ratio <= self.limit


_HEADINGS = ("figure", "ours", "peer", "theirs", "ratio", "at most", "")


def _show(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value:,.0f}"
    return f"{value:.3f} {unit}" if value < 10 else f"{value:.1f} {unit}"


def _make_row(figure: Figure) -> tuple[str, ...]:
    limit = "" if figure.limit is None else f"{figure.limit:.3g}"
    verdict = "" if figure.limit is None else "holds" if figure.holds else "MISSED"
    ours, theirs = _show(figure.ours, figure.unit), _show(figure.theirs, figure.unit)
    return figure.name, ours, figure.peer, theirs, f"{figure.ratio:.3g}", limit, verdict


def _align(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    left = {0, 2, 6}
    return [
        tuple(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def render_table(figures: list[Figure]) -> str:
    """Lay the figures out for a terminal, notes below."""
    rows = _align([_HEADINGS, *map(_make_row, figures)])
    notes = [f"{figure.name}: {figure.note}" for figure in figures if figure.note]
    return "\n".join(["  ".join(row).rstrip() for row in rows] + (["", *notes] if notes else [])) + "\n"


_PREAMBLE = """\
# Benchmarks

Ratios against named peers, each pair measured in one run on one machine, commands alternating, medians.
Written by

    python -m benchmarks --markdown docs/benchmarks.md

on {day}, Linux {kernel}, {machine}, Python {python}. Times are that machine's; the ratios are what counts.

- Commands are whole processes, wall time. They look at one process of about 33,000 mappings of mixed rights
  and names (`benchmarks/mapper.c`): 1 to 512 pages each, up to 64 of them touched, so that 97 of 100 counter
  blocks differ.
- Load and diff are calls within one process, on 1,000,000 regions: those of that process, repeated at other
  addresses with other counters. "Into Arrow" is every stored column; classification comes on top of it. For
  the diff one region in a hundred is changed; both snapshots are loaded before, and the join is of all raw
  columns.
- The mapper was made less random once, after its file sizes had been seen (offsets, advice, gaps); with the
  mapper from before that and an early encoder the `.mmp` was 37 % of gzip; with that mapper and the encoder
  of 2026-11-29 it was 17.3 % (215,360 of 1,241,530 bytes, one run by hand).
- The join that diff is compared with is a full outer join of all raw columns. A join of the start columns
  alone is many times faster (0.06 to 0.3 s seen), and against that the limit of 3 is missed.
- Text is read within one process: the regions of the mapper, repeated, as their kernel prints them. Opening
  parses all of it; its table is encoded when the snapshot is asked for. Splitting is `bytes.splitlines`.
- Small files carry a fixed part (header, facts of the system, index), which is why they have no limit.
- Many files are captures of two Python programs, varied by a fixed seed; one in 50 has regions of its own.
  The floor reads, decompresses and unpacks every table and forgets it, in one process; commands are whole
  processes. "Processors" is the time of processors of all processes of a command. That every file is a row
  of the answer is checked. The loop of pandas is measured on 200 files: CSV as `mmp export -t regions` writes
  it, with all its columns, read by plain `read_csv`; sums of eight figures by type, the largest hole and the
  count of mappings of each file, put below each other. It takes about 14 times what the floor takes: 20 times
  faster would be faster than the floor itself, and is out of reach.
- The series is the mapper with 2,000 mappings, one region in twenty changed from snapshot to snapshot; bytes
  read are those that the process asked the system for, once all that is imported on the way is there.

"""


def render_markdown(figures: list[Figure]) -> str:
    """Lay the figures out as docs/benchmarks.md."""
    head = _PREAMBLE.format(
        day=date.today().isoformat(),
        kernel=".".join(platform.release().split(".")[:2]),
        machine=platform.machine(),
        python=platform.python_version(),
    )
    rows = _align([_HEADINGS, ("",) * len(_HEADINGS), *map(_make_row, figures)])
    rows[1] = tuple("-" * len(cell) for cell in rows[0])
    notes = [f"- {figure.name}: {figure.note}" for figure in figures if figure.note]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return head + table + "\n" + ("\n" + "\n".join(notes) + "\n" if notes else "")
