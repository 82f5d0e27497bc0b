"""Several maps in one text: where one ends and the next begins, and whose each of them is."""

from __future__ import annotations

import time

import pytest
from mmpscope.formats.errors import CorruptError, LimitError, NotASnapshotError
from mmpscope.formats.mmp.columns import decode_column, decode_table
from mmpscope.formats.model import Snapshot
from mmpscope.formats.proc import parts
from mmpscope.formats.proc.sniff import is_maps, is_rollup, is_smaps
from mmpscope.formats.proc.text_source import open_bytes
from mmpscope.formats.source import Source
from support.proc_source import count_regions, write_again
from support.smaps_text import Block, MapLine, make_block

ALPHA = [
    MapLine(0x400000, 0x401000, b"r-xp", path=b"/bin/alpha"),
    MapLine(0x7FFD00000000, 0x7FFD00021000, path=b"[stack]"),
    MapLine(0xFFFFFFFFFF600000, 0xFFFFFFFFFF601000, b"--xp", path=b"[vsyscall]"),
]
BETA = [
    MapLine(0x550000000000, 0x550000001000, b"r-xp", path=b"/bin/beta"),
    MapLine(0x550000001000, 0x550000005000),
    MapLine(0x7FFE00000000, 0x7FFE00021000, path=b"[stack]"),
    MapLine(0x7FFE00030000, 0x7FFE00032000, b"r-xp", path=b"[vdso]"),
]
STATUS = b"Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t%d\nVmRSS:\t      12 kB\n"


def make_maps(lines: list[MapLine]) -> bytes:
    """Write maps text."""
    return b"".join(line.text + b"\n" for line in lines)


def make_smaps(lines: list[MapLine]) -> bytes:
    """Write smaps text in which each region has 4 KiB in memory."""
    return b"".join(make_block(Block(line, {"Rss": 4})) for line in lines)


def make_rollup(lines: list[MapLine]) -> bytes:
    """Write the roll-up of a map: its line spans the regions but for the gate."""
    end = max(line.end for line in lines if line.path != b"[vsyscall]")
    line = MapLine(lines[0].start, end, b"---p", path=b"[rollup]")
    return line.text + b"\nRss:              %8d kB\nPss:                     3 kB\n" % (4 * len(lines))


def open_whole(text: bytes) -> Source:
    """Open a text, of which no byte may be lost."""
    source = open_bytes(text, "x")
    assert write_again(source) == text
    return source


def read_all(source: Source) -> list[Snapshot]:
    """Read every snapshot."""
    return [source.read(index) for index in range(len(source.entries))]


@pytest.mark.parametrize("make", [make_maps, make_smaps])
def test_a_fall_of_addresses_begins_another_process(make: object) -> None:
    """`cat /proc/1/smaps /proc/2/smaps` is two snapshots, also where the second begins above the first."""
    assert callable(make)
    source = open_whole(make(ALPHA) + make(BETA) + make(ALPHA))
    assert count_regions(source) == [3, 4, 3]
    assert not source.faults
    assert [snapshot.process.get("source_text") for snapshot in read_all(source)] == [None] * 3
    assert [decode_column(s.tables["regions"], "path")[0] for s in read_all(source)] == [
        b"/bin/alpha", b"/bin/beta", b"/bin/alpha",
    ]  # fmt: skip


def test_one_process_saved_again_and_again_is_a_series() -> None:
    """`while sleep 1; do cat smaps; done >> file`: each round begins at the first region."""
    source = open_whole(make_smaps(ALPHA) * 5)
    assert count_regions(source) == [3] * 5


@pytest.mark.parametrize(
    ("title", "pid", "name"),
    [
        (b"\n==> /proc/12/smaps <==\n", 12, None),
        (b"\n==> 12/smaps <==\n", 12, None),
        (b"# cat /proc/12/smaps\n", 12, None),
        (b"root@host:~# cat /proc/12/smaps\n", 12, None),
        (b"[user@host ~]$ sudo cat /proc/12/task/12/smaps\n", 12, None),
        (b"/proc/12/smaps:\n", 12, None),
        (b"Pid: 12\n", 12, None),
        (b"PID 12 (beta two)\n", 12, "beta two"),
        (b"----- pid 12 at 2024-05-01 10:00:00 -----\n", 12, None),
        (STATUS % (b"beta", 12), 12, "beta"),
        (b"\n==> beta.smaps <==\n", None, None),
        (b"--- next one ---\n", None, None),
        (b"\n\n", None, None),
        (b"$ cat /proc/self/smaps\n", None, None),
    ],
)
def test_a_title_between_maps_tells_whose_the_next_one_is(
    title: bytes, pid: int | None, name: str | None
) -> None:
    """Lines between two maps go with the second; what they say of it is taken."""
    alpha = b"==> first <==\n" + (STATUS % (b"alpha", 7) if title.startswith(b"Name") else b"")
    source = open_whole(alpha + make_smaps(ALPHA) + title + make_smaps(BETA))
    assert count_regions(source) == [3, 4]
    assert not source.faults
    second = source.read(1)
    assert (second.process.get("pid"), second.process.get("name")) == (pid, name)
    assert source.entries[1].pid == pid
    assert second.process["source_text"]["before"] == title


def test_the_label_of_a_list_names_the_entry() -> None:
    """`head` writes the file's name; it is no name of a process, but tells the snapshots apart."""
    source = open_whole(b"==> a.smaps <==\n" + make_smaps(ALPHA) + b"\n==> b.smaps <==\n" + make_smaps(BETA))
    assert [entry.name for entry in source.entries] == ["a.smaps", "b.smaps"]
    assert "name" not in source.read(0).process


@pytest.mark.parametrize("title", [b"==> /proc/12/maps <==\n", b"$ cat /proc/12/maps\n", b"Pid: 12\n"])
def test_a_title_separates_where_addresses_do_not(title: bytes) -> None:
    """The second map lies above the first, as excerpts may."""
    source = open_whole(make_maps(ALPHA[:1]) + title + make_maps(BETA[:2]))
    assert count_regions(source) == [1, 2]
    assert source.entries[1].pid == 12


def test_a_path_that_looks_like_a_title_is_a_path() -> None:
    """A process may map a file of any name."""
    lines = [
        MapLine(0x1000, 0x2000, path=b"/proc/12/smaps"),
        MapLine(0x3000, 0x4000, path=b"/==> /proc/12/smaps <=="),
        MapLine(0x5000, 0x6000, path=b"/x pid 12"),
    ]
    assert count_regions(open_whole(make_maps(lines))) == [3]


@pytest.mark.parametrize(
    "grown",
    [
        MapLine(0x550000001000, 0x550000009000),  # it grew since its first part was printed
        MapLine(0x550000004000, 0x550000009000),  # its neighbour took its last page
        MapLine(0x550000003000, 0x550000005000),  # it was split: kernels up to 5 print the second half
    ],
)
def test_neighbours_that_overlap_under_churn_are_one_map(grown: MapLine) -> None:
    """The kernel looks up where it was by address; a map that changes meanwhile falls, but not behind."""
    source = open_whole(make_maps([*BETA[:2], grown, *BETA[2:]]))
    assert count_regions(source) == [5]
    [fault] = source.faults
    assert "overlaps the next one" in fault.what


def test_descending_addresses_are_one_map_in_another_order() -> None:
    """Somebody sorted the list: regions overlap nowhere, and no run of them is a process."""
    source = open_whole(make_maps([*reversed(ALPHA), *reversed(BETA)]))
    assert count_regions(source) == [7]
    assert not source.faults
    [why] = [c.reason or "" for c in source.read(0).capability if c.item == "regions"]
    assert "another order" in why


def test_processes_of_random_addresses_need_not_overlap() -> None:
    """Without a vsyscall page no address is common to two processes; their stacks end them."""
    source = open_whole(make_maps(BETA) + make_maps([ALPHA[0], MapLine(0x401000, 0x402000), ALPHA[1]]))
    assert count_regions(source) == [4, 3]


def test_an_unknown_line_between_maps_is_kept_with_the_next() -> None:
    """Whatever stands between two maps is no damage."""
    source = open_whole(make_smaps(ALPHA) + b"and the other one:\n\n" + make_smaps(BETA))
    assert count_regions(source) == [3, 4]
    assert not source.faults


@pytest.mark.parametrize(
    "end", [b"root@host:~# ", b"```\n", b"$ exit\n", b"\n~~~\n", b"==> /proc/3/maps <==\n"]
)
def test_what_a_terminal_leaves_behind_the_last_map_is_kept(end: bytes) -> None:
    """A prompt or a fence at the end is no cut map line."""
    source = open_whole(make_smaps(ALPHA) + end)
    assert not source.faults
    assert source.read(0).process["source_text"] == {"after": end}


def test_a_first_part_that_is_cut_is_told_with_its_line() -> None:
    """`head -n 30` cuts each map in the middle of a block."""
    cut = b"".join(make_smaps(ALPHA).splitlines(keepends=True)[:30])
    source = open_whole(b"==> /proc/1/smaps <==\n" + cut + b"\n==> /proc/2/smaps <==\n" + cut)
    assert [fault.line for fault in source.faults] == [31]
    assert "2 times" in source.faults[0].what
    for snapshot in read_all(source):
        assert [c.state for c in snapshot.capability if c.item == "regions"] == ["partial"]


def test_one_damaged_map_leaves_the_others_whole() -> None:
    """A line that does not parse is told with its place in the file and counts for its own map only."""
    bad = make_smaps(ALPHA).replace(b"Rss:                   4 kB", b"Rss:                   4 pages", 1)
    source = open_whole(make_smaps(BETA) + bad)
    line = (make_smaps(BETA) + bad).split(b"pages")[0].count(b"\n") + 1
    assert [fault.line for fault in source.faults] == [line]
    states = [[c.state for c in s.capability if c.item == "smaps"] for s in read_all(source)]
    assert states == [["ok"], ["partial"]]


def test_a_rollup_is_totals_and_no_region() -> None:
    """smaps_rollup alone: one row of totals in bytes, and the reason why there are no regions."""
    text = b"# cat /proc/12/smaps_rollup\n" + make_rollup(ALPHA)
    source = open_whole(text)
    snapshot = source.read(0)
    assert source.format == "smaps_rollup text"
    assert "regions" not in snapshot.tables
    assert decode_table(snapshot.tables["totals"]) == {
        "name": [b"[rollup]"], "count": [None], "Rss": [12 * 1024], "Pss": [3 * 1024],
    }  # fmt: skip
    assert snapshot.process["smaps_rollup"] == {"Rss": 12 * 1024, "Pss": 3 * 1024}
    assert snapshot.process["pid"] == 12
    assert [c.state for c in snapshot.capability if c.item == "regions"] == ["unavailable"]


def test_rollups_of_many_processes_are_as_many_snapshots() -> None:
    """`cat /proc/*/smaps_rollup`: each line of that name is one of its own, wherever it lies."""
    source = open_whole(make_rollup(ALPHA) + make_rollup(BETA) + make_rollup(ALPHA))
    assert count_regions(source) == [None] * 3


def test_a_rollup_beside_its_map_belongs_to_it() -> None:
    """`cat /proc/PID/smaps /proc/PID/smaps_rollup`, in either order, is one process."""
    for text in (make_smaps(ALPHA) + make_rollup(ALPHA), make_rollup(ALPHA) + make_smaps(ALPHA)):
        source = open_whole(text)
        assert count_regions(source) == [3]
        assert source.read(0).process["smaps_rollup"]["Rss"] == 12 * 1024


def test_a_rollup_of_another_process_stays_alone() -> None:
    """Where the ranges differ, they are not of the same process."""
    source = open_whole(make_smaps(ALPHA) + make_rollup(BETA))
    assert count_regions(source) == [3, None]
    assert "smaps_rollup" not in source.read(0).process


@pytest.mark.parametrize("is_first", [True, False])
def test_status_before_or_behind_each_map_is_of_that_process(is_first: bool) -> None:
    """`for p in ...; do cat /proc/$p/status /proc/$p/smaps; done`, and the other way round."""
    text = b""
    for lines, name, pid in ((ALPHA, b"alpha", 7), (BETA, b"beta", 9)):
        pair = [STATUS % (name, pid), make_smaps(lines)]
        text += b"".join(pair if is_first else reversed(pair))
    source = open_whole(text)
    assert [(entry.pid, entry.name) for entry in source.entries] == [(7, "alpha"), (9, "beta")]
    assert [snapshot.process["status"]["VmRSS"] for snapshot in read_all(source)] == [12288] * 2
    assert not source.faults


def test_all_files_of_a_process_in_one_text() -> None:
    """head writes titles, and each file goes to its process."""
    text = b""
    for lines, name, pid in ((ALPHA, b"alpha", 7), (BETA, b"beta", 9)):
        for file, content in (
            (b"smaps", make_smaps(lines)),
            (b"smaps_rollup", make_rollup(lines)),
            (b"status", STATUS % (name, pid)),
        ):
            text += b"==> /proc/%d/%s <==\n%s\n" % (pid, file, content)
    source = open_whole(text)
    assert count_regions(source) == [3, 4]
    assert [(e.pid, e.name) for e in source.entries] == [(7, "alpha"), (9, "beta")]
    assert [s.process["smaps_rollup"]["Rss"] for s in read_all(source)] == [12 * 1024, 16 * 1024]


@pytest.mark.parametrize("prefix", [b"> ", b">> ", b"    ", b"\t", b"| ", b"/proc/12/smaps:", b"smaps: "])
@pytest.mark.parametrize("is_trimmed", [False, True])
def test_quoted_lines_lose_their_prefix_and_get_it_back(prefix: bytes, is_trimmed: bool) -> None:
    """A mail, a ticket, `grep -r '' /proc/12`: what all lines begin with is no part of them."""
    plain = make_smaps(ALPHA) + b"\n" + make_smaps(BETA)
    blank = prefix.rstrip() if is_trimmed else prefix
    quoted = b"".join((prefix if line.strip() else blank) + line for line in plain.splitlines(keepends=True))
    for text in (quoted, b"Hello,\n\n```\n" + quoted + b"```\nbye\n"):
        assert is_smaps(text[: 1 << 16])
        source = open_bytes(text, "x")
        assert count_regions(source) == [3, 4]
        assert not source.faults
        assert decode_column(source.read(0).tables["regions"], "Rss") == [4096] * 3
        assert write_again(source) == text


def test_grep_over_many_processes_gives_each_its_pid() -> None:
    """`grep -r '' /proc/[0-9]*/maps` puts another path before the lines of each process."""
    text = b""
    for pid, lines in ((12, ALPHA), (9, BETA)):
        text += b"".join(b"/proc/%d/maps:%s\n" % (pid, line.text) for line in lines)
    assert is_maps(text)
    source = open_whole(text)
    assert [entry.pid for entry in source.entries] == [12, 9]
    assert count_regions(source) == [3, 4]


def test_lines_that_lack_the_prefix_are_refused_in_words() -> None:
    """Nothing is guessed where only some lines are quoted."""
    lines = [b"> " + line for line in make_smaps(ALPHA).splitlines(keepends=True)]
    lines[30] = lines[30][2:]
    with pytest.raises(CorruptError, match=r"line 31 does not begin with '> '.*Take off"):
        open_bytes(b"".join(lines), "x")


def test_colours_of_a_terminal_are_taken_off_and_said() -> None:
    """`grep --color` marks what it found; the codes are no part of the text."""
    plain = make_smaps(ALPHA)
    text = plain.replace(b"Rss", b"\x1b[01;31m\x1b[KRss\x1b[m\x1b[K")
    assert is_smaps(text)
    source = open_bytes(text, "x")
    assert not source.faults
    assert write_again(source) == plain
    [reason] = [c.reason or "" for c in source.read(0).capability if c.item == "source_text"]
    assert reason.startswith("12 codes")


def test_colours_in_a_path_alone_are_the_path() -> None:
    """A file may be called anything."""
    source = open_whole(make_maps([MapLine(0x1000, 0x2000, path=b"/\x1b[31mred")]))
    assert decode_column(source.read(0).tables["regions"], "path") == [b"/\x1b[31mred"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_encoding_and_line_ends_hold_for_every_map(encoding: str) -> None:
    """PowerShell writes UTF-16 with CR LF; the mark stands before the first map only."""
    plain = make_smaps(ALPHA) + b"==> /proc/9/smaps <==\n" + make_smaps(BETA)
    text = plain.replace(b"\n", b"\r\n").decode().encode(encoding)
    source = open_bytes(text, "x")
    assert count_regions(source) == [3, 4]
    assert source.entries[1].pid == 9
    assert not source.faults
    first, second = (s.process["source_text"] for s in read_all(source))
    assert first["newline"] == second["newline"] == "\r\n"
    assert b"\xef\xbb\xbf" not in second["before"]


def test_rollups_are_told_from_maps_by_their_lines() -> None:
    """A roll-up among maps does not make a text one of totals."""
    assert is_rollup(make_rollup(ALPHA))
    assert is_rollup(b"$ cat /proc/1/smaps_rollup\r\n" + make_rollup(ALPHA).replace(b"\n", b"\r\n"))
    assert not is_rollup(make_smaps(ALPHA) + make_rollup(ALPHA))
    assert not is_rollup(b"")


def test_text_without_any_map_is_refused() -> None:
    """Titles alone are no map."""
    with pytest.raises(NotASnapshotError, match="line 1 is not a map line"):
        open_bytes(b"==> /proc/1/smaps <==\n" + STATUS % (b"x", 1), "x")


def test_more_maps_than_processes_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile text of falling lines is no million of snapshots."""
    monkeypatch.setattr(parts, "_MOST_PARTS", 10)
    with pytest.raises(LimitError, match="there are 11 maps in the first"):
        open_bytes(make_maps([*ALPHA, *BETA]) * 6, "x")


def test_small_maps_cost_time_in_proportion() -> None:
    """What lies beyond the end of a map is not read for ever: ten times the maps, ten times the time."""
    text = make_maps([BETA[0], BETA[2]])
    times = []
    for count in (100, 1000):
        start = time.perf_counter()
        assert len(open_bytes(text * count, "x").entries) == count
        times.append(time.perf_counter() - start)
    assert times[1] < 40 * times[0]
