"""A proc file system built by hand in a folder: what a kernel would print, and what it refuses to."""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mmpscope.collector.linux.procfs import ProcDir

__all__ = ["BOOT_ID", "FakeProc", "FakeProcess", "SMAPS", "make_auxv", "refuse", "vanish_after"]

BOOT_ID = "6d1c6a4e-1111-2222-3333-444455556666"
SMAPS = b"""\
00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/demo
Size:                328 kB
Rss:                 120 kB
Pss:                  60 kB
Swap:                  0 kB
THPeligible:           0
VmFlags: rd ex mr mw me~
01000000-01021000 rw-p 00000000 00:00 0                                  [heap]
Size:                132 kB
Rss:                   8 kB
Pss:                   8 kB
Swap:                  4 kB
THPeligible:           1
VmFlags: rd wr mr mw me ac~
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
Size:                132 kB
Rss:                  12 kB
Pss:                  12 kB
Swap:                  0 kB
THPeligible:           0
VmFlags: rd wr mr mw me gd ac~
""".replace(b"~", b" ")  # the kernel ends the line with a blank
_ROLLUP = b"""\
00400000-7ffd00021000 ---p 00000000 00:00 0                          [rollup]
Rss:                 140 kB
"""
_LIMITS = b"""\
Limit                     Soft Limit           Hard Limit           Units~
Max stack size            8388608              unlimited            bytes~
Max address space         unlimited            unlimited            bytes~
""".replace(b"~", b"     ")
_SYSTEM = {
    "meminfo": "MemTotal:       16303428 kB\nHugePages_Total:       2\n",
    "self/mountinfo": "",
    "sys/kernel/hostname": "demo\n",
    "sys/kernel/osrelease": "6.1.0-demo\n",
    "sys/kernel/version": "#1 SMP\n",
    "sys/kernel/random/boot_id": BOOT_ID + "\n",
    "sys/vm/max_map_count": "65530\n",
    "sys/vm/mmap_min_addr": "65536\n",
    "sys/vm/overcommit_memory": "0\n",
    "sys/vm/overcommit_ratio": "50\n",
    "sys/vm/overcommit_kbytes": "0\n",
}


def make_auxv(pairs: dict[int, int], elf_class: int = 64) -> bytes:
    """Write an auxiliary vector of native byte order, closed by AT_NULL."""
    pair = struct.Struct("=QQ" if elf_class == 64 else "=II")
    return b"".join(pair.pack(*item) for item in [*pairs.items(), (0, 0)])


def _strip_counters(smaps: bytes) -> bytes:
    lines = smaps.splitlines(keepends=True)
    return b"".join(
        line for line in lines if not line.partition(b":")[0].isalpha() and b"-" in line.split()[0]
    )


@dataclass
class FakeProcess:
    """What one process looks like; change a field before it is written."""

    pid: int = 4711
    comm: bytes = b"demo"
    state: str = "S"
    ppid: int = 1
    uid: int = 1000
    flags: int = 0x400000
    starttime: int = 5000
    threads: int = 1
    smaps: bytes = SMAPS
    maps: bytes | None = None
    rss_kb: int | None = 140
    cmdline: bytes = b"/usr/bin/demo\0--fast\0"
    cgroup: bytes = b"0::/\n"
    auxv: bytes = field(default_factory=lambda: make_auxv({6: 4096, 9: 0x401000, 16: 0xBFEBFBFF}))

    def format_stat(self, tid: int | None = None) -> bytes:
        """Write the stat line of the process, or of one of its threads."""
        numbers = [0] * 49
        for position, value in {
            0: self.ppid,
            5: self.flags,
            16: self.threads,
            18: self.starttime,
            22: 0x401000,
        }.items():
            numbers[position] = value
        head = b"%d (%s) %s " % (tid or self.pid, self.comm, self.state.encode())
        return head + " ".join(map(str, numbers)).encode() + b"\n"

    def format_status(self) -> bytes:
        """Write the status file; a kernel thread or a zombie has no Vm lines."""
        lines = [
            f"State:\t{self.state} (demo)",
            f"Tgid:\t{self.pid}",
            f"Pid:\t{self.pid}",
            f"PPid:\t{self.ppid}",
        ]
        lines += [f"Uid:\t{self.uid}\t0\t0\t0", f"Gid:\t{self.uid}\t0\t0\t0"]
        if self.rss_kb is not None:
            lines += [
                "VmSize:\t     592 kB",
                f"VmRSS:\t{self.rss_kb:8d} kB",
                "RssAnon:\t      20 kB",
                "VmSwap:\t       4 kB",
            ]
        return b"Name:\t" + self.comm + b"\n" + "\n".join(lines).encode() + b"\n"


class FakeProc:
    """A proc root below ``folder``; ``path`` is what `--proc` takes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "proc"
        self._disk = folder / "disk"
        (self._disk / "usr/bin").mkdir(parents=True)
        for name, text in _SYSTEM.items():
            self.write(name, text.encode())

    def write(self, name: str, data: bytes) -> None:
        """Write one file, and the directories on the way to it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def add(self, process: FakeProcess) -> ProcDir:
        """Write a process and give its directory, open."""
        pid = process.pid
        maps = _strip_counters(process.smaps) if process.maps is None else process.maps
        files = {
            "stat": process.format_stat(),
            "status": process.format_status(),
            "smaps": process.smaps,
            "maps": maps,
            "smaps_rollup": _ROLLUP,
            "limits": _LIMITS,
            "auxv": process.auxv,
            "cgroup": process.cgroup,
            "cmdline": process.cmdline,
            "personality": b"00000000\n",
            f"task/{pid}/stat": process.format_stat(),
            f"task/{pid}/syscall": b"0 0x3 0x1 0x2 0x0 0x0 0x0 0x7ffd00020f00 0x401234\n",
        }
        for name, data in files.items():
            self.write(f"{pid}/{name}", data)
        (self.path / f"{pid}/ns").mkdir()
        (self.path / f"{pid}/ns/pid").symlink_to("pid:[4026531836]")
        (self.path / f"{pid}/root").symlink_to(self._disk)
        self.write_executable(b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, 62))
        (self.path / f"{pid}/exe").symlink_to(self._disk / "usr/bin/demo")
        return ProcDir(str(self.path / str(pid)))

    def write_executable(self, data: bytes) -> os.stat_result:
        """Write what the processes run, and tell its identity."""
        path = self._disk / "usr/bin/demo"
        path.write_bytes(data)
        return path.stat()


def refuse(monkeypatch: pytest.MonkeyPatch, code: int, *names: str) -> None:
    """Let reading these files of a process fail as in the kernel: permissions do not hold root back."""
    read = ProcDir.read

    def read_or_refuse(self: ProcDir, name: str, size: int = -1) -> bytes:
        if name.rpartition("/")[2] in names:
            raise OSError(code, os.strerror(code), name)
        return read(self, name, size)

    monkeypatch.setattr(ProcDir, "read", read_or_refuse)


def vanish_after(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let a process end while ``name`` is read: that comes out cut, and everything after it is gone."""
    read = ProcDir.read
    gone: list[bool] = []

    def read_until_gone(self: ProcDir, wanted: str, size: int = -1) -> bytes:
        if gone:
            raise OSError(errno.ESRCH, os.strerror(errno.ESRCH))
        data = read(self, wanted, size)
        if wanted == name:
            gone.append(True)
            return data[: len(data) // 2]
        return data

    monkeypatch.setattr(ProcDir, "read", read_until_gone)
