"""What a builder puts into a minidump comes out again, whatever it is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import scale
from support.minidump_builder import FREE, Block, DumpBuilder, fill_space
from support.minidumps import list_rows, read_dump

_PAGE = 4096
_BLOCKS = st.lists(
    st.tuples(
        st.integers(0, 1 << 20),  # pages of free space before it
        st.integers(1, 1 << 20),
        st.sampled_from([0x1000, 0x2000, 0x800]),
        st.integers(0, (1 << 32) - 1),
        st.sampled_from([0x20000, 0x40000, 0x1000000, 0]),
    ),
    max_size=40,
)


def _place(drawn: list[tuple[int, int, int, int, int]]) -> list[Block]:
    blocks, at = [], 0x10000
    for gap, pages, state, protect, kind in drawn:
        at += gap * _PAGE
        blocks.append(Block(at, pages * _PAGE, state, protect, kind))
        at += pages * _PAGE
    return blocks


@settings(max_examples=scale(100))
@given(_BLOCKS, st.sampled_from([48, 52, 64]))
def test_every_block_comes_out_as_it_was(drawn: list[tuple[int, int, int, int, int]], entry: int) -> None:
    """Any states, protections and types, touching or not, in entries of any size."""
    blocks = _place(drawn)
    end = (blocks[-1].base + blocks[-1].size if blocks else 0) + 0x10000
    builder = DumpBuilder()
    builder.system()
    builder.memory_info(fill_space(blocks, end), entry=entry)
    snapshot = read_dump(builder.finish())
    rows = list_rows(snapshot, "regions", "start", "size", "State", "Protect", "Type")
    assert rows == [(b.base, b.size, b.state, b.protect, b.type) for b in blocks]
    assert snapshot.process["range"]["end"] == end
    free = sum(block.size for block in fill_space(blocks, end) if block.state == FREE)
    assert free + sum(block.size for block in blocks) == end


@settings(max_examples=scale(100))
@given(
    st.lists(st.tuples(st.integers(0, (1 << 47)), st.integers(1, 1 << 31), st.text(max_size=30)), max_size=8)
)
def test_every_module_comes_out_as_it_was(modules: list[tuple[int, int, str]]) -> None:
    """Any name, be it empty or outside the basic plane."""
    builder = DumpBuilder()
    builder.system()
    builder.memory_info(fill_space([], 0x7FFF0000))
    builder.modules([(base, size, builder.string(name), b"") for base, size, name in modules])
    rows = list_rows(read_dump(builder.finish()), "modules", "low", "high", "path")
    assert rows == [(base, base + size, name.encode()) for base, size, name in modules]
