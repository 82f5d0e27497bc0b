"""A made /proc of many processes, as small as it may be on a disk: what they have in common is linked.

No kernel counts pages behind it: what is measured on it is the collector's own work.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["make_crowded_proc"]

_LINKS = 60_000
"""ext4 lets a file have 65,000 names."""
_FIRST_PID = 1000
_COUNTERS = b"""\
Size:                132 kB
Rss:                  12 kB
Pss:                  12 kB
Private_Dirty:        12 kB
Anonymous:            12 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac """
_SYSTEM = {"meminfo": "MemTotal: 16303428 kB\n", "sys/vm/max_map_count": "65530\n", "self/mountinfo": ""}
_STATUS = """\
Name:\tdemo
Tgid:\t{pid}
Pid:\t{pid}
Uid:\t1000\t0\t0\t0
Gid:\t1000\t0\t0\t0
VmSize:\t396 kB
VmRSS:\t36 kB
RssAnon:\t36 kB
VmSwap:\t0 kB
Threads:\t1
"""


def make_crowded_proc(folder: Path, processes: int, regions: int = 3) -> Path:
    """Make the proc root of so many sleeping processes of so many mappings; what `--proc` takes."""
    root = folder / "proc"
    for name, text in _SYSTEM.items():
        _write(root / name, text.encode())
    for number in range(processes):
        if number % _LINKS == 0:
            common = _make_common(folder / f"common-{number}", regions)
        _make_process(root / str(_FIRST_PID + number), _FIRST_PID + number, common)
    return root


def _make_common(folder: Path, regions: int) -> Path:
    """Make the files that are the same for all; each has one thread, of number 1."""
    starts = [number << 32 for number in range(1, regions + 1)]
    lines = [b"%x-%x rw-p 00000000 00:00 0 " % (start, start + 0x21000) for start in starts]
    rollup = b"100000000-7fff00000000 ---p 00000000 00:00 0    [rollup]\nRss: %d kB\n" % (12 * regions)
    files = {
        "maps": b"\n".join(lines) + b"\n",
        "smaps": b"".join(b"%s\n%s\n" % (line, _COUNTERS) for line in lines),
        "smaps_rollup": rollup,
        "limits": b"Limit                     Soft Limit           Hard Limit           Units     \n",
        "auxv": (6).to_bytes(8, "little") + (4096).to_bytes(8, "little") + bytes(16),
        "cgroup": b"0::/\n",
        "cmdline": b"/usr/bin/demo\0",
        "personality": b"00000000\n",
        "task/1/stat": _format_stat(1),
        "task/1/syscall": b"0 0x3 0x1 0x2 0x0 0x0 0x0 0x1000f00 0x401234\n",
    }
    for name, data in files.items():
        _write(folder / name, data)
    return folder


def _make_process(folder: Path, pid: int, common: Path) -> None:
    folder.mkdir()
    _write(folder / "stat", _format_stat(pid))
    _write(folder / "status", _STATUS.format(pid=pid).encode())
    for path in common.iterdir():
        if path.is_dir():
            (folder / path.name).symlink_to(path)
        else:
            os.link(path, folder / path.name)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _format_stat(pid: int) -> bytes:
    """Write a line of proc_pid_stat(5) of one thread, that began at 5000 and has a program."""
    numbers = [0] * 49
    for at, value in {0: 1, 5: 0x400000, 16: 1, 18: 5000, 22: 0x401000}.items():
        numbers[at] = value
    return b"%d (demo) S %s\n" % (pid, " ".join(map(str, numbers)).encode())
