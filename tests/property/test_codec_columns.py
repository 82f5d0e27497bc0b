"""Columns: whatever a producer hands over comes back, through every stage of the codec."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import ENCODINGS, TYPES, Plain, decode_table, encode_table
from mmpscope.formats.mmp.tables import StoredTables, pack_tables
from mmpscope.formats.model import Column, Table
from support.effort import scale

_TOP = (1 << 64) - 1
_ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "uint": st.sampled_from([0, 1, 4096, 8192, 255, 256, 1 << 63, _TOP]) | st.integers(0, _TOP),
    "int": st.sampled_from([0, -1, 127, -129, -(1 << 63), (1 << 63) - 1])
    | st.integers(-(1 << 63), (1 << 63) - 1),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "text": st.sampled_from([b"", b"/lib/x", b"rw-p", b"\xff"]) | st.binary(max_size=5),
}


@st.composite
def _plain_columns(draw: st.DrawFn) -> tuple[dict[str, Plain], int]:
    """Draw columns of up to 300 rows: independent ones, ranges, and copies with a few values changed."""
    rows = draw(st.integers(0, 12) | st.integers(120, 300))
    columns: dict[str, Plain] = {}
    for index in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(sorted(_ITEMS)))
        item = _ITEMS[kind] if draw(st.booleans()) else st.none() | _ITEMS[kind]
        pool = draw(st.lists(item, min_size=1, max_size=8))
        pick = draw(st.randoms(use_true_random=False))
        columns[f"c{index}"] = Plain(kind, [pick.choice(pool) for _ in range(rows)])
    name = draw(st.sampled_from(sorted(columns)))
    copy = list(columns[name].values)
    for row in draw(st.lists(st.integers(0, max(0, rows - 1)), max_size=5)) if rows else []:
        copy[row] = draw(_ITEMS[columns[name].type])
    columns["copy"] = columns[name]._replace(values=copy)
    if draw(st.booleans()):
        sizes = draw(st.lists(_ITEMS["uint"], min_size=1, max_size=4))
        columns["start"] = Plain("uint", [(row * 12345678) & _TOP for row in range(rows)])
        columns["size"] = Plain("uint", [sizes[row % len(sizes)] for row in range(rows)], len_of="start")
    return columns, rows


def _store(table: Table) -> Table:
    return StoredTables(pack_tables({"t": table}), DEFAULT_LIMITS, (None, 0))["t"]


@settings(max_examples=scale(300), deadline=None)
@given(_plain_columns())
def test_columns_come_back(drawn: tuple[dict[str, Plain], int]) -> None:
    """Nulls, extremes, signs of zero and bytes of all kinds survive encoding, storing and decoding."""
    columns, rows = drawn
    table = encode_table(columns, rows)
    stored = _store(table)
    assert stored == table
    decoded = decode_table(stored)
    assert list(decoded) == list(columns)
    for name, plain in columns.items():
        assert list(map(repr, decoded[name])) == list(map(repr, plain.values))


_FACTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), _TOP) | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_NEW_KEYS = st.dictionaries(st.sampled_from(["new", "data2", "key", "über"]), _FACTS, max_size=2)


@st.composite
def _stored_columns(draw: st.DrawFn) -> Column:
    """Draw a column that this version knows in part, or not at all."""
    if draw(st.booleans()):
        value = draw(_ITEMS["uint"])
        return Column("uint", "const", value=value, extra=draw(_NEW_KEYS))
    enc = draw(st.text(min_size=1, max_size=5).filter(lambda text: text not in ENCODINGS))
    kind = draw(st.sampled_from([*TYPES, "money"]))
    known = st.dictionaries(
        st.sampled_from(["data", "width", "values", "of", "valid", "rows"]), _FACTS, max_size=3
    )
    return Column(kind, enc, extra={**draw(known), **draw(_NEW_KEYS)})


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=8), _stored_columns(), max_size=5))
def test_what_is_unknown_comes_back(columns: dict[str, Column]) -> None:
    """Descriptors with keys, encodings and types of a newer version are stored again as they were."""
    table = Table(1, columns)
    once = _store(table)
    assert once == table
    assert pack_tables({"t": once}) == pack_tables({"t": table})
