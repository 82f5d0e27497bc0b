"""A captured /proc: a snapshot for each process, which share the facts of the system."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mmpscope.formats.errors import InputError, LimitError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from mmpscope.formats.proc.tree import is_proc_tree, open_tree
from mmpscope.formats.registry import open_source
from mmpscope.formats.source import Fault
from support.smaps_text import Block, MapLine, make_block

SMAPS = make_block(Block(MapLine(0x400000, 0x401000, b"r-xp", path=b"/bin/x"), {"Rss": 4}))
MAPS = b"00400000-00401000 r-xp 00000000 00:00 0                                  /bin/x\n"
ROLLUP = b"00400000-00401000 ---p 00000000 00:00 0 [rollup]\nRss:                   4 kB\nPss:   2 kB\n"
STATUS = b"Name:\tx y\nState:\tS\nPid:\t12\nPPid:\t1\nUid:\t5\t5\t5\t5\nThreads:\t3\n"
STATUS += b"VmRSS:\t8 kB\nRssAnon:\t4 kB\n"
STAT = b"%d (a) b (c) S 1 12 12 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 1234 4096 9 1844674407 1 1 0\n"


class Files:
    """A tree in memory; ``broken`` files are there and cannot be read."""

    def __init__(self, files: Mapping[str, bytes], *, broken: tuple[str, ...] = ()) -> None:
        self.name = "captured"
        self.faults: list[Fault] = []
        self.names: Sequence[str] = [*files, *broken]
        self._files = files

    def read(self, name: str, most: int) -> bytes:
        """Return one file."""
        if name not in self._files:
            raise InputError(f"{name} cannot be read: permission denied")
        if len(self._files[name]) > most:
            raise LimitError(f"{name} has more than {most} bytes")
        return self._files[name]


def read_only(files: Mapping[str, bytes], *, broken: tuple[str, ...] = ()) -> Snapshot:
    """Read the one snapshot of a tree."""
    source = open_tree(Files(files, broken=broken), "x")
    assert len(source.entries) == 1
    return source.read(0)


def states(snapshot: Snapshot, item: str) -> list[str]:
    """Return what a snapshot says of one item."""
    return [capability.state for capability in snapshot.capability if capability.item == item]


@pytest.mark.parametrize(
    ("names", "is_tree"),
    [
        (["12/smaps"], True),
        (["proc/12/maps", "proc/meminfo"], True),
        (["host/proc/12/smaps_rollup"], True),
        (["12/stat", "12/cmdline"], False),
        (["1.smaps", "smaps", "x/smaps", "12/smaps.txt"], False),
        ([], False),
    ],
)
def test_a_captured_proc_is_told_by_its_names(names: list[str], is_tree: bool) -> None:
    """The map of a process in a folder with its pid; small files alone are none."""
    assert is_proc_tree(names) is is_tree


def test_all_processes_are_one_capture() -> None:
    """Each has its snapshot, by pid, and all share host, meminfo and the list of processes."""
    source = open_tree(
        Files(
            {
                "proc/100/smaps": SMAPS, "proc/100/stat": STAT % 100,
                "proc/12/smaps": SMAPS, "proc/12/status": STATUS, "proc/12/cmdline": b"x\0-a\0",
                "proc/7/stat": STAT % 7,
                "proc/meminfo": b"MemTotal:   16 kB\nHugePages_Total:   3\n",
                "proc/version": b"Linux version 6.1.0-9 (a@b) (gcc 1, ld 2) #1 SMP Tue\n",
                "proc/sys/vm/max_map_count": b"65530\n",
                "etc/os-release": b'ID=x\nPRETTY_NAME="X 12"\n',
            }
        ),
        "x.tar",
    )  # fmt: skip
    assert [(entry.pid, entry.name) for entry in source.entries] == [(12, "x y"), (100, "a) b (c")]
    first, second = source.read(0), source.read(1)
    assert first.capture is second.capture
    assert first.capture.host == {
        "os": "linux", "kernel": "6.1.0-9", "version": "#1 SMP Tue", "os_release": "X 12",
    }  # fmt: skip
    assert first.capture.system == {
        "meminfo": {"MemTotal": 16384, "HugePages_Total": 3},
        "max_map_count": 65530,
    }
    rows = decode_table(first.capture.tables["processes"])
    assert rows["pid"] == [7, 12, 100]
    assert rows["name"] == [b"a) b (c", b"x y", b"a) b (c"]
    assert rows["rss"] == [None, 8192, None]
    assert rows["private"] == [None, 4096, None]
    assert rows["threads"] == [2, 3, 2]
    assert rows["cmdline"] == [None, b"x\0-a\0", None]
    assert not source.faults


def test_files_of_a_process_become_its_facts() -> None:
    """status, stat, limits, cgroup and the roll-up have the shape that the collector gives them."""
    process = read_only(
        {
            "12/smaps": SMAPS, "12/status": STATUS, "12/stat": STAT % 12, "12/smaps_rollup": ROLLUP,
            "12/limits": b"Max open files            1024                 4096                 files     \n",
            "12/cgroup": b"0::/user.slice\n", "12/cmdline": b"x\0",
        }
    ).process  # fmt: skip
    assert (process["pid"], process["uid"], process["name"]) == (12, 5, "a) b (c")
    assert process["status"]["VmRSS"] == 8192
    assert process["stat"]["starttime"] == 1234
    assert process["smaps_rollup"] == {"Rss": 4096, "Pss": 2048}
    assert process["limits"] == {"Max open files": [1024, 4096, "files"]}
    assert process["cgroup"] == {"path": "/user.slice", "version": 2}
    assert process["cmdline"] == ["x"]


def test_what_was_not_captured_is_said() -> None:
    """Every fact that is not there has its reason, in the snapshot and in the capture."""
    snapshot = read_only({"12/smaps": SMAPS})
    for item in ("status", "smaps_rollup", "limits", "cmdline", "stat", "cgroup", "threads", "processes"):
        assert states(snapshot, item) == ["unavailable"]
    missing = {capability.item for capability in snapshot.capture.capability}
    assert {"meminfo", "kernel", "hostname", "max_map_count"} <= missing


def test_f20_an_empty_smaps_is_a_process_without_address_space() -> None:
    """A kernel thread is a snapshot without regions and without a figure of 0."""
    snapshot = read_only({"2/smaps": b"", "2/stat": STAT % 2})
    assert snapshot.tables["regions"].rows == 0
    assert states(snapshot, "smaps") == ["unavailable"]
    assert snapshot.process["pid"] == 2


@pytest.mark.parametrize("smaps", [b"", b"not a map", None])
def test_maps_stand_in_for_smaps_that_could_not_be_had(smaps: bytes | None) -> None:
    """Empty, damaged or refused: what maps tells is better than nothing, and what was wrong is said."""
    files = {"12/maps": MAPS}
    if smaps is not None:
        files["12/smaps"] = smaps
    snapshot = read_only(files, broken=() if smaps is not None else ("12/smaps",))
    assert snapshot.tables["regions"].rows == 1
    assert "unavailable" in states(snapshot, "smaps")


def test_a_rollup_alone_is_totals() -> None:
    """Without any map there are totals and no regions."""
    snapshot = read_only({"12/smaps_rollup": ROLLUP})
    assert decode_table(snapshot.tables["totals"])["Pss"] == [2048]
    assert states(snapshot, "regions") == ["unavailable"]


def test_a_damaged_process_does_not_cost_the_others() -> None:
    """What is wrong is a fault with its file, told once, and a snapshot that says so."""
    files = {"1/smaps": b"zzz", "1/stat": b"no stat line", "2/smaps": SMAPS + b"Rss: x\n", "3/smaps": SMAPS}
    source = open_tree(Files(files), "x")
    for _ in range(2):
        snapshots = [source.read(index) for index in range(3)]
    assert states(snapshots[0], "regions") == ["unavailable"]
    assert [snapshot.tables["regions"].rows for snapshot in snapshots[1:]] == [1, 1]
    told = [fault.what for fault in source.faults]
    assert len(told) == 3
    assert told[0].startswith("1/stat: ")
    assert told[1].startswith("1/smaps: line 1 is not a map line")
    assert told[2].startswith("2/smaps: ")


def test_maps_of_threads_are_no_processes() -> None:
    """/proc/12/task/13/smaps is the map of the same process again."""
    source = open_tree(Files({"proc/12/smaps": SMAPS, "proc/12/task/13/smaps": SMAPS}), "x")
    assert [entry.pid for entry in source.entries] == [12]


def test_folders_of_several_machines_are_captures_of_their_own() -> None:
    """The same pid on two machines is two processes, and each has its own meminfo."""
    source = open_tree(Files({"a/1/smaps": SMAPS, "a/meminfo": b"MemTotal: 1 kB\n", "b/1/smaps": SMAPS}), "x")
    assert [entry.pid for entry in source.entries] == [1, 1]
    assert source.read(0).capture.system == {"meminfo": {"MemTotal": 1024}}
    assert source.read(1).capture.system == {}


@pytest.mark.parametrize("kind", ["folder", "tar"])
def test_folders_and_archives_open_alike(kind: str, tmp_path: Path) -> None:
    """`cp -r` of some processes, and the tar that smemcap writes."""
    files = {"12/smaps": SMAPS, "12/stat": STAT % 12, "13/smaps": SMAPS, "meminfo": b"MemTotal: 4 kB\n"}
    path = tmp_path / "captured"
    if kind == "folder":
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    else:
        with tarfile.open(path, "w") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    source = open_source(path)
    assert [entry.pid for entry in source.entries] == [12, 13]
    assert source.read(0).capture.system == {"meminfo": {"MemTotal": 4096}}
    source.close()
