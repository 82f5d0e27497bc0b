"""Tables as files: exact where machines read them, harmless where a spreadsheet does."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pytest
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.export import choose_format, describe_columns, write_table
from mmpscope.analysis.schema import REGIONS
from mmpscope.formats.errors import OutputError, OutputExistsError
from pyarrow import parquet

TOP = 0xFFFFFFFFFF600000
NAMES = [
    '=HYPERLINK("x")',
    "</script><b>",
    "\x1b[31mred",
    "a\u202egpj.exe",
    "+1",
    "@x",
    "\tx",
    "plain, name",
    "",
    None,
]


def _table() -> pa.Table:
    rows = len(NAMES)
    return describe_columns(
        pa.table(
            {
                "address": pa.array([TOP, None, *range(rows - 2)], pa.uint64()),
                "end": pa.array([TOP + 4096, None, *range(rows - 2)], pa.uint64()),
                "size": pa.array([2**64 - 1, None, *range(rows - 2)], pa.uint64()),
                "delta": pa.array([-4096, None, *range(rows - 2)], pa.int64()),
                "details": pa.array(NAMES).dictionary_encode(),
                "path_bytes": pa.array([b"\xff", None, *([b"x"] * (rows - 2))]),
                "nothing": pa.nulls(rows),
            }
        ),
        REGIONS,
    )


def _read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_f47_addresses_are_exact_in_every_format(tmp_path: Path) -> None:
    """The last page of the address space beside a null stays exact: uint64 or hex text, never a float."""
    for name in ("t.csv", "t.parquet", "t.arrow", "t.jsonl"):
        write_table(_table(), str(tmp_path / name))
    first = _read_csv(tmp_path / "t.csv")[0]
    assert (first["address"], first["end"], first["size"]) == (
        "0xffffffffff600000",
        "0xffffffffff601000",
        str(2**64 - 1),
    )
    back = parquet.read_table(tmp_path / "t.parquet")
    assert back.schema.field("address").type == pa.uint64()
    assert back["address"].to_pylist()[:2] == [TOP, None]
    assert pa.ipc.open_file(tmp_path / "t.arrow").read_all().to_pylist() == _table().to_pylist()
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert rows[0]["address"] == "0xffffffffff600000"
    assert rows[0]["size"] == 2**64 - 1
    assert rows[1]["address"] is None


def test_f49_csv_neutralises_text_and_leaves_numbers(tmp_path: Path) -> None:
    """A name that a spreadsheet would run gets an apostrophe, controls show; -4096 stays a number."""
    write_table(_table(), str(tmp_path / "t.csv"))
    rows = _read_csv(tmp_path / "t.csv")
    assert [row["details"] for row in rows] == [
        '\'=HYPERLINK("x")',
        "</script><b>",
        "\\x1b[31mred",
        "a\\u202egpj.exe",
        "'+1",
        "'@x",
        "'\\x09x",
        "plain, name",
        "",
        "",
    ]
    assert rows[0]["delta"] == "-4096"


def test_f49_the_name_of_a_column_is_a_cell_too(tmp_path: Path) -> None:
    """Raw columns keep the names that a file gives them: no formula in a heading, no control character."""
    table = pa.table({"=cmd()": [1], "a\x1b[1m": [-1]})
    write_table(table, str(tmp_path / "t.csv"))
    write_table(table, str(tmp_path / "t.txt"))
    assert _read_csv(tmp_path / "t.csv") == [{"'=cmd()": "1", "a\\x1b[1m": "-1"}]
    assert "\x1b" not in (tmp_path / "t.txt").read_text()


def test_f49_parquet_and_json_keep_names_untouched(tmp_path: Path) -> None:
    """What machines read holds names as they are, bytes that are no UTF-8 included."""
    write_table(_table(), str(tmp_path / "t.parquet"))
    write_table(_table(), str(tmp_path / "t.jsonl"))
    back = parquet.read_table(tmp_path / "t.parquet")
    assert back["details"].to_pylist() == NAMES
    assert back["path_bytes"].to_pylist()[0] == b"\xff"
    text = (tmp_path / "t.jsonl").read_text()
    assert [json.loads(line)["details"] for line in text.splitlines()] == NAMES
    assert text.isascii(), "a JSON line printed on a terminal acts on nothing"


def test_parquet_states_the_unit_of_each_column(tmp_path: Path) -> None:
    """Unit and meaning of a column that the schema knows travel with the file."""
    write_table(_table(), str(tmp_path / "t.parquet"))
    fields = parquet.read_schema(tmp_path / "t.parquet")
    assert fields.field("address").metadata[b"unit"] == b"address"
    assert fields.field("size").metadata[b"unit"] == b"bytes"


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.jsonl", "t.txt"])
def test_an_empty_table_can_be_written(tmp_path: Path, name: str) -> None:
    """No rows is an answer too: the columns are still there."""
    write_table(_table().slice(0, 0), str(tmp_path / name))
    assert (tmp_path / name).exists()


def test_an_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """A write that fails leaves what was there and no scrap beside it."""
    target = tmp_path / "t.csv"
    target.write_text("precious")
    with pytest.raises(OutputExistsError, match="--force"):
        write_table(_table(), str(target))
    with pytest.raises(pa.ArrowNotImplementedError):
        write_table(pa.table({"a": [[1]]}), str(target), force=True)  # CSV cannot hold lists
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]
    write_table(_table(), str(target), force=True)
    assert target.read_text().startswith('"address"')


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    """A folder and a path below a file are refused in words."""
    with pytest.raises(OutputError, match="folder"):
        write_table(_table(), str(tmp_path), "csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"t\.csv"):
        write_table(_table(), str(tmp_path / "file" / "t.csv"))


def test_the_format_is_the_word_or_the_extension() -> None:
    """An explicit format wins; unknown ones list what there is; bytes do not go to standard output."""
    assert choose_format("a.PARQUET", None) == "parquet"
    assert choose_format("a.parquet", "csv") == "csv"
    for path, word in (("a.xlsx", None), ("a.csv", "xlsx"), ("-", "parquet"), ("-", None)):
        with pytest.raises(UsageError):
            choose_format(path, word)
