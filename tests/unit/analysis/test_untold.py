"""Types that a source cannot tell: their rows of a summary are unknown, and Total lacks nothing for it."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, summarize
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from support.foreign import WINDOWS, load_foreign, make_mbi, make_vmmap
from support.loaded import load_map

LINUX = {"os": "linux"}
AREA = {"start": 0x10000, "size": 0x4000, "perms": "rw-p"}
KINDS = ("Heap", "Managed Heap", "Stack")


def unknown_of(snapshot: LoadedSnapshot) -> list[str]:
    """List the types of which the size is unknown, page tables apart."""
    rows = summarize(snapshot).to_pylist()
    return [row["type"] for row in rows if row["size"] is None and row["type"] in KINDS]


def load_linux(*names: str | None, **tables: Any) -> LoadedSnapshot:
    """Load regions of a source without inodes, one for each name."""
    named = [{} if name is None else {"path": name} for name in names]
    regions = [AREA | {"start": 0x10000 * at} | name for at, name in enumerate(named, 1)]
    return load_foreign(regions, host=LINUX, tables=tables, status={"VmPTE": 0})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([None], [*KINDS]),
        (["[stack]"], ["Heap", "Managed Heap"]),
        (["[heap]"], ["Managed Heap", "Stack"]),
        (["[anon:scudo:primary]"], []),
    ],
)
def test_a_source_without_the_names_of_the_kernel_tells_what_it_names(
    names: list[str | None], expected: list[str]
) -> None:
    """pmap and cores: a type that is seen is told, and so are all where allocators are named."""
    assert unknown_of(load_linux(*names)) == expected


def test_the_kernel_names_heap_and_stack() -> None:
    """Text of maps has inodes, and so the names that the kernel gives: none is 0."""
    assert unknown_of(load_map("10000-14000 rw-p")) == []


def test_threads_tell_stacks() -> None:
    """A process of which the threads are known has no other stacks."""
    assert unknown_of(load_linux(None, threads=[{"tid": 1, "sp": 0x90000}])) == ["Heap", "Managed Heap"]


def test_windows_tells_heaps_in_the_words_of_a_debugger() -> None:
    """VirtualQueryEx names nothing; !address does, but for what a runtime has; VMMap names all."""
    bare = load_foreign([make_mbi(0x10000, 4096)], host=WINDOWS, bits=32, page_table=0)
    assert unknown_of(bare) == [*KINDS]
    worded = load_foreign([make_mbi(0x10000, 4096, Usage="<unknown>")], host=WINDOWS, bits=32)
    assert unknown_of(worded) == ["Managed Heap"]
    assert unknown_of(load_foreign([make_vmmap(0x10000, 4096)], host=WINDOWS, bits=32)) == []


def test_total_lacks_nothing_for_it_and_the_text_says_where_it_is() -> None:
    """Every byte is in Private Data: Total is whole."""
    bare = load_foreign([make_mbi(0x10000, 4096)], host=WINDOWS, bits=32, page_table=0)
    table = summarize(bare)
    total = table.to_pylist()[0]
    assert total["committed"] == 4096
    assert "committed" not in total["partial"].split(", ")
    lines = report_summary(bare, table).draw(Screen(100))
    assert "Heap, Managed Heap and Stack: what no fact tells apart is Private Data" in lines
    assert sum(line.split()[:2] == ["Heap", "?"] for line in lines) == 1
