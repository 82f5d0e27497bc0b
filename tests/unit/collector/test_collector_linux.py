"""One fake or real Linux process through the collector: what is had, what is missing, and what is refused."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.errors import AccessDeniedError, CollectError, ProcessGoneError
from mmpscope.collector.linux.background import Background
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.denied import advise
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Capability, Snapshot
from mmpscope.formats.proc.smaps import render_smaps
from support.fakeproc import BOOT_ID, SMAPS, FakeProc, FakeProcess, make_auxv, refuse, vanish_after

ALL_ITEMS = {
    "status",
    "maps",
    "smaps",
    "smaps_rollup",
    "limits",
    "auxv",
    "cgroup",
    "threads",
    "modules",
    "range",
}


def _collect(proc: FakeProc, options: Options | None = None, pid: int = 4711) -> Snapshot:
    collector = LinuxCollector(options or Options(), str(proc.path))
    with closing(collector.open_target(pid)) as target:
        return target.take_snapshot(collector.take_capture())


def _known(snapshot: Snapshot, item: str) -> Capability:
    [known] = [known for known in snapshot.capability if known.item == item]
    return known


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    """Give a proc root with one process, 4711."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess())
    return proc


def test_process_facts_keep_the_kernels_names(proc: FakeProc) -> None:
    """Each small file is a fact under its own name, kB as bytes, unlimited as null."""
    process = _collect(proc).process
    assert (process["pid"], process["name"], process["uid"], process["gid"]) == (4711, "demo", 1000, 1000)
    assert process["cmdline"] == ["/usr/bin/demo", "--fast"]
    assert process["exe"].endswith("/usr/bin/demo")
    assert (process["status"]["VmSize"], process["smaps_rollup"]) == (592 * 1024, {"Rss": 140 * 1024})
    assert process["limits"]["Max stack size"] == [8388608, None, "bytes"]
    assert process["auxv"]["AT_PAGESZ"] == 4096
    assert process["elf"] == {"class": 64, "machine": "x86_64"}
    assert (process["personality"], process["pid_namespace"]) == (0, 4026531836)
    assert (process["stat"]["starttime"], process["stat"]["comm"]) == (5000, "demo")
    assert process["range"]["start"] == 65536
    assert process["range"]["end"] > 0x7FFD00021000


def test_regions_hold_the_very_bytes_of_smaps(proc: FakeProc) -> None:
    """From the stored columns the text of smaps can be written again."""
    snapshot = _collect(proc)
    assert render_smaps(snapshot.tables["regions"]) == SMAPS
    assert snapshot.moment["map_moved"] is False
    assert {"smaps", "maps", "status", "threads"} <= snapshot.moment["cost"].keys()


def test_capture_holds_host_and_system(proc: FakeProc) -> None:
    """Kernel texts and settings come from the proc root; the machine id is hashed, never stored."""
    capture = LinuxCollector(Options(), str(proc.path)).take_capture()
    assert capture.host["boot_id"] == BOOT_ID
    assert capture.host["kernel"] == "6.1.0-demo"
    assert len(capture.host.get("id", "0" * 64)) == 64
    assert capture.system["meminfo"] == {"MemTotal": 16303428 * 1024, "HugePages_Total": 2}
    assert (capture.system["max_map_count"], capture.system["mmap_min_addr"]) == (65530, 65536)
    processes = decode_table(capture.tables["processes"])
    row = {name: values[0] for name, values in processes.items() if name != "user"}
    assert row == {
        "pid": 4711, "ppid": 1, "uid": 1000, "name": b"demo", "threads": 1, "rss": 140 * 1024,
        "private": 24 * 1024, "starttime": 5000, "elf_class": 64, "cmdline": None,
    }  # fmt: skip


def test_command_lines_of_others_are_only_taken_when_asked_for(proc: FakeProc) -> None:
    """Customers share these files: other processes' arguments stay out by default, and that is said."""
    silent = LinuxCollector(Options(), str(proc.path)).take_capture()
    assert Capability("processes.cmdline", "skipped", None, "not asked for") in silent.capability
    asked = LinuxCollector(Options(command_lines=True), str(proc.path)).take_capture()
    assert decode_table(asked.tables["processes"])["cmdline"] == [b"/usr/bin/demo\0--fast\0"]
    none = LinuxCollector(Options(processes=False), str(proc.path)).take_capture()
    assert "processes" not in none.tables


def test_denied_smaps_falls_back_to_maps_and_says_so(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only smaps is denied the regions come from maps, and the errno says why counters are missing."""
    refuse(monkeypatch, errno.EACCES, "smaps", "smaps_rollup")
    snapshot = _collect(proc)
    assert snapshot.tables["regions"].rows == 3
    assert "Rss" not in snapshot.tables["regions"].columns
    assert _known(snapshot, "smaps") == Capability(
        "smaps", "unavailable", errno.EACCES, "permission denied (EACCES)"
    )
    assert "smaps_rollup" not in snapshot.process


def test_denied_maps_names_the_file_and_what_helps(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without maps there is nothing to collect: the file and the way out are named, exit 3."""
    refuse(monkeypatch, errno.EACCES, "maps", "smaps")
    with pytest.raises(
        AccessDeniedError, match=r"/4711/maps cannot be read: permission denied\. .+"
    ) as caught:
        _collect(proc)
    assert caught.value.exit_code == 3


def test_everything_else_denied_is_noted_item_by_item(
    proc: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refused file is absent, not empty, with its errno in the capability list."""
    names = ("limits", "auxv", "cgroup", "personality", "exe")
    refuse(monkeypatch, errno.EACCES, *names)
    snapshot = _collect(proc)
    for item in ("limits", "auxv", "cgroup", "personality", "elf"):
        assert item not in snapshot.process
        assert (_known(snapshot, item).state, _known(snapshot, item).code) == ("unavailable", errno.EACCES)
    assert _known(snapshot, "range").state == "unavailable"


def test_every_source_is_in_the_capability_list(proc: FakeProc) -> None:
    """What was had is said as well as what was not."""
    proc.write("4711/cgroup", b"0::/a\n")
    states = {known.item: known.state for known in _collect(proc).capability}
    assert states.keys() >= ALL_ITEMS
    assert states["smaps"] == "ok"
    assert states["cgroup"] == "unavailable"


@pytest.mark.parametrize("name", ["status", "maps", "smaps", "smaps_rollup", "cmdline"])
def test_a_process_that_vanishes_half_way_is_gone(
    proc: FakeProc, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whenever it ends, what was read of it until then is not taken for a snapshot."""
    collector = LinuxCollector(Options(), str(proc.path))
    capture = collector.take_capture()
    with closing(collector.open_target(4711)) as target:
        vanish_after(monkeypatch, name)
        with pytest.raises(ProcessGoneError, match=r"process 4711 \(demo\) ended"):
            target.take_snapshot(capture)
        assert not target.is_alive()


def test_a_pid_given_to_another_process_is_gone(proc: FakeProc) -> None:
    """Another start time under the same number is another process."""
    collector = LinuxCollector(Options(), str(proc.path))
    with closing(collector.open_target(4711)) as target:
        proc.write("4711/stat", FakeProcess(starttime=9999).format_stat())
        with pytest.raises(ProcessGoneError):
            target.take_snapshot(collector.take_capture())


def test_a_process_that_becomes_a_zombie_is_gone(proc: FakeProc) -> None:
    """A series ends where its process has ended, even if nobody has asked for its exit code yet."""
    collector = LinuxCollector(Options(), str(proc.path))
    with closing(collector.open_target(4711)) as target:
        proc.write("4711/stat", FakeProcess(state="Z").format_stat())
        assert not target.is_alive()
        with pytest.raises(ProcessGoneError):
            target.take_snapshot(collector.take_capture())


@pytest.mark.parametrize(
    ("process", "words"),
    [
        (FakeProcess(state="Z", smaps=b"", rss_kb=None), "zombie: it has ended, and has no address space"),
        (FakeProcess(flags=0x00200000, smaps=b"", rss_kb=None), "kernel thread: it has no address space"),
    ],
)
def test_f20_no_address_space_is_said(tmp_path: Path, process: FakeProcess, words: str) -> None:
    """Zombie and kernel thread are refused by what they are, not shown as an empty map."""
    proc = FakeProc(tmp_path)
    proc.add(process)
    with pytest.raises(CollectError, match=words):
        _collect(proc)


def test_no_such_pid_is_said(proc: FakeProc) -> None:
    """A number that no process has is one sentence, exit 3."""
    with pytest.raises(CollectError, match="there is no process 4712") as caught:
        _collect(proc, pid=4712)
    assert caught.value.exit_code == 3


def test_a_thread_id_is_no_process(proc: FakeProc) -> None:
    """The kernel shows a directory for a thread's id too: the pid to give is named."""
    proc.add(FakeProcess(pid=4715))
    proc.write("4715/status", FakeProcess(pid=4711).format_status())
    with pytest.raises(CollectError, match="4715 is a thread of process 4711"):
        _collect(proc, pid=4715)


def test_hidepid_leaves_others_out_of_the_list(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidepid=1 what is in the directories is refused: no row in the list, and no target."""
    refuse(monkeypatch, errno.EPERM, "stat")
    assert LinuxCollector(Options(), str(proc.path)).list_processes() == []
    with pytest.raises(AccessDeniedError, match="/4711/stat cannot be read"):
        _collect(proc)


def test_a_light_snapshot_reads_no_counters(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    """--light asks for maps and small files only, and says what it skipped."""
    refuse(monkeypatch, errno.EIO, "smaps", "smaps_rollup", "syscall")
    snapshot = _collect(proc, Options(light=True))
    assert snapshot.tables.keys() == {"regions"}
    assert {known.item for known in snapshot.capability if known.state == "skipped"} == {
        "smaps", "smaps_rollup", "threads", "modules",
    }  # fmt: skip
    assert "map_moved" not in snapshot.moment


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(max_regions=2), "3 mappings are more than 2"),
        (Options(max_resident=1024), "are more than 0 GiB"),
    ],
)
def test_a_huge_process_gets_a_light_snapshot_unless_full(
    proc: FakeProc, options: Options, words: str
) -> None:
    """Beyond the guards only the map is read, the user hears of it, and --full reads all the same."""
    collector = LinuxCollector(options, str(proc.path))
    with closing(collector.open_target(4711)) as target:
        snapshot = target.take_snapshot(collector.take_capture())
        assert snapshot.tables.keys() == {"regions"}
        assert any(words in notice for notice in target.notices)
    full = Options(full=True, max_regions=options.max_regions, max_resident=options.max_resident)
    assert _known(_collect(proc, full), "smaps").state == "ok"


def test_a_map_that_moved_is_flagged(proc: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where maps differs after the counters were read, the snapshot says so."""
    read, asked = ProcDir.read, []

    def read_growing(self: ProcDir, name: str, size: int = -1) -> bytes:
        data = read(self, name, size)
        asked.append(name)
        return (
            data + b"7fff0000-7fff1000 rw-p 00000000 00:00 0\n"
            if asked.count("maps") == 2 and name == "maps"
            else data
        )

    monkeypatch.setattr(ProcDir, "read", read_growing)
    assert _collect(proc).moment["map_moved"] is True
    assert asked.count("smaps") == 1


def test_a_block_that_does_not_parse_is_kept_and_flagged(tmp_path: Path) -> None:
    """A block of an unknown shape is stored as text, and the capability says where it is."""
    odd = SMAPS.replace(b"Rss:                   8 kB\n", b"no colon here\n")
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess(smaps=odd))
    snapshot = _collect(proc)
    assert _known(snapshot, "smaps").state == "partial"
    assert render_smaps(snapshot.tables["regions"]) == odd


def test_bitness_comes_from_the_width_of_auxv(tmp_path: Path) -> None:
    """A 32-bit process has an auxiliary vector of 32-bit words; its first value may be 0."""
    proc = FakeProc(tmp_path)
    auxv = make_auxv({32: 0, 16: 0xBFEBFBFF, 6: 4096}, elf_class=32)
    proc.add(FakeProcess(pid=40, auxv=auxv))
    proc.add(FakeProcess(pid=41))
    proc.add(FakeProcess(pid=42, auxv=b""))
    rows = LinuxCollector(Options(), str(proc.path)).list_processes()
    assert [row.elf_class for row in rows] == [32, 64, None]
    assert _collect(proc, pid=40).process["auxv"] == {
        "AT_SYSINFO": 0,
        "AT_HWCAP": 0xBFEBFBFF,
        "AT_PAGESZ": 4096,
    }


def test_no_proc_file_system_is_said(tmp_path: Path) -> None:
    """A root that is not there is one sentence."""
    with pytest.raises(CollectError, match="Is the proc file system mounted"):
        LinuxCollector(Options(), str(tmp_path / "none"))


def _read_kib(pid: int, name: str, key: str) -> int:
    lines = Path(f"/proc/{pid}/{name}").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))


def test_a_blocked_process_sums_up_to_the_kernels_own_totals() -> None:
    """Rss of all regions is Rss of smaps_rollup, and their size is VmSize, exactly."""
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"up\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"up\n"  # it has loaded, and blocks in read again
        collector = LinuxCollector(Options())
        with closing(collector.open_target(child.pid)) as target:
            assert target.exit_handle() is not None
            snapshot = target.take_snapshot(collector.take_capture())
        regions = decode_table(snapshot.tables["regions"])
        gate = [path == b"[vsyscall]" for path in regions["path"]]
        size = sum(size for size, is_gate in zip(regions["size"], gate, strict=True) if not is_gate)
        assert (
            sum(regions["Rss"])
            == snapshot.process["smaps_rollup"]["Rss"]
            == _read_kib(child.pid, "smaps_rollup", "Rss")
        )
        assert size == snapshot.process["status"]["VmSize"] == _read_kib(child.pid, "status", "VmSize")
        assert snapshot.moment["map_moved"] is False
    finally:
        child.kill()
        child.communicate()


def test_own_pid_is_known_where_the_root_is_ours(proc: FakeProc) -> None:
    """Our own number is that of /proc/self; a copied tree has none, and nothing waits on its pids."""
    assert LinuxCollector(Options()).own_pid() == os.getpid()
    collector = LinuxCollector(Options(), str(proc.path))
    assert collector.own_pid() is None
    with closing(collector.open_target(4711)) as target:
        assert target.exit_handle() is None


@pytest.mark.parametrize(
    ("owner", "own_uid", "scope", "words"),
    [
        (0, 1000, None, "belongs to user 0, or may not be dumped: run this as the same user, or with sudo"),
        (
            1000,
            1000,
            2,
            r"security module stands between \(kernel.yama.ptrace_scope is 2\): run this with sudo",
        ),
        (1000, 1000, 0, "security module stands between: run this with sudo"),
        (1000, 0, 1, "CAP_SYS_PTRACE"),
    ],
)
def test_a_refusal_says_what_would_help(owner: int, own_uid: int, scope: int | None, words: str) -> None:
    """Same user, sudo, a setting or a capability: what would help depends on who asks for whose process."""
    assert re.search(words, advise(owner, own_uid, scope))


def test_an_empty_smaps_beside_a_map_is_missing_and_not_nothing(tmp_path: Path) -> None:
    """Where only smaps comes out empty the regions are those of maps, and the counters missing."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess(smaps=b"", maps=SMAPS.splitlines(keepends=True)[0]))
    snapshot = _collect(proc)
    assert snapshot.tables["regions"].rows == 1
    assert _known(snapshot, "smaps").state == "unavailable"


def test_a_stat_line_that_makes_no_sense_is_an_error_of_ours(proc: FakeProc) -> None:
    """A stat file of another form is named, not guessed at; the list leaves that process out."""
    proc.write("4711/stat", b"4711 (demo) S 1 2 3\n")
    with pytest.raises(CollectError, match="/4711/stat cannot be understood"):
        _collect(proc)
    assert LinuxCollector(Options(), str(proc.path)).list_processes() == []


def test_missing_system_files_are_noted(proc: FakeProc) -> None:
    """A kernel without one of the settings, or with nonsense in it, costs that fact only."""
    (proc.path / "sys/vm/overcommit_ratio").unlink()
    proc.write("sys/vm/max_map_count", b"many\n")
    capture = LinuxCollector(Options(), str(proc.path)).take_capture()
    known = {item.item: (item.state, item.code) for item in capture.capability}
    assert known["overcommit_ratio"] == ("unavailable", errno.ENOENT)
    assert known["max_map_count"] == ("unavailable", None)
    assert not {"overcommit_ratio", "max_map_count"} & capture.system.keys()


def test_an_error_in_the_background_comes_out_in_front() -> None:
    """The second thread's error is raised where its result is asked for, and never lost."""

    def fail() -> int:
        raise OSError(errno.ESRCH, "gone")

    with Background(fail) as background:
        pass
    with pytest.raises(OSError, match="gone"):
        background.result()
