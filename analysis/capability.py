"""Why something is null: what the source lacks, and what cannot be computed for want of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.families import find_family
from mmpscope.analysis.schema import CAPABILITY
from mmpscope.analysis.tables import build_table
from mmpscope.formats.model import Capability

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["find_estimates", "list_capability"]

_WORKING_SETS = {"working_sets", "working set"}
"""Items by which a reader, or our collector, says of Windows that it does not tell what is resident."""
_COUNTERS = "smaps"
"""The item by which a source of Linux says so."""


def list_capability(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.CAPABILITY: what the source states of itself, then the figures that it leaves unknown."""
    items = [*snapshot.capture.capability, *snapshot.raw.capability, *_judge_figures(snapshot)]
    columns = {name: [getattr(item, name) for item in items] for name in ("item", "state", "code", "reason")}
    return build_table(CAPABILITY, columns, len(items))


def find_estimates(snapshot: LoadedSnapshot) -> dict[str, str]:
    """Return what is shown and yet not exact, figures and ``type``, each with the reason.

    An estimate may be too high as well as too low.
    """
    regions = RawColumns(snapshot.regions)
    if not regions.rows:
        return {}
    family = find_family(RawColumns(snapshot.raw_regions))
    return {
        name: reason
        for name, reason in family.judge_estimates(regions).items()
        if name not in family.needs or regions.numbers(name).is_known.any()
    }


def _judge_figures(snapshot: LoadedSnapshot) -> list[Capability]:
    regions, judged = RawColumns(snapshot.regions), []
    if not regions.rows:
        return []
    family = find_family(RawColumns(snapshot.raw_regions))
    estimates = find_estimates(snapshot)
    for figure, needs in family.needs.items():
        known = regions.numbers(figure).is_known
        item = f"regions.{figure}"
        if known.all():
            if figure in estimates:
                judged.append(Capability(item, "partial", None, estimates[figure]))
        elif isinstance(needs, str):
            judged.append(Capability(item, "not applicable", None, needs))
        else:
            state = "partial" if known.any() else "unavailable"
            lacks = _name_lacking(regions, needs) + _find_reason(snapshot, figure, needs)
            reason = f"{regions.rows - int(known.sum())} of {regions.rows} regions {lacks}"
            judged.append(Capability(item, state, None, reason))
    others = (name for name in estimates if name not in family.needs)
    return judged + [Capability(f"regions.{name}", "partial", None, estimates[name]) for name in others]


def _name_lacking(regions: RawColumns, needs: Sequence[str]) -> str:
    missing = [name for name in needs if name not in regions or regions.table.column(name).null_count]
    return f"lack {' and '.join(missing)}" if missing else "have impossible counters (column fault)"


def _find_reason(snapshot: LoadedSnapshot, figure: str, needs: Sequence[str]) -> str:
    """Return the source's own words on why it lacks a figure, behind a colon; empty where it has none."""
    names = {figure, *needs, _COUNTERS} | (_WORKING_SETS if figure.endswith("_ws") else set())
    wanted = names | {f"regions.{name}" for name in names}
    reasons = (item.reason for item in snapshot.raw.capability if item.item in wanted and item.state != "ok")
    return next((f": {reason}" for reason in reasons if reason), "")
