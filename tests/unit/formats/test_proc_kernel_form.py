"""Regions of any source as smaps text: in the form that a kernel prints."""

from __future__ import annotations

import pytest
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table
from mmpscope.formats.proc.smaps import parse_smaps, render_smaps
from mmpscope.formats.registry import open_source
from support.corpus import find_corpus_file, read_corpus_file
from support.smaps_text import make_text


def forget_layout(text: bytes) -> Table:
    """Parse smaps and leave out what tells how it was printed."""
    regions = parse_smaps(text)
    columns = {name: plain for name, plain in regions.columns.items() if name not in ("layout", "raw")}
    return encode_table(columns, regions.rows)


def test_the_form_is_that_of_a_kernel() -> None:
    """Without its layouts, a text comes out of the values as the kernel printed it."""
    text = make_text(5)
    assert render_smaps(forget_layout(text)) == text


@pytest.mark.parametrize("name", ["linux-6.18/torture", "linux-6.18/java", "zsh-3.x"])
def test_real_text_comes_out_byte_for_byte(name: str) -> None:
    """Kernels from 3.x to 6.18 print in this form."""
    text = read_corpus_file(f"smaps/{name}.smaps")
    assert render_smaps(forget_layout(text)) == text


def test_what_a_source_does_not_know_is_left_out_or_0() -> None:
    """A map line has all its fields; a counter that is null has no line; private is not known from a core."""
    columns = {
        "start": Plain("uint", [0x1000, 0x3000]),
        "size": Plain("uint", [0x1000, 0x2000]),
        "perms": Plain("text", [b"r-x?", None], "utf-8"),
        "path": Plain("text", [b"x.so", None], "utf-8"),
        "Rss": Plain("uint", [None, 4096]),
        "Dirty": Plain("uint", [4096, 4096]),
    }
    assert render_smaps(encode_table(columns, 2)) == (
        b"00001000-00002000 r-xp 00000000 00:00 0                                  x.so\n"
        b"00003000-00005000 ---p 00000000 00:00 0 \n"
        b"Rss:                   4 kB\n"
    )


def test_a_listing_of_pmap_becomes_smaps() -> None:
    """pmap -XX has every counter: but for cut names, it is the smaps of the process."""
    source = open_source(find_corpus_file("pmap/torture.pmap-XX"))
    written = parse_smaps(render_smaps(source.read(0).tables["regions"]))
    truth = parse_smaps(read_corpus_file("smaps/linux-6.18/torture.smaps"))
    assert not written.faults
    for name in ("start", "size", "perms", "offset", "inode", "Rss", "Private_Dirty", "THPeligible"):
        assert list(written.columns[name].values) == list(truth.columns[name].values)
