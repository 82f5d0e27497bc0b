"""Opening minidumps that a test has in memory."""

from __future__ import annotations

import io
from contextlib import ExitStack

from mmpscope.formats.interface import Input
from mmpscope.formats.minidump.reader import open_minidump
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot
from mmpscope.formats.source import ListedSource

__all__ = ["find_capability", "list_rows", "open_dump", "read_dump"]


def open_dump(data: bytes, *, partial: bool = False) -> ListedSource:
    """Open a dump that lies in memory."""
    return open_minidump(Input(io.BytesIO(data), "x.dmp", partial, ExitStack()))


def read_dump(data: bytes) -> Snapshot:
    """Read the snapshot of a dump in which there is nothing to complain about."""
    source = open_dump(data)
    assert source.faults == []
    return source.read(0)


def list_rows(snapshot: Snapshot, table: str = "regions", *names: str) -> list[tuple[Fact, ...]]:
    """List a table row by row, all its columns or those of these names."""
    columns = decode_table(snapshot.tables[table])
    return list(zip(*(columns[name] for name in names or columns), strict=True))


def find_capability(snapshot: Snapshot, item: str) -> tuple[str, str | None] | None:
    """Find state and reason of an item; None where it is not listed."""
    found = [(known.state, known.reason) for known in snapshot.capability if known.item == item]
    return found[0] if found else None
