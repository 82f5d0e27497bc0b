"""Tables: the types of the schema, and numbers that stay exact on their way to pandas and Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot, find_free, list_allocations, summarize
from mmpscope.analysis.schema import COUNTERS, REGIONS, SUMMARY, TABLES
from mmpscope.analysis.tables import TEXT, build_table, find_arrow_type
from pyarrow import parquet
from support.loaded import load_map

TOP = 0xFFFFFFFFFF600000


def _load() -> LoadedSnapshot:
    return load_map("10000-11000 rw-p", f"{TOP:x}-{TOP + 4096:x} --xp 0 0 [vsyscall]")


def _make(snapshot: LoadedSnapshot, name: str) -> pa.Table:
    answers = {"allocations": list_allocations, "summary": summarize, "free": find_free}
    made: pa.Table = answers[name](snapshot) if name in answers else getattr(snapshot, name)
    return made


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_the_columns_of_its_schema(name: str) -> None:
    """Names, order and types are those that are written down once."""
    table, fields = _make(_load(), name), TABLES[name]
    assert table.column_names[: len(fields)] == [field.name for field in fields]
    assert [table.schema.field(field.name).type for field in fields] == [
        find_arrow_type(field) for field in fields
    ]
    assert set(table.column_names[len(fields) :]) <= (
        {"perms", "offset", "dev_major", "dev_minor", "inode", "path"} | {"raw"}
    )


def test_f47_addresses_are_exact_in_pandas_also_beside_nulls() -> None:
    """pandas would make float64 of a column with a null, and lose the low digits of an address."""
    snapshot = _load()
    frame = snapshot.regions.to_pandas()
    assert frame["address"].tolist() == [0x10000, TOP]
    assert (frame["end"] - frame["address"]).tolist() == [4096, 4096]
    column = pa.table({"a": pa.array([TOP + 1, None], pa.uint64())})
    table = build_table((REGIONS[1],), {"address": column.column("a")}, 2)
    frame = table.to_pandas()
    assert frame["address"].dtype == pd.UInt64Dtype()
    assert (int(frame["address"][0]), frame["address"][1] is pd.NA) == (TOP + 1, True)
    summary = summarize(snapshot).to_pandas()
    assert str(summary["total_ws"].dtype) == "UInt64"


def test_f47_addresses_are_exact_in_parquet(tmp_path: Path) -> None:
    """uint64 stays uint64 with its nulls, and the way back through pandas is as exact."""
    table = _load().regions
    parquet.write_table(table, tmp_path / "regions.parquet")
    again = parquet.read_table(tmp_path / "regions.parquet")
    assert again.schema.field("address").type == pa.uint64()
    assert again.column("address").to_pylist() == [0x10000, TOP]
    assert again.column("total_ws").null_count == 2
    frame = pd.read_parquet(tmp_path / "regions.parquet")
    assert frame["address"].tolist() == [0x10000, TOP]
    assert frame["total_ws"].dtype == pd.UInt64Dtype()


def test_exactness_survives_the_ways_tables_are_cut() -> None:
    """Filtered, sorted, selected and joined tables still become whole numbers."""
    table = _load().regions
    for cut in (
        table.slice(1),
        table.sort_by("address"),
        table.select(["total_ws", "type"]),
        pa.concat_tables([table] * 2),
    ):
        assert cut.to_pandas()["total_ws"].dtype == pd.UInt64Dtype()


def test_a_column_that_is_not_given_is_null() -> None:
    """Missing is null, of the right type."""
    table = build_table(SUMMARY, {"type": ["Total"]}, 1)
    assert table.column("size").to_pylist() == [None]
    assert table.schema.field("size").type == pa.uint64()
    assert table.schema.field("partial").type == TEXT


def test_figures_of_the_schema_are_in_every_table_of_regions() -> None:
    """One list of figures, used everywhere."""
    for name in ("regions", "allocations", "summary"):
        assert set(COUNTERS) <= {field.name for field in TABLES[name]}


def test_public_names_are_there_and_listed() -> None:
    """Each is imported on demand, and an unknown one is an AttributeError like any."""
    for name in analysis.__all__:
        assert getattr(analysis, name) is not None
        assert name in dir(analysis)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = analysis.nothing
