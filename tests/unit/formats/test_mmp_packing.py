"""The part of msgpack that a file may hold, measured before it is built."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.mmp.packing import Bounds, measure, pack, unpack
from support.mmp_builder import pack as pack_by_hand

_BOUNDS = Bounds(8, 1000)
_VALUES: list[Any] = [
    None,
    True,
    0,
    127,
    128,
    (1 << 64) - 1,
    -1,
    -33,
    -(1 << 63),
    1.5,
    "",
    "é" * 31,
    "x" * 300,
    "x" * 70_000,
    b"",
    bytes(300),
    bytes(70_000),
    [],
    list(range(20)),
    {},
    {"a": {"b": [1, {"c": None}]}},
    {f"key {at}": at for at in range(20)},
]


@pytest.mark.parametrize("value", _VALUES, ids=lambda value: repr(value)[:20])
def test_every_form_comes_back(value: Any) -> None:
    """Each form of each type is measured to its very end and unpacked, whoever packed it."""
    for data in (pack(value), pack_by_hand(value)):
        assert measure(b"??" + data + b"more", 2, _BOUNDS) == len(data) + 2
        assert unpack(data, _BOUNDS) == value


@pytest.mark.parametrize("value", _VALUES, ids=lambda value: repr(value)[:20])
def test_every_cut_is_noticed(value: Any) -> None:
    """A value that is cut anywhere is told from one that is wrong."""
    data = pack(value)
    for size in [*range(min(len(data), 40)), len(data) - 1]:
        with pytest.raises(TruncatedError):
            measure(data[:size], 0, _BOUNDS)


def test_long_forms_of_short_values_are_values() -> None:
    """A packer that does not bother with the shortest form is understood."""
    assert unpack(bytes.fromhex("cf0000000000000001"), _BOUNDS) == 1
    assert unpack(bytes.fromhex("df00000001db0000000161d0ff"), _BOUNDS) == {"a": -1}


def test_the_limits_are_exact() -> None:
    """Eight levels and a thousand values are allowed, one more is not."""
    deep = b"\x91" * 8 + b"\x00"
    assert unpack(deep, _BOUNDS) == [[[[[[[[0]]]]]]]]
    with pytest.raises(LimitError, match="more than 8 levels"):
        unpack(b"\x91" + deep, _BOUNDS)
    assert len(unpack(pack([0] * 999), _BOUNDS)) == 999
    with pytest.raises(LimitError, match="more than 1000 values"):
        unpack(pack([0] * 1000), _BOUNDS)


@pytest.mark.parametrize("first", [0xC1, *range(0xC7, 0xCA), *range(0xD4, 0xD9)])
def test_what_is_never_in_a_file_is_damage(first: int) -> None:
    """Ext types and the byte that msgpack never uses are refused."""
    with pytest.raises(CorruptError, match=f"byte 0x{first:02x} begins no value"):
        unpack(bytes([first]) + bytes(20), _BOUNDS)


@pytest.mark.parametrize("value", [object(), {1, 2}])
def test_what_msgpack_cannot_carry_is_an_error_of_the_producer(value: Any) -> None:
    """Facts that are no facts are refused when they are written."""
    with pytest.raises((TypeError, ValueError)):
        pack(value)


def test_a_number_beyond_64_bits_is_refused() -> None:
    """What a reader of a hostile file makes of it is refused in a sentence."""
    with pytest.raises(LimitError, match="does not fit into 64 bits"):
        pack({"pid": 1 << 64})
