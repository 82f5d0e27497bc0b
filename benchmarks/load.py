"""Figure: loading 1,000,000 regions into Arrow, against zlib alone and plain parsing of smaps."""

from __future__ import annotations

import statistics
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from benchmarks.commands import call_in_child
from benchmarks.figures import Figure, Options
from benchmarks.million import make_million

__all__ = ["measure", "time_load", "time_text"]


def measure(options: Options) -> list[Figure]:
    """Compare calls within one process, wall time; the text is parsed once, it takes about a minute."""
    million, text = make_million(options), options.folder / "million.smaps"
    times, _ = call_in_child(__name__, "time_load", str(million), options.runs)
    call_in_child("benchmarks.million", "write_text", str(million), str(text))
    parsing, _ = call_in_child(__name__, "time_text", str(text))
    text.unlink()
    return [
        Figure("load, into Arrow", times["load"], "zlib alone", times["zlib"], "s", 3.0),
        Figure("load, into Arrow", times["load"], "plain parsing of smaps", parsing, "s", 1 / 50),
        Figure("load and classify", times["classify"], "zlib alone", times["zlib"], "s"),
    ]


def _find_compressed(path: str) -> bytes:
    """Return the regions table's compressed bytes, found with msgpack alone (docs/format.md)."""
    import msgpack

    with Path(path).open("rb") as file:
        for kind, _sync, _info, payload, _crc in msgpack.Unpacker(file, max_buffer_size=1 << 31):
            if kind == "snapshot":
                compressed = msgpack.unpackb(payload)["tables"]["regions"]["zlib"]
                assert isinstance(compressed, bytes)
                return compressed
    raise ValueError(f"{path} holds no snapshot")


def _load(path: str) -> None:
    from mmpscope import analysis

    assert analysis.load(path)[0].raw_regions.num_rows


def _classify(path: str) -> None:
    from mmpscope import analysis

    assert analysis.load(path)[0].regions.num_rows


def _measure_time(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def time_load(path: str, runs: int) -> dict[str, float]:
    """Return median seconds of decompressing, of loading to raw Arrow columns, and of classified regions."""
    compressed = _find_compressed(path)
    calls: dict[str, Callable[[], object]] = {
        "zlib": lambda: zlib.decompress(compressed),
        "load": lambda: _load(path),
        "classify": lambda: _classify(path),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs + 1):
        for name, call in calls.items():
            taken[name].append(_measure_time(call))
    return {name: statistics.median(each[1:]) for name, each in taken.items()}


def parse_plainly(path: str) -> list[dict[str, int | str]]:
    """Parse smaps as one would by hand: a dict a region, kB as bytes."""
    regions: list[dict[str, int | str]] = []
    region: dict[str, int | str] = {}
    with Path(path).open() as lines:
        for line in lines:
            fields = line.split(None, 5)
            if not fields[0].endswith(":"):
                start, end = fields[0].split("-")
                region = {"start": int(start, 16), "end": int(end, 16), "perms": fields[1]}
                region["path"] = fields[5].rstrip("\n") if len(fields) > 5 else ""
                regions.append(region)
            elif fields[0] == "VmFlags:":
                region["VmFlags"] = line[9:].rstrip("\n")
            elif fields[-1] == "kB":
                region[fields[0][:-1]] = int(fields[1]) * 1024
            else:
                region[fields[0][:-1]] = int(fields[1])
    return regions


def time_text(path: str) -> float:
    """Return the seconds that plain parsing of a smaps text takes."""
    return _measure_time(lambda: parse_plainly(path))
