"""Which regions count: in sums and holes, and against the system's limit on mappings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Bools
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.facts import get_number
from mmpscope.analysis.schema import GATE
from mmpscope.analysis.space import is_like_linux
from mmpscope.formats.model import Capture

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["TOLERANCE", "MappingCount", "count_mappings", "find_counted", "read_mapping_limit"]

TOLERANCE = 2
"""How far our count may be from the kernel's own (F33).

The map of a process is text that the kernel writes while the count may move, and what it shows and what it
counts are not quite the same: gate areas are shown and not counted.
"""


@dataclass(frozen=True)
class MappingCount:
    """Mappings of a process and the system's limit on them (Linux: vm.max_map_count), None where unknown.

    `count` is exact to within TOLERANCE. It is unknown without an address space, or where regions are
    missing, and means nothing where the system has no such limit: `applies` is false there.
    """

    count: int | None
    limit: int | None
    applies: bool = True

    @property
    def left(self) -> int | None:
        """How many more mappings are possible; None without a limit or a count, 0 when over it."""
        return None if self.limit is None or self.count is None else max(0, self.limit - self.count)


def find_counted(regions: pa.Table) -> Bools:
    """Return a mask of all regions but the gate areas, which are no memory of the process."""
    gates = pc.equal(regions.column("subtype"), GATE)
    counted: Bools = ~gates.fill_null(False).to_numpy().astype(np.bool_)
    return counted


def count_mappings(snapshot: LoadedSnapshot) -> MappingCount:
    """Count the mappings of a process, without gate areas, and read the limit that held then."""
    if not is_like_linux(snapshot.capture):
        return MappingCount(None, None, applies=False)
    is_known = find_extent(snapshot).shown == ALL
    counted = int(np.count_nonzero(snapshot.classified.counted)) if is_known else None
    return MappingCount(counted, read_mapping_limit(snapshot.capture))


def read_mapping_limit(capture: Capture) -> int | None:
    """Read vm.max_map_count, the system's limit on the mappings of a process; None where it is unknown."""
    return get_number(capture.system, "max_map_count")
