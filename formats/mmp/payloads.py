"""Payloads between snapshots and bytes: small maps, capability list, tables (docs/format.md, "Payloads")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp.packing import Bounds, pack, unpack
from mmpscope.formats.mmp.tables import Origin, StoredTables, pack_tables
from mmpscope.formats.model import Capability, Capture, Fact, Facts, Snapshot, Table

__all__ = [
    "pack_capture",
    "pack_snapshot",
    "unpack_capture",
    "unpack_map",
    "unpack_snapshot",
]


_CODES = (int, type(None))
_REASONS = (str, type(None))


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """Pack a snapshot without its capture."""
    maps = {"process": snapshot.process, "moment": snapshot.moment}
    return _pack(maps, snapshot.capability, snapshot.tables, snapshot.extra)


def pack_capture(capture: Capture) -> bytes:
    """Pack a capture."""
    maps = {"host": capture.host, "system": capture.system, "moment": capture.moment}
    return _pack(maps, capture.capability, capture.tables, capture.extra)


def _pack(
    maps: Mapping[str, Facts], capability: list[Capability], tables: Mapping[str, Table], extra: Facts
) -> bytes:
    rows = [[item.item, item.state, item.code, item.reason] for item in capability]
    return pack({**maps, "capability": rows, "tables": pack_tables(tables), **extra})


def unpack_snapshot(payload: bytes, capture: Capture, limits: Limits, origin: Origin) -> Snapshot:
    """Unpack a snapshot of ``capture``; its tables are decompressed when they are asked for."""
    parts = _unpack(payload, ("process", "moment"), limits, origin)
    process, moment = parts.maps
    return Snapshot(capture, process, moment, parts.tables, parts.capability, parts.extra)


def unpack_capture(payload: bytes, limits: Limits, origin: Origin) -> Capture:
    """Unpack a capture; its tables are decompressed when they are asked for."""
    parts = _unpack(payload, ("host", "system", "moment"), limits, origin)
    host, system, moment = parts.maps
    return Capture(host, system, moment, parts.tables, parts.capability, parts.extra)


class _Parts(NamedTuple):
    maps: list[Facts]
    tables: StoredTables
    capability: list[Capability]
    extra: Facts


def _unpack(payload: bytes, names: tuple[str, ...], limits: Limits, origin: Origin) -> _Parts:
    content = unpack_map(payload, limits)
    maps = [_take_map(content, name) for name in names]
    stored = _take_map(content, "tables")
    for name, table in stored.items():
        if not isinstance(table, dict):
            raise CorruptError("a table is no map", field=f"table {name}")
    capability = content.pop("capability", [])
    if not isinstance(capability, list):
        raise CorruptError("a part of the payload is no list", field="capability")
    tables = StoredTables(stored, limits, origin)
    return _Parts(maps, tables, [_read_capability(row) for row in capability], content)


def unpack_map(payload: bytes, limits: Limits) -> Facts:
    """Unpack a payload that is one map."""
    content = unpack(payload, Bounds(limits.payload_depth, limits.payload_values))
    if not isinstance(content, dict):
        raise CorruptError("the payload is no map")
    return content


def _take_map(content: Facts, name: str) -> Facts:
    value = content.pop(name, {})
    if not isinstance(value, dict):
        raise CorruptError("a part of the payload is no map", field=name)
    return value


def _read_capability(row: Fact) -> Capability:
    """Read one row; items after the fourth come from a newer minor version."""
    if isinstance(row, list) and len(row) >= 4:
        item, state, code, reason = row[:4]
        is_sound = isinstance(item, str) and isinstance(state, str)
        if is_sound and isinstance(code, _CODES) and isinstance(reason, _REASONS):
            return Capability(item, state, code, reason)
    raise CorruptError("a row is not [item, state, code, reason]", field="capability")
