"""The lists beside the regions: modules, heaps, processes, capability."""

from __future__ import annotations

from mmpscope.analysis import LoadedSnapshot, diff, list_heaps
from mmpscope.formats.model import Capability, Capture, Snapshot
from support.corpus import read_corpus_file
from support.loaded import load_map, load_text, make_raw_table

NONE = "without anything"


def test_a_module_has_the_figures_of_its_parts_and_the_facts_of_its_file() -> None:
    """Sizes come from the map, build id and base from the file."""
    module = {
        "path": "/lib/a.so",
        "inode": 0x2A,
        "base": 0x7000_0000,
        "low": 0x7000_0000,
        "high": 0x7000_4000,
    }
    module |= {"elf_class": 64, "build_id": "c0ffee", "file_size": 9000, "machine": 62}
    snapshot = load_map(
        "70000000-70001000 r--p 0 2a /lib/a.so",
        "70001000-70004000 r-xp 1000 2a /lib/a.so",
        tables={"modules": [module]},
    )
    [row] = snapshot.modules.to_pylist()
    assert (row["path"], row["address"], row["end"], row["size"]) == (
        "/lib/a.so",
        0x70000000,
        0x70004000,
        0x4000,
    )
    assert (row["base"], row["build_id"], row["file_size"], row["blocks"]) == (0x70000000, "c0ffee", 9000, 2)
    assert (row["elf_class"], row["machine"], row["loads"], row["bss"]) == (64, 62, 1, 0)


def test_modules_of_mere_text_lack_what_only_the_file_tells() -> None:
    """Null, not 0 and not an empty build id."""
    snapshot = load_text(read_corpus_file("smaps/linux-6.18/sleep.smaps"))
    rows = snapshot.modules.to_pylist()
    assert [row["path"].rsplit("/", 1)[1] for row in rows] == ["sleep", "libc.so.6", "ld-linux-x86-64.so.2"]
    assert {(row["base"], row["build_id"], row["file_size"]) for row in rows} == {(None, None, None)}


NODE = ("400000-b6f000 r--p 0 2a /usr/bin/node", "b72000-25fe000 r-xp 772000 2a /usr/bin/node")
BUILT_IN = "7f25f7e40000-7f25f7fd2000 r-xp 14c4000 2a /usr/bin/node"


def test_a_piece_of_a_file_that_lies_apart_counts_with_its_load() -> None:
    """V8 maps its built-in functions once more near its code; the program is loaded once."""
    [alone], [row] = load_map(*NODE).modules.to_pylist(), load_map(*NODE, BUILT_IN).modules.to_pylist()
    assert (row["address"], row["end"], row["loads"]) == (0x400000, 0x25FE000, 1)
    assert row["size"] == alone["size"] + 0x192000
    assert row["blocks"] == 3


def test_pieces_of_a_file_whose_start_is_not_mapped_stay_by_themselves() -> None:
    """None of them is more of a load than the others."""
    rows = load_map(NODE[1], BUILT_IN).modules.to_pylist()
    assert [(row["address"], row["loads"]) for row in rows] == [(0xB72000, 2), (0x7F25F7E40000, 2)]


def test_two_runs_of_node_differ_in_no_module() -> None:
    """In one of them V8 mapped its built-in functions once more."""
    module = {"path": "/usr/bin/node", "inode": 0x2A, "base": 0, "low": 0x400000, "high": 0x25FE000}
    tables = {"modules": [module | {"elf_class": 64, "build_id": "c0ffee"}]}
    one, two = (load_map(*rows, tables=tables) for rows in ([*NODE, BUILT_IN], NODE))
    result = diff(one, two, "different")
    assert result.modules.to_pylist() == []
    assert "gone" not in {row["word"] for row in result.components.to_pylist()}


def test_heaps_are_one_row_each() -> None:
    """The main heap, each arena, and all memory of an allocator that names it."""
    snapshot = load_map(
        "10000000-10100000 rw-p 0 0 [heap]",
        "20000000-20001000 rw-p 0 0 [anon:scudo:primary]",
        "30000000-30002000 rw-p 0 0 [anon:scudo:secondary]",
        "7f2864000000-7f2864021000 rw-p",
        "7f2864021000-7f2868000000 ---p",
        "7f2868000000-7f2868021000 rw-p",
        "7f2868021000-7f286c000000 ---p",
    )
    rows = [
        (row["name"], row["address"], row["size"], row["blocks"]) for row in list_heaps(snapshot).to_pylist()
    ]
    assert rows == [
        ("main heap", 0x10000000, 0x100000, 1),
        ("scudo", 0x20000000, 0x3000, 2),
        ("glibc arena", 0x7F2864000000, 64 << 20, 2),
        ("glibc arena", 0x7F2868000000, 64 << 20, 2),
    ]


def test_a_process_without_heaps_threads_and_modules_has_empty_lists() -> None:
    """Empty tables have their columns all the same."""
    snapshot = load_map("10000-11000 rw-p")
    for table in (snapshot.heaps, snapshot.threads, snapshot.modules, snapshot.processes):
        assert (table.num_rows, table.num_columns > 5) == (0, True), table


def test_the_process_list_is_that_of_the_capture() -> None:
    """What was not collected is null."""
    processes = make_raw_table([{"pid": 7, "ppid": 1, "name": "db", "rss": 4096, "threads": 3}])
    snapshot = Snapshot(Capture(tables={"processes": processes}))
    [row] = LoadedSnapshot("test#0", lambda: snapshot).processes.to_pylist()
    assert (row["pid"], row["ppid"], row["name"], row["rss"], row["threads"]) == (7, 1, "db", 4096, 3)
    assert row["cmdline"] is row["private"] is None


def test_capability_tells_what_the_source_said_and_what_we_lack() -> None:
    """Reasons of the collector come first, then the figures that are unknown for want of columns."""
    capture = Capture(capability=[Capability("processes", "skipped", None, "not asked for")])
    regions = make_raw_table([{"start": 0x1000, "size": 0x1000, "perms": "rw-p", "Rss": 0}])
    own = [Capability("smaps", "partial", 13, "denied")]
    snapshot = Snapshot(capture, tables={"regions": regions}, capability=own)
    rows = LoadedSnapshot("test#0", lambda: snapshot).capability.to_pylist()
    assert rows[0] == {"item": "processes", "state": "skipped", "code": None, "reason": "not asked for"}
    assert rows[1] == {"item": "smaps", "state": "partial", "code": 13, "reason": "denied"}
    unknown = {row["item"]: row["reason"] for row in rows[2:]}
    assert unknown["regions.pss"] == "1 of 1 regions lack Pss: denied"
    assert "regions.total_ws" not in unknown
