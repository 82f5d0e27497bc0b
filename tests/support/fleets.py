"""Many processes of a fleet: their measures without a snapshot behind them, and small files of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.tables import build_table
from mmpscope.formats.mmp import write_file
from support.shop import make_shop

__all__ = ["MIB", "make_fleet", "make_process", "write_fleet"]

MIB = 1 << 20
_FIGURES = ("size", "committed", "private", "total_ws", "private_ws", "swap")


def make_process(number: int, private: int = 100 * MIB, **facts: Any) -> dict[str, Any]:
    """Write the row of one process: all figures are `private`, unless given."""
    row: dict[str, Any] = dict.fromkeys(_FIGURES, private) | {"swap": 0, "largest_free": 1 << 40}
    row |= {"snapshot_id": f"{number:064x}:0", "input": f"{number}.mmp#0", "hostname": f"host-{number % 3}"}
    row |= {"name": "server", "exe": "/opt/server", "version": "ab12", "pid": 1000 + number}
    row |= {"extent": "all regions", "complete": True, "mappings": 500, "threads": 4, "modules": 10}
    return row | facts


def make_fleet(rows: Sequence[Mapping[str, Any]]) -> Measures:
    """Make the measures of some processes; all that is private is their heap."""
    types = [
        {"snapshot_id": row["snapshot_id"], "type": kind, "private": value, "total_ws": value}
        for row in rows
        for kind, value in (("Total", row["private"]), ("Heap", row["private"]), ("Stack", 0))
    ]
    tables: dict[str, Sequence[Mapping[str, Any]]] = {"captures": rows, "summaries": types}
    return Measures(**{name: _make_table(name, tables.get(name, [])) for name in MEASURES})


def _make_table(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    columns = {field.name: [row.get(field.name) for row in rows] for field in MEASURES[name]}
    return build_table(MEASURES[name], columns, len(rows))


def write_fleet(folder: Path, count: int = 9) -> Path:
    """Write a folder of files of one program on as many machines; the last of them has grown, none else."""
    (folder / "fleet").mkdir()
    usual, grown = make_shop()
    for number in range(count):
        base = grown if number == count - 1 else usual
        host = {**base.capture.host, "hostname": f"till-{number}", "id": f"id of {number}"}
        made = replace(
            base,
            capture=replace(base.capture, host=host),
            process={**base.process, "pid": 4000 + number},
        )
        write_file(folder / "fleet" / f"{number}.mmp", [made])
    return folder / "fleet"
