"""The collector with few rights: hidden processes, filters, namespaces, other proc roots; all of it real."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from mmpscope.formats.model import Snapshot
from support.collecting import collect, read_snapshots, run_sleeper, wait_until
from support.mmp_command import run_mmp

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make namespaces and mounts"),
    pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare of util-linux"),
]

_COLLECT = [sys.executable, "-m", "mmpscope.collector"]
_AS_NOBODY = """\
import ctypes, os, sys
from mmpscope.collector.__main__ import main
assert main(["--self", "-q", "-f", "-o", sys.argv[1]]) == 0  # a Python of root's own is imported from as root
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(main(sys.argv[2:]))
"""
_LOWEST = """\
import ctypes, os, subprocess, sys
from mmpscope.collector.__main__ import main
assert main(["--self", "-q", "-f", "-o", sys.argv[1]]) == 0  # a Python of root's own is imported from as root
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
number = 0
while libc.prctl(24, number, 0, 0, 0) == 0:  # PR_CAPBSET_DROP
    number += 1
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
rights = [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
assert set("".join(rights)) == {"0"}, rights
with subprocess.Popen(["sleep", "1000"]) as child:
    code = main([str(child.pid), *sys.argv[2:]])
    child.kill()
sys.exit(code)
"""
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_WITHOUT_PTRACE = """\
import ctypes, os, struct, sys
number = {"x86_64": 101, "aarch64": 117}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0, os.strerror(ctypes.get_errno())
from mmpscope.collector.__main__ import main
"""


def _run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)


def _find(snapshot: Snapshot, item: str) -> tuple[str, int | None, str]:
    [known] = [known for known in snapshot.capability if known.item == item]
    return known.state, known.code, str(known.reason)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that everybody may write to; those of pytest are closed to others, again and again."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.parametrize("level", [1, 2])
def test_under_hidepid_others_are_said_to_be_hidden(level: int, open_folder: Path) -> None:
    """A process that the mount hides is told from one that is not there, and our own is collected."""
    with run_sleeper() as sleeper:
        script = (
            f"mount -t proc -o hidepid={level} none /proc && "
            f'"$0" -c "$1" {open_folder}/warm {sleeper.pid} -o {open_folder}/a.mmp; code=$?; '
            f'"$0" -c "$1" {open_folder}/warm --self -q -o {open_folder}/own.mmp || exit 9; exit $code'
        )
        run = _run("unshare", "-m", "sh", "-c", script, sys.executable, _AS_NOBODY)
    assert run.returncode == 3, run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert "(hidepid)" in run.stderr
    assert [path.name for path in open_folder.glob("*.mmp")] == ["own.mmp"]
    assert len(read_snapshots(open_folder / "own.mmp")) == 1


def test_where_ptrace_is_filtered_a_snapshot_is_taken_without_a_hold(tmp_path: Path) -> None:
    """A seccomp filter that forbids ptrace costs the hold, with its reason, and nothing else."""
    output = tmp_path / "a.mmp"
    start = f"{_WITHOUT_PTRACE}sys.exit(main(sys.argv[1:]))"
    with run_sleeper() as sleeper:
        run = _run(sys.executable, "-c", start, sleeper.pid, "--freeze", "-o", output)
    assert run.returncode == 0, run.stderr
    [snapshot] = read_snapshots(output)
    state, code, reason = _find(snapshot, "freeze")
    assert (state, code) == ("unavailable", 1)
    assert "ptrace is refused: operation not permitted (EPERM)" in reason
    assert "seccomp" in reason
    assert run.stderr.count("\n") == 1
    assert "was not held, and ran on while it was read: ptrace is refused" in run.stderr
    assert _find(snapshot, "smaps")[0] == "ok"


def test_in_a_user_namespace_its_own_are_collected_and_others_refused(open_folder: Path) -> None:
    """Root of a user namespace is no root outside: the refusal says so; what it started is held and read."""
    output = open_folder / "in.mmp"
    with run_sleeper() as sleeper:
        run = _run("unshare", "-Ur", *_COLLECT, sleeper.pid, "-o", open_folder / "out.mmp")
        assert run.returncode == 3
        assert "Root may not: it lacks CAP_SYS_PTRACE (a container)" in run.stderr
        words = f'"$0" -m mmpscope.collector $! --freeze -q -o {output}'
        inside = f"sleep 1000 & {words}; code=$?; kill $!; exit $code"
        run = _run("unshare", "-Ur", "sh", "-c", inside, sys.executable)
    assert run.returncode == 0, run.stderr
    [snapshot] = read_snapshots(output)
    assert (_find(snapshot, "freeze")[0], _find(snapshot, "smaps")[0]) == ("ok", "ok")


@pytest.fixture
def chroot_proc(tmp_path: Path) -> Iterator[Path]:
    """Give the proc file system of a chroot."""
    folder = tmp_path / "root" / "proc"
    folder.mkdir(parents=True)
    if _run("mount", "-t", "proc", "proc", folder).returncode != 0:
        pytest.skip("no proc file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_the_proc_of_a_chroot_is_as_good_as_ours(chroot_proc: Path, tmp_path: Path) -> None:
    """The same process through both mounts has the same map and counters, and can be held."""
    with run_sleeper() as sleeper:
        for name, root in (("ours", "/proc"), ("theirs", chroot_proc)):
            run = collect(sleeper.pid, "--proc", root, "--freeze", "-o", tmp_path / f"{name}.mmp")
            assert (run.returncode, run.stderr) == (0, "")
    [ours], [theirs] = (read_snapshots(tmp_path / f"{name}.mmp") for name in ("ours", "theirs"))
    assert ours.tables["regions"].rows == theirs.tables["regions"].rows
    assert ours.process["smaps_rollup"]["Rss"] == theirs.process["smaps_rollup"]["Rss"]
    assert _find(theirs, "freeze")[0] == "ok"


def _find_children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_pid_of_a_container_is_never_taken_for_one_of_ours(tmp_path: Path) -> None:
    """Through a container's proc its pid 1 is read; held it is not, as our pid 1 is another process."""
    container = subprocess.Popen(["unshare", "-pfm", "--mount-proc", "sleep", "1000"])
    try:
        wait_until(lambda: bool(_find_children(container.pid)))
        [child] = _find_children(container.pid)
        wait_until(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")
        run = collect(1, "--proc", f"/proc/{child}/root/proc", "--freeze", "-o", tmp_path / "a.mmp")
    finally:
        subprocess.run(["pkill", "-KILL", "-P", str(container.pid)], check=False)
        container.wait()
    assert run.returncode == 0, run.stderr
    [snapshot] = read_snapshots(tmp_path / "a.mmp")
    assert snapshot.process["name"] in ("sleep", b"sleep")
    state, _, reason = _find(snapshot, "freeze")
    assert (state, reason) == ("not applicable", "its proc root has other pids than our own system calls")


def test_all_of_many_processes_are_held_one_after_the_other(tmp_path: Path) -> None:
    """Of a hundred in a pid namespace each is in the file and was held; we ourselves cannot be."""
    output = tmp_path / "all.mmp"
    inside = (
        "for i in $(seq 100); do sleep 1000 & done; "
        f'"$0" -m mmpscope.collector --all --freeze -q -o {output}; code=$?; kill $(jobs -p); exit $code'
    )
    run = _run("unshare", "-pfm", "--mount-proc", "--kill-child", "sh", "-c", inside, sys.executable)
    assert run.returncode == 0, run.stderr
    snapshots = read_snapshots(output)
    sleepers = [one for one in snapshots if one.process["name"] in ("sleep", b"sleep")]
    assert len(sleepers) == 100
    assert {_find(one, "freeze")[0] for one in sleepers} == {"ok"}
    others = [_find(one, "freeze")[0] for one in snapshots if one not in sleepers]
    assert sorted(others) == ["not applicable", "ok"]  # the collector, and the shell


if _YAMA.exists():  # nothing can give it to a kernel that was built without; its words: test_collector_denied

    def test_yama_is_named_where_the_kernel_has_it(open_folder: Path) -> None:
        """With ptrace_scope 1 nobody but an ancestor or root may hold, and the reason says so."""
        before = _YAMA.read_text()
        script = "import os\nos.setgid(65534)\nos.setuid(65534)\nos.execvp('sleep', ['sleep', '1000'])"
        sleeper = subprocess.Popen([sys.executable, "-c", script])
        output = open_folder / "a.mmp"
        try:
            wait_until(lambda: Path(f"/proc/{sleeper.pid}/comm").read_text() == "sleep\n")
            _YAMA.write_text("1")
            words = [sys.executable, "-c", _AS_NOBODY, open_folder / "warm", sleeper.pid]
            run = _run(*words, "--freeze", "-o", output)
        finally:
            _YAMA.write_text(before)
            sleeper.kill()
            sleeper.wait()
        assert run.returncode == 0, run.stderr
        [snapshot] = read_snapshots(output)
        state, _, reason = _find(snapshot, "freeze")
        assert _find(snapshot, "smaps")[0] == "ok"
        assert (state, "kernel.yama.ptrace_scope is 1" in reason) == ("unavailable", True)


def test_the_lowest_rights_are_enough_for_a_child_of_ours(open_folder: Path) -> None:
    """Nobody, without capabilities or a way to any: map, counters, threads and the hold of a child are had.

    As under `setpriv --reuid nobody --no-new-privs --bounding-set=-all --inh-caps=-all`, which cannot start a
    Python that only root may read.
    """
    output = open_folder / "a.mmp"
    run = _run(sys.executable, "-c", _LOWEST, open_folder / "warm", "--freeze", "-o", output)
    assert (run.returncode, run.stderr) == (0, "")
    [snapshot] = read_snapshots(output)
    assert snapshot.process["name"] in ("sleep", b"sleep")
    assert snapshot.process["uid"] == 65534
    for item in ("maps", "smaps", "smaps_rollup", "threads", "modules", "freeze"):
        assert _find(snapshot, item)[0] == "ok", item


def test_a_read_only_folder_is_one_sentence(tmp_path: Path) -> None:
    """Nothing is asked of the process where nothing could be kept, and the exit code is 3."""
    folder = tmp_path / "locked"
    folder.mkdir()
    if _run("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        run = collect("--self", "-o", folder / "a.mmp")
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    assert run.returncode == 3
    assert run.stderr == (
        f"mmp-collect: {folder}/a.mmp: it cannot be created (Read-only file system). Name another file.\n"
    )


def test_what_a_hold_and_a_collector_cost_is_told(tmp_path: Path) -> None:
    """`-v` ends with what we used and wrote, `mmp info` tells for how long the process was held."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        run = collect(sleeper.pid, "--freeze", "-v", "-o", output)
    last = run.stderr.splitlines()[-1]
    words = r"mmp-collect: used \d+\.\d\d s of processor, \d+\.\d MiB of memory; (.*) has (\d+) bytes"
    match = re.fullmatch(words, last)
    assert match is not None, last
    assert (match[1], int(match[2])) == (str(output), output.stat().st_size)
    told = run_mmp("info", output).out
    assert re.search(
        r"read in [\d,.]+ ms, held still for [\d,.]+ ms, and the map did not\s+change meanwhile", told
    )
