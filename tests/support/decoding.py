"""Opened files as plain JSON values, to compare with what is written down."""

from __future__ import annotations

from typing import Any

from mmpscope.formats.mmp import MmpFile, decode_table
from mmpscope.formats.model import Capability, Snapshot, Table

__all__ = ["describe_file", "describe_snapshot"]


def describe_file(file: MmpFile) -> dict[str, Any]:
    """Describe everything that a file's reader hands out."""
    return {
        "format": file.format,
        "closed": file.closed,
        "notes": file.read_notes(),
        "faults": [fault.what for fault in file.faults],
        "entries": [[entry.pid, entry.time_ns, entry.name] for entry in file.entries],
        "snapshots": [describe_snapshot(file.read(entry.index)) for entry in file.entries],
    }


def describe_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """Describe one snapshot with its capture."""
    capture = snapshot.capture
    return {
        "process": _plain(snapshot.process),
        "moment": _plain(snapshot.moment),
        "capability": [_list(item) for item in snapshot.capability],
        "tables": {name: _describe_table(table) for name, table in snapshot.tables.items()},
        "extra": _plain(snapshot.extra),
        "capture": {
            "host": _plain(capture.host),
            "system": _plain(capture.system),
            "moment": _plain(capture.moment),
            "capability": [_list(item) for item in capture.capability],
            "tables": {name: _describe_table(table) for name, table in capture.tables.items()},
            "extra": _plain(capture.extra),
        },
    }


def _describe_table(table: Table) -> dict[str, Any]:
    known = decode_table(table)
    unknown = {name: table.columns[name].enc for name in table.columns if name not in known}
    described: dict[str, Any] = {"rows": table.rows, "columns": _plain(known)}
    return {**described, "unknown encodings": unknown} if unknown else described


def _list(item: Capability) -> list[Any]:
    return [item.item, item.state, item.code, item.reason]


def _plain(value: Any) -> Any:
    """Write bytes as text where they are printable ASCII, else as {"hex": ...}; JSON carries the rest."""
    if isinstance(value, bytes):
        return value.decode() if value.isascii() and value.decode().isprintable() else {"hex": value.hex()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
