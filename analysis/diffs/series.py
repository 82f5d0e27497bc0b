"""Several snapshots side by side: the order in which they were taken, and the figures of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import identify, read_program
from mmpscope.analysis.mapping_count import count_mappings
from mmpscope.analysis.summary import summarize
from mmpscope.analysis.totals import TOTAL

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Series", "Step", "number_instances", "read_series"]


@dataclass(frozen=True)
class Step:
    """One snapshot of several: what it is, and what its summary tells.

    ``totals`` has every figure, ``types`` the figure asked for by type; ``partial`` and ``partial_types`` are
    the keys of those that leave out what is not known. ``instance`` is the same for snapshots of one process
    only; None where that is not known.
    """

    label: str
    name: str | None
    pid: int | None
    time_ns: int | None
    clock: tuple[str, int] | None
    program: str | None
    instance: tuple[object, ...] | None
    totals: dict[str, int | None]
    types: dict[str, int | None]
    partial: frozenset[str]
    partial_types: frozenset[str]
    mappings: int | None


class Series(NamedTuple):
    """Steps in order, the first and last snapshot, and whether the clock changed the order given."""

    steps: list[Step]
    first: LoadedSnapshot
    last: LoadedSnapshot
    is_sorted: bool


def read_series(snapshots: list[LoadedSnapshot], metric: str, *, as_given: bool) -> Series:
    """Read several snapshots one after the other, and keep the tables of those only that may be an end.

    ``snapshots`` is emptied. They are put in the order of the monotonic clock where all are of one boot and
    one program and tell it, unless ``as_given``.
    """
    steps: list[Step] = []
    held: dict[int, LoadedSnapshot] = {}
    while snapshots:
        snapshot = snapshots.pop(0)
        steps.append(_read_step(snapshot, metric))
        held[len(steps) - 1] = snapshot
        order = _order(steps)
        ends = {0, len(steps) - 1, order[0], order[-1]}
        held = {at: each for at, each in held.items() if at in ends}
    given = list(range(len(steps)))
    order = given if as_given else _order(steps)
    return Series([steps[at] for at in order], held[order[0]], held[order[-1]], order != given)


def _order(steps: Sequence[Step]) -> list[int]:
    """Order steps by the clock of their boot; as they are where that does not tell, or they are unlike."""
    clocks = [step.clock for step in steps]
    given = list(range(len(steps)))
    programs = {step.program for step in steps} - {None}
    if len(programs) > 1 or len({clock and clock[0] for clock in clocks}) > 1 or None in clocks:
        return given
    return sorted(given, key=lambda at: clocks[at] or ("", 0))


def _read_step(snapshot: LoadedSnapshot, metric: str) -> Step:
    identity, mono = identify(snapshot), get_number(snapshot.moment, "mono_ns")
    program = read_program(snapshot)
    known = (identity.boot, identity.pid, identity.start_time)
    rows: dict[str, dict[str, Any]] = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    total = rows.pop(TOTAL)
    return Step(
        label=snapshot.label,
        name=show_fact(snapshot.process.get("name")),
        pid=get_number(snapshot.process, "pid"),
        time_ns=get_number(snapshot.moment, "time_ns"),
        clock=None if identity.boot is None or mono is None else (identity.boot, mono),
        program=program,
        instance=None if None in known else (*known, identity.pid_namespace, program),
        totals={name: total[name] for name in METRICS},
        types={type_: row[metric] for type_, row in rows.items()},
        partial=frozenset(_list_partial(total)),
        partial_types=frozenset(type_ for type_, row in rows.items() if metric in _list_partial(row)),
        mappings=count_mappings(snapshot).count,
    )


def _list_partial(row: dict[str, Any]) -> list[str]:
    return (row["partial"] or "").split(", ") if row["partial"] else []


def number_instances(steps: Sequence[Step]) -> list[int | None]:
    """Number the processes that the steps are of from 1, as they come; None where that is not known."""
    numbers: dict[tuple[object, ...], int] = {}
    return [
        None if step.instance is None else numbers.setdefault(step.instance, len(numbers) + 1)
        for step in steps
    ]
