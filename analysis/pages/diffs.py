"""A comparison of two snapshots, as a page holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.choice import Choice, choose_changes
from mmpscope.analysis.diffs.schema import DIFF_TABLES
from mmpscope.analysis.diffs.snapshots import SAME_MODE, DiffResult, diff
from mmpscope.analysis.identity import UNPROVEN
from mmpscope.analysis.pages.changes import say_of_changes
from mmpscope.analysis.pages.says import NAMES, choose_lead, say_of_diff, say_of_movers
from mmpscope.analysis.pages.schema import Diff
from mmpscope.analysis.pages.snapshots import encode_mappings
from mmpscope.analysis.pages.tables import Texts, encode_table, show_text

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["PairDiff", "compare_pair", "encode_diff"]

MOST_MOVERS = 200
"""Movers that a page lists; the rest is the row of the word others, so that sums hold."""
_MOST_ROWS = 2_000
"""Rows of any other list: ranges, modules, threads."""

_UNSURE = " (taken for one process, which they do not tell)"
_APART = " (from one instance to another)"


@dataclass(frozen=True)
class PairDiff:
    """The comparison of two snapshots of a page, by their ids; ``moved`` says what most of it comes from."""

    a: int
    b: int
    result: DiffResult
    moved: str


def compare_pair(ids: tuple[int, int], pair: tuple[LoadedSnapshot, LoadedSnapshot]) -> PairDiff:
    """Compare two snapshots; the movers are those that `mmp diff` lists, and more of them."""
    result = diff(*pair, limit=MOST_MOVERS)
    chosen = choose_changes(result, (), Choice(MOST_MOVERS))
    lead = choose_lead(result.types, result.metric)
    moved = say_of_movers(chosen.components, lead)
    if moved and lead != result.metric:
        moved += f" (by {NAMES[lead]})"
    return PairDiff(*ids, replace(chosen, components=chosen.components.slice(0, 0)), moved)


def encode_diff(compared: PairDiff, texts: Texts) -> Diff:
    """Encode a comparison; tables that are too long are cut, which ``folded`` says."""
    result = compared.result
    tables = {name: table for name, table in result.to_tables().items() if name != "components"}
    folded = [
        f"{name}: {table.num_rows - _MOST_ROWS:,} of {table.num_rows:,} rows are left out"
        for name, table in tables.items()
        if table.num_rows > _MOST_ROWS
    ]
    return {
        "a": compared.a,
        "b": compared.b,
        "says": show_text(say_of_diff(result.types, result.metric) + _tell_doubt(result)),
        "changed": show_text(say_of_changes(result.types.to_pylist()) + _tell_doubt(result)),
        "moved": show_text(compared.moved),
        "mode": result.mode,
        "mode_reason": show_text(result.mode_reason),
        "identity": {"verdict": result.identity.verdict, "reason": show_text(result.identity.reason)},
        "metric": result.metric,
        "mappings": [encode_mappings(count) for count in result.map_count],
        "tables": {
            name: encode_table(f"diff-{name}", DIFF_TABLES[name], table.slice(0, _MOST_ROWS), texts)
            for name, table in tables.items()
        },
        "folded": folded,
    }


def _tell_doubt(result: DiffResult) -> str:
    """Say behind the answer where it is not about one process that lived on."""
    if result.mode != SAME_MODE:
        return _APART
    return _UNSURE if result.identity.verdict == UNPROVEN else ""
