"""What a snapshot shows: all regions, some, totals alone, nothing; what is refused without all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mmpscope.analysis import (
    LoadedSnapshot,
    check_fit,
    count_mappings,
    find_free,
    list_splitters,
    measure_fragmentation,
    summarize,
)
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.extent import (
    ALL,
    NOTHING,
    SOME,
    TOTALS,
    find_extent,
    require_all_regions,
    require_figures,
    require_regions,
)
from mmpscope.analysis.reporters.head import draw_head
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.space import NO_WINDOWS_SPACE
from support.foreign import load_foreign, missing

LINUX = {"start": 0x10000, "size": 0x2000, "perms": "rw-p", "Rss": 0x1000}
ROLLUP = {"name": "[rollup]", "Rss": 4096, "Pss": 4096}
HOLES_ASKED: tuple[Callable[[LoadedSnapshot], object], ...] = (
    find_free,
    measure_fragmentation,
    list_splitters,
)


def load_part() -> LoadedSnapshot:
    """Load a list of regions that lacks some."""
    return load_foreign([LINUX], capability=[missing("2 lines are cut")], host={"os": "linux"})


def load_rollup() -> LoadedSnapshot:
    """Load totals without regions."""
    source = {"format": "smaps_rollup text", "version": "6.1"}
    return load_foreign(
        tables={"totals": [ROLLUP]},
        capability=[missing("a roll-up lists none", "unavailable")],
        source=source,
        host={"os": "linux"},
    )


@pytest.mark.parametrize(
    ("snapshot", "shown", "words"),
    [
        (load_foreign([LINUX]), ALL, None),
        (load_foreign([LINUX], capability=[missing("", "ok")]), ALL, None),
        (load_part(), SOME, "not all regions are known: 2 lines are cut"),
        (load_rollup(), TOTALS, "totals only: a roll-up lists none"),
        (load_foreign(tables={"totals": [ROLLUP]}), TOTALS, "totals only: the source lists no regions"),
        (load_foreign(capability=[missing("headers alone")]), NOTHING, "no regions: headers alone"),
        (load_foreign(host={"os": "windows"}), NOTHING, NO_WINDOWS_SPACE),
        (load_foreign(), NOTHING, "no address space: a kernel thread, a zombie, or no permission to read it"),
    ],
)
def test_what_is_shown_follows_from_the_tables_and_from_what_the_source_says(
    snapshot: LoadedSnapshot, shown: str, words: str | None
) -> None:
    """A source that leaves regions out says so by the item regions of its capability table."""
    assert find_extent(snapshot) == (shown, words)


@pytest.mark.parametrize("ask", HOLES_ASKED)
def test_what_is_free_cannot_be_told_of_a_part(ask: Callable[[LoadedSnapshot], object]) -> None:
    """What is not listed may be there: neither holes nor anything that follows from them is known."""
    with pytest.raises(CannotTellError, match="cannot tell the free space, not all regions are known: 2 lin"):
        ask(load_part())
    with pytest.raises(CannotTellError, match="totals only"):
        ask(load_rollup())


def test_a_refusal_names_the_source_and_what_to_take_instead() -> None:
    """Whoever gets it knows what the file is, why it does not do, and what to collect."""
    with pytest.raises(CannotTellError) as refusal:
        require_regions(load_rollup(), "regions")
    assert str(refusal.value) == (
        "foreign#0 (smaps_rollup text 6.1) cannot tell the regions, totals only: a roll-up lists none. "
        "`mmp collect` takes all of it, and so does the text of /proc/PID/smaps"
    )
    assert refusal.value.exit_code == 4


def test_headers_alone_are_no_figures_and_no_address_space_is_an_answer() -> None:
    """A save without any row tells nothing; an empty map tells that there is no memory to see."""
    for ask in (require_figures, lambda s: require_regions(s, "regions")):
        with pytest.raises(CannotTellError, match="no regions: headers alone"):
            ask(load_foreign(capability=[missing("headers alone")]))
        ask(load_foreign())
    require_all_regions(load_foreign(), "free space")


@pytest.mark.parametrize("load", [load_part, load_rollup])
def test_a_request_and_the_mapping_count_cannot_be_judged(load: Callable[[], LoadedSnapshot]) -> None:
    """The answer is exit code 4 with the reason, not a hole that may be taken."""
    answer = check_fit(load(), 1 << 20)
    assert (answer.exit_code, answer.address, answer.tightest) == (4, None, None)
    assert answer.binding.reason == find_extent(load()).reason
    assert count_mappings(load()).count is None


def test_of_a_part_sums_are_at_least_what_is_listed() -> None:
    """Every figure of a listed type and of Total is partial; free space and other types are unknown."""
    rows = {row["type"]: row for row in summarize(load_part()).to_pylist()}
    for kind in ("Private Data", "Total"):
        partial = rows[kind]["partial"].split(", ")
        assert {"size", "total_ws", "blocks", "allocations", "largest"} <= set(partial)
        assert (rows[kind]["size"], rows[kind]["total_ws"], rows[kind]["blocks"]) == (0x2000, 0x1000, 1)
    for kind in set(TYPES) - {"Private Data", "Page Table"}:
        assert {value for name, value in rows[kind].items() if name != "type"} == {None}


def test_the_head_says_where_it_is_from_and_what_it_lacks() -> None:
    """Before any figure: the format, and that it is no whole."""
    lines = draw_head(load_rollup(), Screen(200))
    assert lines[0].endswith("foreign#0, from smaps_rollup text 6.1")
    assert lines[1] == "totals only: a roll-up lists none"
    assert (
        "sums are at least what is shown, and free space is not known"
        in draw_head(load_part(), Screen(200))[1]
    )
    both = load_foreign([LINUX], capability=[missing("filtered")], tables={"totals": [ROLLUP]})
    assert "the summary shows the source's own totals" in draw_head(both, Screen(200))[1]
