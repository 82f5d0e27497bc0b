"""What changed between two captures of several processes, as a page holds it: one row a role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
from mmpscope.analysis.diffs.processes import choose_roles, diff_processes
from mmpscope.analysis.pages.schema import Roles
from mmpscope.analysis.pages.tables import Texts, encode_table, show_text
from mmpscope.analysis.reporters.amounts import show_size

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.process_choice import ProcessSets

__all__ = ["compare_roles"]

MOST_ROLES = 200
"""Roles that a page lists; the rest is the row of the word others, so that sums hold."""


def compare_roles(sets: ProcessSets, texts: Texts) -> Roles:
    """Compare two sets of processes as `mmp diff` does; the earlier one is before, where they tell."""
    sets = sets.put_in_order() or sets
    result = diff_processes(sets.a, sets.b)
    rows = pa.concat_tables([choose_roles(result, MOST_ROLES), result.total])
    counts = (len(sets.a), len(sets.b))
    return {
        "says": show_text(_say(result.total.to_pylist()[0], result.roles.to_pylist(), counts, result.metric)),
        "sides": [show_text(name) for name in sets.names],
        "metric": result.metric,
        "rows": encode_table("roles", DIFF_PROCESSES, rows, texts),
    }


def _say(total: dict[str, Any], roles: list[dict[str, Any]], counts: tuple[int, int], metric: str) -> str:
    """Say how all processes together changed, and which role most."""
    delta, after = (total[f"{metric}_{end}"] for end in ("delta", "b"))
    many = f"{counts[0]:,} processes before and {counts[1]:,} after"
    if delta is None:
        return f"{many}: how they changed is not known"
    word = "grew" if delta > 0 else "shrank" if delta < 0 else "did not change"
    figure = "PSS" if metric == "pss" else "private memory"
    said = f"{many}: together their {figure} {word}"
    if delta:
        said += f" by {show_size(abs(delta))}, to {show_size(after)}"
    most = max(roles, key=lambda row: abs(row[f"{metric}_delta"] or 0), default=None)
    change = most[f"{metric}_delta"] if most else None
    if most is None or not change:
        return said
    return f"{said}; most: {_name(most)} ({'+' if change > 0 else ''}{show_size(change)})"


def _name(role: dict[str, Any]) -> str:
    """Name a role: by its pid where it is one process, else by how many they are."""
    side = "b" if role["instances_b"] else "a"
    if role[f"instances_{side}"] != 1:
        return f"{role[f'instances_{side}']:,} processes of the role {role['name']}"
    pid = role[f"pid_{side}"]
    return role["name"] or "unknown process" if pid is None else f"{role['name']}, pid {pid}"
