"""What changed between two sets of processes: role by role, and in total by what adds up over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from mmpscope.analysis.diffs.process_matching import RoleMatch, is_restarted, match_processes
from mmpscope.analysis.diffs.process_schema import (
    DIFF_PROCESSES,
    METRICS,
    RESTARTED,
    TOTAL_WORD,
    TOTAL_WS,
    UNKNOWN_WORD,
)
from mmpscope.analysis.diffs.process_sides import Member, ProcessSide, find_members, read_costs
from mmpscope.analysis.diffs.schema import GONE, GROWN, NEW, OTHERS, SAME, SHRUNK
from mmpscope.analysis.diffs.sides import OUTSIDE
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["ProcessesDiff", "choose_roles", "diff_processes"]

Row = dict[str, Any]

_DEFAULT, _WITHOUT_PSS = "pss", "private"


@dataclass(frozen=True)
class ProcessesDiff:
    """Two sets of processes compared; tables have the columns of diffs.process_schema.DIFF_PROCESSES.

    `roles` has one row a role, the largest change of `metric` first; `total` is one row, to which they add
    up; it leaves out what `unknown` of a row names. `metric_reason` says why it is not PSS, if nobody chose.
    """

    metric: str
    metric_reason: str | None
    roles: pa.Table
    total: pa.Table
    sides: tuple[ProcessSide, ProcessSide]

    @property
    def is_empty(self) -> bool:
        """Whether every role is the same, as far as one of the sides tells its figure."""
        rows: list[Row] = self.roles.to_pylist()
        return all(row["word"] == SAME or self._is_untold(row) for row in rows)

    def _is_untold(self, row: Row) -> bool:
        figures = (row[f"{self.metric}_a"], row[f"{self.metric}_b"])
        return row["word"] == UNKNOWN_WORD and figures == (None, None)


def diff_processes(
    a: Sequence[LoadedSnapshot],
    b: Sequence[LoadedSnapshot],
    mode: str | None = None,
    *,
    metric: str | None = None,
) -> ProcessesDiff:
    """Compare two sets of processes, one snapshot of each; `a` is before.

    They are matched by instance, else by role (executable, arguments, parent); those of one role that nothing
    tells apart as a group. `metric` is pss, uss, private, swap or total_ws (of which sums over processes
    count shared pages more than once); by default pss, where no process tells that, private. `mode` is as in
    `match_processes`. Snapshots are read one after the other, and no regions are kept. Raises UsageError for
    another metric.
    """
    if metric is not None and metric not in METRICS:
        raise UsageError(f"{metric} is no figure of several processes. Choose one of {', '.join(METRICS)}")
    before, after = (read_costs(find_members(side), side) for side in (a, b))
    reason = None
    if metric is None:
        metric, reason = _choose_metric((*before.members, *after.members))
    rows = [_describe(match, metric) for match in match_processes(before, after, mode)]
    rows.sort(key=lambda row: _rank(row, metric))
    return ProcessesDiff(
        metric, reason, _build(rows), _build([_fold(rows, TOTAL_WORD, metric)]), (before, after)
    )


def choose_roles(result: ProcessesDiff, limit: int, least: int = 0) -> pa.Table:
    """Return the roles that changed most, at most `limit` (0: all) and of at least `least` bytes.

    The rest, with all that is the same, is folded into one row `others`, so that rows add up to the total.
    """
    rows: list[Row] = result.roles.to_pylist()
    listed = [row for row in rows if row["word"] != SAME and _is_large(row, result.metric, least)]
    listed = listed[: limit or None]
    places = {id(row) for row in listed}
    rest = [row for row in rows if id(row) not in places]
    return _build([*listed, *([_fold(rest, OTHERS, result.metric)] if rest else [])])


def _is_large(row: Row, metric: str, least: int) -> bool:
    delta = row[f"{metric}_delta"]
    return delta is None or abs(delta) >= least


def _choose_metric(members: Iterable[Member]) -> tuple[str, str | None]:
    if any(member.cost.values.get(_DEFAULT) is not None for member in members):
        return _DEFAULT, None
    return _WITHOUT_PSS, "no process tells its PSS: by private memory, which may be added up, too"


def _describe(match: RoleMatch, metric: str) -> Row:
    """Put one role into a row."""
    sides = {"a": match.a, "b": match.b}
    members = [*match.a, *match.b]
    roles = [member.role for member in members]
    commands = {(role.executable, role.arguments) for role in roles}
    row: Row = {
        "name": roles[-1].name,
        "command": _show_command(members[-1]) if len(commands) == 1 else None,
        "match": match.how,
        "confidence": match.confidence,
        "rows": 1,
    }
    for side, found in sides.items():
        row[f"instances_{side}"] = len(found)
        row[f"unread_{side}"] = sum(member.facts is None for member in found)
        row[f"pid_{side}"] = found[0].identity.pid if len(found) == 1 else None
        row[f"snapshot_{side}"] = found[0].label if len(found) == 1 else None
    for name in METRICS:
        row |= _compare(match, name, is_asked=name != TOTAL_WS or name == metric)
    asked = [name for name in METRICS if name != TOTAL_WS or name == metric]
    unknown = [name for name in asked if row[f"{name}_delta"] is None and _is_told(members, name)]
    row["unknown"] = ", ".join(unknown) or None
    row["note"] = _explain(match, metric) if row[f"{metric}_delta"] is None else None
    row["word"] = _choose_word(match, row[f"{metric}_delta"])
    return row


def _show_command(member: Member) -> str | None:
    role = member.role
    words = [role.executable, *(role.arguments or ())] if role.executable else list(role.arguments or ())
    return " ".join(word for word in words if word) or None


def _is_told(members: Sequence[Member], name: str) -> bool:
    return any(member.cost.values.get(name) is not None for member in members)


def _compare(match: RoleMatch, name: str, *, is_asked: bool) -> Row:
    """Add a figure up on each side, and subtract; unknown where they do not know the same parts of it."""
    if not is_asked:
        return {f"{name}_{part}": None for part in ("a", "b", "delta")}
    a, b = (_add(member.cost.values.get(name) for member in side) for side in (match.a, match.b))
    parts = {member.cost.left_out.get(name, frozenset()) for member in (*match.a, *match.b)}
    is_alike = len(parts) == 1 and next(iter(parts)) <= {*OUTSIDE}
    delta = b - a if a is not None and b is not None and is_alike else None
    return {f"{name}_a": a, f"{name}_b": b, f"{name}_delta": _fit(delta)}


def _add(values: Iterable[int | None]) -> int | None:
    """Add up; None where one is unknown, or where the sum is no number of 64 bits. Nothing adds up to 0."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total if total < 1 << 64 else None


def _fit(delta: int | None) -> int | None:
    return delta if delta is not None and abs(delta) < 1 << 63 else None


def _choose_word(match: RoleMatch, delta: int | None) -> str:
    if not match.a or not match.b:
        return NEW if match.b else GONE
    if delta is None:
        return UNKNOWN_WORD
    if is_restarted(match):
        return RESTARTED
    return GROWN if delta > 0 else SHRUNK if delta < 0 else SAME


def _explain(match: RoleMatch, metric: str) -> str:
    """Say why a figure is unknown, side by side."""
    reasons = []
    for side, members in (("a", match.a), ("b", match.b)):
        told = dict.fromkeys(
            reason for member in members if (reason := member.cost.reasons.get(metric)) is not None
        )
        reasons += [f"in {side}: {reason}" for reason in told]
    return "; ".join(reasons) or "the figure is beyond 64 bits"


def _rank(row: Row, metric: str) -> tuple[object, ...]:
    """Order by the size of the change, unknown ones behind; ties by name and pid: it is always one order."""
    delta = row[f"{metric}_delta"]
    size = max(row[f"{metric}_a"] or 0, row[f"{metric}_b"] or 0)
    pids = (row["pid_a"] or 0, row["pid_b"] or 0)
    return delta is None, -abs(delta or 0), -size, row["name"] or "", *pids, row["command"] or ""


def _fold(rows: Sequence[Row], word: str, metric: str) -> Row:
    """Add rows up; a figure leaves out, on both sides, the rows in which it cannot be compared."""
    folded: Row = {"word": word, "rows": sum(row["rows"] for row in rows)}
    for name in ("instances_a", "instances_b", "unread_a", "unread_b"):
        folded[name] = sum(row[name] for row in rows)
    unknown = []
    for name in METRICS:
        known = [row for row in rows if row[f"{name}_delta"] is not None]
        a, b = (_add(row[f"{name}_{side}"] for row in known) for side in "ab")
        is_known = (bool(known) or not rows) and a is not None and b is not None
        folded[f"{name}_a"], folded[f"{name}_b"] = (a, b) if is_known else (None, None)
        folded[f"{name}_delta"] = _fit(b - a) if is_known and a is not None and b is not None else None
        unknown += [name] if any(name in (row["unknown"] or "").split(", ") for row in rows) else []
    folded["unknown"] = ", ".join(unknown) or None
    folded["note"] = _count_unknown(rows, metric)
    return folded


def _count_unknown(rows: Sequence[Row], metric: str) -> str | None:
    lacking = sum(row[f"{metric}_delta"] is None for row in rows)
    return (
        f"without {lacking:,} of {len(rows):,} roles, of which {metric} cannot be compared"
        if lacking
        else None
    )


def _build(rows: Sequence[Row]) -> pa.Table:
    columns = {field.name: [row.get(field.name) for row in rows] for field in DIFF_PROCESSES}
    return build_table(DIFF_PROCESSES, columns, len(rows))


def count_matches(result: ProcessesDiff) -> Counter[str | None]:
    """Count roles by how they were matched; None for those of one side."""
    return Counter(result.roles.column("match").to_pylist())
