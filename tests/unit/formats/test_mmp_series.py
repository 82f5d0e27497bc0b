"""A series of a thousand snapshots: one is read alone, and opening the file takes no memory to speak of."""

from __future__ import annotations

import copy
import random
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import load
from mmpscope.formats.errors import CorruptError
from mmpscope.formats.mmp import open_file
from support.mmp_builder import SYNC, MmpBuilder, column, numbers, table, texts

_SNAPSHOTS = 1000
_ROWS = 2000
_CAPTURE_EVERY = 100


def _make_regions() -> dict[str, Any]:
    """Return a table of 2,000 regions whose counters zlib cannot shrink: some 20 kB, as a real one has."""
    gaps = [0x10000, *([1] * (_ROWS - 1))]
    chance = random.Random(1)
    return table(
        {
            "start": column("uint", "chain", of="size", width=4, scale=4096, data=numbers(gaps, 4)),
            "size": column("uint", "const", value=8192),
            "perms": column("text", "dict", width=1, data=bytes(_ROWS), values=texts([b"rw-p"])),
            **{
                name: column("uint", "plain", width=2, scale=4096, data=chance.randbytes(2 * _ROWS))
                for name in ("Rss", "Pss", "Referenced", "Anonymous", "Swap")
            },
        },
        _ROWS,
    )


def _make_series() -> MmpBuilder:
    """Build the series without its index."""
    builder = MmpBuilder()
    builder.add_header()
    regions = _make_regions()
    for number in range(_SNAPSHOTS):
        if number % _CAPTURE_EVERY == 0:
            capture = builder.add_capture({"host": {"hostname": f"at {number}"}})
        content = {"process": {"pid": 7, "nth": number}, "tables": {"regions": regions}}
        builder.add_snapshot(content, capture=capture, pid=7, time_ns=number)
    return builder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The series without an index, with one, and with indexes that lie about snapshot 900."""
    folder = tmp_path_factory.mktemp("series")
    whole = _make_series()
    right = whole.listed[900]
    lies = {
        "before": whole.listed[899],
        "pid": [*right[:2], 8, *right[3:]],
        "place": [right[0] + 1, *right[1:]],
        "capture": [*right[:4], whole.listed[0][4], right[5]],
    }
    paths = {name: folder / f"{name}.mmp" for name in ("open", "closed", *lies)}
    paths["open"].write_bytes(whole.data)
    for name in ("closed", *lies):
        builder = copy.deepcopy(whole)
        rows = whole.listed
        rows[900] = lies.get(name, right)
        builder.close(rows)
        paths[name].write_bytes(builder.data)
    return paths


def _count_read() -> int:
    """Return how many bytes this process has asked the system for (proc_pid_io(5))."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone counts what a process reads")
def test_snapshot_900_is_read_alone(files: dict[str, Path]) -> None:
    """FILE#900 reads the index, its capture and its own frame: less than a fortieth of the file."""
    _ = load(f"{files['closed']}#0")[0].raw_regions  # what is imported on the way is no part of the file
    before = _count_read()
    (snapshot,) = load(f"{files['closed']}#900")
    assert (snapshot.process["nth"], len(snapshot.raw_regions)) == (900, _ROWS)
    assert snapshot.capture.host["hostname"] == "at 900"
    read, size = _count_read() - before, files["closed"].stat().st_size
    assert size > 15_000_000
    assert read < size / 40


def test_a_series_that_was_not_closed_answers_the_same(files: dict[str, Path]) -> None:
    """Without an index all of the file is walked, and the snapshot is the same one."""
    (walked,), (found,) = load(f"{files['open']}#900"), load(f"{files['closed']}#900")
    assert walked.process == found.process
    assert walked.raw_regions.equals(found.raw_regions)
    assert len(load(files["open"])) == _SNAPSHOTS


@pytest.mark.parametrize("name", ["closed", "open"])
def test_opening_a_series_takes_no_memory_to_speak_of(name: str, files: dict[str, Path]) -> None:
    """To open the file and read one snapshot takes 4 MiB at most, with and without an index."""
    tracemalloc.start()
    with open_file(files[name]) as file:
        assert file.read(900).tables["regions"].rows == _ROWS
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


def test_an_index_that_lists_a_snapshot_twice_is_walked_around(files: dict[str, Path]) -> None:
    """Snapshot 899 in the place of 900 is no order that a file can have: the frames themselves are asked."""
    (found,) = load(f"{files['before']}#900")
    assert found.process["nth"] == 900


@pytest.mark.parametrize("name", ["pid", "place", "capture"])
def test_an_index_that_lies_never_gives_another_snapshot(name: str, files: dict[str, Path]) -> None:
    """What is wrong about snapshot 900 is refused once that is asked for; without the index it is there."""
    with pytest.raises(CorruptError, match=r"index is wrong|where one should"):
        _ = load(f"{files[name]}#900")[0].raw
    assert load(f"{files[name]}#899")[0].process["nth"] == 899
    assert load(f"{files[name]}#900", partial=True)[0].process["nth"] == 900


def test_a_series_that_grows_while_it_is_read_is_what_it_was(files: dict[str, Path], tmp_path: Path) -> None:
    """Frames that come after a file was opened, and half of one, are not seen before it is opened again."""
    data, path = files["open"].read_bytes(), tmp_path / "grows.mmp"
    cut = len(data) * 2 // 3
    path.write_bytes(data[: _find_last_frame(data, cut)])
    with open_file(path) as file:
        count = len(file.entries)
        with path.open("ab") as stream:
            stream.write(data[path.stat().st_size : cut])
        assert file.read(count - 1).process["nth"] == count - 1
        assert len(file.entries) == count < _SNAPSHOTS


def _find_last_frame(data: bytes, before: int) -> int:
    """Return where the last snapshot frame that begins before an offset begins."""
    return data.rindex(b"\x95\xa8snapshot\xc4\x10" + SYNC, 0, before)
