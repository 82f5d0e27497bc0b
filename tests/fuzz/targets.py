"""The fuzz targets: each reader given bytes, and the analysis given what a reader made of them.

A target allows MmpError and nothing else. Formats come from the registry, so that a new reader is fuzzed
as soon as it is listed; what it is fed with is in seeds.py.
"""

from __future__ import annotations

import io
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import msgpack
from fuzz.seeds import list_packed_seeds, list_seeds
from mmpscope.formats.errors import MmpError
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from mmpscope.formats.registry import list_formats, open_source
from mmpscope.formats.source import Source
from support.mmp_builder import MmpBuilder

__all__ = ["Target", "list_targets"]

_HEAD_BYTES = 64 * 1024
_SYNC = slice(7, 23)
"""Where a `.mmp` has the mark of its frames first."""
_MOST_SNAPSHOTS = 20
_LONGEST_MESSAGE = 2000
_MIB = 1 << 20
_READING = 512 * _MIB
_ASKING = 1536 * _MIB
"""Bytes of address space that a target may take besides what the program has; pyarrow's pools count in it."""

Consumer = Callable[[Source], None]


class Target(NamedTuple):
    """``run`` takes any bytes; ``seeds`` are good ones to begin with."""

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    memory: int


def list_targets() -> Iterator[Target]:
    """Yield two targets for each format, and for what is around and inside of them."""
    for known in list_formats():
        yield from _make_pair(known.name, partial(_open_as, known), partial(list_seeds, known))
    yield from _make_pair("containers", _open_file, list_packed_seeds)
    own = next(known for known in list_formats() if known.name == "mmp")
    yield from _make_pair("mmp-checksums", partial(_open_mended, own), partial(list_seeds, own))
    yield from _make_pair("mmp-table", partial(_open_table, own), partial(_list_tables, own))


def _make_pair(
    name: str, open_: Callable[[bytes], Source], seeds: Callable[[], list[bytes]]
) -> Iterator[Target]:
    yield Target(name, partial(_try, open_, _read_all), seeds, _READING)
    yield Target(f"{name}+analysis", partial(_try, open_, _ask_all), seeds, _ASKING)


def _try(open_: Callable[[bytes], Source], consume: Consumer, data: bytes) -> None:
    try:
        with closing(open_(data)) as source:
            consume(source)
    except MmpError as error:
        _check_message(error)


def _check_message(error: MmpError) -> None:
    """Hold an error to what users are promised: words, and no more of them than can be read."""
    text = str(error)
    if not text or len(text) > _LONGEST_MESSAGE:
        raise AssertionError(f"an unreadable message: {text[:100]!r}")


def _open_as(known: Format, data: bytes) -> Source:
    """Open bytes as a format, whether or not they would be taken for it; half of them with --partial."""
    known.sniff(data[:_HEAD_BYTES])
    if known.verify is not None:
        with ExitStack() as opened:
            known.verify(Input(_make_stream(data), "input", True, opened))
    with ExitStack() as opened:
        return known.open(Input(_make_stream(data), "input", bool(zlib.crc32(data) & 1), opened))


def _make_stream(data: bytes) -> BinaryIO:
    """Make what a file opens as: it allocates what is asked for, whether or not it has as much."""
    return io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)))


def _open_file(data: bytes) -> Source:
    """Open bytes as users do; what the reader still needs of the file it keeps open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        path.write_bytes(data)
        return open_source(path, partial=bool(zlib.crc32(data) & 1))


def _open_mended(known: Format, data: bytes) -> Source:
    """Open a `.mmp` whose checksums were made right again, so that damage gets past them."""
    starts = _find_frames(data) or [0]
    frames = [data[start:end] for start, end in pairwise([*starts, len(data)])]
    mended = [frame[:-4] + zlib.crc32(frame[:-4]).to_bytes(4, "big") for frame in frames]
    return _open_as(known, b"".join(mended))


def _find_frames(data: bytes) -> list[int]:
    """Return where frames begin: an array of five, a name of as many bytes as it says, and the mark."""
    mark = b"\xc4\x10" + data[_SYNC]
    starts, at = [], data.find(mark)
    while at >= 0:
        starts += [
            s for s in range(max(0, at - 33), at - 1) if data[s] == 0x95 and data[s + 1] == 0xA0 + at - s - 2
        ]
        at = data.find(mark, at + 1)
    return starts


def _open_table(known: Format, data: bytes) -> Source:
    """Open a `.mmp` whose regions are the columns in these bytes; the first two are the number of rows."""
    raw = data[2:]
    regions = {"rows": int.from_bytes(data[:2], "little"), "raw": len(raw), "zlib": zlib.compress(raw, 1)}
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({})
    builder.add_snapshot({"tables": {"regions": regions}}, capture=capture, pid=1, time_ns=1)
    builder.close()
    return _open_as(known, builder.data)


def _list_tables(known: Format) -> list[bytes]:
    """Return the raw columns of tables in good files, as `_open_table` takes them."""
    found = set()
    for data in list_seeds(known):
        for start, end in pairwise([*_find_frames(data), len(data)]):
            kind, _, _, payload, _ = msgpack.unpackb(data[start:end])
            tables = msgpack.unpackb(payload)["tables"] if kind == "snapshot" else {}
            for table in tables.values():
                rows = int(table["rows"]).to_bytes(2, "little")
                found.add(rows + zlib.decompress(table["zlib"]))
    return sorted(found, key=len)


def _read_all(source: Source) -> None:
    """Read every snapshot, and decode the tables of those that are no longer than their file."""
    for entry in source.entries[:_MOST_SNAPSHOTS]:
        try:
            snapshot = source.read(entry.index)
        except MmpError as error:
            _check_message(error)
            continue
        if not source.format.startswith("mmp "):  # a few bytes of it may stand for millions of equal rows
            for table in (*snapshot.tables.values(), *snapshot.capture.tables.values()):
                decode_table(table)


def _ask_all(source: Source) -> None:
    """Ask of every snapshot what the commands ask."""
    from mmpscope.analysis import LoadedSnapshot, find_free, list_allocations, summarize

    questions: tuple[Callable[[LoadedSnapshot], object], ...] = (
        lambda snapshot: snapshot.regions,
        summarize,
        find_free,
        list_allocations,
        lambda snapshot: snapshot.modules,
        lambda snapshot: snapshot.threads,
        lambda snapshot: snapshot.heaps,
        lambda snapshot: snapshot.capability,
    )
    for entry in source.entries[:_MOST_SNAPSHOTS]:
        read: Callable[[], Snapshot] = partial(source.read, entry.index)
        snapshot = LoadedSnapshot(f"input#{entry.index}", read)
        for question in questions:
            try:
                question(snapshot)
            except MmpError as error:
                _check_message(error)
