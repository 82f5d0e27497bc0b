"""Snapshots that are classified together are what each is alone: nothing of one is seen by another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.measures.measure import Gatherer, join_measures, measure
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.stack_tables import stack_together
from mmpscope.analysis.stacking import classify_together
from support.effort import scale
from support.loaded import load_blocks, load_text

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.mmp"))
STACK = ("70000000-70100000 rw-p", {"Rss": 8, "Anonymous": 8, "Private_Dirty": 8}, "rd wr mr mw me ac")
GUARD: tuple[str, dict[str, int], str] = ("6fff0000-70000000 ---p", {}, "mr mw me")
ELF = ("400000-402000 r-xp 0 77 /bin/app", {"Rss": 8}, "rd ex mr mw me")
MODULE = {"path": "/bin/app", "inode": 77, "low": 0x400000, "high": 0x402000, "base": 0, "build_id": "ab"}
GO = ("c000000000-c000400000 rw-p", {"Rss": 4}, "rd wr")
GATE: tuple[str, dict[str, int], str] = ("ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]", {}, "ex")
FAR = ("1000000000000-1000000001000 rw-p", {"Rss": 4}, "rd wr")


def _describe(snapshot: LoadedSnapshot) -> list[list[dict[str, Any]]]:
    tables = (
        snapshot.regions,
        snapshot.modules,
        snapshot.threads,
        snapshot.heaps,
        summarize(snapshot),
    )
    return [table.to_pylist() for table in tables]


def _check(alone: Sequence[LoadedSnapshot], together: Sequence[LoadedSnapshot], stacked: int) -> None:
    assert sum(len(stack.parts) for stack in classify_together(together)) == stacked
    for one, other in zip(alone, together, strict=True):
        assert _describe(one) == _describe(other)


def _check_tables(alone: Sequence[LoadedSnapshot], together: Sequence[LoadedSnapshot]) -> None:
    """Compare what is made once for a stack, cut again, with the tables of each snapshot."""
    stacks = stack_together(together)
    for tables, places in stacks:
        for name, (table, slot) in tables.list_all().items():
            rows = [{k: v for k, v in row.items() if k != "snapshot"} for row in table.to_pylist()]
            for number, place in enumerate(places.tolist()):
                own = getattr(alone[place], name)
                own = own.drop_columns("snapshot") if name == "regions" else own
                cut = [row for row, of in zip(rows, slot.tolist(), strict=True) if of == number]
                assert cut == own.to_pylist()
    gatherer = Gatherer()
    assert not gatherer.add_all([(each, str(place)) for place, each in enumerate(together)], stacks)
    found, apart = (
        gatherer.build(),
        join_measures([measure(each, str(place)) for place, each in enumerate(alone)]),
    )
    for name in MEASURES:
        assert getattr(found, name).to_pylist() == getattr(apart, name).to_pylist()


def test_samples_together_are_samples_alone() -> None:
    """Of Linux all are stacked, a series of one process as well; what has other columns is left to itself.

    That is Windows, and the redacted sample, which lacks some.
    """
    alone, together = ([s for path in SAMPLES for s in load(path)] for _ in range(2))
    alike = [s for s in alone if s.capture.host["os"] == "linux" and "redacted" not in s.label]
    _check(alone, together, len(alike))
    _check_tables(alone, [s for path in SAMPLES for s in load(path)])


BLOCKS = (STACK, GUARD, ELF, GO, GATE)


@given(
    st.lists(st.lists(st.sampled_from(BLOCKS), min_size=1, unique_by=str), min_size=2, max_size=5), st.data()
)
@settings(max_examples=scale(60), deadline=None)
def test_processes_together_are_processes_alone(processes: list[list[Any]], data: st.DataObject) -> None:
    """Whatever each has: the same addresses, the same files, threads or none, and what was read of a file."""
    threads = [data.draw(st.sampled_from([0, 1, 3])) for _ in processes]
    limits = [data.draw(st.sampled_from([None, 0x100000])) for _ in processes]
    pointers = [data.draw(st.sampled_from([0, 0x70000800, 0xC000000010, 1 << 60])) for _ in processes]
    reads = [data.draw(st.booleans()) for _ in processes]

    def make() -> list[LoadedSnapshot]:
        return [
            load_blocks(
                *sorted(blocks, key=lambda block: int(block[0].split("-")[0], 16)),
                tables={
                    "threads": [{"tid": n, "sp": pointer} for n in range(count)],
                    "modules": [{**MODULE, "elf_class": 64 if is_read else None}],
                    "segments": [
                        {"module": 0, "vaddr": 0x400000, "memsz": 0x2000, "filesz": 0x1000, "flags": 5}
                    ],
                },
                limits={"Max stack size": [limit, None, "bytes"]},
            )
            for blocks, count, limit, pointer, is_read in zip(
                processes, threads, limits, pointers, reads, strict=True
            )
        ]

    alone, together = make(), make()
    classify_together(together)
    for one, other in zip(alone, together, strict=True):
        assert _describe(one) == _describe(other)
    _check_tables(alone, make())


@pytest.mark.parametrize("odd", ["far", "owner", "nothing", "rules"])
def test_what_has_no_place_in_a_stack_is_left_alone(odd: str) -> None:
    """Addresses beyond a slot, segments of no module, no memory: each has its answer all the same."""

    def make() -> list[LoadedSnapshot]:
        segments = [{"module": 9, "vaddr": 0, "memsz": 1, "filesz": 1, "flags": 5}]
        others = {
            "far": lambda: load_blocks(STACK, FAR),
            "owner": lambda: load_blocks(STACK, tables={"segments": segments}),
            "nothing": lambda: load_text(""),
            "rules": lambda: load_text("1000-2000 rw-p 00000000 00:00 0 \n"),
        }
        return [load_blocks(STACK), load_blocks(GUARD, STACK), others[odd]()]

    _check(make(), make(), 2)
    _check_tables(make(), make())
