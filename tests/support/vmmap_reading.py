"""Bytes of a test through the readers of VMMap's formats, and their raw tables as rows."""

from __future__ import annotations

import io
from contextlib import ExitStack
from typing import Any

from mmpscope.formats.interface import Input
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from mmpscope.formats.source import Source
from mmpscope.formats.vmmap.format import FORMATS

__all__ = ["find_formats", "list_rows", "open_bytes", "read_one", "state_of"]


def find_formats(data: bytes) -> list[str]:
    """Return the names of VMMap's formats that take this content for theirs."""
    return [known.name for known in FORMATS if known.sniff(data[: 1 << 16])]


def open_bytes(data: bytes, *, partial: bool = False) -> Source:
    """Open content with the first format that takes it."""
    known = next(known for known in FORMATS if known.sniff(data[: 1 << 16]))
    return known.open(Input(io.BytesIO(data), "saved", partial, ExitStack()))


def read_one(data: bytes) -> tuple[Snapshot, list[str]]:
    """Read the only snapshot, and what was told of damage."""
    source = open_bytes(data)
    assert len(source.entries) == 1
    return source.read(0), [f"{fault.what}, line {fault.line}" for fault in source.faults]


def list_rows(snapshot: Snapshot, table: str, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of a raw table, row by row."""
    columns = decode_table(snapshot.tables[table])
    return list(zip(*(columns[name] for name in names), strict=True))


def state_of(snapshot: Snapshot, item: str) -> str | None:
    """Return what the capability list says of an item, None where it says nothing."""
    return next((f"{row.state}: {row.reason}" for row in snapshot.capability if row.item == item), None)
