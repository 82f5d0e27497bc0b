"""The rules of docs/format.md, "Columns", that no file of ours exercises, in both of our decoders."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from mmpscope.analysis.decoding import TableDecoder
from mmpscope.formats.errors import CorruptError, UnsupportedVersionError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import decode_column
from mmpscope.formats.mmp.tables import StoredTables
from mmpscope.formats.model import Table
from support.mmp_builder import bitmap, column, numbers, table, texts

_TOP = (1 << 64) - 1
_NEW = column("uint", "runs", runs=b"?", width="wide")
_MONEY = column("money", "plain", width=3)
_COINS = column("bool", "delta", width="wide", data=[])


def _uint(*values: int, **keys: Any) -> dict[str, Any]:
    return column("uint", "plain", width=1, data=numbers(values, 1), **keys)


def _int(*values: int, **keys: Any) -> dict[str, Any]:
    return column("int", "plain", width=1, data=numbers(values, 1), **keys)


def _dict(*codes: int, values: Any, kind: str = "text", **keys: Any) -> dict[str, Any]:
    return column(kind, "dict", width=1, data=numbers(codes, 1), values=values, **keys)


def _inner(kind: str, enc: str, rows: int, **keys: Any) -> dict[str, Any]:
    return column(kind, enc, rows=rows, **keys)


def _text(ends: Any, **keys: Any) -> dict[str, Any]:
    return column("text", "plain", data=b"abc", ends=ends, **keys)


def _doubles(*values: float) -> bytes:
    return numbers([int.from_bytes(struct.pack("<d", value), "little") for value in values], 8)


_AB = texts([b"a", b"b"])
_CODES = _dict(1, 0, 1, values=_AB)
_LENT = _dict(1, 0, 1, values=_AB, valid=bitmap([False, False, True]))

_VALUES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "no numbers need no width": ({"x": column("uint", "plain")}, []),
    "no floats need no width": ({"x": column("float", "plain")}, []),
    "no codes need no data": ({"x": column("text", "dict", values=texts([]))}, []),
    "no texts need no ends of any width": ({"x": column("text", "plain", ends=column("uint", "delta"))}, []),
    "no texts have ends that are null": ({"x": column("text", "plain", ends=column("uint", "null"))}, []),
    "floats have no scale": (
        {"x": column("float", "plain", width=8, scale=3, data=_doubles(0.5, -1.25))},
        [0.5, -1.25],
    ),
    "floats in the order of codes": (
        {"x": column("float", "plain", width=8, data=_doubles(0.5, -1.25, 3.0), by="y"), "y": _CODES},
        [-1.25, 0.5, 3.0],
    ),
    "bools have no scale": (
        {"x": column("bool", "plain", width=8, scale=2, data=numbers([1 << 63, 0], 8))},
        [True, False],
    ),
    "an order by codes does not ask which rows are null": (
        {"x": _uint(1, 2, 3, by="y"), "y": _LENT},
        [2, 1, 3],
    ),
    "borrowed codes do not bring the nulls of their column": (
        {"x": column("text", "dict", of="y", values=_AB), "y": _LENT},
        [b"b", b"a", b"b"],
    ),
    "borrowed codes go with own nulls": (
        {"x": column("text", "dict", of="y", values=_AB, valid=bitmap([True, False, True])), "y": _CODES},
        [b"b", None, b"b"],
    ),
    "one end for each text, also of a null row": (
        {"x": _text(column("uint", "plain", width=1, data=b"\1\2\3"), valid=bitmap([True, False, True]))},
        [b"a", None, b"c"],
    ),
    "an unknown encoding of text": ({"x": column("text", "const", value=b"\xff", text="rot13")}, [b"\xff"]),
    "text that breaks its promise": ({"x": column("text", "const", value=b"\xff", text="utf-8")}, [b"\xff"]),
    "spare bits of a bitmap": ({"x": _uint(1, 2, valid=b"\xfd")}, [1, None]),
    "a difference of other signs": (
        {"x": column("uint", "diff", of="y", width=1, data=numbers([0, 2], 1)), "y": _int(-1, -1)},
        [_TOP, 1],
    ),
    "a chain counts on from a null": (
        {
            "x": column("uint", "chain", of="y", width=1, data=numbers([5, 1, 1], 1), valid=b"\5"),
            "y": _uint(10, 10, 10),
        },
        [5, None, 27],
    ),
    "a chain of a null is one of 0": (
        {
            "x": column("int", "chain", of="y", width=1, data=numbers([5, 1], 1)),
            "y": _uint(9, 9, valid=b"\2"),
        },
        [5, 6],
    ),
    "the same, nulls included": (
        {"x": column("uint", "same", of="y"), "y": _uint(1, 2, valid=b"\2")},
        [None, 2],
    ),
    "keys of other encodings": (
        {"x": column("uint", "delta", width=1, data=b"\1\1", by="y", of="z", value=9)},
        [1, 2],
    ),
    "text in the order of the table": ({"x": _text(_uint(1, 2, 3), by="y"), "y": _CODES}, [b"a", b"b", b"c"]),
    "a bitmap of nothing but nulls": ({"x": column("uint", "null", valid=b"\0\0\0")}, [None]),
    "sixteen references in a row": (
        {
            "c0": _uint(7),
            **{f"c{at}": column("uint", "same", of=f"c{at - 1}") for at in range(1, 16)},
            "x": column("uint", "same", of="c15"),
        },
        [7],
    ),
}

_UNAVAILABLE: dict[str, dict[str, Any]] = {
    "an unknown encoding": {"x": _NEW},
    "an unknown type": {"x": _MONEY},
    "an encoding that is not for the type": {"x": _COINS},
    "differences of text": {"x": column("text", "delta", width=1, data=b"\0")},
    "differences of floats": {"x": column("float", "diff", of="x", width=8, data=bytes(8))},
    "the same as an unknown type": {"x": column("uint", "same", of="y"), "y": _MONEY},
    "the same as an unknown encoding": {"x": column("uint", "same", of="y"), "y": _NEW},
    "a difference from an unknown type": {
        "x": column("uint", "diff", of="y", width=1, data=b"\0"),
        "y": _MONEY,
    },
    "an order by an unknown encoding": {"x": _uint(1, by="y"), "y": _NEW},
    "an order by an unknown type": {"x": _uint(1, by="y"), "y": {**_CODES, "type": "money"}},
    "codes of an unknown encoding": {"x": column("text", "dict", of="y", values=texts([b"a"])), "y": _NEW},
    "values of an unknown encoding": {"x": _dict(0, values=_inner("text", "runs", 1))},
    "values of an unknown type": {"x": _dict(0, values=_inner("money", "plain", 1))},
    "ends of an unknown encoding": {"x": _text(_NEW)},
}

_DAMAGED: dict[str, dict[str, Any]] = {
    "numbers without a width": {"x": column("uint", "plain", data=b"")},
    "floats of four bytes": {"x": column("float", "plain", width=4, data=bytes(4))},
    "more data than rows": {"x": _uint(1, 2)},
    "no column to be the same as": {"x": column("uint", "same")},
    "no column to differ from": {"x": column("uint", "diff", width=1, data=b"\0")},
    "no ends": {"x": column("text", "plain", data=b"a")},
    "no values": {"x": column("text", "dict", width=1, data=b"\0")},
    "an end that is null": {"x": _text(_uint(1, valid=b"\0"))},
    "ends that are signed": {"x": _text(_int(1))},
    "values of another type": {"x": _dict(0, values=_inner("uint", "const", 1, value=1))},
    "values in an order of their own": {
        "x": _dict(0, kind="uint", values={**_uint(1, by="y"), "rows": 1}),
        "y": _dict(0, values=texts([b"a"])),
    },
    "values that repeat another column": {"x": _dict(0, values=_inner("text", "same", 1, of="x"))},
    "a code beyond the values in a null row": {"x": _dict(1, values=texts([b"a"]), valid=b"\0")},
    "codes that are borrowed twice": {
        "x": column("text", "dict", of="y", values=texts([b"a"])),
        "y": column("text", "dict", of="z", values=texts([b"a"])),
        "z": _dict(0, values=texts([b"a"])),
    },
    "a constant that is nil": {"x": column("uint", "const", value=None)},
    "a constant without a value": {"x": column("uint", "const")},
    "a constant beyond its type": {"x": column("int", "const", value=1 << 63)},
    "a constant float that is an integer": {"x": column("float", "const", value=1)},
    "a constant text that is a string": {"x": column("text", "const", value="a")},
    "a constant integer that is a bool": {"x": column("uint", "const", value=True)},
    "the same as another type": {"x": column("uint", "same", of="y"), "y": _int(1)},
}


def _read(columns: dict[str, Any], rows: int) -> Table:
    return StoredTables({"t": table(columns, rows)}, DEFAULT_LIMITS, (None, 0))["t"]


def _decode_fast(read: Table) -> list[Any]:
    decoder = TableDecoder(read)
    values = decoder.decode("x").to_pylist()
    exact = decoder.exact_bytes["x"].to_pylist() if "x" in decoder.exact_bytes else [None] * len(values)
    pairs = zip(values, exact, strict=True)
    return [raw or (value.encode() if isinstance(value, str) else value) for value, raw in pairs]


@pytest.mark.parametrize("name", _VALUES)
def test_a_rule_of_columns(name: str) -> None:
    """Both decoders give the value that the description promises."""
    columns, expected = _VALUES[name]
    read = _read(columns, len(expected))
    assert decode_column(read, "x") == expected
    assert _decode_fast(read) == expected


@pytest.mark.parametrize("name", _UNAVAILABLE)
def test_what_is_unknown_makes_its_column_unavailable(name: str) -> None:
    """A column that needs what a later version may add is unavailable, and no damage."""
    read = _read(_UNAVAILABLE[name], 1)
    with pytest.raises(UnsupportedVersionError, match="unknown to this version"):
        decode_column(read, "x")
    with pytest.raises(UnsupportedVersionError, match="unknown to this version"):
        TableDecoder(read).decode("x")


@pytest.mark.parametrize("name", _DAMAGED)
def test_what_contradicts_itself_is_damage(name: str) -> None:
    """Both decoders refuse a column that lacks what it needs, or whose parts do not fit."""
    read = _read(_DAMAGED[name], 1)
    with pytest.raises(CorruptError):
        decode_column(read, "x")
    with pytest.raises(CorruptError):
        TableDecoder(read).decode("x")
