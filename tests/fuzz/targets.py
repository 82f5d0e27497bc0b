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
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from fuzz.command_line import run_commands, write_lies
from fuzz.own_files import list_entropy, mend_checksums, wrap_table
from fuzz.seeds import list_packed_seeds, list_seeds
from mmpscope.formats.errors import MmpError
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.limits import Allowance
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.mmp.payloads import pack_capture, pack_snapshot
from mmpscope.formats.model import Snapshot
from mmpscope.formats.registry import list_formats, open_source
from mmpscope.formats.source import Source

__all__ = ["Target", "list_targets"]

_HEAD_BYTES = 64 * 1024
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
    open_own = partial(_open_as, own)
    seeds = partial(list_seeds, own)
    yield from _make_pair("mmp-checksums", lambda data: open_own(mend_checksums(data)), seeds)
    yield from _make_pair("mmp-table", lambda data: open_own(wrap_table(data)), list_entropy)
    yield Target("commands", run_commands, _list_small_seeds, _ASKING)
    yield Target("commands-of-lies", lambda data: run_commands(write_lies(data)), list_entropy, _ASKING)


def _list_small_seeds() -> list[bytes]:
    """Return the shortest inputs of every format."""
    return [seed for known in list_formats() for seed in list_seeds(known)[:3]]


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
            known.verify(Input(_make_stream(data), "input", True, opened, allowance=Allowance(len(data))))
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


def _read_all(source: Source) -> None:
    """Read every snapshot, pack it as `convert` does, and decode its tables.

    Not those of our own files: a few bytes there may stand for millions of equal rows.
    """
    for entry in source.entries[:_MOST_SNAPSHOTS]:
        try:
            snapshot = source.read(entry.index)
        except MmpError as error:
            _check_message(error)
            continue
        if source.format.startswith("mmp "):
            continue
        pack_snapshot(snapshot)
        pack_capture(snapshot.capture)
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
