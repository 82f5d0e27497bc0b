"""Sources of saved /proc text, as tests look at them."""

from __future__ import annotations

from mmpscope.formats.proc.smaps import render_smaps
from mmpscope.formats.source import Source

__all__ = ["count_regions", "write_again"]


def write_again(source: Source) -> bytes:
    """Write the text of all snapshots, one after the other; totals have theirs in what stands before."""
    texts = []
    for index in range(len(source.entries)):
        snapshot = source.read(index)
        form = snapshot.process.get("source_text", {})
        table = snapshot.tables.get("regions")
        texts.append(form["before"] if table is None else render_smaps(table, form))
    return b"".join(texts)


def count_regions(source: Source) -> list[int | None]:
    """Return the number of regions of each snapshot, None for totals without regions."""
    tables = [source.read(index).tables.get("regions") for index in range(len(source.entries))]
    return [None if table is None else table.rows for table in tables]
