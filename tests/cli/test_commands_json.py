"""What `--json` prints is what docs/json.md says: keys of each kind, columns of rows, addresses as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.diffs.schema import DIFF_TABLES
from mmpscope.analysis.free_schema import FREE_TABLES
from mmpscope.analysis.schema import TABLES, Field
from support.mmp_command import run_mmp
from support.shop import write_shop

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
ASKED = {
    "summary": "summary X#0",
    "regions": "regions X#0",
    "threads": "threads X#0",
    "modules": "modules X#0",
    "heaps": "heaps X#0",
    "processes": "processes X#0",
    "free": "free X#0",
    "fit": "free X#0 --fits 1G",
    "diff": "diff X",
    "info": "info X",
    "verify": "verify X",
}
_ROWS = {**TABLES, "fit": FREE_TABLES["fit"], "diff": DIFF_TABLES["movers"]}
_FREE_INNER = {name: FREE_TABLES[name] for name in ("windows", "requests", "histogram", "splitters")}
_DIFF_INNER = {name: DIFF_TABLES[name] for name in ("totals", "types", "ranges", "modules", "threads")}

each = pytest.mark.parametrize("kind", ASKED)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


def _ask(kind: str, shop: Path) -> dict[str, Any]:
    words = (word.replace("X", str(shop)) for word in ASKED[kind].split())
    answer: dict[str, Any] = json.loads(run_mmp(*words, "--json").out)
    return answer


def _read_kinds() -> dict[str, list[str]]:
    """Return the cells after the schema for each kind of the document's table."""
    table = DOCUMENT.read_text().partition("\n## Kinds\n")[2].partition("\n## ")[0]
    kinds: dict[str, list[str]] = {}
    for line in re.findall(r"^\| (`\w+/1`.*) \|$", table, re.MULTILINE):
        schemas, *cells = (cell.strip() for cell in line.split("|"))
        kinds |= dict.fromkeys(re.findall(r"`(\w+)/1`", schemas), cells)
    return kinds


def _list_words(text: str) -> set[str]:
    """Return the words in backquotes, without what stands in brackets after one: parts of it."""
    return set(re.findall(r"`(\w+)`", re.sub(r"\([^()]*\)", "", text)))


@each
def test_an_answer_has_the_keys_of_its_kind(kind: str, shop: Path) -> None:
    """The schema first, rows last, between them what the document names for that kind: no more, no less."""
    answer = _ask(kind, shop)
    assert [*answer][:: len(answer) - 1] == ["schema", "rows"]
    assert answer["schema"] == f"mmpscope/{kind}/1"
    assert set(answer) - {"schema", "rows"} == _list_words(_read_kinds()[kind][-1])


@each
def test_rows_have_the_columns_of_the_schema(kind: str, shop: Path) -> None:
    """In its order; the raw columns of the source follow. What is no table names its keys in the document."""
    rows = _ask(kind, shop)["rows"]
    assert rows
    if kind in _ROWS:
        names = [field.name for field in _ROWS[kind]]
        assert all(list(row)[: len(names)] == names for row in rows)
        assert kind == "regions" or all(len(row) == len(names) for row in rows)
    else:
        assert all(set(row) == _list_words(_read_kinds()[kind][1]) for row in rows)


def test_tables_beside_the_rows_have_their_columns_too(shop: Path) -> None:
    """The four tables of `free` and the five of `diff`."""
    for kind, tables in (("free", _FREE_INNER), ("diff", _DIFF_INNER)):
        answer = _ask(kind, shop)
        for name, fields in tables.items():
            assert {tuple(row) for row in answer[name]} <= {tuple(field.name for field in fields)}, name


def _find(value: object, fields: dict[str, Field]) -> Iterator[tuple[Field, object]]:
    """Yield every value in an answer whose key is a column of the schema."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in fields and not isinstance(item, dict | list):
                yield fields[key], item
            else:
                yield from _find(item, fields)
    elif isinstance(value, list):
        for item in value:
            yield from _find(item, fields)


@each
def test_addresses_are_text_of_16_digits_and_sizes_whole_numbers(kind: str, shop: Path) -> None:
    """At any depth of an answer; null is the only other thing that may stand there."""
    fields = {field.name: field for field in (*_ROWS.get(kind, ()), *_FREE_INNER["windows"])}
    found = list(_find(_ask(kind, shop), fields))
    for field, value in found:
        if field.unit == "address":
            assert value is None or re.fullmatch(r"0x[0-9a-f]{16}", str(value)), field
        elif field.unit == "bytes" and value is not None:
            assert type(value) is int, field
    assert found or kind in {"info", "verify"}


@each
def test_a_document_has_a_row_a_line(kind: str, shop: Path) -> None:
    """So that `diff` and `grep` work on it; all of it is ASCII."""
    words = (word.replace("X", str(shop)) for word in ASKED[kind].split())
    text = run_mmp(*words, "--json").out
    assert text.isascii()
    rows = json.loads(text)["rows"]
    lines = [line.strip().removesuffix(",") for line in text.splitlines()]
    assert all(json.dumps(row) in lines for row in rows)


def test_several_snapshots_are_several_documents(shop: Path) -> None:
    """One after the other, as `jq` and any decoder of a stream read them."""
    text = run_mmp("summary", f"{shop}#0", f"{shop}#1", "--json").out
    labels, at = [], 0
    while at < len(text):
        answer, at = json.JSONDecoder().raw_decode(text, at)
        labels.append(answer["snapshot"]["label"])
        at += len(text[at:]) - len(text[at:].lstrip())
    assert labels == [f"{shop}#0", f"{shop}#1"]
