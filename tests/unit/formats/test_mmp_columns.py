"""Which encoding a column gets, and that the plain decoder gives back what went in."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from mmpscope.formats.errors import CorruptError, LimitError, UnsupportedVersionError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import (
    Plain,
    bound_text,
    decode_column,
    decode_table,
    encode_table,
    measure_text,
)
from mmpscope.formats.mmp.tables import StoredTables, pack_tables
from mmpscope.formats.model import Column, Table

_TOP = (1 << 64) - 1


def _encode(**columns: Plain) -> Table:
    table = encode_table(columns, len(next(iter(columns.values())).values))
    assert decode_table(table) == {name: list(plain.values) for name, plain in columns.items()}
    return table


def _store(table: Table) -> Table:
    """Send a table through its stored form."""
    return StoredTables(pack_tables({"t": table}), DEFAULT_LIMITS, (None, 0))["t"]


def _uint(*values: int | None) -> Plain:
    return Plain("uint", list(values))


def _text(*values: bytes | None) -> Plain:
    return Plain("text", list(values), "utf-8")


@pytest.mark.parametrize(
    ("plain", "enc", "width", "scale"),
    [
        (_uint(None, None), "null", 0, 1),
        (_uint(7, 7), "const", 0, 1),
        (_uint(7, None), "const", 0, 1),
        (_uint(2, 1), "plain", 1, 1),
        (_uint(300, 1), "plain", 2, 1),
        (_uint(70000, 1), "plain", 4, 1),
        (_uint(1 << 32, 1), "plain", 8, 1),
        (_uint(_TOP, 0), "plain", 1, _TOP),
        (_uint(_TOP, 1), "plain", 8, 1),
        (_uint(40960, 4096), "plain", 1, 4096),
        (_uint(1000, 1001, 1002), "delta", 2, 1),
        (Plain("uint", array("Q", [3, 1])), "plain", 1, 1),
        (Plain("int", [127, -128]), "plain", 1, 1),
        (Plain("int", [128, -128]), "plain", 1, 128),
        (Plain("int", [129, -128]), "plain", 2, 1),
        (Plain("int", [-1, -128]), "plain", 1, 1),
        (Plain("int", [-1, -129]), "plain", 2, 1),
        (Plain("int", [(1 << 63) - 1, -(1 << 63)]), "plain", 8, 1),
        (Plain("float", [1.5, None]), "plain", 8, 1),
        (Plain("float", [0.0, -0.0]), "plain", 8, 1),
        (Plain("bool", [True, False]), "plain", 1, 1),
        (Plain("bool", [True, True]), "const", 0, 1),
        (_text(b"a", b"b"), "dict", 1, 1),
        (_text(b"a", b"a"), "const", 0, 1),
    ],
)
def test_one_column_gets_the_smallest_form(plain: Plain, enc: str, width: int, scale: int) -> None:
    """A column alone is null, constant or the narrowest numbers, divided by what divides them all."""
    column = _encode(x=plain).columns["x"]
    assert (column.enc, column.width, column.scale) == (enc, width, scale)


def test_start_is_stored_as_gaps() -> None:
    """A start column whose lengths are known becomes the gaps between ranges, wrapping at 2^64."""
    starts = [0x1000, 0x3000, 0x9000, _TOP - 0xFFF]
    table = _encode(start=_uint(*starts), size=_uint(0x2000, 0x1000, 0x1000, 0x1000)._replace(len_of="start"))
    assert (table.columns["start"].enc, table.columns["start"].of) == ("chain", "size")
    assert table.columns["start"].scale == 0x1000


def test_start_with_nulls_is_no_chain() -> None:
    """Where a start or a length is unknown, starts are stored by themselves."""
    table = _encode(start=_uint(5, None), size=_uint(1, 2)._replace(len_of="start"))
    assert table.columns["start"].enc == "const"
    table = _encode(start=_uint(5, 1), size=_uint(1, None)._replace(len_of="start"))
    assert table.columns["start"].enc == "plain"


def test_an_equal_column_is_a_reference() -> None:
    """A column that repeats an earlier one, nulls included, is stored as its name."""
    values = _uint(5, None, 3)
    table = _encode(x=values, y=values, z=_uint(5, 0, 3))
    assert (table.columns["y"].enc, table.columns["y"].of) == ("same", "x")
    assert table.columns["z"].enc != "same"


def test_a_column_that_follows_another_is_a_difference() -> None:
    """A counter that equals another in most rows, and only in most, is stored as the difference."""
    rss = [4096 * (row * 7 % 13) for row in range(100)]
    pss = [value - 1024 * (row % 10 == 0 and value > 0) for row, value in enumerate(rss)]
    table = _encode(Rss=Plain("uint", rss), Pss=Plain("uint", pss), other=Plain("uint", rss[::-1]))
    assert (table.columns["Pss"].enc, table.columns["Pss"].of) == ("diff", "Rss")
    assert table.columns["other"].enc == "plain"


def test_a_difference_beyond_63_bits_wraps() -> None:
    """Differences are taken modulo 2^64, so that any two columns have one."""
    first = [row * 7 % 101 for row in range(100)]
    second = [_TOP if row == 50 else 0 if row == 51 else value for row, value in enumerate(first)]
    first[51] = _TOP
    table = _encode(x=Plain("uint", first), y=Plain("uint", second))
    assert table.columns["y"].enc == "diff"


def test_references_stay_shallow() -> None:
    """However many columns follow each other, no reference goes deeper than a reader must follow."""
    rows = [[(row * 7 + column * (row == column)) % 13 for row in range(64)] for column in range(40)]
    table = _encode(**{f"c{at}": Plain("uint", values) for at, values in enumerate(rows)})
    assert any(column.enc == "diff" for column in table.columns.values())


def _make_paths(rows: int) -> list[bytes | None]:
    return [None if row % 5 == 0 else b"/lib/%d" % (row * 7 % 11) for row in range(rows)]


def test_numbers_of_a_large_table_stand_in_the_order_of_its_paths() -> None:
    """Rows of one path stand together in number columns; sizes, starts and texts keep the table's order."""
    rows = 200
    paths = _make_paths(rows)
    inodes = [0 if path is None else 100 + int(path[5:]) for path in paths]
    table = _encode(
        start=Plain("uint", [row * 0x4000 for row in range(rows)]),
        size=Plain("uint", [0x1000 + 0x1000 * (row % 3) for row in range(rows)], len_of="start"),
        path=Plain("text", paths, "utf-8"),
        inode=Plain("uint", inodes),
        wide=Plain("int", [None if row % 7 == 0 else -row * 1000 for row in range(rows)]),
    )
    by = {name: column.by for name, column in table.columns.items()}
    assert by == {"start": None, "size": None, "path": None, "inode": "path", "wide": "path"}
    stored = table.columns["inode"].data
    assert stored == bytes(sorted(stored, key=stored.index))


def test_a_small_table_keeps_its_order() -> None:
    """In a table of few rows an order of its own saves nothing."""
    table = _encode(
        path=Plain("text", _make_paths(50), "utf-8"), x=Plain("uint", [row * 7 % 11 for row in range(50)])
    )
    assert table.columns["x"].by is None


def test_a_text_that_another_one_decides_borrows_its_codes() -> None:
    """What a mapping may do stands in its flags once more: one column takes the codes of the other."""
    flags = [b"rd wr", b"rd wr ac", b"rd"] * 4
    table = _encode(
        perms=_text(*[b"rw-p" if b"wr" in each else b"r--p" for each in flags]), VmFlags=_text(*flags)
    )
    assert (table.columns["perms"].of, table.columns["perms"].data) == ("VmFlags", b"")
    assert table.columns["VmFlags"].of is None


def test_text_is_exact() -> None:
    """Null, empty, and bytes that are no UTF-8 stay apart."""
    _encode(x=Plain("text", [None, b"", b"\xff\x00", b"a", b"a"], "bytes"))


def test_no_rows() -> None:
    """A table without rows keeps its columns."""
    table = _encode(x=_uint(), t=_text(), f=Plain("float", []))
    assert _store(table) == table


@pytest.mark.parametrize(
    "plain",
    [
        Plain("uint", [-1]),
        Plain("uint", [1 << 64, 0]),
        Plain("int", [1 << 63]),
        Plain("int", [0, -(1 << 63) - 1]),
    ],
)
def test_a_number_out_of_range_is_refused(plain: Plain) -> None:
    """What a reader of a hostile file makes of it is refused in a sentence, with the column's name."""
    with pytest.raises(LimitError, match="does not fit into 64 bits"):
        encode_table({"x": plain}, len(plain.values))


def test_a_column_of_another_length_is_refused() -> None:
    """Every column has one value a row."""
    with pytest.raises(ValueError, match="column 'x' has 2 values for 3 rows"):
        encode_table({"x": _uint(1, 2)}, 3)


@pytest.mark.parametrize("column", [Column("uint", "runs", extra={"runs": b"x"}), Column("money", "plain")])
def test_an_unknown_encoding_makes_one_column_unavailable(column: Column) -> None:
    """The column says so, what refers to it too, and the rest of the table is read."""
    too, old = Column("uint", "same", of="new"), Column("uint", "const", value=1)
    table = Table(1, {"new": column, "old": old, "too": too})
    with pytest.raises(UnsupportedVersionError, match="unknown to this version"):
        decode_column(table, "new")
    if column.type == "uint":
        with pytest.raises(UnsupportedVersionError):
            decode_column(table, "too")
        assert decode_table(table) == {"old": [1]}


def test_unknown_descriptor_keys_survive() -> None:
    """What a newer version adds to a column, or a whole new encoding, is stored again as it was."""
    extra: dict[str, Any] = {"data": "no bytes", "width": [1], "new": {"a": 1}}
    table = Table(
        1, {"x": Column("uint", "const", value=1, extra={"new": 1}), "y": Column("uint", "runs", extra=extra)}
    )
    assert _store(table) == table


def test_all_numbers_survive_their_planes() -> None:
    """Numbers of every width come back from the stored form in their places."""
    columns = {
        f"w{width}": Plain("uint", [(1 << 8 * width) - 1 - row for row in range(3)][::-1])
        for width in (1, 2, 4, 8)
    }
    table = encode_table(columns, 3)
    assert _store(table) == table
    assert decode_table(_store(table)) == {name: list(plain.values) for name, plain in columns.items()}


def test_an_order_needs_codes() -> None:
    """An order by a column without codes of its own is damage."""
    plain = Column("uint", "plain", width=1, data=b"\0", by="y")
    with pytest.raises(CorruptError, match="has no codes"):
        decode_column(Table(1, {"x": plain, "y": Column("text", "const", value=b"")}), "x")


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        (_text(*[b"abc"] * 10), 30),
        (_text(*[b"abc", None] * 5), 15),
        (_text(b"a", b"bc", b"", b"def"), 6),
        (_text(*[b"long" * 50, b"x"] * 20), 20 * 201),
        (_text(None, b"y" * 5000, *[None] * 50), 5000),
        (_text(None, None), 0),
    ],
)
def test_texts_are_measured_as_often_as_they_stand_there(plain: Plain, expected: int) -> None:
    """A constant and a dictionary take few bytes, however many they become."""
    table = _encode(t=plain)
    assert measure_text(table, "t") == expected
    assert bound_text(table, "t") >= expected
    same = Table(table.rows, {**table.columns, "s": Column("text", "same", of="t")})
    assert measure_text(same, "s") == expected
    assert bound_text(same, "s") == bound_text(table, "t")
    broken = Table(table.rows, {"s": Column("text", "same", of="nowhere")})
    assert measure_text(broken, "s") == 0
