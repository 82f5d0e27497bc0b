"""Files for datasets: series of one made process at moments that a test chooses, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
from mmpscope.analysis.datasets.building import Built, Plan, build_dataset
from mmpscope.analysis.datasets.layout import list_parts, read_description
from mmpscope.analysis.datasets.querying import ask
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Snapshot
from support.shop import make_shop

__all__ = ["NOVEMBER_NS", "ask_rows", "build", "list_files", "make_moments", "read_plainly", "write_run"]

NOVEMBER_NS = 1_795_000_000_000_000_000
"""2026-11-18."""
_BASE, _LATER = make_shop()


def make_moments(times: Iterable[int | None], pid: int = 4242) -> Iterator[Snapshot]:
    """Yield a snapshot of one process at each of these moments, ns since 1970; None: nobody knows when."""
    for number, time_ns in enumerate(times):
        base = (_BASE, _LATER)[number % 2]
        moment = {**base.moment, "time_ns": time_ns, "mono_ns": time_ns}
        known = {name: fact for name, fact in moment.items() if fact is not None}
        yield replace(base, process={**base.process, "pid": pid}, moment=known)


def write_run(path: Path, times: Iterable[int | None] = (NOVEMBER_NS,), pid: int = 4242) -> Path:
    """Write a series of one process, in place of what is there."""
    write_file(path, make_moments(times, pid), force=True)
    return path


def build(root: Path, *inputs: str | Path, **options: Any) -> Built:
    """Build a dataset in this process."""
    *_, built = build_dataset(root, Plan([str(each) for each in inputs], workers=1, **options))
    return built


def ask_rows(root: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    rows: list[dict[str, Any]] = ask(root, sql).to_pylist()
    return rows


def read_plainly(root: Path, table: str, what: str) -> Sequence[Any]:
    """Ask DuckDB of the Parquet files as they lie, with nothing of ours in between; one row."""
    pattern = root / table / ("*.parquet" if table == "files" else "*/*.parquet")
    with duckdb.connect(":memory:") as connection:
        row = connection.execute(
            f"SELECT {what} FROM read_parquet('{pattern}', union_by_name = true, hive_partitioning = true)"
        ).fetchone()
    assert row is not None
    return row


def list_files(root: Path) -> Mapping[str, bytes]:
    """Return every part of a dataset that is there, counting or not, with its bytes."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def count_parts(root: Path, table: str) -> int:
    """Return how many parts of a table count."""
    return len(list_parts(root, read_description(root).generation, table)[table])
