"""Tables of a page: exact to the last digit and back, small, and folded without losing count."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.pages.embed import pack, unpack
from mmpscope.analysis.pages.folding import fold_answers, order_by_worth
from mmpscope.analysis.pages.snapshots import ask, encode_lists
from mmpscope.analysis.pages.tables import LONGEST_TEXT, Texts, decode_table, encode_table, make_title
from mmpscope.analysis.schema import Field
from mmpscope.analysis.tables import build_table
from support.crowds import make_crowd
from support.loaded import load_text

FIELDS = (
    Field("address", "uint64", "address", ""),
    Field("size", "uint64", "bytes", ""),
    Field("end", "uint64", "address", ""),
    Field("delta", "int64", "bytes", ""),
    Field("twin", "uint64", "bytes", ""),
    Field("share", "float64", "", ""),
    Field("known", "bool", "", ""),
    Field("name", "string", "", ""),
)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2**63), st.integers(0, 2**62), st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(0, 1), st.none() | st.booleans(), st.none() | st.text(max_size=3),
    ),
    max_size=20,
)  # fmt: skip


def _make(rows: list[tuple[Any, ...]]) -> pa.Table:
    start, size, delta, share, known, name = (
        (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 6
    )
    columns = {"address": start, "size": size, "delta": delta, "twin": size, "share": share, "known": known}
    ends = [a + b for a, b in zip(start, size, strict=True)]
    return build_table(FIELDS, {**columns, "end": ends, "name": name}, len(rows))


@given(ROWS)
def test_tables_come_back_as_they_were(rows: list[tuple[Any, ...]]) -> None:
    """What is encoded, written as JSON and read again has every integer, null and text as before."""
    texts = Texts()
    table = _make(rows)
    encoded = json.loads(json.dumps(encode_table("any", FIELDS, table, texts)))
    decoded = decode_table(encoded, texts.list_all())
    for name in table.column_names:
        if name != "name":
            assert decoded[name] == table[name].to_pylist()
    assert [value is None for value in decoded["name"]] == [
        value is None for value in table["name"].to_pylist()
    ]


@given(ROWS)
def test_no_number_of_a_page_is_beyond_what_a_browser_holds(rows: list[tuple[Any, ...]]) -> None:
    """An integer above 2^53 - 1 is text, so that no browser can round it."""
    encoded = encode_table("any", FIELDS, _make(rows), Texts())

    def check(value: Any) -> None:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(each)
        assert not isinstance(value, int) or abs(value) < 2**53

    check(encoded["data"])


def test_packed_data_ends_no_script() -> None:
    """Packed data has letters of base64 alone, and comes back whole."""
    data = {"text": "</script>\u2028\u00e9", "numbers": [1, None]}
    assert set(pack(data)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
    assert unpack(pack(data)) == data


def test_endless_names_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of names that have no end, and of more long ones than a page can hold, both ends are kept."""
    monkeypatch.setattr("mmpscope.analysis.pages.tables._MOST_TEXT", 1 << 20)
    texts = Texts()
    for number in range(300):
        texts.number(f"{number}" + "x" * 50_000 + f"{number}")
    kept = texts.list_all()
    assert len(kept) == 300
    assert max(map(len, kept)) == LONGEST_TEXT
    assert sum(map(len, kept)) < 2 << 20
    assert kept[299].startswith("299x")
    assert kept[299].endswith("x299")


def test_titles_are_words() -> None:
    """The head of a column is what VMMap and our tables call it."""
    figures = ("total_ws", "total_ws_delta", "private_a", "unusable_index", "a", "b")
    others = ("pid", "pid_a", "pss_b", "total_ws_b", "elf_class", "effective_ws_delta")
    assert [make_title(name) for name in (*figures, *others)] == [
        "Total WS",
        "Δ Total WS",
        "Before, private",
        "Unusable index",
        "Before",
        "After",
        "PID",
        "Before, PID",
        "After, PSS",
        "After, total WS",
        "ELF class",
        "Δ Effective WS",
    ]


@pytest.fixture(scope="module")
def crowd() -> LoadedSnapshot:
    """A process of about 1,200 regions."""
    return load_text(make_crowd(1_200))


@pytest.mark.parametrize("most", [1, 100, 850, 999])
def test_folding_keeps_what_holds_most_and_says_what_is_gone(crowd: LoadedSnapshot, most: int) -> None:
    """Of too many regions those of the largest allocations stay, by address; a sentence counts the rest."""
    answers = ask(crowd)
    folded, said = fold_answers(answers, most)
    regions, allocations = folded.tables["regions"], folded.tables["allocations"]
    assert regions.num_rows == most
    addresses = regions["address"].to_pylist()
    assert addresses == sorted(addresses)
    gone = set(answers.tables["allocations"]["address"].to_pylist()) - set(allocations["address"].to_pylist())
    held = dict(
        zip(*(answers.tables["allocations"][n].to_pylist() for n in ("address", "committed")), strict=True)
    )
    assert max(held[a] for a in gone) <= min(allocations["committed"].to_pylist())
    total = answers.tables["regions"].num_rows
    assert (
        f"{total - most:,} of {total:,} regions and {len(gone):,} of {len(held):,} allocations"
        in " ".join(said)
    )


def test_folded_rows_still_refer_to_each_other(crowd: LoadedSnapshot) -> None:
    """After folding, the parent of each region is its allocation, and first is the first region of one."""
    folded, _ = fold_answers(ask(crowd), 300)
    regions, allocations = folded.tables["regions"].to_pylist(), folded.tables["allocations"].to_pylist()
    assert all(allocations[r["parent"]]["address"] == r["allocation"] for r in regions)
    firsts = [a["first"] for a in allocations]
    assert all(regions[first]["parent"] == number for number, first in enumerate(firsts))


def test_what_is_small_is_not_folded(crowd: LoadedSnapshot) -> None:
    """A snapshot of usual size is listed whole, and nothing is said of folding."""
    answers = ask(crowd)
    folded, said = fold_answers(answers)
    assert said == []
    assert encode_lists(folded, said)["folded"] == []
    assert folded.tables["regions"].equals(answers.tables["regions"])


def test_worth_goes_by_ends_then_changes_then_evenly() -> None:
    """Lists that matter most come first: those asked for, the ends, both sides of a jump, then a spread."""
    totals = [[10] * 50 + [900] * 50]
    order = list(order_by_worth(totals, [99, 0]))
    assert order[:5] == [99, 0, 49, 50, 64]
    assert sorted(order) == list(range(100))


def test_worth_of_many_timelines_counts_their_ends() -> None:
    """Each process of a page has its last and first snapshot before those in between; unknown figures do."""
    assert list(order_by_worth([[1, 2, 3], [None, None]], [2])) == [2, 0, 4, 3, 1]
