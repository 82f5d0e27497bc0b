"""Snapshots as readers of foreign formats make them: raw tables of any columns, reasons, facts of a host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mmpscope.analysis import LoadedSnapshot
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Snapshot, Table

__all__ = ["WINDOWS", "load_foreign", "make_mbi", "make_table", "make_vmmap", "missing"]

Row = Mapping[str, Any]

WINDOWS = {"os": "windows", "allocation_granularity": 0x10000}


def load_foreign(
    regions: Iterable[Row] = (),
    *,
    host: Mapping[str, Any] | None = None,
    capability: Sequence[Capability] = (),
    tables: Mapping[str, Iterable[Row]] | None = None,
    **process: Any,
) -> LoadedSnapshot:
    """Load raw rows as a reader would hand them out; `tables` has more of them by name."""
    raw = {"regions": make_table(regions)} | {name: make_table(rows) for name, rows in (tables or {}).items()}
    snapshot = Snapshot(Capture(host=dict(host or {})), process, {}, raw, list(capability))
    return LoadedSnapshot("foreign#0", lambda: snapshot)


def make_table(rows: Iterable[Row]) -> Table:
    """Encode rows: a column with a text in it, or of details, is text, every other one unsigned."""
    listed = list(rows)
    names = dict.fromkeys(name for row in listed for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in listed]
        if name == "Details" or any(isinstance(value, str) for value in values):
            columns[name] = Plain("text", [value and value.encode() for value in values], "utf-8")
        else:
            columns[name] = Plain("uint", values)
    return encode_table(columns, len(listed))


def missing(reason: str, state: str = "partial", item: str = "regions") -> Capability:
    """Make the line by which a reader says that its source lacks something."""
    return Capability(item, state, None, reason)


def make_vmmap(start: int, size: int, kind: str = "Private Data", **figures: Any) -> dict[str, Any]:
    """Make a row of VMMap: an allocation, or with `base` a sub-block; figures by their raw names, else 0."""
    names = (
        "Commit",
        "PrivateBytes",
        "TotalWS",
        "PrivateWS",
        "ShareableWS",
        "SharedWS",
        "LockedWS",
        "Blocks",
    )
    row: dict[str, Any] = {"start": start, "size": size, "VmmapType": kind, "Protection": 4}
    row |= {**dict.fromkeys(names, 0), "AllocationBase": figures.pop("base", start), "Details": None}
    return {**row, **figures}


def make_mbi(start: int, size: int, state: int = 0x1000, **more: Any) -> dict[str, Any]:
    """Make a row of MEMORY_BASIC_INFORMATION, committed and private unless told otherwise."""
    row = {"start": start, "size": size, "State": state, "AllocationBase": start, "AllocationProtect": 4}
    return {**row, "Protect": 4 if state == 0x1000 else 0, "Type": 0x20000, **more}
