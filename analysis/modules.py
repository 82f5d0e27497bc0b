"""The programs and libraries of a snapshot: what each costs, and which build it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns, Uints
from mmpscope.analysis.grouping import group_by, look_up
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import MODULES
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described

__all__ = ["find_loads", "list_modules"]

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


def find_loads(regions: RawColumns, allocations: Uints) -> Uints:
    """Return the allocation that each allocation counts with: of a piece of a file, the load of all of it.

    What lies apart from a load that begins with the start of its file, where the header is (elf(5)), is no
    load. V8 makes such a piece: it maps its built-in functions once more near its code, and not in every run
    (node 20: 7f25f7e40000-7f25f7fd2000 r-xp 014c4000, the program itself at 400000).
    """
    if "offset" not in regions:
        return allocations
    known, paths = regions.numbers("allocation").values, regions.text("path")
    offset = regions.numbers("offset")
    parts = np.flatnonzero(regions.text("type").equals("Image") & ~paths.is_null)
    heads = parts[offset.is_known[parts] & (offset.values[parts] == 0)]
    apart = parts[~np.isin(known[parts], known[heads])]
    files, first = np.unique(paths.codes[heads], return_index=True)
    home = look_up(paths.codes[apart], files)
    pieces, at = np.unique(known[apart[home >= 0]], return_index=True)
    targets = known[heads[first[home[home >= 0][at]]]]
    place = look_up(allocations, pieces)
    return np.where(place >= 0, np.append(targets, allocations[:1])[place], allocations)


def list_modules(snapshot: Described) -> pa.Table:
    """Return schema.MODULES, one row a load of a file, sorted by address; .bss is counted with its file.

    What is told of the file is null where nobody read it, and where the source has only text.
    """
    regions, built = RawColumns(snapshot.regions), snapshot.classified
    stated = regions.numbers("allocation").values
    allocation = find_loads(regions, stated)
    rows = np.flatnonzero(np.isin(allocation, np.unique(allocation[built.classes.parts])))
    own = rows[allocation[rows] == stated[rows]]
    groups, of_own = group_by(allocation[rows]), group_by(allocation[own])
    first = own[of_own.first]
    size = regions.numbers("size")
    bss = Numbers(np.where(regions.text("subtype").equals(_BSS), size.values, np.uint64(0)))
    columns: dict[str, object] = {
        name: groups.sum(regions.numbers(name).take(rows)).numbers for name in _SUMMED
    }
    columns |= {
        "path": built.layout.path.take(first),
        "address": Numbers(regions.numbers("address").values[first]),
        "end": Numbers(of_own.max(regions.numbers("end").values[own])),
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
