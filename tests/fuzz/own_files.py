"""Damage within our own format that checksums and compression would keep out: both are made right again."""

from __future__ import annotations

import copy
import zlib
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import msgpack
from fuzz.mutation import NUMBERS, TOKENS, Mutator
from fuzz.seeds import list_seeds
from mmpscope.formats.registry import list_formats
from support.mmp_builder import MmpBuilder, pack

__all__ = ["list_entropy", "mend_checksums", "wrap_table"]

_SYNC = slice(7, 23)
"""Where a `.mmp` has the mark of its frames first."""
_CRC_BYTES = 5
_MOST_CHANGES = 4


def mend_checksums(data: bytes) -> bytes:
    """Put right checksums into the frames of a `.mmp`, so that damage gets past them."""
    starts = _find_frames(data) or [0]
    frames = [data[start:end] for start, end in pairwise([*starts, len(data)])]
    bodies = [frame[:-_CRC_BYTES] for frame in frames]
    return b"".join(body + b"\xce" + zlib.crc32(body).to_bytes(4, "big") for body in bodies)


def _find_frames(data: bytes) -> list[int]:
    """Return where frames begin: an array of five, a name of as many bytes as it says, and the mark."""
    mark = b"\xc4\x10" + data[_SYNC]
    starts, at = [], data.find(mark)
    while at >= 0:
        near = range(max(0, at - 33), at - 1)
        starts += [start for start in near if data[start : start + 2] == bytes([0x95, 0xA0 + at - start - 2])]
        at = data.find(mark, at + 1)
    return starts


def list_entropy() -> list[bytes]:
    """Return bytes for `wrap_table`: of these any will do."""
    return [bytes([number]) * 4 for number in range(16)]


def wrap_table(data: bytes) -> bytes:
    """Make a whole `.mmp` with a table of regions that is damaged by chance, the same for the same bytes."""
    random = Random(zlib.crc32(data))
    rows, columns = copy.deepcopy(random.choice(_list_tables()))
    for _ in range(random.randrange(_MOST_CHANGES)):
        _change(columns, random)
    if random.random() < 0.2:
        rows = random.choice(NUMBERS) % (1 << 64)
    raw = pack(columns)
    regions = {"rows": rows, "raw": len(raw), "zlib": zlib.compress(raw, 1)}
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({})
    builder.add_snapshot({"tables": {"regions": regions}}, capture=capture, pid=1, time_ns=1)
    builder.close()
    return builder.data


@cache
def _list_tables() -> list[tuple[int, dict[str, Any]]]:
    """Return rows and column descriptors of the tables of good files."""
    own = next(known for known in list_formats() if known.name == "mmp")
    found = []
    for data in list_seeds(own):
        for start, end in pairwise([*_find_frames(data), len(data)]):
            kind, _, _, payload, _ = msgpack.unpackb(data[start:end])
            tables = msgpack.unpackb(payload)["tables"] if kind == "snapshot" else {}
            found += [(t["rows"], msgpack.unpackb(zlib.decompress(t["zlib"]))) for t in tables.values()]
    return found


def _change(columns: dict[str, Any], random: Random) -> None:
    """Change one value somewhere in the descriptors: another of its kind, an extreme one, or none."""
    if not columns:
        return
    holder, key = random.choice(_list_places(columns))
    value = holder[key]
    chance = random.random()
    if chance < 0.1:
        del holder[key]
    elif chance < 0.3:
        other, name = random.choice(_list_places(columns))
        holder[key] = copy.deepcopy(other[name])
    elif isinstance(value, bytes) and value:
        holder[key] = Mutator([value], random).make()[: 2 * len(value)]
    elif isinstance(value, str):
        holder[key] = random.choice(_WORDS)
    else:
        extremes: list[Any] = [*_NUMBERS, None, True, 1.5, b"", "", [], {}, random.choice(TOKENS)]
        holder[key] = random.choice(extremes)


_WORDS = (
    "uint", "int", "float", "bool", "text", "plain", "delta", "const", "null", "dict", "same", "chain",
    "diff", "utf-8", "bytes", "wtf-8", "start", "size", "path", "perms",
)  # fmt: skip
_NUMBERS = [number for number in NUMBERS if -(2**63) <= number < 2**64]


def _list_places(columns: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """List every value, in descriptors within descriptors too, as what holds it and its key."""
    places: list[tuple[dict[str, Any], str]] = []
    holders: list[dict[str, Any]] = [columns]
    while holders:
        holder = holders.pop()
        for key, value in holder.items():
            places.append((holder, key))
            if isinstance(value, dict):
                holders.append(value)
    return places
