"""The parts that every printed answer is made of: harmless names, exact numbers, tables and bars that fit."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.reporters.amounts import (
    parse_size,
    parse_window,
    show_kib,
    show_size,
    show_time,
)
from mmpscope.analysis.reporters.bars import draw_bars
from mmpscope.analysis.reporters.cells import show_values
from mmpscope.analysis.reporters.names import measure_width, shorten_middle, show_name
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import TextColumn, explain_marks, render_table
from mmpscope.analysis.schema import PROCESSES

_KINDS = ("Image", "Mapped File", "Shareable", "Heap", "Managed Heap", "Stack", "Private Data", "Page Table")


@given(st.text())
def test_shown_names_hold_nothing_that_acts(text: str) -> None:
    """Whatever a name holds, what is shown is printable or plain, and showing it twice changes nothing."""
    shown = show_name(text)
    assert not set(shown) & {"\x1b", "\n", "\r", "\t", "\u202e", "\u2066", "\u200b", "\x9b", "\ud800"}
    assert show_name(shown) == shown


def test_ordinary_names_are_shown_as_they_are() -> None:
    """Letters of any script, blanks and the kernel's own escapes stay."""
    for name in (
        "/usr/lib/libc.so.6",
        "/tmp/na\u00efve \u0444\u0430\u0439\u043b \u6587\u4ef6",
        "/tmp/a\\012b (deleted)",
    ):
        assert show_name(name) == name


def test_ansi_bidi_and_odd_bytes_are_visible() -> None:
    """A colour sequence, a direction mark and a byte that is no UTF-8 each become a readable escape."""
    assert show_name("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert show_name("a\u202egpj.exe") == "a\\u202egpj.exe"
    assert show_name(b"caf\xe9".decode("utf-8", "surrogateescape")) == "caf\\xe9"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(1, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    """A shortened text is never wider than asked, and a text that fits is untouched."""
    shown = shorten_middle(text, width)
    assert measure_width(shown) <= max(width, 0) or measure_width(text) <= width
    assert shown == text or measure_width(text) > width


def test_both_ends_of_a_path_survive_shortening() -> None:
    """The middle of a path tells least: the root and the file's name stay."""
    path = "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"
    assert shorten_middle(path, 30) == "/usr/lib\u2026/libpython3.11.so.1.0"
    assert shorten_middle(path, 24) == "/u\u2026/libpython3.11.so.1.0"
    assert shorten_middle(path, 20) == "\u2026/libpy\u2026n3.11.so.1.0"
    assert shorten_middle("[anon:some arena of a pool]", 16) == "[anon\u2026of a pool]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "?"),
        (0, "0"),
        (1, "0.1"),
        (1024, "1"),
        (1536, "1.5"),
        (-4096, "-4"),
        (1234567 * 1024, "1,234,567"),
        ((1 << 40) - 1024, "1,073,741,823"),
        (-(1 << 40), "-1.0 TiB"),
        ((128 << 40) - 4096, "127.9 TiB"),
    ],
)
def test_kib_are_exact(value: int | None, shown: str) -> None:
    """No value is rounded to zero, none passes through a float, and null is not zero."""
    assert show_kib(value) == shown


def test_prose_sizes_and_times() -> None:
    """A sentence names sizes in their own unit and times in UTC."""
    assert [show_size(n) for n in (0, 1023, 1024, 1536 << 10, 1 << 30, 3 << 39)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.5 MiB",
        "1 GiB",
        "1.5 TiB",
    ]
    assert show_time(1_700_000_000_999_999_999) == "2023-11-14 22:13:20 UTC"
    assert show_time(None) == "unknown time"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("64K", 65536),
        ("64KiB", 65536),
        ("64kb", 65536),
        ("200M", 200 << 20),
        ("1.5G", 3 << 29),
        ("0x1000", 4096),
        ("2t", 2 << 40),
    ],
)
def test_sizes_are_read_in_binary_units(text: str, value: int) -> None:
    """K, KB and KiB are the same 1024 bytes; hex is bytes."""
    assert parse_size(text, "--fits") == value


@pytest.mark.parametrize("text", ["", "-1", "x", "12X", "1.5.2G", "0x", "1e9", "\u0661", "1 2"])
def test_what_is_no_size_is_refused_by_option_name(text: str) -> None:
    """A word that is no size names the option and shows how one is written."""
    with pytest.raises(UsageError, match=r"--fits: .* is no size"):
        parse_size(text, "--fits")


def test_windows_are_half_open_ranges() -> None:
    """LO-HI takes sizes or hex; an empty or lone end is refused."""
    assert parse_window("0-4G", "--window") == (0, 4 << 30)
    assert parse_window("0x10000-0x80000000", "--window") == (0x10000, 0x80000000)
    for text in ("4G", "4G-4G", "5G-4G"):
        with pytest.raises(UsageError, match="--window"):
            parse_window(text, "--window")


def _table(width: int | None) -> list[str]:
    columns = [
        TextColumn("Address", ["7f0000000000", "7f0000001000"]),
        TextColumn("Total\nWS", ["1,024", "?"], right=True, worth=2),
        TextColumn("Locked\nWS", ["0", "0"], right=True, worth=1),
        TextColumn("Details", ["/usr/lib/x86_64-linux-gnu/libc.so.6", "[heap]"], least=12),
    ]
    return render_table(columns, Screen(width), explain_marks(columns, "sizes in KiB"))


def test_a_wide_table_shows_everything() -> None:
    """Without a limit every cell is whole, and the note explains the mark for null."""
    assert _table(None) == [
        "              Total  Locked",
        "Address          WS      WS  Details",
        "7f0000000000  1,024       0  /usr/lib/x86_64-linux-gnu/libc.so.6",
        "7f0000001000      ?       0  [heap]",
        "sizes in KiB; ? not known",
    ]


def test_a_narrower_table_shortens_details_then_drops_the_least_column() -> None:
    """First the long text gives way, then columns go in the order of their worth, and the note names them."""
    assert all(len(line) <= 44 for line in _table(44))
    assert _table(44)[2].endswith("  1,024       0  /usr\u2026/libc.so.6")
    narrow = _table(36)
    assert "no room for: Locked WS" in " ".join(narrow)
    assert max(map(len, narrow)) <= 36
    assert "Total" not in _table(28)[0]


def test_names_give_way_below_their_least_before_a_line_is_too_long() -> None:
    """Columns that are never left out may fill a line alone; then a name is a stub, and the line fits."""
    columns = [
        TextColumn("Address", ["7f0000000000"]),
        TextColumn("Size", ["-1,073,699,752"], right=True),
        TextColumn("Details", ["/usr/lib/x86_64-linux-gnu/libc.so.6"], least=24),
    ]
    lines = render_table(columns, Screen(40))
    assert max(map(len, lines)) == 40
    assert lines[1].endswith("so.6")


def test_bars_are_as_long_as_their_figures() -> None:
    """All bars share one scale; a bar of half the total is half as long, whatever rounding its parts need."""
    lines = draw_bars(
        {
            "Committed": [("Image", 100 << 10), ("Heap", 300 << 10)],
            "Working Set": [("Image", 100 << 10), ("Heap", 100 << 10)],
        },
        {"Committed": "400 K", "Working Set": "200 K"},
        Screen(80),
    )
    marks = [sum(line.count(letter) for letter in "IH") for line in lines[:2]]
    assert marks[0] == 2 * marks[1] > 0
    assert lines[-1] == "I=Image  H=Heap"
    assert max(map(len, lines)) <= 80


@given(st.lists(st.integers(0, 1 << 40), min_size=8, max_size=8), st.integers(60, 160))
def test_a_larger_type_never_has_fewer_cells(sizes: list[int], width: int) -> None:
    """The order of cells is that of sizes, they add up to the bar, and what is not there has none."""
    assume(any(sizes))
    letters = dict(zip(_KINDS, "IFSHMKPT", strict=True))
    parts = list(zip(_KINDS, sizes, strict=True))
    total = sum(sizes)
    whole, half = draw_bars(
        {"All": parts, "2nd": [*parts, ("Heap", total)]}, {"All": "1 K", "2nd": "2 K"}, Screen(width)
    )[:2]
    cells = [(size, whole[5:-5].count(letters[kind])) for kind, size in parts]
    assert all(count == 0 for size, count in cells if not size)
    assert all(few <= many for size, few in cells for larger, many in cells if size < larger)
    marks = sum(count for _, count in cells)
    full = len(half[5:-5].rstrip())
    assert marks in {full // 2, (full + 1) // 2}


def test_a_bar_of_unknown_figures_says_so() -> None:
    """Null is not an empty bar."""
    lines = draw_bars(
        {"Private": [("Image", None)], "Committed": [("Image", 1 << 20)]},
        {"Private": "? K", "Committed": "1,024 K"},
        Screen(80),
    )
    assert lines[0].split() == ["Private", "unknown"]


def test_arguments_are_told_apart_by_blanks_as_ps_does() -> None:
    """The kernel ends each with a NUL (proc_pid_cmdline(5)); all else that acts stays an escape."""
    [field] = [field for field in PROCESSES if field.name == "cmdline"]
    assert show_values(field, ["sh\0-c\0echo\x1b\0", "one", "", None]) == ["sh -c echo\\x1b", "one", "", ""]
