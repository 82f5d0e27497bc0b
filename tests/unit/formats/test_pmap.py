"""Listings of pmap: every layout, what each of them tells and leaves out, and what is wrong in them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from mmpscope.formats.errors import LimitError, NotASnapshotError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot
from mmpscope.formats.pmap import reader
from mmpscope.formats.pmap.format import FORMATS
from mmpscope.formats.pmap.reader import open_listing
from mmpscope.formats.source import ListedSource
from support.smaps_text import Block, MapLine, make_block

K = 1024
[PMAP] = FORMATS
PLAIN = """\
12:   /usr/bin/demo -v
0000000000400000      4K r-x-- demo
0000000000600000      8K rw---   [ anon ]
00007f0000000000     64K rw-s-   [ shmid=0x1 ]
00007f0000010000     64K r--s- a (deleted)
00007f0000020000     64K rw-sR file with  blanks
00007ffd00000000    132K rw---   [ stack ]
ffffffffff600000      4K --x--   [ anon ]
 total              340K
"""
WITH_RSS = """\
12:   ./demo
Address           Kbytes     RSS   Dirty Mode  Mapping
0000000000400000       4       4       0 r-x-- demo
0000000000600000       8       8       4 rw---   [ anon ]
---------------- ------- ------- -------\x20
total kB              12      12       4
"""
WITH_DEVICE = """\
12:   ./demo
Address           Kbytes Mode  Offset           Device    Mapping
0000000000400000       4 r-x-- 0000000000001000 0fe:00001 demo
0000000000600000       8 rw--- 0000000000000000 000:00000   [ anon ]
00007f0000010000      64 rw-s- 0000000000000000 103:1fffa zero (deleted)
mapped: 76K    writeable/private: 8K    shared: 64K
"""
DETAILED = """\
12:   ./demo
         Address Perm   Offset Device  Inode Size Rss Pss Swap THPeligible Mapping
        00400000 r-xp 00001000  fe:01 224464    4   4   2    0           0 demo
    7f0000010000 rw-s 00000000  00:01   1027   64   4   4    8           1 zero (deleted)
    7f0000030000 rw-p 00000000  00:00      0    8   8   8    0           1\x20
    7ffd00000000 rw-p 00000000  00:00      0  132   8   8    0           0 [stack]
                                             ==== === === ==== ===========\x20
                                              208  24  22    8           2 KB\x20
"""
ROWS = (
    (0x400000, "r-xp", 4, "rd ex mr mw me dw", "sh"),
    (0x401000, "r--p", 4, "rd mr mw", "dd"),
    (0x402000, "rw-p", 8, "rd wr mr mw ac", ""),
    (0x404000, "---p", 8, "", ""),
)


def make_flags(width: int = 23, *, is_old: bool = False) -> str:
    """Write a -XX listing with flags right-aligned to ``width``; procps 3 has their last blank in it."""
    sep, end = ("", " ") if is_old else (" ", "")
    head = f"{'Address':>16} Perm   Offset Device Inode Size KernelPageSize {'VmFlags':>{width}}{sep}Mapping"
    lines = ["12:   ./demo", head]
    for start, perm, size, flags, name in ROWS:
        numbers = f"{start:>16x} {perm} 00000000  fe:01     7 {size:>4} {4:>14}"
        lines.append(f"{numbers} {flags + end:>{width}}{sep}{name}")
    return "\n".join([*lines, f"{'':>40} ==== ============== ", f"{'':>40} {24:>4} {16:>14} KB "]) + "\n"


def open_text(text: str | bytes) -> ListedSource:
    """Open a listing that is recognised as one."""
    data = text.encode() if isinstance(text, str) else text
    assert PMAP.sniff(data)
    return open_listing(io.BytesIO(data), "x")


def read(text: str | bytes) -> tuple[Snapshot, dict[str, list[Fact]]]:
    """Read the one listing of a text, in which nothing is wrong."""
    source = open_text(text)
    assert (len(source.entries), source.faults) == (1, [])
    snapshot = source.read(0)
    return snapshot, decode_table(snapshot.tables["regions"])


def states(snapshot: Snapshot, item: str) -> Sequence[str]:
    """Return what a snapshot says of one item."""
    return [capability.state for capability in snapshot.capability if capability.item == item]


def test_the_plain_listing_has_ranges_rights_and_names() -> None:
    """Sizes in bytes, rights as the kernel writes them, names but for pmap's own word for none."""
    snapshot, columns = read(PLAIN)
    assert snapshot.process["source"] == {"format": "pmap text"}
    assert columns["start"][:2] == [0x400000, 0x600000]
    assert columns["size"] == [4 * K, 8 * K, 64 * K, 64 * K, 64 * K, 132 * K, 4 * K]
    assert columns["perms"] == [b"r-xp", b"rw-p", b"rw-s", b"r--s", b"rw-s", b"rw-p", b"--xp"]
    assert columns["path"] == [
        b"demo", None, b"[ shmid=0x1 ]", b"a (deleted)", b"file with  blanks", b"[stack]", b"[vsyscall]",
    ]  # fmt: skip
    assert set(columns) == {"start", "size", "perms", "path"}


def test_the_first_line_names_the_process() -> None:
    """Its pid and command line; the arguments are one text, so they are no list of arguments."""
    process = read(PLAIN)[0].process
    assert (process["pid"], process["name"], process["command"]) == (12, "demo", "/usr/bin/demo -v")
    assert "cmdline" not in process


def test_the_page_of_the_kernel_is_outside_the_range() -> None:
    """pmap calls the vsyscall page `[ anon ]`; its address is fixed, and no program can have it."""
    assert read(PLAIN)[0].process["range"]["end"] == 0x7FFF_FFFF_F000


def test_what_a_listing_leaves_out_is_said() -> None:
    """Counters, offset, device and inode, the folders of names; and the facts of the process."""
    snapshot, _ = read(PLAIN)
    for item in ("smaps", "regions.offset", "regions.device", "regions.inode", "status", "threads"):
        assert states(snapshot, item) == ["unavailable"]
    [path] = [c.reason or "" for c in snapshot.capability if c.item == "regions.path"]
    assert "name of the file" in path
    assert states(snapshot, "regions") == []


def test_with_whole_paths_only_odd_bytes_are_lost() -> None:
    """pmap -p prints folders as well."""
    snapshot, columns = read("7:   x\n0000000000400000      4K r-x-- /usr/bin/x\n total                4K\n")
    assert columns["path"] == [b"/usr/bin/x"]
    [path] = [c.reason or "" for c in snapshot.capability if c.item == "regions.path"]
    assert "name of the file" not in path


def test_rss_and_the_sum_of_the_dirty_counters() -> None:
    """-x adds up two counters of the kernel; the sum is neither of them."""
    snapshot, columns = read(WITH_RSS)
    assert snapshot.process["source"] == {"format": "pmap -x text"}
    assert columns["Rss"] == [4 * K, 8 * K]
    assert columns["Dirty"] == [0, 4 * K]
    assert not {"Private_Dirty", "Shared_Dirty"} & set(columns)
    assert states(snapshot, "smaps") == ["partial"]


def test_offset_and_device_are_hex() -> None:
    """-d pads the device to 3 and 5 digits."""
    snapshot, columns = read(WITH_DEVICE)
    assert snapshot.process["source"] == {"format": "pmap -d text"}
    assert columns["offset"] == [0x1000, 0, 0]
    assert list(zip(columns["dev_major"], columns["dev_minor"], strict=True)) == [
        (0xFE, 1), (0, 0), (0x103, 0x1FFFA),
    ]  # fmt: skip
    assert "inode" not in columns


def test_the_detailed_listing_has_the_counters_under_their_names() -> None:
    """Counts have no unit; names are the kernel's, so `[stack]` is no word of pmap's."""
    snapshot, columns = read(DETAILED)
    assert snapshot.process["source"] == {"format": "pmap -X text"}
    assert columns["Size"] == columns["size"] == [4 * K, 64 * K, 8 * K, 132 * K]
    assert columns["Pss"] == [2 * K, 4 * K, 8 * K, 8 * K]
    assert columns["THPeligible"] == [0, 1, 1, 0]
    assert columns["inode"] == [224464, 1027, 0, 0]
    assert columns["path"] == [b"demo", b"zero (deleted)", None, b"[stack]"]
    assert states(snapshot, "smaps") == ["partial"]


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("width", [18, 23, 40])
def test_flags_end_where_their_head_ends(width: int, is_old: bool) -> None:
    """Files called `sh` and `dd` are no flags; procps 3 writes VmFlagsMapping as one word."""
    snapshot, columns = read(make_flags(width, is_old=is_old))
    assert snapshot.process["source"] == {"format": "pmap -XX text"}
    assert columns["VmFlags"] == [b"rd ex mr mw me dw", b"rd mr mw", b"rd wr mr mw ac", b""]
    assert columns["path"] == [b"sh", b"dd", None, None]
    assert states(snapshot, "smaps") == ["ok"]
    assert snapshot.process["page_size"] == 4096


def test_older_columns_are_read_by_their_head() -> None:
    """procps 3.2 had Anon and Locked, and dashes for what it did not know."""
    text = """\
12: demo
Address   Kbytes     RSS    Anon  Locked Mode   Mapping
08048000       4       4       -       - r-x--  demo
bffeb000      84      12       4       - rw---    [ stack ]
-------- ------- ------- ------- -------
total kB      88      16       -       -
"""
    _, columns = read(text)
    assert columns["Rss"] == [4 * K, 12 * K]
    assert columns["Anonymous"] == [None, 4 * K]
    assert columns["Locked"] == [None, None]
    assert columns["path"] == [b"demo", b"[stack]"]


def test_the_listing_of_busybox() -> None:
    """It prints the kernel's rights and whole paths, and the proportional share in place of Rss."""
    text = """\
12: demo
Address           Kbytes     PSS   Dirty    Swap  Mode  Mapping
0000000000400000       4       2       0       0 r-xp  /bin/demo
0000000000600000       8       8       8       4 rw-p  [heap]
----------------  ------  ------  ------  ------
total                 12      10       8       4
"""
    _, columns = read(text)
    assert columns["Pss"] == [2 * K, 8 * K]
    assert columns["Swap"] == [0, 4 * K]
    assert columns["perms"] == [b"r-xp", b"rw-p"]
    assert columns["path"] == [b"/bin/demo", b"[heap]"]


def test_several_processes_are_several_snapshots() -> None:
    """`pmap -x 12 13` prints one listing after the other; each keeps its own columns."""
    source = open_text(WITH_RSS + DETAILED.replace("12:", "13:", 1) + PLAIN.replace("12:", "14:", 1))
    assert [(entry.pid, entry.name) for entry in source.entries] == [(12, "demo"), (13, "demo"), (14, "demo")]
    assert [source.read(index).tables["regions"].rows for index in range(3)] == [2, 4, 7]
    assert not source.faults


@pytest.mark.parametrize("tail", [" total                0K\n", ""])
def test_f20_a_kernel_thread_has_no_address_space(tail: str) -> None:
    """Its name in brackets, and a total of 0, or with -X nothing at all."""
    source = open_text("2:   [kthreadd]\n" + tail + WITH_RSS)
    first = source.read(0)
    assert (first.process["pid"], first.process["name"]) == (2, "kthreadd")
    assert first.tables["regions"].rows == 0
    assert states(first, "smaps") == ["unavailable"]
    assert "range" not in first.process
    assert not source.faults


@pytest.mark.parametrize(
    ("text", "format_name"), [(WITH_RSS, "pmap -x text"), (WITH_DEVICE, "pmap -d text"), (PLAIN, "pmap text")]
)
def test_quiet_listings_tell_their_columns_by_their_rows(text: str, format_name: str) -> None:
    """-q leaves out head and totals; three layouts have a form of their own."""
    rows = [line for line in text.splitlines(keepends=True) if "-" in line[20:60] and line[:8].isalnum()]
    head = "12:   ./demo\n"
    source = open_text(head + "".join(rows))
    assert source.format == format_name
    assert source.read(0).tables["regions"].rows == len(rows)
    with_totals = decode_table(open_text(text).read(0).tables["regions"])
    assert decode_table(source.read(0).tables["regions"]) == with_totals


def test_rows_whose_figures_cannot_be_told_are_refused() -> None:
    """Without its head, a row of -X does not tell which figure is which."""
    row = "    561914cd8000 r--p 00000000 fe:00 260875    8    8   8  0   8  0 0 0 0 0 0 0 0 0 0 0 sleep\n"
    with pytest.raises(NotASnapshotError, match=r"line 2 is of pmap -X without a head.*without -q"):
        open_text("12:   sleep\n" + row)


@pytest.mark.parametrize(
    ("text", "old", "new", "figures"),
    [
        (PLAIN, "340K", "344K", ["Kbytes"]),
        (WITH_RSS, "12      12       4\n", "12      16       8\n", ["Rss", "Dirty"]),
        (WITH_DEVICE, "8K    shared: 64K", "4K    shared: 60K", ["writeable/private", "shared"]),
        (DETAILED, "  208", "  204", ["Size"]),
        (make_flags(), " 16 KB", " 12 KB", ["KernelPageSize"]),
    ],
)
def test_totals_that_are_not_the_sum_of_their_rows_are_told(
    text: str, old: str, new: str, figures: list[str]
) -> None:
    """A row was lost, or a figure changed on the way: where the totals differ is a fault with its line."""
    assert old in text
    source = open_text(text.replace(old, new))
    assert [fault.what for fault in source.faults] == [
        f"the total of {name} is not the sum of its rows" for name in figures
    ]
    assert source.faults[0].line == text.count("\n")
    assert states(source.read(0), "regions") == ["partial"]


@pytest.mark.parametrize(
    "row",
    [
        "0000000000700000      4K rw?-- x",
        "0000000000700000      4X rw--- x",
        "ffffffffffffe000     12K rw--- x",
        "0000000000700000 99999999999999999999K rw--- x",
        "0000000000700000      0K rw--- x",
        "Something else",
    ],
)
def test_a_damaged_row_costs_itself_alone(row: str) -> None:
    """What is no row is left out with its line; the others are read, and that one is missing is said."""
    lines = PLAIN.splitlines()
    source = open_text("\n".join([*lines[:2], row, *lines[2:]]) + "\n")
    assert [(fault.what, fault.line) for fault in source.faults] == [
        ("this line is no row of pmap; it is left out", 3)
    ]
    assert source.read(0).tables["regions"].rows == 7
    assert states(source.read(0), "regions") == ["partial"]


@pytest.mark.parametrize("text", [WITH_RSS, WITH_DEVICE, DETAILED, make_flags()])
def test_a_listing_that_ends_early_is_partial(text: str) -> None:
    """Without its totals a listing may lack rows."""
    source = open_text(text[: text.rindex("\n", 0, -1) - 3])
    assert "ends before its totals" in source.faults[-1].what
    assert states(source.read(0), "regions") == ["partial"]


def test_without_head_and_totals_an_end_is_known_by_the_highest_page_alone() -> None:
    """A quiet listing may be cut as well: no fault, but not whole for certain either."""
    whole = PLAIN[: PLAIN.index(" total")]
    assert states(open_text(whole).read(0), "regions") == []
    cut = open_text(whole[: whole.index("ffffffff")] + "root@host:~# \n")
    assert not cut.faults
    assert states(cut.read(0), "regions") == ["partial"]


def test_totals_of_several_processes_go_on_from_each_other() -> None:
    """procps 4.0.2 adds totals of -X up over all processes, and prints them for a kernel thread as well."""
    rule = DETAILED.splitlines()[-2]
    totals = "     208  24  22    8           2 KB \n"
    thread = f"2:   [kthreadd]\n{rule}\n{totals}"
    second = DETAILED.replace("12:", "13:", 1).replace(
        "208  24  22    8           2", "416  48  44   16           4"
    )
    source = open_text(DETAILED + thread + second + thread)
    assert not source.faults
    assert [source.read(index).tables["regions"].rows for index in range(4)] == [4, 0, 4, 0]
    assert all(states(source.read(index), "regions") == [] for index in range(4))
    lost = open_text(DETAILED + second.replace("8           1 zero", "8           2 zero"))
    assert [fault.what for fault in lost.faults] == ["the total of THPeligible is not the sum of its rows"]


def test_prompts_and_line_ends_of_a_paste_are_no_fault() -> None:
    """Commands, blank lines, CR LF and UTF-16 do no harm."""
    text = f"root@host:~# pmap -x 12\n{WITH_RSS}\nroot@host:~# pmap 12\n{PLAIN}root@host:~# \n"
    for data in (text.encode(), text.replace("\n", "\r\n").encode(), text.encode("utf-16")):
        source = open_text(data)
        assert [source.read(index).tables["regions"].rows for index in range(2)] == [2, 7]
        assert not source.faults


@pytest.mark.parametrize(
    "head",
    [
        "Address Perm Offset Device Inode Size start Mapping",
        "Address Perm Offset Device Inode Size Rss Rss Mapping",
        "Address Perm Offset Device Inode Size Rss",
        "Address Kbytes {} Mode Mapping",
        "Address Kbytes RSS Mapping",
        "Address Perm Offset Device Inode Size " + " ".join(f"K{i}" for i in range(200)) + " Mapping",
    ],
)
def test_a_head_that_is_none_is_refused(head: str) -> None:
    """Doubled, hostile or cut columns leave nothing that could be read."""
    with pytest.raises(NotASnapshotError, match="no row"):
        open_text(f"12:   x\n{head}\n")


def test_a_row_cannot_be_longer_than_any_path() -> None:
    """A line of megabytes is refused at once."""
    with pytest.raises(LimitError, match="line 9"):
        open_text(PLAIN.replace(" total", " " * 100_000))


def test_other_text_is_not_taken_for_pmap() -> None:
    """maps, smaps and tables of others are left to their own readers."""
    line = MapLine(0x400000, 0x401000, b"r-xp", path=b"/bin/x")
    texts = [
        line.text + b"\n",
        make_block(Block(line)),
        b"",
        b"12:   x\n",
        b"Address Size\n400000 4\n",
        b"\0" * 9,
    ]
    assert [PMAP.sniff(text) for text in texts] == [False] * len(texts)


def test_more_listings_than_processes_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile text of tiny listings is no million of snapshots."""
    monkeypatch.setattr(reader, "_MOST_LISTINGS", 3)
    with pytest.raises(LimitError, match="more than 3 listings"):
        open_text(WITH_RSS * 4)
