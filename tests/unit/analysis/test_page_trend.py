"""The timeline of a page: verdicts as `mmp trend` gives them, and every column explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.leaks import make_looks, write_looks
from support.mmp_command import run_mmp
from support.pages import ReadPage, list_rows, read_page

LEAK = Path(__file__).parents[3] / "samples" / "linux-leak-v1.0.mmp"

pytest.importorskip("scipy", reason="needs the extra stats")


@pytest.fixture(scope="module")
def read() -> ReadPage:
    """The page of a series of twenty snapshots."""
    return read_page(run_mmp("report", LEAK).out)


def test_verdicts_are_those_of_trend(read: ReadPage) -> None:
    """The sentence and the rows of the trend are those of `mmp trend --json`."""
    page = read.page
    told = json.loads(run_mmp("trend", LEAK, "--json").out)
    [trend] = page["trends"]
    assert trend["sentence"] == told["series"][0]["sentence"] == page["says"]
    rows = list_rows(trend["rows"], page["texts"])
    assert [(r["scope"], r["name"], r["verdict"], r["last"]) for r in rows] == [
        (r["scope"], r["name"], r["verdict"], r["last"]) for r in told["rows"]
    ]


def test_limits_are_those_of_the_trend(read: ReadPage) -> None:
    """What counts against a limit in the last snapshot, and the limit, is what `mmp trend` ends with."""
    page = read.page
    limits = {row["limit"]: row for row in list_rows(page["snapshots"][19]["limits"], page["texts"])}
    told = [
        row for row in json.loads(run_mmp("trend", LEAK, "--json").out)["rows"] if row["scope"] == "limit"
    ]
    assert {row["name"] for row in told} == set(limits)
    for row in told:
        limit = limits[row["name"]]
        assert (limit["used"], limit["maximum"]) == (row["last"], row["maximum"])
        known = limit["maximum"] is not None and limit["used"] is not None
        assert limit["headroom"] == (limit["maximum"] - limit["used"] if known else None)


def test_what_grows_is_shown_before_what_is_longer(tmp_path: Path) -> None:
    """Of several processes the one that grows comes first, however many snapshots the others have."""
    flat = write_looks(tmp_path / "flat.mmp", make_looks([1000] * 40, pid=5, started=1))
    grown = write_looks(tmp_path / "grown.mmp", make_looks(range(1000, 4000, 100), pid=6, started=2))
    page = read_page(run_mmp("report", flat, grown).out).page
    shown = page["snapshots"][page["shown"]]
    assert shown["head"]["pid"] == 6
    assert page["says"].startswith("server (pid 6): growing")
    assert [(each["a"], each["b"]) for each in page["diffs"]] == [(40, page["shown"])]


def test_every_column_is_defined(read: ReadPage) -> None:
    """Each column of each table on a page has its meaning at hand, but for those that only link rows."""
    page, lists = read.page, read.lists(19)
    tables: list[Any] = [page["snapshots"][0]["summary"], page["snapshots"][0]["limits"]]
    tables += [*page["diffs"][0]["tables"].values(), page["trends"][0]["rows"]]
    tables += [value for value in dict(lists).values() if isinstance(value, dict) and "columns" in value]
    for table in tables:
        meanings = page["definitions"][table["name"]]
        assert all(meanings[column["name"]] for column in table["columns"])
