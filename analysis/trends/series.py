"""Snapshots into series: one for each instance of a process, in the order in which they were taken.

Files are put in order by what they hold, never by their names. What a series rests on, and what is odd about
it, is said in sentences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from mmpscope.analysis.reporters.amounts import show_time
from mmpscope.analysis.trends.durations import show_duration
from mmpscope.analysis.trends.moments import Moment, list_unknown, name_instance

__all__ = ["MONOTONIC", "WALL", "Series", "split_series"]

MONOTONIC, WALL = "monotonic", "wall"

_NS = 1_000_000_000
_STEP_NS = _NS
"""Wall and monotonic clock drift apart by less than this between two snapshots unless one is set: NTP slews
at most 0.5 ms a second (adjtimex(2))."""
_SLEW = 2_000
_GAP = 5
"""A gap is this many times the usual distance of two snapshots."""


@dataclass(frozen=True)
class Series:
    """The snapshots of one instance in order; ``rows`` are their places among all that were given.

    ``times_s`` are seconds since the first, by ``clock`` (MONOTONIC or WALL); both are empty and None where
    the snapshots do not tell when they were taken.
    """

    moments: tuple[Moment, ...]
    rows: tuple[int, ...]
    times_s: tuple[float, ...]
    clock: str | None
    is_proven: bool
    notes: tuple[str, ...]

    @property
    def last(self) -> Moment:
        """The newest snapshot, whose name the process has now."""
        return self.moments[-1]

    @property
    def span_s(self) -> float:
        """Seconds from the first snapshot to the last; 0 where that is not known."""
        return self.times_s[-1] if self.times_s else 0.0


def split_series(moments: Sequence[Moment]) -> list[Series]:
    """Put snapshots into series, in the order in which the first of each was given.

    Two instances are never one series: a pid that was used again, a restart and an exec begin a new one. What
    is given twice counts once.
    """
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row, moment in enumerate(moments):
        groups[name_instance(moment)].append(row)
    found = [series for rows in groups.values() for series in _order(moments, rows)]
    return _tell_restarts(found)


def _order(moments: Sequence[Moment], rows: list[int]) -> Iterator[Series]:
    given = [(row, moments[row]) for row in rows]
    clock = _choose_clock([moment for _, moment in given])
    notes = []
    if clock is not None:
        timed = [(row, moment) for row, moment in given if _read_clock(moment, clock) is not None]
        if len(timed) < len(given):
            notes.append(f"{_count(len(given) - len(timed))} without a time of the {clock} clock left out")
        given = sorted(timed, key=lambda pair: _read_clock(pair[1], clock) or 0)
        kept = _drop_twins(given) if clock == MONOTONIC else given
        if len(kept) < len(given):
            notes.append(f"{_count(len(given) - len(kept))} given twice: each counts once")
        given = kept
    unknown = list_unknown(given[0][1])
    if unknown and len(given) > 1:
        said = f"unproven: the snapshots lack {', '.join(unknown)}"
        notes.append(f"{said}, and are taken for one process by what they do tell")
    parts = _split_at_exec(given)
    if len(parts) > 1:
        notes.append(
            "the process called exec, which replaces all memory: each program is a series of its own"
        )
    for part in parts:
        yield _make_series(part, clock, notes, is_proven=not unknown)


def _count(number: int) -> str:
    return "1 snapshot" if number == 1 else f"{number:,} snapshots"


def _choose_clock(moments: Sequence[Moment]) -> str | None:
    """Choose the clock that most snapshots tell: the monotonic one, if they are of one boot."""
    boots = {moment.identity.boot for moment in moments}
    mono = 0 if len(boots) > 1 or None in boots else sum(moment.mono_ns is not None for moment in moments)
    wall = sum(moment.time_ns is not None for moment in moments)
    if not mono and not wall:
        return None
    return MONOTONIC if mono >= wall else WALL


def _read_clock(moment: Moment, clock: str) -> int | None:
    return moment.mono_ns if clock == MONOTONIC else moment.time_ns


def _drop_twins(ordered: list[tuple[int, Moment]]) -> list[tuple[int, Moment]]:
    """Drop a snapshot that was taken in the same nanosecond as the one before: it is the same.

    Wall clocks say less: a minidump has whole seconds.
    """
    return [
        pair for at, pair in enumerate(ordered) if not at or pair[1].mono_ns != ordered[at - 1][1].mono_ns
    ]


def _split_at_exec(ordered: list[tuple[int, Moment]]) -> list[list[tuple[int, Moment]]]:
    parts, program = [[ordered[0]]], ordered[0][1].exe
    for pair in ordered[1:]:
        exe = pair[1].exe
        if exe is not None and program is not None and _strip(exe) != _strip(program):
            parts.append([])
        parts[-1].append(pair)
        program = exe or program
    return parts


def _strip(exe: str) -> str:
    """A program that was replaced on disk is still the same in memory."""
    return exe.removesuffix(" (deleted)")


def _make_series(
    ordered: list[tuple[int, Moment]], clock: str | None, notes: Sequence[str], *, is_proven: bool
) -> Series:
    moments = tuple(moment for _, moment in ordered)
    times: tuple[float, ...] = ()
    said = list(notes)
    if clock is not None:
        clocks = [_read_clock(moment, clock) or 0 for moment in moments]
        times = tuple((value - clocks[0]) / _NS for value in clocks)
        said += _tell_gaps(moments, times)
    if clock == MONOTONIC:
        said += _tell_clock_steps(moments)
    return Series(moments, tuple(row for row, _ in ordered), times, clock, is_proven, tuple(said))


def _tell_gaps(moments: Sequence[Moment], times: Sequence[float]) -> list[str]:
    """Name the longest of the stretches without snapshots that are far longer than usual."""
    steps = [later - earlier for earlier, later in pairwise(times)]
    if len(steps) < 2:
        return []
    usual = median(steps)
    gaps = [(step, at) for at, step in enumerate(steps) if step > _GAP * usual]
    if not gaps:
        return []
    longest, at = max(gaps)
    more = f", the longest of {len(gaps):,} gaps" if len(gaps) > 1 else ""
    after = f"no snapshot for {show_duration(longest)} after {show_time(moments[at].time_ns)}{more}"
    return [f"{after}; usually one every {show_duration(usual)}"]


def _tell_clock_steps(moments: Sequence[Moment]) -> list[str]:
    """Name the moves of the wall clock that the monotonic clock does not share."""
    said = []
    for before, after in pairwise(moments):
        if None in (before.time_ns, after.time_ns, before.mono_ns, after.mono_ns):
            continue
        passed = (after.mono_ns or 0) - (before.mono_ns or 0)
        step = (after.time_ns or 0) - (before.time_ns or 0) - passed
        if abs(step) <= _STEP_NS + passed // _SLEW:
            continue
        what = "was set back by" if step < 0 else "leapt ahead by"
        why = "" if step < 0 else " (set, or the machine slept)"
        size = show_duration(abs(step) / _NS)
        said.append(f"the wall clock {what} {size}{why} after {show_time(before.time_ns)}")
    more = [f"{len(said) - 1:,} more steps of the wall clock"] if len(said) > 2 else said[1:]
    return [*said[:1], *more, "the monotonic clock counts"] if said else []


def _tell_restarts(found: Sequence[Series]) -> list[Series]:
    """Number the instances of one program, and name a pid that more than one of them had."""
    programs = Counter(_name_program(series) for series in found)
    pids = Counter(_name_pid(series) for series in found if series.is_proven)
    return [
        replace(series, notes=(*series.notes, *_tell_instance(series, found, programs, pids)))
        for series in found
    ]


def _tell_instance(
    series: Series,
    found: Sequence[Series],
    programs: Counter[tuple[object, ...]],
    pids: Counter[tuple[object, ...]],
) -> Iterator[str]:
    program = _name_program(series)
    if series.is_proven and programs[program] > 1:
        alike = sorted(
            (other for other in found if _name_program(other) == program),
            key=lambda other: other.moments[0].time_ns or 0,
        )
        place = next(at for at, other in enumerate(alike) if other is series)
        what = series.last.name or "this program"
        yield f"instance {place + 1} of {len(alike)} of {what}; none is joined with another"
    if series.is_proven and (uses := pids[_name_pid(series)]) > 1:
        yield f"pid {series.last.identity.pid} had {uses} programs: it was used again, or called exec"


def _name_program(series: Series) -> tuple[object, ...]:
    moment = series.last
    return (moment.identity.host or moment.hostname, moment.name, moment.exe and _strip(moment.exe))


def _name_pid(series: Series) -> tuple[object, ...]:
    identity = series.last.identity
    return (identity.boot, identity.pid_namespace, identity.pid)
