"""VMMap's own summary of a real process, cell by cell, from the rows of its list."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.export_vmmap import write_vmmap_csv
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.vmmap.words import FIGURES, name_summary_line
from support.corpus import find_corpus_file

KIB = 1024
OURS = {
    "Size": "size", "Committed": "committed", "Private": "private", "Total WS": "total_ws",
    "Private WS": "private_ws", "Shareable WS": "shareable_ws", "Shared WS": "shared_ws",
    "Locked WS": "locked_ws", "Blocks": "blocks", "Largest": "largest",
}  # fmt: skip
DOES_NOT_APPLY = {
    ("Total", "Largest"),
    ("Page Table", "Blocks"),
    ("Page Table", "Largest"),
    ("Unusable", "Blocks"),
}
"""Cells that VMMap leaves empty although there is a number."""


@pytest.fixture(scope="module")
def path() -> Path:
    """The CSV of devenv.exe."""
    return find_corpus_file("vmmap/devenv-x86.csv")


@pytest.fixture(scope="module")
def loaded(path: Path) -> LoadedSnapshot:
    """The snapshot that we make of it."""
    [snapshot] = load(path)
    return snapshot


@pytest.fixture(scope="module")
def printed(path: Path) -> dict[str, dict[str, int]]:
    """VMMap's summary by type and heading, sizes in bytes; an empty cell is 0."""
    text = path.read_bytes().replace(b"\r\r\n", b"\n").decode("ascii")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    heading, lines = rows[2], rows[3:14]
    return {
        line[0]: {
            name: int(cell.replace(",", "") or 0) * (1 if name == "Blocks" else KIB)
            for name, cell in zip(heading[1:], line[1:], strict=False)
            if name
        }
        for line in lines
    }


def test_every_cell_of_the_summary_is_ours(
    loaded: LoadedSnapshot, printed: dict[str, dict[str, int]]
) -> None:
    """All 110 cells, Free, Unusable, Largest and Blocks among them, come out to the byte."""
    rows = {row["type"]: row for row in summarize(loaded).to_pylist()}
    assert list(rows) == list(printed)
    cells = [
        (type_, heading) for type_ in printed for heading in OURS if (type_, heading) not in DOES_NOT_APPLY
    ]
    ours = {cell: rows[cell[0]][OURS[cell[1]]] or 0 for cell in cells}
    assert ours == {cell: printed[cell[0]][cell[1]] for cell in cells}
    assert len(cells) == 11 * 10 - len(DOES_NOT_APPLY)


def test_the_raw_tables_hold_the_summary(loaded: LoadedSnapshot, printed: dict[str, dict[str, int]]) -> None:
    """By plain loops over raw columns: figures over allocations, but Private over sub-blocks.

    Two managed heaps lose a K each, because their generations are no whole K and each row is cut by itself.
    """
    tables = {name: decode_table(loaded.raw.tables[name]) for name in ("allocations", "regions")}
    names = {"Size": "size", "Blocks": "Blocks", **{figure.heading: figure.name for figure in FIGURES}}
    sums: dict[tuple[str, str], int] = {}
    for heading, name in names.items():
        table = tables["regions" if heading == "Private" else "allocations"]
        for kind, value in zip(table["VmmapType"], table[name], strict=True):
            cell = name_summary_line(kind.decode()), heading
            sums[cell] = sums.get(cell, 0) + value
    assert len(sums) == 7 * 9
    sums["Managed Heap", "Private"] += 2 * KIB
    assert sums == {cell: printed[cell[0]][cell[1]] for cell in sums}


def test_totals_are_what_vmmap_printed(loaded: LoadedSnapshot, printed: dict[str, dict[str, int]]) -> None:
    """The summary itself is kept, so that a filtered list still has it."""
    totals = decode_table(loaded.raw.tables["totals"])
    sizes = {name.decode(): size for name, size in zip(totals["name"], totals["Size"], strict=True)}
    assert sizes == {name: row["Size"] for name, row in printed.items()}


def test_the_csv_is_written_as_it_was_read(path: Path, loaded: LoadedSnapshot) -> None:
    """Read and written again it is the same, byte for byte, summary and all, but for CR CR LF."""
    stream = io.BytesIO()
    write_vmmap_csv(stream, loaded)
    assert stream.getvalue().split(b"\r\n") == path.read_bytes().split(b"\r\r\n")


def test_an_allocation_has_the_greatest_protection_of_its_blocks(loaded: LoadedSnapshot) -> None:
    """What we write for allocations that no one stated is VMMap's own way, in all 1,233 of them."""
    regions, allocations = (decode_table(loaded.raw.tables[name]) for name in ("regions", "allocations"))
    greatest: dict[int, int] = {}
    for base, protection in zip(regions["AllocationBase"], regions["Protection"], strict=True):
        greatest[base] = max(greatest.get(base, 0), protection)
    assert list(greatest.values()) == allocations["Protection"]
    assert len(greatest) == 1233
