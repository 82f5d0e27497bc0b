"""Logs that are damaged or made to hurt: time in proportion, one sentence, and never another error."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.formats.errors import FormatError, NotASnapshotError
from mmpscope.formats.registry import find_format
from mmpscope.formats.windbg.format import FORMATS
from mmpscope.formats.windbg.reader import open_log
from support.corpus import CORPUS, find_corpus_file
from support.minidumps import list_rows
from support.smaps_text import make_text
from support.windbg_text import (
    Region,
    fill,
    print_list,
    print_maddress,
    print_maddress_totals,
    print_old_list,
    print_summary,
)

_REGIONS = [Region(0x10000 * (i + 1), 0x3000, "Heap", "[ID: 0]") for i in range(20)]
SEEDS = [
    print_list(fill(_REGIONS, 0x7FFF0000), 32),
    print_list(fill(_REGIONS, 0x7FFF_FFFF_0000)) + print_summary([("Free", 1, 2)]),
    print_old_list(fill(_REGIONS, 0x7FFF0000)),
    print_maddress(_REGIONS) + print_maddress_totals([("Heap", 1, 2)]),
]


@settings(max_examples=150)
@given(st.sampled_from(SEEDS), st.data())
def test_changed_text_costs_at_most_a_sentence(seed: str, data: st.DataObject) -> None:
    """Parts left out, doubled or replaced: a FormatError, or snapshots that can be read."""
    text = bytearray(seed.encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.integers(0, 200))
        piece = data.draw(
            st.sampled_from([b"", b"\n", b"`", b"ffffffff", b"\0", b"|", b" ", b"- ", bytes(text[:300])])
        )
        text[at : at + size] = piece
    try:
        source = open_log(io.BytesIO(bytes(text)), "x")
    except FormatError:
        return
    for index in range(len(source.entries)):
        snapshot = source.read(index)
        for table in snapshot.tables:
            list_rows(snapshot, table)


@pytest.mark.parametrize(
    "filler", [b" ", b"+", b"-", b"|", b"0", b"0 ", b"MEM_COMMIT ", b"PAGE_", b"(", b"[", b"\t"]
)
def test_a_line_of_megabytes_is_left_out(filler: bytes) -> None:
    """No line makes a reader slow, in or out of a table."""
    head = print_list(fill(_REGIONS, 0x7FFF_FFFF_0000)).encode()
    long = filler * (4_000_000 // len(filler))
    began = time.process_time()
    source = open_log(io.BytesIO(head + long + b"\n" + head), "x")
    assert time.process_time() - began < 3
    assert source.read(0).tables["regions"].rows == len(_REGIONS)


@pytest.mark.parametrize(
    "filler", [b"+ 1 2 3\n", b"1000 2000 1000\n", b" " * 4000 + b"x\n", b"| | | |\n", b"...\n"]
)
def test_many_odd_lines_take_time_in_proportion(filler: bytes) -> None:
    """Nonsense after a head is one fault with a count; four times as much takes about four times as long."""
    head = print_list(fill(_REGIONS, 0x7FFF_FFFF_0000)).encode()
    taken = []
    for size in (250_000, 1_000_000):
        data = head + filler * (size // len(filler))
        began = time.process_time()
        source = open_log(io.BytesIO(data), "x")
        taken.append(time.process_time() - began)
        assert len(source.faults) <= 3
    assert taken[1] < 8 * taken[0] + 0.1  # in proportion to the square it would be 16 times


def test_speed_of_a_long_list() -> None:
    """200,000 rows are read in seconds."""
    regions = [Region(0x10000 + 0x2000 * i, 0x1000, "Heap", "[ID: 0]") for i in range(100_000)]
    text = print_list(fill(regions, 0x7FFF_FFFF_0000)).encode()
    began = time.process_time()
    source = open_log(io.BytesIO(text), "x")
    assert time.process_time() - began < 10
    assert source.read(0).tables["regions"].rows == 100_000
    assert source.faults == []


def test_text_of_others_is_not_taken() -> None:
    """Smaps, CSV and prose are none of ours, with or without numbers in them."""
    others = [
        make_text(5),
        b"a,b,c\n1,2,3\n",
        b"Dear WinDbg users,\n00400000 is an address\n",
        b"",
        b"\0MDMP",
    ]
    assert not any(known.sniff(text) for text in others for known in FORMATS)


def test_no_other_file_of_the_corpus_is_taken() -> None:
    """Sniffing is exact: nothing outside windbg/ is taken for a debugger's text, and all inside is."""
    find_corpus_file("windbg")
    taken = {
        path.relative_to(CORPUS).parts[0]
        for path in sorted(CORPUS.rglob("*"))
        if path.is_file() and any(known.sniff(path.read_bytes()[: 64 * 1024]) for known in FORMATS)
    }
    assert taken == {"windbg"}
    for path in sorted((CORPUS / "windbg").iterdir()):
        known = find_format(path.read_bytes()[: 64 * 1024], path.name)
        assert known is not None
        assert known.name == "windbg-address"


def test_a_head_without_rows_is_refused() -> None:
    """Two lines of a head are no address space."""
    with pytest.raises(NotASnapshotError, match="without the output of !address"):
        open_log(io.BytesIO(print_list([]).encode()), "x")
