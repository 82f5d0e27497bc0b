"""Several snapshots side by side: the order in which they were taken, and the figures of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import identify
from mmpscope.analysis.mapping_count import count_mappings
from mmpscope.analysis.summary import summarize
from mmpscope.analysis.totals import TOTAL

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Series", "Step", "put_ends", "read_series"]


@dataclass(frozen=True)
class Step:
    """One snapshot of several: what it is, and what its summary tells.

    ``totals`` has every figure, ``types`` the figure asked for by type; ``partial`` and ``partial_types`` are
    the keys of those that leave out what is not known.
    """

    label: str
    name: str | None
    pid: int | None
    time_ns: int | None
    clock: tuple[str, int] | None
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
    tell it, unless ``as_given``.
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
    """Order steps by the clock of their boot; as they are where that does not tell."""
    clocks = [step.clock for step in steps]
    given = list(range(len(steps)))
    if len({clock and clock[0] for clock in clocks}) > 1 or None in clocks:
        return given
    return sorted(given, key=lambda at: clocks[at] or ("", 0))


def _read_step(snapshot: LoadedSnapshot, metric: str) -> Step:
    boot, mono = identify(snapshot).boot, get_number(snapshot.moment, "mono_ns")
    rows: dict[str, dict[str, Any]] = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    total = rows.pop(TOTAL)
    return Step(
        label=snapshot.label,
        name=show_fact(snapshot.process.get("name")),
        pid=get_number(snapshot.process, "pid"),
        time_ns=get_number(snapshot.moment, "time_ns"),
        clock=None if boot is None or mono is None else (boot, mono),
        totals={name: total[name] for name in METRICS},
        types={type_: row[metric] for type_, row in rows.items()},
        partial=frozenset(_list_partial(total)),
        partial_types=frozenset(type_ for type_, row in rows.items() if metric in _list_partial(row)),
        mappings=count_mappings(snapshot).count,
    )


def _list_partial(row: dict[str, Any]) -> list[str]:
    return (row["partial"] or "").split(", ") if row["partial"] else []


def put_ends(steps: Sequence[Step], result: DiffResult) -> list[Step]:
    """Take the figures of the first and the last step from their comparison, so that changes add up.

    It may leave out what only one of the two knows, or take the type of a region from fewer facts.
    """
    return [_replace(steps[0], result, "a"), *steps[1:-1], _replace(steps[-1], result, "b")]


def _replace(step: Step, result: DiffResult, side: str) -> Step:
    totals = result.totals.to_pylist()
    types = [row for row in result.types.to_pylist() if row["type"] != TOTAL]
    metric = result.metric
    partial = {row["type"] for row in types if metric in (row[f"partial_{side}"] or "").split(", ")}
    return Step(
        **{
            **vars(step),
            "totals": {row["metric"]: row[side] for row in totals},
            "types": {row["type"]: row[f"{metric}_{side}"] for row in types},
            "partial": frozenset(row["metric"] for row in totals if row[f"partial_{side}"]),
            "partial_types": frozenset(partial),
        }
    )
