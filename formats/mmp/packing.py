"""msgpack in and out, within limits: the part of msgpack that a `.mmp` file uses, and nothing else.

Maps have string keys, each once; there are no ext types. Files come from strangers, so the bytes are measured
before msgpack builds anything: its own limits bound each container by itself, not all of them together (a
nest of arrays that each announce "as many items as there are bytes" takes gigabytes).
"""

from __future__ import annotations

from typing import NamedTuple

import msgpack
from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.model import Fact

__all__ = ["Bounds", "measure", "pack", "unpack"]

# What the first byte of a value tells: how many bytes the whole of it has; or how many bytes of a length
# follow, and then as many bytes or items.
_SIZES: dict[int, int] = {
    **dict.fromkeys((*range(0x80), *range(0xE0, 0x100), 0xC0, 0xC2, 0xC3), 1),
    **{0xA0 | size: 1 + size for size in range(0x20)},
    **{0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5, 0xD3: 9},
}
_BYTES: dict[int, int] = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_ARRAYS: dict[int, int] = {0xDC: 2, 0xDD: 4}
_MAPS: dict[int, int] = {0xDE: 2, 0xDF: 4}
_NO_KEYS: frozenset[str] = frozenset()
_SMALL: dict[str, int] = {"max_array_len": 4096, "max_map_len": 4096, "max_ext_len": 0}
"""What one container may announce, as msgpack makes room for it at once; it nests 1024 of them at most, which
is 32 MiB. No ext type is so short as to pass.
"""
_TEXTS = frozenset((*range(0xA0, 0xC0), 0xD9, 0xDA, 0xDB))


class Bounds(NamedTuple):
    """What one packed value may hold: levels of nesting, and values in all."""

    depth: int
    values: int


def pack(value: Fact) -> bytes:
    """Pack facts; TypeError or ValueError where msgpack cannot carry them, LimitError for large numbers."""
    try:
        packed: bytes = msgpack.packb(value)
    except OverflowError as error:
        raise LimitError("a number does not fit into 64 bits") from error
    return packed


def unpack(data: bytes, bounds: Bounds) -> Fact:
    """Unpack bytes that are exactly one value; the errors of `measure` where they are not.

    What is small enough for msgpack's own limits to hold is looked at when it is unpacked, which takes less
    than half the time; where anything is odd about it, the bytes are measured after all, to say what. Bytes
    that msgpack itself would write for the value have no key twice.
    """
    if len(data) <= bounds.values:  # a value takes a byte at least
        try:
            value = msgpack.unpackb(data, **_SMALL)
            if _is_flat(value, bounds.depth) and msgpack.packb(value) == data:
                return value
        except (ValueError, TypeError):
            pass
    end = measure(data, 0, bounds)
    if end != len(data):
        raise CorruptError(f"{len(data) - end} bytes follow the packed value")
    try:
        return msgpack.unpackb(data, object_pairs_hook=_build_map)
    except ValueError as error:  # what is left after measuring: text that is no UTF-8
        raise CorruptError(f"packed text is damaged ({error})") from error


def _build_map(pairs: list[tuple[str, Fact]]) -> dict[str, Fact]:
    built = dict(pairs)
    "".join(built)  # TypeError where a key is no string
    if len(built) != len(pairs):
        raise CorruptError("a map has the same key twice")
    return built


def _is_flat(value: Fact, depth: int) -> bool:
    """Tell whether a value is nested at most so many levels deep; TypeError where a key is no string."""
    level = [value] if type(value) is dict or type(value) is list else []
    for _ in range(depth):
        "".join(_NO_KEYS.union(*[each for each in level if type(each) is dict]))
        level = [
            item
            for each in level
            for item in (each.values() if type(each) is dict else each)
            if (type(item) is dict or type(item) is list) and item
        ]
        if not level:
            return True
    return not level


def measure(data: bytes, start: int, bounds: Bounds) -> int:
    """Return where the value that begins at ``start`` ends, building nothing.

    TruncatedError where it runs past the end of ``data``, CorruptError where it is no value of ours,
    LimitError where it is nested too deeply or holds too many values.
    """
    position, end, values = start, len(data), 1
    missing, in_map = 1, False  # items still to come in the innermost container; a map counts keys and values
    outer: list[tuple[int, bool]] = []
    while missing or outer:
        if not missing:
            missing, in_map = outer.pop()
            continue
        if position >= end:
            raise TruncatedError("a packed value is cut off")
        first = data[position]
        if in_map and not missing & 1 and first not in _TEXTS:
            raise CorruptError("a map has a key that is no string")
        missing -= 1
        size = _SIZES.get(first)
        if size is not None:  # most values: one look-up has to do, as every payload is measured
            position += size
            continue
        position, items = _step(data, position)
        values += items
        if position + items > end:
            raise TruncatedError("a packed value is cut off")
        if values > bounds.values:
            raise LimitError(f"a packed value holds more than {bounds.values} values")
        if items:
            outer.append((missing, in_map))
            missing, in_map = items, first <= 0x8F or first in _MAPS
            if len(outer) > bounds.depth:
                raise LimitError(f"a packed value is nested more than {bounds.depth} levels deep")
    if position > end:
        raise TruncatedError("a packed value is cut off")
    return position


def _step(data: bytes, position: int) -> tuple[int, int]:
    """Return the position after a head with its bytes, and the number of items that follow it."""
    first = data[position]
    position += 1
    if first <= 0x8F:
        return position, 2 * (first & 0x0F)
    if first <= 0x9F:
        return position, first & 0x0F
    width = _BYTES.get(first) or _ARRAYS.get(first) or _MAPS.get(first)
    if width is None:
        raise CorruptError(f"byte 0x{first:02x} begins no value that a .mmp file may hold")
    length = int.from_bytes(data[position : position + width], "big")
    position += width
    if first in _BYTES:
        return position + length, 0
    return position, 2 * length if first in _MAPS else length
