"""The programs and libraries of a snapshot: what each costs, and which build it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import MODULES
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described

__all__ = ["list_modules"]

_SUMMED = (
    "size",
    "committed",
    "private",
    "total_ws",
    "private_ws",
    "swap",
    "shareable_ws",
    "shared_ws",
    "pss",
)
_READ = {
    **{
        name: name
        for name in ("base", "build_id", "timestamp", "file_size", "mtime_ns", "elf_class", "machine")
    },
    "version": "file_version",
}
"""Columns of the answer, and the raw columns that they are taken from."""
_BSS = ".bss"


def list_modules(snapshot: Described) -> pa.Table:
    """Return schema.MODULES, one row a load of a file, sorted by address; .bss is counted with its file.

    What is told of the file is null where nobody read it, and where the source has only text.
    """
    regions, built = RawColumns(snapshot.regions), snapshot.classified
    loads = np.unique(regions.numbers("allocation").values[built.classes.parts])
    rows = np.flatnonzero(np.isin(regions.numbers("allocation").values, loads))
    groups = group_by(regions.numbers("allocation").values[rows])
    first = rows[groups.first]
    size = regions.numbers("size")
    bss = Numbers(np.where(regions.text("subtype").equals(_BSS), size.values, np.uint64(0)))
    columns: dict[str, object] = {
        name: groups.sum(regions.numbers(name).take(rows)).numbers for name in _SUMMED
    }
    columns |= {
        "path": built.layout.path.take(first),
        "address": Numbers(regions.numbers("address").values[first]),
        "end": Numbers(groups.max(regions.numbers("end").values[rows])),
        "bss": None if built.classes.images is None else groups.sum(bss.take(rows)).numbers,
        "blocks": groups.count.astype(np.uint32),
        "loads": _count_loads(built.layout.file[first]),
    }
    columns |= _read_known(snapshot, built.classes.module[first])
    return build_table(MODULES, columns, len(first))


def _count_loads(files: Rows) -> np.ndarray:
    loads = np.unique(files, return_inverse=True, return_counts=True)
    return loads[2][loads[1]].astype(np.uint32)


def _read_known(snapshot: Described, module: Rows) -> dict[str, object]:
    """Take what the raw modules table says of the modules at those rows; -1 is unknown."""
    raw = snapshot.decode_raw("modules")
    places = pa.array(module, mask=module < 0)
    known: dict[str, object] = {}
    for name, source in _READ.items():
        known[name] = raw.table.column(source).take(places) if source in raw else pa.nulls(len(module))
    return known
