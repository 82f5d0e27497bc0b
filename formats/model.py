"""What a reader hands out and a writer takes: raw snapshots as column tables, no object per region.

Nothing here interprets: columns are encoded as they are stored (docs/format.md, "Columns"), facts keep the
names that the operating system gave them. Decoding for speed is analysis' business (numpy, Arrow); the plain
reference decoder is `mmpscope.formats.mmp.columns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["REDACTION", "Capability", "Capture", "Column", "Fact", "Facts", "Snapshot", "Table"]

Fact = Any  # None, bool, int, float, str, bytes, list or map of these: what msgpack carries
Facts = dict[str, Fact]

REDACTION = "redaction"
"""The item of the capability list of a capture that says that names are tokens (docs/privacy.md)."""


@dataclass(frozen=True)
class Column:
    """One column as stored; which of the fields are used depends on ``enc`` (docs/format.md, "Columns").

    ``type`` is one of uint (0 .. 2^64-1), int (-2^63 .. 2^63-1), float (binary64), bool, text.
    ``extra`` holds descriptor keys that this version does not know; they survive a rewrite.
    """

    type: str
    enc: str
    width: int = 0
    scale: int = 1
    data: bytes = b""
    valid: bytes | None = None
    of: str | None = None
    by: str | None = None
    value: Fact = None
    rows: int = 0
    values: Column | None = None
    ends: Column | None = None
    text: str | None = None
    extra: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """``rows`` and the encoded columns by name, in file order."""

    rows: int
    columns: dict[str, Column]


class Capability(NamedTuple):
    """Whether one source or column could be had: the reason behind a null.

    ``state`` is ok, partial, unavailable, skipped or not applicable; ``code`` an errno or Win32 error code.
    """

    item: str
    state: str
    code: int | None = None
    reason: str | None = None


@dataclass
class Capture:
    """System-wide facts of one moment, shared by the snapshots that refer to it.

    ``host``: id (hashed), hostname, os, kernel, machine, page_size, boot_id ...; ``system``: meminfo,
    max_map_count ...; ``moment``: time_ns (wall), mono_ns; ``tables``: processes. All keys: docs/format.md.
    """

    host: Facts = field(default_factory=dict)
    system: Facts = field(default_factory=dict)
    moment: Facts = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    capability: list[Capability] = field(default_factory=list)
    extra: Facts = field(default_factory=dict)


@dataclass
class Snapshot:
    """One process at one moment, as the system told it.

    ``process``: pid, name, status, stat, limits ... under their kernel names; ``moment``: time_ns, mono_ns,
    cost per source, whether the map moved; ``tables``: regions, threads, modules, segments, heaps;
    ``extra``: payload keys that this version does not know.
    """

    capture: Capture
    process: Facts = field(default_factory=dict)
    moment: Facts = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    capability: list[Capability] = field(default_factory=list)
    extra: Facts = field(default_factory=dict)
