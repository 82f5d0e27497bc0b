"""SQL over a dataset: what it sees, what it is refused, and numbers that stay what they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from mmpscope.analysis.datasets.querying import ask
from mmpscope.analysis.datasets.schema import PARTITIONED, TABLES
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.tables import find_arrow_type
from mmpscope.formats.errors import InputError, MmpError
from support.datasets import NOVEMBER_NS, ask_rows, build, list_files, write_run

MONTH_NS = 31 * 24 * 3_600_000_000_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two processes over two months."""
    folder = tmp_path_factory.mktemp("sql")
    for pid in (1, 2):
        write_run(folder / f"{pid}.mmp", [NOVEMBER_NS, NOVEMBER_NS + MONTH_NS], pid=pid)
        build(folder / "ds", folder / f"{pid}.mmp")
    return folder / "ds"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_the_columns_of_the_schema(root: Path, name: str) -> None:
    """In their order and of their types; text is text, an address is uint64."""
    table = ask(root, f"SELECT * FROM {name}")
    assert table.num_rows
    for field in TABLES[name]:
        kind = find_arrow_type(field)
        assert table.schema.field(field.name).type == (pa.string() if field.type == "string" else kind)
    own = [column for column in table.column_names if not column.startswith("raw_")]
    months = ["month"] if name in PARTITIONED else []
    assert own == [field.name for field in TABLES[name]] + months


@pytest.mark.parametrize("name", [*TABLES, "errors"])
def test_a_dataset_without_rows_has_all_tables(tmp_path: Path, name: str) -> None:
    """A question to it has an answer without rows, of the same columns."""
    (tmp_path / "notes.txt").write_text("Dear reader")
    build(tmp_path / "ds", tmp_path / "notes.txt", write_run(tmp_path / "empty.mmp", []))
    table = ask(tmp_path / "ds", f"SELECT * FROM {name}")
    assert table.num_rows == {"files": 2, "errors": 1}.get(name, 0)
    if name != "errors":
        assert {field.name for field in TABLES[name]} <= set(table.column_names)


def test_a_month_reads_no_other(tmp_path: Path) -> None:
    """The partition is a column, and a condition on it leaves whole folders unread, damage and all."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", [NOVEMBER_NS, NOVEMBER_NS + MONTH_NS]))
    [part] = (root / "regions" / "month=2026-11").iterdir()
    data = part.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    part.write_bytes(data[:4] + bytes(len(data) - footer - 4) + data[-footer:])
    asked = "SELECT sum(size) AS s FROM regions"
    assert ask_rows(root, f"{asked} WHERE month = '2026-12'")[0]["s"] > 0
    with pytest.raises(MmpError):
        ask(root, asked)


REFUSED = {
    "COPY": "COPY (SELECT 1) TO '{inside}/x.csv'",
    "COPY out": "COPY (SELECT 1) TO '{outside}/x.csv'",
    "EXPORT": "EXPORT DATABASE '{inside}'",
    "ATTACH": "ATTACH '{inside}/x.db'",
    "INSTALL": "INSTALL httpfs",
    "LOAD": "LOAD httpfs",
    "CREATE": "CREATE TABLE mine AS SELECT 1",
    "DROP": "DROP VIEW regions",
    "INSERT": "INSERT INTO files VALUES (1)",
    "DELETE": "DELETE FROM files",
    "SET": "SET enable_external_access = true",
    "PRAGMA": "PRAGMA version",
    "CALL": "CALL pragma_version()",
    "CHECKPOINT": "CHECKPOINT",
    "EXPLAIN": "EXPLAIN ANALYZE COPY (SELECT 1) TO '{inside}/x.csv'",
    "PREPARE": "PREPARE mine AS SELECT 1",
    "two": "SELECT 1; COPY (SELECT 1) TO '{inside}/x.csv'",
    "two answers": "SELECT 1; SELECT 2",
    "nothing": "-- only a comment",
    "empty": "",
    "nested": "SELECT * FROM query('COPY (SELECT 1) TO ''{inside}/x.csv''')",
    "a file outside": "SELECT * FROM read_text('{outside}/secret.txt')",
    "a way outside": "SELECT * FROM read_text('{inside}/../secret.txt')",
    "a list of files": "SELECT * FROM glob('{outside}/*')",
    "a file as a table": "SELECT * FROM '{outside}/secret.csv'",
    "the network": "SELECT * FROM read_parquet('https://example.com/a.parquet')",
    "a bucket": "SELECT * FROM read_parquet('s3://bucket/a.parquet')",
    "a variable": "SELECT * FROM secret",
    "no SQL": "SELEC 1",
    "no column": "SELECT nope FROM regions",
    "no table": "SELECT * FROM nope",
    "a parameter": "SELECT ?",
    "no number": "SELECT CAST('x' AS INTEGER)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_dataset_is_only_read(root: Path, tmp_path: Path, name: str) -> None:
    """Whatever is no SELECT over its tables is refused in one sentence, and changes nothing anywhere."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    secret = pa.table({"a": [1]})
    beside = root.parent / "secret.txt"
    beside.write_text("secret")
    before = {path: path.stat().st_mtime_ns for path in (*root.rglob("*"), *tmp_path.rglob("*"))}
    with pytest.raises(UsageError) as error:
        ask(root, REFUSED[name].format(inside=root, outside=tmp_path))
    assert "\n" not in str(error.value)
    assert {path: path.stat().st_mtime_ns for path in (*root.rglob("*"), *tmp_path.rglob("*"))} == before
    assert secret.num_rows == 1


@pytest.mark.parametrize(
    ("sql", "value", "kind"),
    [
        ("SELECT max(address) AS v FROM regions", 0xFFFF_FFFF_FF60_0000, pa.uint64()),
        ("SELECT 18446744073709551615::UBIGINT AS v", (1 << 64) - 1, pa.uint64()),
        ("SELECT sum(v) AS v FROM (VALUES (9007199254740993), (0)) t(v)", 9007199254740993, pa.uint64()),
        ("SELECT sum(v) AS v FROM (VALUES (-9007199254740993), (0)) t(v)", -9007199254740993, pa.int64()),
        ("SELECT (1::HUGEINT << 64) AS v", str(1 << 64), pa.string()),
        ("SELECT sum(v) AS v FROM (VALUES (NULL::BIGINT)) t(v)", None, pa.uint64()),
        ("SELECT 'NaN'::DOUBLE AS v", None, pa.float64()),
        ("SELECT '-inf'::DOUBLE AS v", None, pa.float64()),
        ("SELECT 1.5::DECIMAL(4, 2) AS v", 1.5, pa.float64()),
        ("SELECT true AS v", True, pa.bool_()),
        ("SELECT [1, 2] AS v", "[1, 2]", pa.string()),
        ("SELECT {'a': DATE '2026-11-18'} AS v", '{"a": "2026-11-18"}', pa.string()),
        ("SELECT TIMESTAMP '2026-11-18 01:02:03' AS v", "2026-11-18 01:02:03.000000", pa.string()),
        ("SELECT '\\xff\\x00'::BLOB AS v", b"\xff\x00", pa.binary()),
        ("SELECT INTERVAL '26 hours' AS v", "26:00:00", pa.string()),
        ("SELECT INTERVAL '14 months 3 days' AS v", "1 year 2 months 3 days", pa.string()),
        ("SELECT [INTERVAL '1 day', NULL] AS v", "[1 day, NULL]", pa.string()),
        ("SELECT NULL::INTERVAL AS v", None, pa.string()),
        ("SELECT '101'::BIT AS v", "101", pa.string()),
        ("SELECT NULL AS v", None, pa.string()),
    ],
)
def test_a_value_stays_what_it_is(root: Path, sql: str, value: object, kind: pa.DataType) -> None:
    """Whole numbers are exact to the last bit, nothing is NaN, and the rest is text that says it all."""
    table = ask(root, sql)
    assert (table["v"].to_pylist(), table["v"].type) == ([value], kind)


def test_addresses_are_marked_by_name_and_type(root: Path) -> None:
    """So that they are hex in text, CSV and JSON; a number that is only called so is none."""
    schema = ask(root, 'SELECT address, size, 1.5 AS "end" FROM regions LIMIT 1').schema
    assert [(field.metadata or {}).get(b"unit") for field in schema] == [b"address", None, None]


def test_columns_of_one_name_are_told_apart(root: Path) -> None:
    """JSON would keep the last alone."""
    assert ask(root, "SELECT 1 AS a, 2 AS a, 3 AS a_2").column_names == ["a", "a_2", "a_2_2"]


@pytest.mark.parametrize("name", ["it's", "type=x", "month=2001-01/pid=7", "[a]*?", "with blank", "ü"])
def test_the_name_of_the_folder_means_nothing(tmp_path: Path, name: str) -> None:
    """A quote, a pattern or key=value in the path of a dataset is no SQL, no pattern and no column."""
    (tmp_path / name).mkdir(parents=True)
    build(tmp_path / name / "ds", write_run(tmp_path / "a.mmp", pid=5))
    table = ask(tmp_path / name / "ds", "SELECT * FROM captures")
    assert table.column_names == [*(field.name for field in TABLES["captures"]), "month"]
    assert table.select(["pid", "month"]).to_pylist() == [{"pid": 5, "month": "2026-11"}]
    kinds = ask_rows(tmp_path / name / "ds", "SELECT DISTINCT type FROM regions")
    assert {"type": "x"} not in kinds


def test_a_damaged_part_is_named(root: Path, tmp_path: Path) -> None:
    """One sentence with the path of it."""
    build(tmp_path / "ds", write_run(tmp_path / "a.mmp"))
    [name] = [name for name in list_files(tmp_path / "ds") if name.startswith("regions/")]
    (tmp_path / "ds" / name).write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"regions/month=2026-11/part-"):
        ask(tmp_path / "ds", "SELECT count(*) FROM regions")


def test_without_the_extra_it_says_what_to_install(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB is not needed to build."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"pip install 'mmpscope\[sql\]'"):
        ask(root, "SELECT 1")


def test_a_question_looks_at_the_parts_of_its_tables_alone(tmp_path: Path) -> None:
    """There may be many thousands of others; without a table, as in SHOW TABLES, all are there."""
    build(tmp_path / "ds", write_run(tmp_path / "a.mmp"))
    names = [row["name"] for row in ask_rows(tmp_path / "ds", "SHOW TABLES")]
    assert names == sorted([*TABLES, "errors"])
    for name, data in list_files(tmp_path / "ds").items():
        if not name.startswith("captures/"):
            (tmp_path / "ds" / name).write_bytes(data[:10])
    assert ask_rows(tmp_path / "ds", 'SELECT count(*) AS n FROM "CAPTURES"') == [{"n": 1}]
