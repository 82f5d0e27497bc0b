"""The small files of one process: names, limits, cgroup, personality, and where its address space ends."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import partial
from typing import Callable

from mmpscope.collector.linux.cgroup import find_cgroup, read_cgroup
from mmpscope.collector.linux.processes import tell_elf_class
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import Recorder
from mmpscope.formats.mmp.columns import Plain
from mmpscope.formats.model import Fact, Facts
from mmpscope.formats.proc.elf import name_machine, read_identity
from mmpscope.formats.proc.facts import parse_auxv, parse_cmdline, parse_limits, to_fact
from mmpscope.formats.proc.space import GATES, task_size

__all__ = ["find_range", "read_facts"]

_NAMESPACE = re.compile(rb"\w+:\[(\d+)\]")


def read_facts(process: ProcDir, mountinfo: Callable[[], bytes], recorder: Recorder) -> Facts:
    """Read exe, cmdline, limits, elf, auxv, cgroup, personality and pid_namespace; refusals are noted."""
    return recorder.gather(
        {
            "exe": lambda: to_fact(process.read_link("exe")),
            "cmdline": lambda: parse_cmdline(process.read("cmdline")),
            "limits": lambda: parse_limits(process.read("limits")),
            "elf": partial(_read_elf, process),
            "auxv": partial(_read_auxv, process),
            "cgroup": lambda: read_cgroup(find_cgroup(process.read("cgroup"), mountinfo())),
            "personality": lambda: int(process.read("personality"), 16),
            "pid_namespace": partial(_read_namespace, process),
        }
    )


def _read_elf(process: ProcDir) -> Facts:
    identity = read_identity(process.read("exe", 64))
    return {"class": identity.elf_class, "machine": name_machine(identity.machine)}


def _read_auxv(process: ProcDir) -> Facts:
    data = process.read("auxv")
    elf_class = tell_elf_class(data)
    if elf_class is None:
        raise ValueError("it is empty")
    return parse_auxv(data, elf_class, "little" if sys.byteorder == "little" else "big")


def _read_namespace(process: ProcDir) -> int:
    match = _NAMESPACE.fullmatch(process.read_link("ns/pid"))
    if match is None:
        raise ValueError("the link names no namespace")
    return int(match[1])


def find_range(process: Facts, columns: Mapping[str, Plain], host: Facts, min_address: Fact) -> Facts:
    """Tell the range that the process can use: start, end (half-open) and the source of both.

    ``columns`` are those of the regions. ValueError where class, machine or `mmap_min_addr` are not known.
    """
    elf_class = process.get("elf", {}).get("class")
    if elf_class is None or not isinstance(min_address, int):
        raise ValueError("ELF class or mmap_min_addr are not known")
    machine, page_size = str(host["machine"]), host["page_size"]
    space = task_size(elf_class, machine, process.get("personality", 0), page_size, _find_highest(columns))
    if space is None:
        raise ValueError(f"no rule for {machine}")
    return {"start": min_address, "end": space.end, "source": f"vm.mmap_min_addr; {space.source}"}


def _find_highest(columns: Mapping[str, Plain]) -> int:
    """Find the end of the highest region that is no gate; the kernel lists them by address."""
    starts, sizes, paths = (columns[name].values for name in ("start", "size", "path"))
    for row in reversed(range(len(starts))):
        if paths[row] not in GATES:
            return int(starts[row] + sizes[row])
    return 0
