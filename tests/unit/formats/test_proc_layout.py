"""The layout column: what a template says, and what a hostile one cannot do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mmpscope.formats.errors import CorruptError
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.proc import layout as layout_module
from mmpscope.formats.proc.layout import compile_layout, escape, render
from mmpscope.formats.proc.smaps import parse_smaps, render_smaps

ROW = {"start": 0x1000, "size": 0x1000, "path": b"/x", "Rss": 4096, "Flags": b"rd "}


def test_the_documented_example_is_what_a_kernel_gets() -> None:
    """The layout in docstring and docs/format.md is the one that a kernel's text has."""
    text = (
        b"7f10a0000000-7f10a0021000 rw-p 00000000 00:00 0 \nSize:                132 kB\n"
        b"THPeligible:           0\nVmFlags: rd wr \n"
    )
    [layout] = parse_smaps(text).columns["layout"].values
    lines = re.findall(r"^    (.*)$", layout_module.__doc__ or "", re.MULTILINE)
    assert layout.decode() == "".join(line + "\n" for line in lines)
    page = (Path(__file__).parents[3] / "docs" / "format.md").read_text()
    assert f"```layout\n{layout.decode()}```" in page


def test_a_text_is_restored_in_the_order_that_is_documented() -> None:
    """First what stood before, then line ends, then the encoding."""
    text = b"\xef\xbb\xbf# x\n00400000-00401000 r-xp 00000000 00:00 0 \n"
    data = text.replace(b"\n", b"\r\n").decode().encode("utf-16-le")
    regions = parse_smaps(data)
    blocks = b"00400000-00401000 r-xp 00000000 00:00 0 \n"
    before, newline, encoding = (regions.form[key] for key in ("before", "newline", "encoding"))
    assert (before + blocks).replace(b"\n", newline.encode()).decode().encode(encoding) == data


def test_every_field_is_written_as_the_documentation_says() -> None:
    """Texts, numbers, widths, hex, units, the end, the path at its column, braces and percent signs."""
    layout = compile_layout(b"{start:08x}-{end:x} {{%d}}{path@20}\n{Rss:d} {Rss/1024:4d} {Flags}|\n")
    assert render(layout, ROW) == b"00001000-2000 {%d}  /x\n4096    4 rd |\n"


def test_a_path_is_pushed_off_its_column_but_never_against_the_text() -> None:
    """Where the line is longer than the column, one blank is left."""
    assert render(compile_layout(b"{start:08x}{path@4}\n"), ROW) == b"00001000 /x\n"


def test_no_path_leaves_no_blank() -> None:
    """Null is nothing, not even padding."""
    assert render(compile_layout(b"{start:x}{path@40}\n"), {**ROW, "path": None}) == b"1000\n"


def test_text_that_looks_like_a_field_is_escaped() -> None:
    """Braces of the text itself survive."""
    assert render(compile_layout(escape(b"{Rss} %s {{") + b"{path@0}"), ROW) == b"{Rss} %s {{ /x"


@pytest.mark.parametrize(
    "layout",
    [
        b"{",
        b"}",
        b"{path@0}{Rss:99999999d}",
        b"{path@0}{Rss:8s}",
        b"{path@0}{path@0}",
        b"no path",
        b"{path@99999}",
        b"{path@0}{Rss!r}",
        b"{path@0}{0}",
    ],
)
def test_a_hostile_layout_is_refused(layout: bytes) -> None:
    """A template from a stranger asks for no gigabytes and evaluates nothing."""
    with pytest.raises(CorruptError):
        compile_layout(layout)


@pytest.mark.parametrize(
    ("layout", "row"),
    [
        (b"{path@0}{Missing:d}", ROW),
        (b"{path@0}{Flags:d}", ROW),
        (b"{path@0}{Rss}", ROW),
        (b"{path@0}{end:x}", {**ROW, "size": None}),
        (b"{path@0}", {"path": 5}),
    ],
)
def test_values_that_do_not_fit_are_said(layout: bytes, row: dict[str, object]) -> None:
    """A missing value, or one of another type, is corruption and not a crash."""
    with pytest.raises(CorruptError):
        render(compile_layout(layout), row)


def test_a_row_without_layout_and_text_is_said() -> None:
    """A table that holds neither cannot be written as text."""
    table = encode_table({"start": Plain("uint", [1]), "layout": Plain("text", [None])}, 1)
    with pytest.raises(CorruptError, match="region 0"):
        render_smaps(table)


@pytest.mark.parametrize("form", [{"before": 5}, {"encoding": "rot13"}, {"newline": 7}, "no map", None])
def test_a_hostile_form_is_survived(form: object) -> None:
    """Facts from a file may be of any type."""
    regions = parse_smaps(b"00400000-00401000 r-xp 00000000 00:00 0 \n")
    assert b"00400000" in render_smaps(regions.encode(), form)


def test_text_that_cannot_have_been_in_its_encoding_is_said() -> None:
    """A path that is no UTF-8 cannot come from a file in UTF-16."""
    regions = parse_smaps(b"00400000-00401000 r-xp 00000000 00:00 0    /\xff\n")
    with pytest.raises(CorruptError, match="encoding"):
        render_smaps(regions.encode(), {"encoding": "utf-16-le"})


def test_an_end_is_not_reduced() -> None:
    """A region up to the last address ends at 2^64, which is not address 0."""
    layout = compile_layout(b"{start:08x}-{end:08x}{path@0}")
    row = {"start": 0xFFFFFFFFFFFFF000, "size": 0x1000, "path": None}
    assert render(layout, row) == b"fffffffffffff000-10000000000000000"
