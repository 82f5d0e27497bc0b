"""Figures: SQL over a dataset of 5,000,000 region rows, against DuckDB on the same Parquet read directly."""

from __future__ import annotations

import hashlib
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Figure, Options
from benchmarks.many_files import make_many

__all__ = ["make_dataset", "measure", "multiply", "time_questions"]

_FILES, _COPIES = 1_000, 10
"""Files of 500 regions on average, and how often their parts are there."""

_QUESTIONS = {
    "sums by type": "SELECT type, count(*), sum(size), sum(total_ws) FROM {regions} GROUP BY type",
    "largest without a file": "SELECT * FROM {regions} WHERE raw_path IS NULL ORDER BY size DESC LIMIT 100",
    "join with captures": (
        "SELECT hostname, max(heap) FROM (SELECT snapshot_id, sum(private) AS heap FROM {regions}"
        " WHERE type = 'Heap' GROUP BY snapshot_id) JOIN {captures} USING (snapshot_id) GROUP BY hostname"
    ),
}


def measure(options: Options) -> list[Figure]:
    """Compare questions within one process, each with a connection of its own, ours and theirs in turn."""
    root = make_dataset(options)
    (rows, taken), _ = call_in_child(__name__, "time_questions", str(root), options.runs)
    return [
        Figure(f"SQL, {rows:,} regions: {name}", ours, "DuckDB, the same Parquet", theirs, "s", 1.2)
        for name, (ours, theirs) in taken.items()
    ]


def make_dataset(options: Options) -> Path:
    """Build a dataset of some files, and put copies of its parts beside them, as of other batches."""
    root = options.folder / "sql-dataset"
    if not root.is_dir():
        many = make_many(options, 20 if options.quick else _FILES)
        command = [find_script("mmp"), "dataset", "build", str(root), "--from", str(many), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        multiply(root, 2 if options.quick else _COPIES)
    return root


def multiply(root: Path, copies: int) -> None:
    """Copy every part under the names of further batches; the last copies are those of ``files``."""
    found = list(root.rglob("part-*.parquet"))
    parts = sorted(found, key=lambda path: path.parent.name == "files")
    for number in range(1, copies):
        for path in parts:
            generation, batch, columns = path.stem.split("-")[1:]
            other = hashlib.sha256(f"{batch} {number}".encode()).hexdigest()[:16]
            shutil.copy(path, path.with_name(f"part-{generation}-{other}-{columns}.parquet"))


def time_questions(root: str, runs: int) -> tuple[int, dict[str, tuple[float, float]]]:
    """Return how many regions there are, and for each question the median seconds of ours and of theirs."""
    from mmpscope.analysis.datasets.querying import ask

    folder = Path(root)
    [count] = ask(folder, "SELECT count(*) AS n FROM regions")["n"].to_pylist()
    taken = {}
    for name, question in _QUESTIONS.items():
        own = question.format(regions="regions", captures="captures")
        direct = question.format(regions=_scan(folder, "regions"), captures=_scan(folder, "captures"))
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(runs + 1):
            ours.append(_measure_time(lambda sql=own: ask(folder, sql)))
            theirs.append(_measure_time(lambda sql=direct: _ask_duckdb(sql)))
        taken[name] = (statistics.median(ours[1:]), statistics.median(theirs[1:]))
    return count, taken


def _scan(folder: Path, table: str) -> str:
    return f"read_parquet('{folder}/{table}/*/*.parquet', hive_partitioning = true, union_by_name = true)"


def _ask_duckdb(sql: str) -> None:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.sql(sql).to_arrow_table()


def _measure_time(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
