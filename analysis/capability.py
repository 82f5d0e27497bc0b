"""Why something is null: what the source lacks, and what cannot be computed for want of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.schema import CAPABILITY
from mmpscope.analysis.tables import build_table
from mmpscope.formats.model import Capability

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["list_capability"]

_NEEDS = {
    "committed": ("Rss", "Swap"),
    "private": ("Anonymous", "Swap"),
    "commit_charge": ("VmFlags",),
    "total_ws": ("Rss",),
    "private_ws": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "shareable_ws": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "shared_ws": ("Shared_Clean", "Shared_Dirty"),
    "locked_ws": ("Locked",),
    "cow_shared": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "uss": ("Private_Clean", "Private_Dirty"),
    "pss": ("Pss",),
    "swap": ("Swap",),
    "lazyfree": ("LazyFree",),
    "thp": ("AnonHugePages",),
}
"""The raw columns that a figure is computed from (figures.py)."""
_ESTIMATED = {
    "committed": "without VmFlags, MAP_NORESERVE is not seen: all of such a region counts as committed",
    "private": "without VmFlags, what was once writable is not seen: read-only regions count what they hold",
}


def list_capability(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.CAPABILITY: what the source states of itself, then the figures that it leaves unknown."""
    items = [*snapshot.capture.capability, *snapshot.raw.capability, *_judge_figures(snapshot)]
    columns = {name: [getattr(item, name) for item in items] for name in ("item", "state", "code", "reason")}
    return build_table(CAPABILITY, columns, len(items))


def _judge_figures(snapshot: LoadedSnapshot) -> list[Capability]:
    regions, judged = RawColumns(snapshot.regions), []
    if not regions.rows:
        return []
    for figure, needs in _NEEDS.items():
        known = regions.numbers(figure).is_known
        missing = [name for name in needs if name not in regions or regions.table.column(name).null_count]
        if not known.all():
            state = "partial" if known.any() else "unavailable"
            what = f"lack {' and '.join(missing)}" if missing else "have impossible counters (column fault)"
            reason = f"{regions.rows - int(known.sum())} of {regions.rows} regions {what}"
            judged.append(Capability(f"regions.{figure}", state, None, reason))
        elif figure in _ESTIMATED and "VmFlags" not in regions:
            judged.append(Capability(f"regions.{figure}", "partial", None, _ESTIMATED[figure]))
    return judged
