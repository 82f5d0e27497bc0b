"""How much of two snapshots can be compared: what one lists only in part, or sums up, sets the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.diffs.evidence import rest_alike
from mmpscope.analysis.extent import ALL, NOTHING, SOME, TOTALS, Extent, find_extent, has_totals

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Scope", "find_scope"]


class Scope(NamedTuple):
    """What each side shows, and which of it can be compared.

    ``regions``: ALL, SOME (those that both list) or NOTHING. ``totals``: ALL (sums over all regions), TOTALS
    (one side states them, or both), SOME (one side's are sums of a part, so no difference means anything) or
    NOTHING.
    """

    extents: tuple[Extent, Extent]
    regions: str
    totals: str
    types: bool
    """Whether the types of memory rest on the same facts on both sides."""

    def describe(self, *, by_address: bool = True) -> str | None:
        """Say which regions and totals are not compared; None where all are, or nothing is known at all.

        What is matched by what it is takes all regions of both sides.
        """
        if NOTHING in (self.regions, self.totals) and TOTALS not in self._shown:
            return None
        if self.regions == SOME:
            sides = self._name(SOME, "lists", "list")
            if not by_address:
                rest = "nothing is compared" if self.totals == SOME else "only totals are compared"
                return f"{sides} not all regions: {rest} of two processes then"
            told = f"{sides} not all regions: only those that both list, from the same start to the same end"
            return f"{told}, are compared, and no totals" if self.totals == SOME else f"{told}, are compared"
        if self.regions == NOTHING:
            rest = "totals are compared" if self.totals == TOTALS else "nothing is compared"
            return f"{self._name(TOTALS, 'has', 'have')} totals only: {rest}, regions are not"
        return None

    @property
    def _shown(self) -> tuple[str, str]:
        return self.extents[0].shown, self.extents[1].shown

    def _name(self, shown: str, one: str, both: str) -> str:
        sides = [side for side, found in zip("ab", self._shown, strict=True) if found == shown]
        return f"both {both}" if len(sides) == 2 else f"{sides[0]} {one}"


def find_scope(a: LoadedSnapshot, b: LoadedSnapshot) -> Scope:
    """Tell what of two snapshots can be compared."""
    extents = (find_extent(a), find_extent(b))
    shown = {extent.shown for extent in extents}
    regions = ALL if shown == {ALL} else SOME if shown <= {ALL, SOME} else NOTHING
    sides = tuple(zip(extents, (a, b), strict=True))
    stated = [extent.shown != ALL and has_totals(side) for extent, side in sides]
    is_summed = all(extent.shown == ALL or told for extent, told in zip(extents, stated, strict=True))
    totals = ALL if shown == {ALL} else NOTHING if NOTHING in shown else TOTALS if is_summed else SOME
    # Objects of Linux go by their names in a table of totals, and by all that is known of them in a map.
    is_linux = any("perms" in side.regions.column_names for side in (a, b))
    types = stated[0] == stated[1] or not is_linux
    if regions != NOTHING:
        types &= rest_alike(RawColumns(a.regions), RawColumns(b.regions))
    return Scope(extents, regions, totals, types)
