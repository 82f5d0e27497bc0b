"""showmap and dumpsys meminfo of every generation of Android: what they add up, and what they leave out."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from mmpscope.formats.android.format import FORMATS
from mmpscope.formats.android.meminfo import open_meminfo
from mmpscope.formats.android.showmap import open_showmap
from mmpscope.formats.errors import CorruptError, NotASnapshotError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot, Table
from mmpscope.formats.source import ListedSource
from support.android_texts import FIGURES, MEMINFO, SYSTEM, Row, make_showmap
from support.corpus import find_corpus_file

KIB = 1024
_FIGURES = tuple(range(1, 16))
_NAMES = (
    "Size", "Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "Swap", "SwapPss",
    "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb", "Locked",
)  # fmt: skip


def _showmap(text: str | bytes) -> ListedSource:
    return open_showmap(BytesIO(text.encode() if isinstance(text, str) else text), "x.txt")


def _meminfo(text: str) -> ListedSource:
    return open_meminfo(BytesIO(text.encode()), "x.txt")


def _rows(table: Table, *names: str) -> list[tuple[Fact, ...]]:
    columns = decode_table(table)
    return list(zip(*(columns[name] for name in names), strict=True))


def _reasons(snapshot: Snapshot) -> dict[str, str | None]:
    return {item.item: item.reason for item in snapshot.capability if item.state != "ok"}


def _make_rows(count: int) -> list[Row]:
    def figures(first: int) -> tuple[int, ...]:
        return (first * 100, *_FIGURES[1:count])

    return [
        (0x10000, 0x29000, "r-x", 3, "/system/lib/libc.so", figures(1)),
        (0x29000, 0x5B000, "rw-", 1, "/system/lib/libc.so [bss]", figures(2)),
        (0x7FFFF0000000, 0x7FFFF004B000, "rw-", 2, "[anon:dalvik-main space (region space)]", figures(3)),
        (0x7FFFFF000000, 0x7FFFFF064000, "rw-", 9, "[anon]", figures(4)),
    ]


@pytest.mark.parametrize("generation", FIGURES)
def test_every_generation_of_showmap_adds_up(generation: str) -> None:
    """The heading alone tells which figures there are; names have blanks and parentheses."""
    count = FIGURES[generation]
    source = _showmap(make_showmap(_make_rows(count), generation))
    snapshot = source.read(0)
    assert source.faults == []
    table = snapshot.tables["totals"]
    assert tuple(name for name in table.columns if name not in ("name", "count")) == _NAMES[:count]
    rows = _rows(table, "name", "count", "Size", "Private_Dirty", _NAMES[count - 1])
    assert rows[0] == (b"/system/lib/libc.so", 3, 100 * KIB, 7 * KIB, (count if count > 1 else 100) * KIB)
    assert rows[2][0] == b"[anon:dalvik-main space (region space)]"
    assert rows[4][:3] == (b"TOTAL", 15, 1000 * KIB)
    assert snapshot.tables["regions"].rows == 0
    assert "totals" not in _reasons(snapshot)
    assert "without -a" in str(_reasons(snapshot)["regions"])


@pytest.mark.parametrize("generation", FIGURES)
@pytest.mark.parametrize("options", ["-a", "-a -v"])
def test_addresses_make_regions(generation: str, options: str) -> None:
    """With -a each row is a mapping; rights are printed with -v alone, and never who shares it."""
    snapshot = _showmap(make_showmap(_make_rows(FIGURES[generation]), generation, options)).read(0)
    perms = [b"r-x?", b"rw-?", b"rw-?", b"rw-?"] if "-v" in options else [None] * 4
    assert _rows(snapshot.tables["regions"], "start", "size", "perms", "path", "object", "Rss") == [
        (0x10000, 0x19000, perms[0], b"/system/lib/libc.so", b"/system/lib/libc.so", 2 * KIB),
        (0x29000, 0x32000, perms[1], None, b"/system/lib/libc.so [bss]", 2 * KIB),
        (
            0x7FFFF0000000,
            0x4B000,
            perms[2],
            b"[anon:dalvik-main space (region space)]",
            b"[anon:dalvik-main space (region space)]",
            2 * KIB,
        ),
        (0x7FFFFF000000, 0x64000, perms[3], None, b"[anon]", 2 * KIB),
    ]
    assert "regions" not in _reasons(snapshot)
    assert "regions.perms" in _reasons(snapshot)
    assert "totals" not in snapshot.tables


def test_a_row_a_mapping_without_addresses_counts_one() -> None:
    """With -v alone maps of one name are not added up."""
    snapshot = _showmap(make_showmap(_make_rows(9), "swapPSS", "-v")).read(0)
    assert [count for (count,) in _rows(snapshot.tables["totals"], "count")] == [1, 1, 1, 1, None]


def test_terse_output_is_known_to_leave_rows_out() -> None:
    """With -t only rows with private pages are printed, and TOTAL still counts all."""
    rows = [*_make_rows(9), (0, 0, "r--", 1, "/clean", (50, 4, 4, 4, 0, 0, 0, 0, 0))]
    source = _showmap(make_showmap(rows, "swapPSS", "-t"))
    assert _reasons(source.read(0))["totals"] == "the rows add up to 1,000 KiB of Size, TOTAL says 1,050"
    assert len(source.faults) == 1
    snapshot = _showmap(make_showmap([(1, 2, *row[2:]) for row in rows], "swapPSS", "-a -t")).read(0)
    assert "TOTAL says" in str(_reasons(snapshot)["regions"])


def test_counts_that_are_always_one_are_not_believed() -> None:
    """Since showmap knows huge pages it prints 1 for each name, however many mappings that is."""
    rows: list[Row] = [(*row[:3], 1, *row[4:]) for row in _make_rows(14)]
    snapshot = _showmap(make_showmap(rows, "huge")).read(0)
    assert {count for (count,) in _rows(snapshot.tables["totals"], "count")} == {None}
    assert "totals.count" in _reasons(snapshot)


def test_an_excerpt_of_showmap_is_partial() -> None:
    """TOTAL ends every output; without it nobody knows what else there was."""
    snapshot = _showmap(make_showmap(_make_rows(9), "swapPSS", total=False)).read(0)
    assert "TOTAL" in str(_reasons(snapshot)["totals"])


def test_a_bugreport_holds_a_showmap_for_each_process() -> None:
    """The command above each tells the process; the heading is repeated above TOTAL and begins nothing."""
    one = make_showmap(_make_rows(9), "swapPSS")
    cut = make_showmap(_make_rows(9), "swapPSS", total=False)
    title = "------ SHOW MAP {0}: /init (showmap -q {0}) ------\n"
    source = _showmap(title.format(1) + one + "\n" + title.format(33) + cut + title.format(44) + one)
    assert [entry.pid for entry in source.entries] == [1, 33, 44]
    assert [source.read(index).tables["totals"].rows for index in range(3)] == [5, 4, 5]


@pytest.mark.parametrize("line", ["     428      280  x", "x" * 100_000, "     1 2 3 4 5 6 7 8 9 1"])
def test_a_damaged_row_of_showmap_costs_itself(line: str) -> None:
    """The rest loads, and its sums are known to be too small."""
    text = make_showmap(_make_rows(9), "swapPSS")
    place = text.index("     200")
    source = _showmap(text[:place] + line + "\n" + text[place:])
    snapshot = source.read(0)
    assert snapshot.tables["totals"].rows == 5
    assert [(fault.line, fault.lost) for fault in source.faults] == [(5, "one row")]
    assert _reasons(snapshot)["totals"] == "1 row could not be read"


def test_a_range_backwards_is_left_out() -> None:
    """No region can be made of it."""
    rows = [*_make_rows(9), (0x9000, 0x8000, "rw-", 1, "[anon]", tuple(range(9)))]
    snapshot = _showmap(make_showmap(rows, "swapPSS", "-a")).read(0)
    assert snapshot.tables["regions"].rows == 4
    assert _reasons(snapshot)["regions"] == "1 row could not be read"


def test_unknown_columns_of_showmap_are_kept() -> None:
    """A later version will print more: what it calls a figure is its name here."""
    text = make_showmap(_make_rows(9), "swapPSS").replace("swapPSS   #", "zramPSS   #")
    assert "zramPSS" in _showmap(text).read(0).tables["totals"].columns


def test_the_showmap_of_the_corpus() -> None:
    """An excerpt of nine rows, with names and figures as they are printed."""
    source = _showmap(find_corpus_file("android/showmap_W-V830_1267.txt").read_bytes())
    snapshot = source.read(0)
    totals = snapshot.tables["totals"]
    figures = _rows(totals, "Size", "Rss", "Pss", "Private_Dirty")
    sums = [sum(values) // KIB for values in zip(*figures, strict=True)]
    assert (totals.rows, sums) == (9, [55720, 4864, 284, 12])
    assert sum(count for (count,) in _rows(totals, "count")) == 26
    assert "totals" in _reasons(snapshot)


@pytest.mark.parametrize("version", MEMINFO)
def test_every_generation_of_meminfo_adds_up(version: str) -> None:
    """Columns are named by both lines of the heading; figures of a heap stand in two rows only."""
    source = _meminfo(MEMINFO[version])
    snapshot = source.read(0)
    assert source.faults == []
    totals = snapshot.tables["totals"]
    rows = _rows(totals, "name", "Pss", "Private_Dirty", "Heap_Size")
    assert rows[0][1:] == (20 * KIB, (20 if version == "4.3" else 8) * KIB, 3680 * KIB)
    assert rows[2][3] is None
    assert rows[-1][0] == b"TOTAL"
    assert (snapshot.process["pid"], snapshot.process["name"]) == (7, "shop")
    assert "totals" not in _reasons(snapshot)
    assert "no addresses" in str(_reasons(snapshot)["regions"])


def test_columns_of_meminfo_have_the_kernels_names() -> None:
    """Swap and SwapPss stand in the same place and are not the same."""
    names = {
        version: list(_meminfo(text).read(0).tables["totals"].columns)[1:-3]
        for version, text in MEMINFO.items()
    }
    assert names == {
        "4.3": ["Pss", "Shared_Dirty", "Private_Dirty"],
        "4.4": ["Pss", "Private_Dirty", "Private_Clean", "Swap"],
        "8": ["Pss", "Private_Dirty", "Private_Clean", "SwapPss"],
        "14": [
            "Pss", "Pss_Clean", "Shared_Dirty", "Private_Dirty", "Shared_Clean", "Private_Clean", "SwapPss",
            "Rss",
        ],
    }  # fmt: skip


def test_details_of_a_category_are_not_counted_twice() -> None:
    """.Heap and .LOS are parts of Dalvik Heap, and stand in a table of their own."""
    snapshot = _meminfo(MEMINFO["8"]).read(0)
    assert _rows(snapshot.tables["details"], "name", "Pss") == [(b".Heap", 2000 * KIB), (b".LOS", 172 * KIB)]
    assert snapshot.tables["totals"].rows == 4
    assert snapshot.process["objects"] == {
        "Views": 779,
        "ViewRootImpl": 1,
        "AppContexts": 7,
        "Activities": 1,
    }


def test_the_summary_of_an_app_has_two_columns_and_gaps() -> None:
    """A figure that stands alone is Pss or Rss by its place."""
    snapshot = _meminfo(MEMINFO["14"]).read(0)
    assert _rows(snapshot.tables["app_summary"], "name", "Pss", "Rss") == [
        (b"Java Heap", 1392 * KIB, 3000 * KIB),
        (b"Private Other", 30 * KIB, None),
        (b"Unknown", None, 44 * KIB),
    ]


def test_a_short_meminfo_answers_from_the_summary_of_the_app() -> None:
    """`dumpsys meminfo -s` prints nothing else, and leaves out what an app shares."""
    head, rest = MEMINFO["14"].split("                   Pss ", 1)
    snapshot = _meminfo(head + " App Summary" + rest.split(" App Summary")[1]).read(0)
    assert _rows(snapshot.tables["totals"], "name", "Pss")[0] == (b"Java Heap", 1392 * KIB)
    assert "meminfo -s" in str(_reasons(snapshot)["totals"])


def test_f27_rows_that_no_version_had_are_kept_and_counted() -> None:
    """New categories come with every Android: the sum is checked, not the list of names."""
    new = "  Scudo mtrack       5        5        0        0\n        TOTAL     2999     1733"
    text = MEMINFO["8"].replace("        TOTAL     2994     1728", new)
    snapshot = _meminfo(text).read(0)
    assert (b"Scudo mtrack", 5 * KIB) in _rows(snapshot.tables["totals"], "name", "Pss")
    assert "totals" not in _reasons(snapshot)


def test_rows_that_do_not_add_up_to_total_are_told() -> None:
    """A row was lost on the way, or TOTAL is of another moment."""
    source = _meminfo(MEMINFO["8"].replace("     .so mmap      692      328        0        0", ""))
    assert _reasons(source.read(0))["totals"] == "the rows add up to 2,192 KiB of Pss, TOTAL says 2,994"
    assert len(source.faults) == 1


def test_a_figure_below_zero_is_left_out() -> None:
    """Unknown is the rest of a whole that was read before its parts."""
    source = _meminfo(
        MEMINFO["4.4"].replace("     .so mmap      692      328", "      Unknown     -692      328")
    )
    assert _rows(source.read(0).tables["totals"], "name", "Pss")[2] == (b"Unknown", None)
    assert any("below zero" in fault.what for fault in source.faults)


def test_blanks_may_be_lost() -> None:
    """Text out of a web page has one blank where there were many, and no indentation."""
    text = "\n".join(" ".join(line.split()) for line in MEMINFO["8"].splitlines())
    assert _rows(_meminfo(text).read(0).tables["totals"], "name", "SwapPss")[1] == (b"Dalvik Heap", 10 * KIB)


def test_f29_a_list_of_all_processes_has_pss_beside_rss() -> None:
    """Rss counts what is shared once for each process; Pss adds up."""
    source = _meminfo(SYSTEM)
    snapshot = source.read(0)
    table = snapshot.capture.tables["processes"]
    assert _rows(table, "pid", "name", "rss", "pss") == [
        (11, b"one", 10240 * KIB, 4096 * KIB),
        (12, b"two", 10240 * KIB, 4096 * KIB),
        (13, b"vendor.service@2.0-service", None, 512 * KIB),
    ]
    assert _rows(snapshot.tables["totals"], "name", "Pss") == [
        (b"Native", 6000 * KIB),
        (b".so mmap", 2000 * KIB),
    ]
    assert "Rss" not in snapshot.tables["totals"].columns
    system = snapshot.capture.system
    assert (system["Total RAM"], system["Free RAM"]) == (3_016_708 * KIB, 1_097_170 * KIB)
    assert (system["uptime_ms"], system["realtime_ms"]) == (29602806, 57806941)
    assert "all processes together" in str(_reasons(snapshot)["process"])


def test_several_processes_and_the_system_are_one_capture() -> None:
    """`dumpsys meminfo -a` prints each process, then the list: one moment of one machine."""
    other = MEMINFO["8"].replace("pid 7 [shop]", "pid 8 [shop:push]")
    source = _meminfo(MEMINFO["8"] + other + SYSTEM)
    assert [(entry.pid, entry.name) for entry in source.entries] == [(7, "shop"), (8, "shop:push")]
    assert source.read(0).capture is source.read(1).capture
    assert source.read(0).capture.tables["processes"].rows == 3


@pytest.mark.parametrize("old", [" kB", "K"])
def test_sizes_of_the_list_have_either_unit(old: str) -> None:
    """Android 6 and before print ` kB` and no separators."""
    text = f"Total PSS by process:\n    45120{old}: system (pid 632)\n"
    assert _rows(_meminfo(text).read(0).capture.tables["processes"], "pss") == [(45120 * KIB,)]


def test_nothing_in_it_is_refused() -> None:
    """A heading alone came through."""
    with pytest.raises(NotASnapshotError, match="without a row"):
        _showmap(make_showmap([], "swapPSS", total=False))
    with pytest.raises(NotASnapshotError, match="without a figure"):
        _meminfo("Applications Memory Usage (in Kilobytes):\nNo process found for: shop\n")


def test_a_heading_of_a_thousand_columns_is_refused() -> None:
    """The pattern of a row is made of it."""
    with pytest.raises(CorruptError, match="columns"):
        _showmap("size RSS PSS clean dirty clean dirty " + "swap " * 1000 + "object\n")


@pytest.mark.parametrize("line", [" " * 1_000_000, "1 " * 500_000, "(pid " * 200_000, "-" * 1_000_000])
def test_a_long_line_takes_time_in_proportion(line: str) -> None:
    """Patterns try each place of a line: none may try them twice."""
    start = time.process_time()
    _showmap(make_showmap(_make_rows(9), "swapPSS") + line + "\n" + make_showmap(_make_rows(9), "swapPSS"))
    _meminfo(MEMINFO["8"].replace(" App Summary", f"{line}\n App Summary") + line + "\n" + SYSTEM + line)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_both_are_known_by_their_content(encoding: str) -> None:
    """Saved by an editor, by PowerShell, below its command; neither is taken for the other."""
    showmap = (
        "$ adb shell showmap 12\r\n" + make_showmap(_make_rows(9), "swapPSS").replace("\n", "\r\n")
    ).encode(encoding)
    assert [known.sniff(showmap) for known in FORMATS] == [True, False]
    assert _showmap(showmap).entries[0].pid == 12
    for text in (*MEMINFO.values(), SYSTEM):
        assert [known.sniff(text.encode(encoding)) for known in FORMATS] == [False, True]
