"""Totals of a dataset against the sums over its files: by DuckDB on the bare Parquet, and by ours."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.datasets.reading import read_measures, read_table
from mmpscope.analysis.datasets.schema import PARTITIONED
from mmpscope.analysis.measures.measure import join_measures
from support.datasets import ask_rows, build, read_plainly

SAMPLES = Path(__file__).parents[2] / "samples"
_SUMMED = {
    name: [f.name for f in fields if f.unit == "bytes" or f.name == "blocks"]
    for name, fields in PARTITIONED.items()
}


@pytest.fixture(scope="module")
def snapshots() -> list[LoadedSnapshot]:
    """Every snapshot of every sample: Linux and Windows, one and many in a file."""
    return load(*sorted(SAMPLES.glob("*.mmp")))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of all samples, built in three goes."""
    folder = tmp_path_factory.mktemp("totals") / "ds"
    for pattern in ("linux-j*.mmp", "windows*.mmp", "*.mmp"):
        build(folder, SAMPLES / pattern)
    return folder


def _sum(tables: list[pa.Table], column: str) -> int | None:
    """Sum one column of many tables as whole numbers without end; None where nothing is known."""
    values = [value for table in tables for value in table[column].to_pylist() if value is not None]
    return sum(values) if values else None


def _as_number(value: Any) -> int | None:
    return int(value) if isinstance(value, Decimal | int) else None


@pytest.mark.parametrize("name", ["regions", "threads", "modules"])
def test_sums_over_the_files_are_sums_over_the_parquet(
    name: str, snapshots: list[LoadedSnapshot], root: Path
) -> None:
    """Row counts and each figure, three ways: from files, from the bare Parquet, and by `dataset sql`."""
    tables = [getattr(snapshot, name) for snapshot in snapshots]
    expected = [sum(table.num_rows for table in tables), *(_sum(tables, column) for column in _SUMMED[name])]
    what = ", ".join(["count(*)", *(f'sum("{column}"::HUGEINT)' for column in _SUMMED[name])])
    assert list(map(_as_number, read_plainly(root, name, what))) == expected
    asked = ", ".join(f'sum("{column}") AS "{column}"' for column in _SUMMED[name])
    [row] = ask_rows(root, f"SELECT count(*) AS n, {asked} FROM {name}")
    assert list(row.values()) == expected


def test_raw_columns_keep_every_value(snapshots: list[LoadedSnapshot], root: Path) -> None:
    """`raw_Rss` and the others add up to what the files have under their own names."""
    for raw in ("Rss", "Pss", "Swap", "Size", "TotalWS", "AllocationBase"):
        tables = [s.regions for s in snapshots if raw in s.regions.column_names]
        told = read_plainly(root, "regions", f'sum("raw_{raw}"::HUGEINT), count("raw_{raw}")')
        known = sum(table.num_rows - table[raw].null_count for table in tables)
        assert tables
        assert list(map(_as_number, told)) == [_sum(tables, raw), known]


def test_summaries_are_those_of_the_files(snapshots: list[LoadedSnapshot], root: Path) -> None:
    """Total of each snapshot, by label: the dataset has the answers of `mmp summary`."""
    rows = ask_rows(
        root, "SELECT input, s.* FROM summaries s JOIN captures USING (snapshot_id) WHERE type = 'Total'"
    )
    found = {Path(row["input"]).name: row for row in rows}
    assert len(found) == len(snapshots)
    for snapshot in snapshots:
        [total] = summarize(snapshot).slice(0, 1).to_pylist()
        row = found[Path(snapshot.label).name]
        assert {name: row[name] for name in total} == total


def test_measures_come_back_as_they_were(root: Path) -> None:
    """What compare and trend read is what SQL sees, row by row, for every table of measures."""
    measures = join_measures(list(read_measures(root)))
    for name in ("captures", "summaries", "names", "cohorts", "limits"):
        table = getattr(measures, name)
        columns = ", ".join(f'"{column}"' for column in table.column_names)
        asked = ask_rows(root, f"SELECT {columns} FROM {name}")
        assert sorted(map(repr, table.to_pylist())) == sorted(map(repr, asked))


def test_sizes_of_names_and_cohorts_are_those_of_all_regions(root: Path) -> None:
    """Each region that counts is in one name or one cohort: nothing is lost or counted twice."""
    rows = ask_rows(
        root,
        """SELECT c.snapshot_id, c.size,
            (SELECT coalesce(sum(size), 0) FROM names n WHERE n.snapshot_id = c.snapshot_id)
            + (SELECT coalesce(sum(size), 0) FROM cohorts o WHERE o.snapshot_id = c.snapshot_id) AS parts,
            (SELECT sum(size) FROM regions r WHERE r.snapshot_id = c.snapshot_id
             AND r.subtype IS DISTINCT FROM 'gate' AND r.type NOT IN ('Free', 'Unusable')) AS regions
        FROM captures c""",
    )
    assert rows
    assert [row for row in rows if row["parts"] != row["regions"]] == []


def test_tables_can_be_read_part_by_part(root: Path, snapshots: list[LoadedSnapshot]) -> None:
    """`read_table` has the same rows, with exact addresses."""
    parts = list(read_table(root, "regions"))
    assert len(parts) > 1
    ends = max(pc.max(part["end"]).as_py() for part in parts)
    assert ends == max(pc.max(snapshot.regions["end"]).as_py() for snapshot in snapshots)
