"""docs/metrics.md describes every column of the answers about free space and of the diff."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis.diffs.schema import DIFF_TABLES, METRICS
from mmpscope.analysis.free_schema import FREE_TABLES
from mmpscope.analysis.schema import FREE, Field

TEXT = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
TABLES: dict[str, tuple[Field, ...]] = {"free": FREE, **FREE_TABLES, **DIFF_TABLES}
SHORT = {
    f"{name}_{end}" for name in (*METRICS, "blocks", "allocations", "largest") for end in ("a", "b", "delta")
}
"""Described together: each figure has these three columns."""
SAME_AS_A = {f"{name}_b" for name in ("state", "type", "protection", "details")}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_described(name: str) -> None:
    """A column that nobody can look up is a column that nobody trusts."""
    section = TEXT[
        TEXT.index("## Free space") if name in FREE_TABLES or name == "free" else TEXT.index("## Diff") :
    ]
    names = {field.name for field in TABLES[name]} - SHORT - SAME_AS_A
    assert f"`{name}`" in section
    assert not {column for column in names if f"`{column}`" not in section}
