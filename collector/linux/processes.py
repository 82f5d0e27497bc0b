"""The list of running processes: small files only, and none that makes the kernel walk page tables."""

from __future__ import annotations

import pwd
import re
import struct

from mmpscope.collector.base import ProcessRow
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.formats.proc.stat_line import parse_stat

__all__ = ["list_processes", "tell_elf_class"]

_MAX_CMDLINE = 64 * 1024
_STATUS_LINE = re.compile(rb"^(Uid|VmSize|VmRSS|RssAnon|VmSwap):\s*(\d+)", re.MULTILINE)


class _Users:
    """Names of users, each asked for once: a directory service may be behind the question."""

    def __init__(self) -> None:
        self._names: dict[int, str | None] = {}

    def name(self, uid: int) -> str | None:
        if uid not in self._names:
            try:
                self._names[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._names[uid] = None
        return self._names[uid]


def list_processes(root: ProcDir, *, command_lines: bool = False) -> list[ProcessRow]:
    """List every process that is visible, by pid; one that ends meanwhile, or is hidden, is left out.

    ``private`` is RssAnon + VmSwap of status: Private_Clean + Private_Dirty of smaps_rollup would hold up
    every process of the machine for a walk of its page tables. Kernels before 4.5 do not split RSS: None
    there.
    """
    users = _Users()
    rows = []
    for pid in root.list_numbers():
        try:
            with ProcDir(str(pid), root) as process:
                rows.append(_read_row(process, pid, users, command_lines=command_lines))
        except (OSError, ValueError):
            continue  # gone, or hidden: hidepid=1 shows the directory and refuses what is in it
    return rows


def _read_row(process: ProcDir, pid: int, users: _Users, *, command_lines: bool) -> ProcessRow:
    stat = parse_stat(process.read("stat"))
    status = {key: int(value) for key, value in _STATUS_LINE.findall(process.read("status"))}
    sizes = {key: value * 1024 for key, value in status.items()}
    anonymous, uid = sizes.get(b"RssAnon"), status.get(b"Uid")
    return ProcessRow(
        pid=pid,
        ppid=stat.numbers["ppid"],
        name=stat.comm,
        uid=uid,
        user=None if uid is None else users.name(uid),
        threads=stat.numbers["num_threads"],
        rss=sizes.get(b"VmRSS"),
        private=None if anonymous is None else anonymous + sizes.get(b"VmSwap", 0),
        starttime=stat.starttime,
        elf_class=_try_elf_class(process),
        cmdline=process.read("cmdline", _MAX_CMDLINE) if command_lines else None,
        executable=_try_executable(process),
        has_memory=b"VmSize" in sizes,
    )


def _try_elf_class(process: ProcDir) -> int | None:
    try:
        return tell_elf_class(process.read("auxv"))
    except OSError:
        return None


def tell_elf_class(auxv: bytes) -> int | None:
    """Tell 32 or 64 bit from the width of the auxiliary vector's entries; None where it is empty.

    Asks no file system, unlike the header of the executable. Types are small numbers (getauxval(3)); two
    32-bit words read as one type are large unless the value among them is 0, so all types are looked at.
    """
    types = [kind for kind, _ in struct.iter_unpack("=QQ", auxv[: len(auxv) // 16 * 16])]
    if not types:
        return None
    return 32 if any(kind >> 32 for kind in types) else 64


def _try_executable(process: ProcDir) -> bytes | None:
    """Tell the base name of the executable, or of the first argument where we may not see the executable."""
    try:
        return process.read_link("exe").rpartition(b"/")[2]
    except OSError:
        first = process.read("cmdline", 4096).partition(b"\0")[0]
        return first.rpartition(b"/")[2] or None
