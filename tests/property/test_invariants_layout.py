"""Any layout at all, with any modules and threads: every region has one type, and sums conserve."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, list_allocations, summarize
from mmpscope.analysis.schema import TYPES
from mmpscope.formats.model import Capture, Snapshot
from support.effort import scale
from support.loaded import make_raw_table

PAGE = 4096
NAMES = st.sampled_from(
    [
        *(
            None,
            "",
            "[heap]",
            "[stack]",
            "[stack:7]",
            "[vdso]",
            "[vsyscall]",
            "[anon:.bss]",
            "[anon:scudo:x]",
        ),
        *("/lib/a.so", "/lib/b.so (deleted)", "/dev/zero", "/memfd:x (deleted)", "/anon_hugepage (deleted)"),
    ]
)
PERMS = st.sampled_from(["rw-p", "r--p", "r-xp", "---p", "rw-s", "---s", "rwxp", "", None, "x"])
FLAGS = st.sampled_from([None, "", "rd wr ac", "nr", "ht", "gu", "de"])
EDGES = st.integers(0, 1 << 16).map(lambda pages: pages * PAGE) | st.integers(0, (1 << 64) - 1)


@st.composite
def layouts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw regions in order: touching or with gaps, some aligned like arenas."""
    rows, start = [], draw(st.sampled_from([PAGE, 0xC000000000, 64 << 20, (1 << 64) - (256 << 20)]))
    for _ in range(draw(st.integers(0, 12))):
        start += draw(st.sampled_from([0, 0, PAGE, 1 << 20]))
        size = draw(st.sampled_from([PAGE, 4 * PAGE, 1 << 20, 8 << 20, (64 << 20) - start % (64 << 20)]))
        size = min(size, (1 << 64) - 1 - start)
        if size <= 0:
            break
        inode = draw(st.sampled_from([0, 0, 42, 43]))
        row = {
            "start": start,
            "size": size,
            "perms": draw(PERMS),
            "path": draw(NAMES),
            "VmFlags": draw(FLAGS),
        }
        rows.append(
            {**row, "inode": inode, "dev_major": 8 * bool(inode), "offset": draw(st.sampled_from([0, PAGE]))}
        )
        start += size
    return rows


_NUMBER = st.none() | EDGES
_COLUMNS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "modules": {
        "path": NAMES,
        "inode": st.sampled_from([None, 42, 43]),
        "elf_class": st.sampled_from([None, 64]),
        **dict.fromkeys(("base", "low", "high"), _NUMBER),
    },
    "segments": {
        "module": st.none() | st.integers(0, 3),
        **dict.fromkeys(("offset", "vaddr", "filesz", "memsz", "flags"), _NUMBER),
    },
    "threads": {"tid": _NUMBER, "name": NAMES, "sp": _NUMBER},
}
TABLES = st.fixed_dictionaries(
    {name: st.lists(st.fixed_dictionaries(columns), max_size=4) for name, columns in _COLUMNS.items()}
)


@settings(max_examples=scale(200))
@given(layouts(), TABLES, st.integers(0, 3))
def test_every_region_has_its_place_and_sums_conserve(
    rows: list[dict[str, Any]], tables: dict[str, list[dict[str, Any]]], count: int
) -> None:
    """Damaged modules, segments and stack pointers may cost a name, never a byte."""
    raw = {name: make_raw_table(content) for name, content in {"regions": rows, **tables}.items()}
    snapshot = Snapshot(Capture(), {"status": {"Threads": count}}, tables=raw)
    loaded = LoadedSnapshot("test#0", lambda: snapshot)
    regions = loaded.regions.to_pylist()
    assert [row["address"] for row in regions] == [row["start"] for row in rows]
    for row in regions:
        assert row["type"] in TYPES
        assert row["allocation"] <= row["address"]
    counted = [row for row in regions if row["subtype"] != "gate"]
    total = summarize(loaded).to_pylist()[0]
    holes = summarize(loaded).to_pylist()[TYPES.index("Unusable") + 1]["size"] or 0
    assert (total["size"] or 0) - holes == sum(row["size"] for row in counted)
    assert sum(row["size"] for row in list_allocations(loaded).to_pylist()) == sum(
        row["size"] for row in regions
    )
    assert loaded.threads.num_rows == len(tables["threads"])
    assert sum(row["blocks"] for row in loaded.modules.to_pylist()) <= len(regions)
    assert sum(row["size"] for row in loaded.heaps.to_pylist()) == sum(
        row["size"] for row in regions if row["type"] in ("Heap", "Managed Heap")
    )
