"""A second reader, written from docs/format.md by somebody who saw nothing else, against ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.mmp import decode_table, open_file
from mmpscope.formats.model import Capability, Table
from oracles.second_reader import SnapshotData, read_file
from support.collecting import collect, run_sleeper

_ROOT = Path(__file__).parents[2]
_FILES = sorted([*_ROOT.glob("samples/*.mmp"), *_ROOT.glob("tests/compat/*.mmp")])


def _decode(tables: dict[str, Table]) -> dict[str, dict[str, list[Any]]]:
    return {name: decode_table(table) for name, table in tables.items()}


def _list(capability: list[Capability]) -> list[list[Any]]:
    """List what a file says; that a snapshot has no capture is what our reader adds."""
    return [[row.item, row.state, row.code, row.reason] for row in capability if row.item != "capture"]


def _take_four(rows: list[list[Any]]) -> list[list[Any]]:
    """Leave out what later versions add to a row."""
    return [row[:4] for row in rows]


def _read_with_ours(path: Path) -> list[dict[str, Any]]:
    snapshots = []
    with open_file(path) as file:
        for entry in file.entries:
            snapshot = file.read(entry.index)
            capture = snapshot.capture
            snapshots.append(
                {
                    "process": snapshot.process,
                    "moment": snapshot.moment,
                    "capability": _list(snapshot.capability),
                    "tables": _decode(dict(snapshot.tables)),
                    "capture.host": capture.host,
                    "capture.system": capture.system,
                    "capture.moment": capture.moment,
                    "capture.capability": _list(capture.capability),
                    "capture.tables": _decode(dict(capture.tables)),
                }
            )
    return snapshots


def _describe(snapshot: SnapshotData) -> dict[str, Any]:
    capture = snapshot.capture
    return {
        "process": snapshot.process,
        "moment": snapshot.moment,
        "capability": _take_four(snapshot.capability),
        "tables": snapshot.tables,
        **{f"capture.{part}": capture.get(part, {}) for part in ("host", "system", "moment", "tables")},
        "capture.capability": _take_four(capture.get("capability", [])),
    }


def _compare(path: Path) -> int:
    """Compare everything that both readers have of a file, and count its values."""
    theirs = [_describe(snapshot) for snapshot in read_file(path.read_bytes())]
    assert theirs == _read_with_ours(path)
    tables = [table for snapshot in theirs for table in snapshot["tables"].values()]
    return sum(len(values) for table in tables for values in table.values())


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_the_second_reader_reads_the_same(path: Path) -> None:
    """Every fact, table and column of every file that we ship is the same to both."""
    assert _compare(path) > 80


def test_the_second_reader_reads_a_fresh_series(tmp_path: Path) -> None:
    """What the collector writes now, appended to once, is the same to both."""
    path = tmp_path / "fresh.mmp"
    with run_sleeper() as sleeper:
        collect(sleeper.pid, "-o", path, "--interval", "0.05", "--count", 3).check_returncode()
        collect(sleeper.pid, "--append", path).check_returncode()
    assert _compare(path) > 1000
    assert len(read_file(path.read_bytes())) == 4


def test_the_second_reader_notices_every_flipped_bit() -> None:
    """No bit of the printed example can be another one without the second reader saying so."""
    text = (_ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    dumps = "".join(re.findall(r"^```hex\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    data = bytes.fromhex("".join(line[6:53] for line in dumps.splitlines()))
    assert len(read_file(data)) == 1
    for place in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(ValueError, match="offset 0x"):
            read_file(bytes(damaged))
