"""The maps of a text that may hold several, each with the lines that belong to it.

A text is taken apart without losing a byte: the parts, written one after the other, are the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import add, gt
from typing import NamedTuple

from mmpscope.formats.errors import LimitError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.model import Fact, Facts
from mmpscope.formats.proc.blocks import find_header
from mmpscope.formats.proc.map_order import ROLLUP, have_overlaps, is_process
from mmpscope.formats.proc.map_text import read_map
from mmpscope.formats.proc.quoting import Quoted
from mmpscope.formats.proc.smaps import Regions, make_regions, no_regions
from mmpscope.formats.proc.titles import Title, find_status, find_title, read_title
from mmpscope.formats.source import Fault

__all__ = ["Part", "split_text"]

_MOST_PARTS = 1 << 15
"""Maps of one text: the usual number of pids."""
_FREE_PARTS = 1_000
_LEAST_BYTES = 512
"""A map or roll-up of a real process has this much text; beyond the free ones a text must have it for each
so far.

A map costs a millisecond however little it says: 50,000 of 19 bytes made a text of 1 MiB take minutes.
"""


class Outline(NamedTuple):
    """What to know of a map without its columns; ``ends`` are those of its last two regions."""

    rows: int
    start: int
    ends: Sequence[int]
    last_path: Fact
    has_counters: bool


@dataclass
class Part:
    """One map, or one roll-up, with what stands ``before`` and ``after`` it.

    ``line`` is that of ``before`` in the file. ``rollup`` and ``status`` are files of the same process that
    stand beside the map in its text, ``beside`` those in files of their own. ``regions`` are kept where a
    text has one map; else it is parsed again when asked.
    """

    before: bytes
    map: bytes
    after: bytes
    line: int
    outline: Outline
    title: Title
    rollup: bytes | None = None
    status: bytes | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    form: Facts = field(default_factory=dict)
    regions: Regions | None = field(default=None, repr=False)

    @property
    def is_rollup(self) -> bool:
        """Whether there are totals and no map."""
        return bool(self.outline.last_path == ROLLUP)

    def parse(self) -> Regions:
        """Return the regions, with all that it takes to write the text again."""
        regions = self.regions
        if regions is None:
            text = self.before + self.map
            regions = make_regions(text, read_map(text, len(self.before), is_only=True), line=self.line)
        return regions._replace(form=self.describe())

    def describe(self) -> Facts:
        """Return what is odd about the text, as `render_smaps` takes it."""
        own = {"before": self.form.get("before", b"") + self.before, "after": self.after}
        return {**self.form, **{name: text for name, text in own.items() if text}}


class _Run(NamedTuple):
    """A part, and where its regions are."""

    part: Part
    starts: Sequence[Fact]
    sizes: Sequence[Fact]


def split_text(quoted: Quoted) -> tuple[list[Part], list[Fault]]:
    """Take a text apart into its maps, and list what is odd in them.

    NotASnapshotError where no line is a map line, LimitError where there are more maps than processes.
    """
    log, is_tried = FaultLog(), False
    runs: list[_Run] = []
    for run in _read_runs(quoted, log):
        # The first run that is no process tells that this may be one list in another order: no time is lost
        # on taking it apart.
        if runs and not is_tried and not _is_process(runs[-1]):
            is_tried = True
            whole = _read_whole(quoted)
            if whole is not None:
                return whole
        runs.append(run)
    if not runs:
        no_regions(quoted.text)  # refuses it
    return _join_files([run.part for run in runs]), log.list()


def _is_process(run: _Run) -> bool:
    return is_process(run.part.outline.rows, run.part.outline.last_path)


def _read_whole(quoted: Quoted) -> tuple[list[Part], list[Fault]] | None:
    """Read a text as one list; None where regions overlap, or where other lines stand between them."""
    if find_title(quoted.text, find_header(quoted.text, 0), len(quoted.text)) is not None:
        return None
    log = FaultLog()
    [run] = _read_runs(quoted, log, is_only=True)
    ranges = ((start, start + size) for start, size in zip(run.starts, run.sizes))
    return None if log.count or have_overlaps(ranges) else ([run.part], [])


def _read_runs(quoted: Quoted, log: FaultLog, *, is_only: bool = False) -> Iterator[_Run]:
    text, before, line, count = quoted.text, 0, quoted.line, 0
    start = find_header(text, 0)
    first: Part | None = None
    while start < len(text):
        count += 1
        if count > min(_MOST_PARTS, max(_FREE_PARTS, start // _LEAST_BYTES)):
            what = f"there are {count:,} maps in the first {start:,} bytes, more than processes have"
            raise LimitError(what, now="Give fewer at once.")
        found = read_map(text, start, is_only=is_only)
        following = find_header(text, found.end)
        end = found.end if following < len(text) else len(text)
        regions = make_regions(text, found, before=before, line=line, log=log)
        _note_overlaps(regions, line, log)
        part = Part(
            text[before:start], text[start : found.end], text[found.end : end], line,
            _outline(regions), read_title(text[before:start]),
        )  # fmt: skip
        if first is None:
            first, part.regions = part, regions
        else:
            first.regions = None
        yield _Run(part, regions.columns["start"].values, regions.columns["size"].values)
        line += text.count(b"\n", before, end)
        before, start = end, following


def _note_overlaps(regions: Regions, line: int, log: FaultLog) -> None:
    """Note where regions overlap: the kernel prints a map piece by piece, and it may change meanwhile."""
    starts, sizes = regions.columns["start"].values, regions.columns["size"].values
    if any(map(gt, map(add, starts, sizes), islice(starts, 1, None))):
        spans = sorted(zip(starts, sizes))
        for (start, size), (following, _) in zip(spans, spans[1:]):
            if start + size > following:
                log.add("a region overlaps the next one: the map changed while it was read", line=line)


def _outline(regions: Regions) -> Outline:
    starts, sizes, paths = (regions.columns[name].values for name in ("start", "size", "path"))
    ends = [start + size for start, size in zip(starts[-2:], sizes[-2:])]
    return Outline(regions.rows, starts[0], ends, paths[-1], bool(regions.counters))


def _join_files(parts: Sequence[Part]) -> list[Part]:
    """Put roll-ups and status beside the map of the same process."""
    _join_status(parts)
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is not None and part.is_rollup and _is_of(part, last):
            last.rollup, last.status = part.map, last.status or part.status
            last.after += part.before + part.map + part.after
        elif last is not None and last.is_rollup and _is_of(last, part):
            part.before = last.before + last.map + last.after + part.before
            part.rollup, part.status, part.line = last.map, part.status or last.status, last.line
            part.regions = None
            joined[-1] = part
        else:
            joined.append(part)
    return joined


def _is_of(rollup: Part, part: Part) -> bool:
    """Whether a roll-up is that of this map: it spans all its regions, those of the kernel aside."""
    pids = {each.title.pid for each in (rollup, part)} - {None}
    [end] = rollup.outline.ends
    is_free = not part.is_rollup and part.rollup is None
    return (
        is_free and len(pids) < 2 and rollup.outline.start == part.outline.start and end in part.outline.ends
    )


def _join_status(parts: Sequence[Part]) -> None:
    """Give each map the status beside it: before it where the text begins with one, else behind it."""
    if find_status(parts[0].before) is not None:
        for part in parts:
            part.status = find_status(part.before)
        return
    for part, following in zip(parts, parts[1:]):
        part.status = find_status(following.before)
    parts[-1].status = find_status(parts[-1].after)
