"""The fast decoder against the plain reference, for every encoding."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis.decoding import TableDecoder, decode_table
from mmpscope.analysis.encoded import EncodedColumns
from mmpscope.analysis.joined_decoding import JoinedDecoder
from mmpscope.formats.errors import FormatError
from mmpscope.formats.mmp.columns import Plain, decode_column, encode_table
from mmpscope.formats.model import Column, Table
from support.effort import scale

UINT = st.integers(0, 2**64 - 1)
INT = st.integers(-(2**63), 2**63 - 1)
SCALARS = {
    "uint": UINT | st.integers(0, 20).map(lambda pages: 4096 * pages),
    "int": INT | st.integers(-100, 100),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "text": st.binary(max_size=4) | st.sampled_from([b"", b"/lib/a", "é".encode(), b"\xff\\xff"]),
}
WIDTHS = st.sampled_from([1, 2, 4, 8])


@st.composite
def plain_tables(draw: st.DrawFn) -> Table:
    """Draw any columns, as a producer would hand them over."""
    rows = draw(st.integers(0, 12))
    columns = {}
    for index in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(sorted(SCALARS)))
        item = SCALARS[kind] if draw(st.booleans()) else st.none() | SCALARS[kind]
        columns[f"c{index}"] = Plain(kind, draw(st.lists(item, min_size=rows, max_size=rows)))
    return encode_table(columns, rows)


@st.composite
def stored_tables(draw: st.DrawFn) -> Table:
    """Draw stored columns directly: also encodings that no writer of ours would choose there."""
    rows = draw(st.integers(0, 20))
    columns: dict[str, Column] = {}
    for index in range(draw(st.integers(1, 6))):
        columns[f"c{index}"] = _draw_stored(draw, rows, columns)
    return Table(rows, columns)


def _draw_stored(draw: st.DrawFn, rows: int, columns: dict[str, Column]) -> Column:
    others = sorted(columns)
    coded = [name for name in others if columns[name].enc == "dict" and columns[name].of is None]
    encodings = ["null", "const", "plain", "delta", "dict"] + ["same", "chain", "diff"] * bool(others)
    enc = draw(st.sampled_from(encodings))
    kind = draw(st.sampled_from(["uint", "int"]))
    valid = draw(st.none() | st.binary(min_size=(rows + 7) // 8, max_size=(rows + 7) // 8))
    if enc == "null":
        return Column(kind, enc)
    if enc == "same":
        of = draw(st.sampled_from(others))
        return Column(columns[of].type, enc, of=of)
    if enc == "const":
        return Column(kind, enc, value=draw(SCALARS[kind]), valid=valid)
    width = draw(WIDTHS)
    if enc == "dict":
        if not rows:
            return Column(kind, "null")
        borrowed = draw(st.none() | st.sampled_from(coded)) if coded else None
        size = draw(st.integers(1, rows))
        lender = None if borrowed is None else columns[borrowed].values
        if lender is not None:
            size = lender.rows
        values = encode_table(
            {"v": Plain(kind, draw(st.lists(SCALARS[kind], min_size=size, max_size=size)))}, size
        )
        nested = values.columns["v"]
        codes = draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows))
        data = b"".join(code.to_bytes(width, "little") for code in codes)
        nested = Column(**{**vars(nested), "rows": size})
        if borrowed is not None:
            return Column(kind, enc, valid=valid, values=nested, of=borrowed)
        return Column(kind, enc, width=width, data=data, valid=valid, values=nested)
    data = draw(st.binary(min_size=width * rows, max_size=width * rows))
    base = draw(st.sampled_from(others)) if enc in ("chain", "diff") else None
    by = draw(st.sampled_from(coded)) if coded and enc in ("plain", "diff") else None
    scale = draw(st.sampled_from([1, 3, 4096]))
    return Column(kind, enc, width=width, scale=scale, data=data, valid=valid, of=base, by=by)


def _restore(array: pa.Array, exact: pa.Array | None) -> list[object]:
    """Return an array's values as the reference has them: text as bytes."""
    values: list[object] = array.to_pylist()
    if not pa.types.is_dictionary(array.type):
        return values
    originals = exact.to_pylist() if exact is not None else [None] * len(values)
    pairs = zip(values, originals, strict=True)
    return [None if text is None else raw or str(text).encode() for text, raw in pairs]


@settings(deadline=None)
@given(plain_tables())
def test_decoding_returns_what_the_producer_put_in(table: Table) -> None:
    """Whatever a producer encodes, both decoders give the same values."""
    decoder = TableDecoder(table)
    for name in table.columns:
        array = decoder.decode(name)
        assert _restore(array, decoder.exact_bytes.get(name)) == decode_column(table, name)


@settings(max_examples=scale(300), deadline=None)
@given(stored_tables())
def test_decoding_equals_the_reference_for_every_encoding(table: Table) -> None:
    """Chains, differences, references, dictionaries and scales wrap at 2^64 as in the reference decoder."""
    decoded = decode_table(table)
    for name, column in table.columns.items():
        expected = decode_column(table, name)
        found = decoded.column(name).to_pylist()
        kind = decoded.schema.field(name).type
        if column.enc == "same":  # takes the other column's type as well
            assert found == expected
        else:
            assert kind == (pa.uint64() if column.type == "uint" else pa.int64())
            assert found == expected


def _decode_alone(tables: list[Table], name: str) -> list[int | None] | None:
    """Decode a column of each table; None where one of them is no column of unsigned numbers, or damaged."""
    values: list[int | None] = []
    for table in tables:
        try:
            array = TableDecoder(table).decode(name)
        except (KeyError, FormatError):
            return None
        if array.type != pa.uint64():
            return None
        values += array.to_pylist()
    return values


@given(st.lists(stored_tables() | plain_tables(), min_size=1, max_size=4), st.integers(0, 5))
@settings(max_examples=scale(300), deadline=None)
def test_numbers_decoded_together_are_those_of_each_alone(tables: list[Table], column: int) -> None:
    """Of whatever is decoded at once each row is what its own table has, and 0 where that is null."""
    tables = [table for table in tables if table.rows]
    found = JoinedDecoder(tables).decode_numbers(f"c{column}") if tables else None
    if found is not None:
        alone = _decode_alone(tables, f"c{column}")
        assert alone is not None
        assert found.values.tolist() == [value or 0 for value in alone]
        assert found.is_known.tolist() == [value is not None for value in alone]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.data())
@settings(max_examples=scale(100), deadline=None)
def test_numbers_of_every_usual_encoding_are_decoded_together(rows: list[int], data: st.DataObject) -> None:
    """Constants, deltas, what counts from another column and what is in another order: none is left alone."""

    def draw(count: int) -> Table:
        codes, bitmap = bytes(data.draw(st.permutations(range(count)))), (count + 7) // 8
        stored = {
            width: data.draw(st.binary(min_size=width * count, max_size=width * count)) for width in (1, 2)
        }
        names = Column(
            "text", "plain", data=b"x" * count, rows=count, ends=Column("uint", "delta", 1, 1, b"\1" * count)
        )
        valid = data.draw(st.none() | st.binary(min_size=bitmap, max_size=bitmap))
        columns = {
            "const": Column("uint", "const", value=data.draw(UINT)),
            "path": Column("text", "dict", 1, data=codes, values=names),
            "size": Column(
                "uint", "plain", 2, 4096, stored[2], valid, by=data.draw(st.sampled_from([None, "path"]))
            ),
            "delta": Column("uint", "delta", 1, 1, stored[1], valid),
            "start": Column("uint", "chain", 2, 4096, stored[2], of="size"),
            "rss": Column("uint", "diff", 1, 3, stored[1], of="size", by="path"),
            "same": Column("uint", "same", of="rss"),
        }
        return Table(count, columns)

    tables = [draw(count) for count in rows]
    decoder = JoinedDecoder(tables)
    for name in ("const", "size", "delta", "start", "rss", "same"):
        found, alone = decoder.decode_numbers(name), _decode_alone(tables, name)
        assert found is not None
        assert alone is not None
        assert found.values.tolist() == [value or 0 for value in alone]
        assert found.is_known.tolist() == [value is not None for value in alone]


@given(st.lists(st.lists(st.none() | SCALARS["text"], min_size=1, max_size=12), min_size=1, max_size=4))
@settings(max_examples=scale(200), deadline=None)
def test_text_decoded_together_is_that_of_each_alone(texts: list[list[bytes | None]]) -> None:
    """Each distinct text has one code, and each row the text that its own table has."""
    tables = [encode_table({"c": Plain("text", values)}, len(values)) for values in texts]
    alone = [EncodedColumns(table).text("c") for table in tables]
    found = JoinedDecoder(tables).decode_text("c", lambda number: EncodedColumns(tables[number]).text("c"))
    expected = [text.values[code] for text in alone for code in text.codes.tolist()]
    assert [found.values[code] for code in found.codes.tolist()] == expected
    assert len(set(found.values)) == len(found.values)
