"""A summary of totals alone: each figure as it is stated, and nothing 0 that is not said to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, summarize
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from mmpscope.analysis.schema import TYPES
from support.foreign import load_foreign, make_vmmap, missing

KB = 1024


def load_totals(*rows: Mapping[str, Any], **facts: Any) -> LoadedSnapshot:
    """Load a table of totals and nothing else."""
    return load_foreign(tables={"totals": rows}, **facts)


def known(snapshot: LoadedSnapshot, kind: str) -> dict[str, Any]:
    """Return what is known of one row of the summary, without the names of partial figures."""
    [row] = [row for row in summarize(snapshot).to_pylist() if row["type"] == kind]
    return {name: row[name] for name in row if row[name] is not None and name not in ("type", "partial")}


def test_a_roll_up_fills_total_alone() -> None:
    """smaps_rollup: Rss, Pss and what follows from sums; it knows no size and no type."""
    counters = {"Private_Clean": KB, "Private_Dirty": 2 * KB, "Shared_Clean": 3 * KB, "Shared_Dirty": 0}
    snapshot = load_totals({"name": "[rollup]", "Rss": 6 * KB, "Pss": 4 * KB, "Swap": 7 * KB, **counters})
    total = {"total_ws": 6 * KB, "pss": 4 * KB, "uss": 3 * KB, "shared_ws": 3 * KB, "swap": 7 * KB}
    assert known(snapshot, "Total") == total
    assert all(known(snapshot, kind) == {} for kind in TYPES)


def test_pages_of_hugetlb_are_resident_and_not_in_rss() -> None:
    """As for a region: Rss leaves them out."""
    huge = {"Shared_Hugetlb": 2048 * KB, "Private_Hugetlb": 4096 * KB}
    assert known(load_totals({"name": "[rollup]", "Rss": KB, **huge}), "Total")["total_ws"] == 6145 * KB


def test_rows_of_a_type_add_up_and_total_is_their_sum() -> None:
    """A debugger's summary has no row for the whole, and its Free is none of it."""
    rows = [("Heap32", 3, 5 * KB), ("Heap64", 1, KB), ("Image", 9, 100 * KB), ("Free", 4, 1000 * KB)]
    snapshot = load_totals(
        *({"name": name, "count": count, "RegionSize": size} for name, count, size in rows),
        host={"os": "windows"},
    )
    assert known(snapshot, "Heap") == {"size": 6 * KB, "blocks": 4}
    assert known(snapshot, "Free") == {"size": 1000 * KB, "blocks": 4}
    assert known(snapshot, "Total") == {"size": 106 * KB, "blocks": 13}


def test_a_figure_that_one_row_lacks_is_unknown_for_its_type_and_partial_in_total() -> None:
    """Half a sum is no sum; Total says which of its figures leave something out."""
    snapshot = load_totals(
        {"name": "/lib/a.so", "Size": KB, "Rss": KB},
        {"name": "/lib/b.so", "Size": KB, "Rss": None},
        {"name": "[heap]", "Size": KB, "Rss": KB},
    )
    assert known(snapshot, "Image") == {"size": 2 * KB}
    [total] = [row for row in summarize(snapshot).to_pylist() if row["type"] == "Total"]
    assert (total["size"], total["total_ws"]) == (3 * KB, KB)
    assert "total_ws" in total["partial"].split(", ")


@pytest.mark.parametrize("kind", ["stated", "summed"])
def test_page_tables_that_are_known_are_a_part_of_total(kind: str) -> None:
    """Total is everything but Free: the kernel's own figures leave the page tables out."""
    rows = [{"name": "[heap]", "Size": 8 * KB, "Rss": 4 * KB}]
    rows += [{"name": "TOTAL", "Size": 8 * KB, "Rss": 4 * KB}] * (kind == "stated")
    snapshot = load_totals(*rows, status={"VmPTE": 2 * KB})
    assert known(snapshot, "Page Table")["size"] == 2 * KB
    assert known(snapshot, "Total") == {"size": 10 * KB, "total_ws": 6 * KB}


def test_vmmaps_own_summary_answers_for_a_list_that_is_filtered() -> None:
    """Its Total has page tables and unusable space already; the list shows one type of many."""
    names = ("Size", "Commit", "PrivateBytes", "Blocks", "Largest")
    totals = {
        "Total": (100, 60, 30, 8, 0),
        "Image": (50, 40, 10, 8, 40),
        "Page Table": (20, 20, 20, 0, 0),
        "Unusable": (30, 0, 0, 0, 10),
        "Free": (500, 0, 0, 3, 400),
    }
    rows = [{"name": name, **dict(zip(names, figures, strict=True))} for name, figures in totals.items()]
    region = make_vmmap(0x10000, 50, "Image")
    snapshot = load_foreign(
        [region], tables={"totals": rows}, capability=[missing("filtered to Image")], page_table=20
    )
    total = known(snapshot, "Total")
    assert (total["size"], total["committed"], total["private"], total["blocks"]) == (100, 60, 30, 8)
    assert known(snapshot, "Free")["largest"] == 400
    assert known(snapshot, "Heap") == {}


def test_a_total_that_is_stated_in_round_numbers_is_no_more_than_a_check() -> None:
    """vmmap writes 1.5G where its rows add up to 1.53G: Total is no less than its rows."""
    near = load_totals({"name": "STACK", "VIRTUAL": 1570 << 20}, {"name": "TOTAL", "VIRTUAL": 1536 << 20})
    assert known(near, "Total") == {"size": 1570 << 20}
    assert near.capability.num_rows == 0
    far = load_totals({"name": "STACK", "VIRTUAL": 1700 << 20}, {"name": "TOTAL", "VIRTUAL": 1536 << 20})
    assert known(far, "Total") == {"size": 1700 << 20}
    lines = report_summary(far, summarize(far)).draw(Screen(200))
    told = "the source states a total of 1,610,612,736 bytes (size), and its rows add up to 1,782,579,200"
    assert f"sums are doubtful: {told}" in lines


def test_of_two_totals_the_first_counts() -> None:
    """vmmap of macOS writes TOTAL, and below it TOTAL without reserved memory."""
    rows = [{"name": "STACK GUARD", "SWAPPED": 0}, {"name": "TOTAL", "VIRTUAL": 9 * KB, "SWAPPED": 0}]
    rows += [{"name": "TOTAL, minus reserved VM space", "VIRTUAL": 5 * KB, "SWAPPED": 0}]
    assert known(load_totals(*rows, host={"os": "macos"}), "Total") == {"size": 9 * KB, "swap": 0}


def test_sums_beyond_64_bits_are_unknown() -> None:
    """Only hostile input has them; they never wrap."""
    rows = [{"name": f"/lib/{n}.so", "Size": 2**63} for n in range(2)]
    assert "size" not in known(load_totals(*rows), "Total")


def test_the_text_shows_what_is_known_and_nothing_else() -> None:
    """A table of question marks would hide the few figures there are."""
    snapshot = load_totals({"name": "[rollup]", "Rss": 2048 * KB, "Pss": 1024 * KB})
    lines = list(report_summary(snapshot, summarize(snapshot)).draw(Screen(100)))
    assert lines[0].startswith("unknown process")
    table = [line.split() for line in lines[3:]]
    assert ["Total", "2,048+", "1,024"] in table
    assert "Free" not in "".join(lines)
    assert "?" not in "".join(lines[3:])
