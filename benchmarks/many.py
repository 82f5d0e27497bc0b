"""Figures: compare and dataset build over 10,000 files, against reading, unpacking and forgetting the same.

And against a loop of pandas over CSV exports of them; with one worker, with two, and on a Dask cluster.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from benchmarks.commands import call_in_child, find_script, measure_tree
from benchmarks.figures import Figure, Options
from benchmarks.many_files import count_files, make_many

__all__ = ["loop_over_exports", "measure", "time_floor", "time_parts", "write_exports"]

_MIB = 2**20
_PEAK_MIB = 600
_EXPORTED = 200
"""Files that the loop of pandas is measured on: it takes as long for each as for the next."""
_SUMMED = ["size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "shared_ws", "swap"]
_FLOOR = "read, unpack, forget"
_LOOP = "pandas over their CSV exports"
"""The exports are made beforehand, as a dataset is: that compares like with like."""


def measure(options: Options) -> list[Figure]:
    """Compare whole commands, wall time, all files in the page cache; the floor is a call in one process."""
    count = count_files(options)
    many, fewer = make_many(options, count), make_many(options, count // 10)
    (floor, floor_used), _ = call_in_child(__name__, "time_floor", str(many))
    parts, _ = call_in_child(__name__, "time_parts", str(fewer))
    (_, floor_of_few), _ = call_in_child(__name__, "time_floor", str(fewer))
    answer = options.folder / "compare.json"
    compare = [find_script("mmp"), "compare", str(many), "-fo", str(answer), "--no-progress", "--workers"]
    one, two = measure_tree([*compare, "1"]), measure_tree([*compare, "2"])
    _check_rows(answer, count)
    few = measure_tree([*compare[:2], str(fewer), *compare[3:], "2"])
    _check_rows(answer, count // 10)
    with _running_cluster(options.folder) as scheduler:
        dask = measure_tree([*compare[:-1], "--scheduler", scheduler])
    dataset = options.folder / "dataset"
    build = measure_tree(_build(dataset, many))
    prepared = measure_tree([find_script("mmp"), "compare", str(dataset), "-fo", str(answer)])
    _check_rows(answer, count)
    loop = _time_loop(options.folder, many, count)
    peak, peak_of_few = two.peak_bytes / _MIB, few.peak_bytes / _MIB
    return [
        *(Figure(f"{name}, processor", taken, _FLOOR, floor_of_few, "s") for name, taken in parts.items()),
        Figure(f"compare {count:,} files", two.wall_s, _FLOOR, floor, "s", 4.0),
        Figure("... processors, one worker", one.processor_s, _FLOOR, floor_used, "s"),
        Figure("... two workers", two.wall_s, "one worker", one.wall_s, "s", 1 / 1.7),
        Figure("... on a Dask cluster of two", dask.wall_s, "two workers", two.wall_s, "s"),
        Figure("... two workers", two.wall_s, _LOOP, loop, "s"),
        Figure("... peak memory, all processes", peak, "the limit", _PEAK_MIB, "MiB", 1.0),
        Figure("... peak memory, all processes", peak, f"{count // 10:,} files", peak_of_few, "MiB", 1.1),
        Figure("dataset build of them", build.wall_s, _FLOOR, floor, "s", 8.0),
        Figure("... processors", build.processor_s, _FLOOR, floor_used, "s"),
        Figure("compare of that dataset", prepared.wall_s, _LOOP, loop, "s", 1 / 20),
        Figure("... peak memory, all processes", build.peak_bytes / _MIB, "the limit", _PEAK_MIB, "MiB", 1.0),
    ]


def _check_rows(answer: Path, count: int) -> None:
    """Make sure that every file is a row: a capture of a process that has a later one would be none."""
    told = json.loads(answer.read_text())
    found = [len(told["rows"]), told["snapshots"], told["earlier"], told["unreadable"]]
    assert found == [count, count, 0, 0], found


def _build(dataset: Path, many: Path) -> list[str]:
    rmtree(dataset, ignore_errors=True)
    return [find_script("mmp"), "dataset", "build", str(dataset), "--from", str(many), "--no-progress"]


def time_floor(folder: str) -> tuple[float, float]:
    """Return seconds, by the clock and of processor, to read, decompress and unpack files, and forget them.

    The second of two rounds, so that no file comes from the disk.
    """
    paths = [str(path) for path in sorted(Path(folder).iterdir())]
    for _ in range(2):
        start, used = time.perf_counter(), time.process_time()
        for path in paths:
            _unpack_file(path)
    return time.perf_counter() - start, time.process_time() - used


def _unpack_file(path: str) -> None:
    """Unpack a file with msgpack and zlib alone (docs/format.md)."""
    import msgpack

    with open(path, "rb") as file:  # noqa: PTH123  # the floor is as low as it can be
        unpacker = msgpack.Unpacker(file, max_buffer_size=1 << 31)
        for kind, _sync, _info, payload, _crc in unpacker:
            if kind in ("capture", "snapshot"):
                for table in msgpack.unpackb(payload)["tables"].values():
                    msgpack.unpackb(zlib.decompress(table["zlib"]))


def time_parts(folder: str) -> dict[str, float]:
    """Return the seconds of processor to open the files of a folder, and to measure them batch by batch.

    As a worker does: lean.
    """
    from mmpscope import analysis
    from mmpscope.analysis.bulk.files import list_inputs, make_batches
    from mmpscope.analysis.bulk.measuring import Measuring, measure_batch
    from mmpscope.analysis.lean import go_lean

    go_lean()

    def open_all() -> None:
        for path in sorted(Path(folder).iterdir()):
            assert analysis.load(path)[0].raw.tables["regions"]

    def measure_all(measuring: Measuring) -> None:
        for batch in make_batches(list_inputs([folder]), 1):
            measure_batch(batch, measuring)

    calls: dict[str, Callable[[], None]] = {
        "open and unpack": open_all,
        "measure for compare": lambda: measure_all(Measuring(("captures", "summaries"))),
        "measure everything": lambda: measure_all(Measuring()),
    }
    taken = {}
    for name, call in calls.items():
        call()  # what is imported on the way is not the work
        start = time.process_time()
        call()
        taken[name] = time.process_time() - start
    return taken


def _time_loop(folder: Path, many: Path, count: int) -> float:
    exports = folder / "exports"
    exports.mkdir(exist_ok=True)
    taken = min(_EXPORTED, count)
    call_in_child(__name__, "write_exports", str(many), str(exports), taken)
    seconds, _ = call_in_child(__name__, "loop_over_exports", str(exports))
    return float(seconds) * count / taken


def write_exports(folder: str, exports: str, count: int) -> None:
    """Write the regions of the first files of a folder as `mmp export FILE -t regions -o FILE.csv` does."""
    from mmpscope import analysis
    from mmpscope.analysis.export import write_table
    from mmpscope.analysis.named_tables import stack_tables

    for path in sorted(Path(folder).iterdir())[:count]:
        regions = stack_tables(analysis.load(path), "regions")
        write_table(regions, str(Path(exports, f"{path.stem}.csv")), force=True)


def loop_over_exports(exports: str) -> float:
    """Return the seconds that the usual way takes: read each file, add up by type, put all below each other.

    Each is read with all of its columns, as pandas reads a CSV that nobody told it about. A row has what one
    of `compare` has most of: sums by type, the largest hole, the count of mappings.
    """
    import pandas as pd

    start = time.perf_counter()
    parts, wholes = [], []
    for path in sorted(Path(exports).iterdir()):
        regions = pd.read_csv(path)
        sums = regions.groupby("type")[_SUMMED].sum()
        parts.append(sums.assign(file=path.name))
        address, end = (regions[name].map(lambda text: int(text, 16)) for name in ("address", "end"))
        largest = max(after - before for after, before in zip(address[1:], end[:-1], strict=True))
        wholes.append({**sums.sum(), "file": path.name, "largest_free": largest, "mappings": len(regions)})
    by_type, table = pd.concat(parts), pd.DataFrame(wholes)
    distance = (table["private"] - table["private"].median()).abs()
    assert len(distance) == by_type["file"].nunique()
    return time.perf_counter() - start


@contextmanager
def _running_cluster(folder: Path) -> Iterator[str]:
    """Give the address of a Dask scheduler on loopback with two workers of one thread."""
    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        input()\n"
    )
    script = folder / "cluster.py"
    script.write_text(code)
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate("\n")
