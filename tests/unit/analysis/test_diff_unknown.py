"""What one side of a diff does not tell is unknown: it is no drop, and no change."""

from __future__ import annotations

import pytest
from mmpscope.analysis import diff
from mmpscope.analysis.diffs.movers import choose_movers
from support.compared import LOW, compare, find_total, list_rows
from support.loaded import load_blocks, load_map
from support.snapshots import PAGE, Row, make_regions, make_snapshot, region

MIB = 1 << 20


def test_a_value_against_null_is_unknown_and_never_a_drop() -> None:
    """One region whose pss is not known any more: its row says so, and the total is unknown."""
    before = [region(LOW, PAGE, pss=7), region(LOW + 9 * PAGE, PAGE, pss=5)]
    after = [region(LOW, PAGE, pss=None), region(LOW + 9 * PAGE, PAGE, pss=6)]
    result = compare(before, after)
    columns = ("word", "pss_a", "pss_b", "pss_delta", "unknown")
    assert list_rows(result, "components", *columns) == [
        ("same", 7, None, None, "pss"),
        ("changed", 5, 6, 1, None),
    ]
    total = find_total(result, "pss")
    assert (total["a"], total["b"], total["delta"]) == (12, 6, None)
    assert (total["partial_a"], total["partial_b"]) == (False, True)
    types = {row[0]: row[1:] for row in list_rows(result, "types", "type", "pss_delta", "unknown")}
    assert types["Private Data"] == (None, "pss")


def test_a_figure_that_one_side_lacks_altogether_is_told_once_with_its_reason() -> None:
    """Against a snapshot without pss no region is listed for it; the total is unknown and says why."""
    a = make_snapshot([region(LOW, PAGE, pss=7)])
    reason = {"item": "regions.pss", "state": "unavailable", "reason": "smaps: permission denied"}
    b = make_snapshot([region(LOW, PAGE, pss=None)], capability=[reason])
    result = diff(a, b)
    assert result.components.num_rows == 0
    total = find_total(result, "pss")
    assert (total["a"], total["b"], total["delta"]) == (7, None, None)
    assert "in b unavailable: smaps: permission denied" in total["note"]


@pytest.mark.parametrize("turned", [False, True])
def test_an_estimate_is_not_compared_with_what_is_exact(*, turned: bool) -> None:
    """Maps do not tell MAP_NORESERVE: an arena seems committed as a whole there, and did not shrink."""
    sides = [
        load_map("10000-30000 rw-p"),
        load_blocks(("10000-30000 rw-p", {"Rss": 4, "Swap": 0}, "rd wr nr")),
    ]
    a, b = reversed(sides) if turned else sides
    result = diff(a, b)
    assert result.components.num_rows == 0
    for metric in ("committed", "private"):
        total = find_total(result, metric)
        assert total["delta"] is None
        assert "VmFlags" in total["note"]
    assert find_total(result, "size")["delta"] == 0


def test_null_on_both_sides_is_no_change() -> None:
    """What neither side knows is not listed."""
    rows = [region(LOW, PAGE, committed=None, private=None)]
    assert compare(rows, rows).is_empty


def test_a_difference_beyond_64_bits_is_named() -> None:
    """From 0 to 2^63: no signed number holds it; the row stays, without a delta, and names the figure."""
    result = compare([region(LOW, PAGE, pss=0)], [region(LOW, PAGE, pss=2**63)])
    columns = ("word", "pss_a", "pss_b", "pss_delta", "unknown")
    assert list_rows(result, "components", *columns) == [("changed", 0, 2**63, None, "pss")]


def test_folding_names_what_it_does_not_know() -> None:
    """A null among the folded rows is no 0: the sum is unknown, and the figure is named."""
    before = [region(LOW + at * MIB, PAGE, pss=1, total_ws=0) for at in range(3)]
    after = [dict(row, total_ws=1, private=9 * PAGE * (at == 0)) for at, row in enumerate(before)]
    after[1]["pss"] = None
    others = compare(before, after, limit=1).movers.to_pylist()[-1]
    assert (others["word"], others["rows"]) == ("others", 2)
    assert (others["pss_delta"], others["unknown"]) == (None, "pss")


def test_folding_does_not_wrap() -> None:
    """Two folded figures of 2^63 are beyond 64 bits together, two of 2^62 beyond a signed difference."""
    before = [region(LOW + at * MIB, PAGE) for at in range(3)]
    after = [{**row, "pss": 2**63, "uss": 2**62, "swap": 2**61, "private": 0} for row in before]
    after[0] |= {"private": 2 * PAGE}
    others = compare(before, after, limit=1, metric="locked_ws").movers.to_pylist()[-1]
    assert [others[name] for name in ("pss_a", "pss_b", "pss_delta")] == [0, None, None]
    assert [others[name] for name in ("uss_a", "uss_b", "uss_delta")] == [0, 2**63, None]
    assert [others[name] for name in ("swap_a", "swap_b", "swap_delta")] == [0, 2**62, 2**62]


def test_a_source_without_files_and_rights_is_compared_by_what_it_has() -> None:
    """Other formats have no inode, no offset and no path: their absence is no difference, nor are others'."""
    bare = make_regions([region(LOW, PAGE), region(LOW + 9 * PAGE, PAGE, "Heap")])
    bare = bare.drop_columns(["inode", "offset", "path", "dev_major", "dev_minor"])
    full = [region(LOW, PAGE, inode=7, path="/f"), region(LOW + 9 * PAGE, PAGE, "Stack")]
    for a, b in ((make_snapshot(bare), make_snapshot(full)), (make_snapshot(full), make_snapshot(bare))):
        [row] = diff(a, b).ranges.to_pylist()
        assert {row["type_a"], row["type_b"]} == {"Heap", "Stack"}
        assert diff(a, a).is_empty


def test_a_fact_that_one_side_lacks_altogether_is_no_difference() -> None:
    """A source that tells no state of any region does not make every region a change."""
    before = [region(LOW + at * MIB, PAGE, private=at) for at in range(3)]
    after = [{**row, "state": None, "private": 1} for row in before]
    assert compare(before, after).ranges.num_rows == 0
    after[0]["state"] = "reserved"  # now the column is known, and one region is what it was not
    assert list_rows(compare(before, after), "ranges", "address_a")[0] == (LOW,)


def fold_all(before: list[Row], after: list[Row]) -> Row:
    """Compare, and return the row into which all changes are folded."""
    components = compare(before, after).components
    [row] = choose_movers(components, "private", 0, 1 << 40).to_pylist()
    return dict(row)


def test_what_one_side_does_not_tell_of_a_folded_row_is_no_drop() -> None:
    """A light look has no working set of one: the sum of that side is unknown, and so is the change."""
    before = [region(LOW + at * MIB, PAGE, total_ws=PAGE, swap=PAGE) for at in range(2)]
    after = [{**before[0], "total_ws": None, "swap": 0}]
    row = fold_all(before, after)
    assert (row["total_ws_a"], row["total_ws_b"], row["total_ws_delta"]) == (2 * PAGE, None, None)
    assert (row["swap_a"], row["swap_b"], row["swap_delta"]) == (2 * PAGE, 0, -2 * PAGE)
    assert (row["effective_ws_delta"], row["partial"]) == (None, None)


def test_what_no_side_tells_of_a_folded_row_is_left_out_and_named() -> None:
    """As a total does: the sums are of the others, before and after, and the figure is called partial."""
    before = [region(LOW, PAGE, pss=None), region(LOW + MIB, PAGE, pss=PAGE)]
    after = [region(LOW, PAGE, pss=None, swap=PAGE), region(LOW + MIB, PAGE, pss=3 * PAGE)]
    row = fold_all(before, after)
    assert (row["pss_a"], row["pss_b"], row["pss_delta"]) == (PAGE, 3 * PAGE, 2 * PAGE)
    assert (row["unknown"], row["partial"]) == (None, "pss")
