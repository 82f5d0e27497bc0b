"""Why something is null: what the source lacks, and what cannot be computed for want of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.families import find_family
from mmpscope.formats.model import REDACTION, Capability

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["find_estimates", "list_capability", "tell_redaction"]

_WORKING_SETS = {"working_sets", "working set"}
"""Items by which a reader, or our collector, says of Windows that it does not tell what is resident."""
_COUNTERS = "smaps"
"""The item by which a source of Linux says so."""


def tell_redaction(rows: Iterable[Capability]) -> str | None:
    """Return what a capability list says of redaction; None where names are names."""
    return next((row.reason for row in rows if row.item == REDACTION and row.reason), None)


def list_capability(snapshot: LoadedSnapshot) -> list[Capability]:
    """Return what the source states of itself, then the figures that it leaves unknown."""
    return [*snapshot.capture.capability, *snapshot.raw.capability, *_judge_figures(snapshot)]


def find_estimates(snapshot: LoadedSnapshot) -> dict[str, str]:
    """Return what is shown and yet not exact, figures and ``type``, each with the reason.

    An estimate may be too high as well as too low.
    """
    raw = snapshot.raw_columns
    if not raw.rows:
        return {}
    family, figures = find_family(raw), snapshot.classified.columns
    judged = RawColumns(snapshot.regions) if family.judges_types else raw
    return {
        name: reason
        for name, reason in family.judge_estimates(judged).items()
        if name not in family.needs or figures.numbers(name).is_known.any()
    }


def _judge_figures(snapshot: LoadedSnapshot) -> list[Capability]:
    raw, judged = snapshot.raw_columns, []
    if not raw.rows:
        return []
    family, figures, estimates = find_family(raw), snapshot.classified.columns, find_estimates(snapshot)
    for figure, needs in family.needs.items():
        known = figures.numbers(figure).is_known
        item = f"regions.{figure}"
        if known.all():
            if figure in estimates:
                judged.append(Capability(item, "partial", None, estimates[figure]))
        elif isinstance(needs, str):
            judged.append(Capability(item, "not applicable", None, needs))
        else:
            state = "partial" if known.any() else "unavailable"
            lacks = _name_lacking(raw, needs) + _find_reason(snapshot, figure, needs)
            reason = f"{raw.rows - int(known.sum())} of {raw.rows} regions {lacks}"
            judged.append(Capability(item, state, None, reason))
    others = (name for name in estimates if name not in family.needs)
    return judged + [Capability(f"regions.{name}", "partial", None, estimates[name]) for name in others]


def _name_lacking(raw: RawColumns, needs: Sequence[str]) -> str:
    missing = [name for name in needs if name not in raw or raw.array(name).null_count]
    return f"lack {' and '.join(missing)}" if missing else "have impossible counters (column fault)"


def _find_reason(snapshot: LoadedSnapshot, figure: str, needs: Sequence[str]) -> str:
    """Return the source's own words on why it lacks a figure, behind a colon; empty where it has none."""
    names = {figure, *needs, _COUNTERS} | (_WORKING_SETS if figure.endswith("_ws") else set())
    wanted = names | {f"regions.{name}" for name in names}
    reasons = (item.reason for item in snapshot.raw.capability if item.item in wanted and item.state != "ok")
    return next((f": {reason}" for reason in reasons if reason), "")
