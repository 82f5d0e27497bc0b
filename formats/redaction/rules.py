"""The one table that says what each fact and each column of text is, and so what redaction makes of it.

Whatever is not here is left out: a fact, a column or a table of a newer version, or of another program.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Union

from mmpscope.formats.redaction import known_facts as known

__all__ = ["COLUMNS", "FACTS", "FRAMES", "ITEMS", "LEFT_OUT", "NUMBERS", "Kind", "Rule"]


class Kind(enum.Enum):
    """What a fact or a column is."""

    NUMBER = "a number that stays"
    ADDRESS = "an address of the process"
    END = "the first address behind something"
    BASE = "what is added to the addresses that a file has for itself, to get those of the process"
    KERNEL = "an address of the kernel where it is not 0 or 1"
    INODE = "a number that identifies a file, or what is its like; 0 is none"
    ACCOUNT_ID = "the number of an account; those of the system stay"
    BUILD = "a number by which one build of a program is known"
    PATH = "a path, or a name of memory"
    NAME = "the name of a file, program or thread"
    LABEL = "a word that a tool has for memory, or a path in its place"
    SENTENCE = "words of ours: a reason, where a range is from, the name of a format"
    VERSION = "name or version of a system, a program, a processor"
    ACCOUNT = "the name of an account"
    SID = "a security identifier"
    TOKEN = "a text that identifies something"  # noqa: S105  # no password
    ID = "an id in hex"
    MARKS = "a mask or a list of processors: digits and marks"
    CODES = "letters and signs of a fixed set, such as rights"
    ARGUMENTS = "a command line as a list of words"
    LINE = "a command line as one text"
    WORDS = "a command line as bytes, with a NUL behind each word"


Rule = Union[Kind, "dict[str, Rule]"]
"""What one fact is, or each key of a map; for a list what each item of it is."""


def _all(names: Iterable[str] | str, kind: Kind = Kind.NUMBER) -> dict[str, Rule]:
    """Give many names one rule; a text is names with blanks between them."""
    return dict.fromkeys(sorted(names.split() if isinstance(names, str) else names), kind)


_STATUS: dict[str, Rule] = {
    **_all(known.STATUS),
    **_all(("Uid", "Gid", "Groups"), Kind.ACCOUNT_ID),
    **_all(("Name",), Kind.NAME),
    **_all(("State", "Speculation_Store_Bypass", "SpeculationIndirectBranch"), Kind.SENTENCE),
    **_all("SigQ SigPnd ShdPnd SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapBnd CapAmb", Kind.MARKS),
    **_all("Umask Cpus_allowed Cpus_allowed_list Mems_allowed Mems_allowed_list", Kind.MARKS),
    "untag_mask": Kind.MARKS,
}
_CGROUP: dict[str, Rule] = {
    **_all(known.CGROUP),
    "path": Kind.PATH,
    "memory.stat": _all(known.MEMORY_STAT),
    "levels": {"path": Kind.PATH, "limit": Kind.NUMBER, "usage": Kind.NUMBER},
}
_PSINFO: dict[str, Rule] = {
    **_all("pr_pid pr_ppid pr_pgrp pr_sid pr_nice pr_flag"),
    **_all(("pr_uid", "pr_gid"), Kind.ACCOUNT_ID),
    "pr_sname": Kind.CODES,
    "pr_fname": Kind.NAME,
    "pr_psargs": Kind.LINE,
}
_MACOS: dict[str, Rule] = {
    **_all(("Code Type", "OS Version", "Report Version", "Platform", "Version"), Kind.VERSION),
    "Path": Kind.PATH,
}
_PROCESS: dict[str, Rule] = {
    **_all("pid ppid personality page_size bits page_table session priority_class"),
    **_all(("image_base", "peb"), Kind.ADDRESS),
    **_all("integrity wow64 start_time create_time user_time kernel_time signal handles"),
    **_all(("physical_footprint", "physical_footprint_peak")),
    **_all(("uid", "gid"), Kind.ACCOUNT_ID),
    "pid_namespace": Kind.INODE,
    "name": Kind.NAME,
    "exe": Kind.PATH,
    "cmdline": Kind.ARGUMENTS,
    "command": Kind.LINE,
    "status": _STATUS,
    "stat": {
        **_all(known.STAT),
        **_all(known.STAT_ADDRESSES, Kind.ADDRESS),
        "wchan": Kind.KERNEL,
        "comm": Kind.NAME,
        "state": Kind.CODES,
    },
    "smaps_rollup": _all(known.SMAPS),
    "limits": _all(known.LIMITS, Kind.SENTENCE),
    "auxv": {
        **_all(known.AUXV),
        **_all(known.AUXV_ADDRESSES, Kind.ADDRESS),
        **_all(("AT_UID", "AT_EUID", "AT_GID", "AT_EGID"), Kind.ACCOUNT_ID),
    },
    "elf": {"class": Kind.NUMBER, "machine": Kind.VERSION, "byte_order": Kind.VERSION},
    "cgroup": _CGROUP,
    "range": {"start": Kind.NUMBER, "end": Kind.NUMBER, "source": Kind.SENTENCE},
    "source": {
        **_all(("flags", "other_lines")),
        **_all(("format", "version"), Kind.SENTENCE),
        "member": Kind.PATH,
    },
    "sid": Kind.SID,
    "user": Kind.ACCOUNT,
    "build": Kind.VERSION,
    "times": _all(("start", "kernel", "user")),
    "memory_counters": _all(known.MEMORY_COUNTERS),
    "vm_counters": _all(known.MEMORY_COUNTERS),
    "job": {"in_job": Kind.NUMBER, "limits": _all(known.JOB_LIMITS)},
    "runtimes": {"name": Kind.SENTENCE, "base": Kind.ADDRESS, "version": Kind.VERSION},
    "psinfo": _PSINFO,
    "siginfo": _all(("si_signo", "si_code", "si_errno")),
    "vmmap": _MACOS,
}
_HOST: dict[str, Rule] = {
    **_all("page_size allocation_granularity clk_tck large_page_minimum processors product_type"),
    **_all(("lowest_user_address", "highest_user_address")),
    **_all("os kernel version machine os_release release", Kind.VERSION),
    **_all(("hostname", "boot_id"), Kind.TOKEN),
    "id": Kind.ID,
}
_SETTINGS = (
    "max_map_count mmap_min_addr overcommit_memory overcommit_ratio overcommit_kbytes uptime_ms realtime_ms"
)
_SYSTEM: dict[str, Rule] = {
    **_all(_SETTINGS),
    "meminfo": _all(known.MEMINFO),
    "performance": _all(known.PERFORMANCE),
}
_ITEMS = """
LinuxMaps MemoryInfoList LinuxAuxv LinuxEnviron allocations auxv bits boot_id capture cgroup cmdline elf
encoding environ exe handles heaps heap_blocks hostname id image_base integrity job kernel
large_page_minimum limits machine mapped_names maps max_map_count meminfo memory_counters min_addr
mmap_min_addr modules names os_release overcommit_kbytes overcommit_memory overcommit_ratio page_size
page_table parsing peb performance personality pid_namespace priority_class process processes rebase
processes.cmdline processes.rss processes.user range redaction regions regions.DIRTY regions.Name
regions.RSDNT regions.SWAP regions.VSIZE regions.device regions.inode regions.offset regions.path
regions.perms rows session sid smaps smaps_rollup snapshots source_text stat status system threads
threads.sp times totals totals.Size totals_by_type user version working_sets runtimes free malloc_zones
segments sections
"""
ITEMS = frozenset(
    {*_ITEMS.split(), "mapped names", "working set", "other elements", "modules.mtime_ns"}
    | {f"regions.{name}" for name in known.SMAPS}
)
"""What a reason can be given for, and what can have a cost."""

FRAMES = frozenset({"mmp", "capture", "snapshot", "note", "index", "end"})
"""Kinds of frames that are known (docs/format.md); notes are left out or kept, as is asked for."""

FACTS: dict[str, dict[str, Rule]] = {
    "process": _PROCESS,
    "host": _HOST,
    "system": _SYSTEM,
    "moment": {
        **_all("time_ns mono_ns read_ns map_moved Timestamp"),
        "cost": _all(ITEMS),
    },
}
"""The facts of a snapshot and its capture, key by key."""

_MODULES: dict[str, Kind] = {
    "path": Kind.PATH,
    "build_id": Kind.ID,
    "file_version": Kind.VERSION,
    "pdb": Kind.PATH,
    "reason": Kind.SENTENCE,
}
LEFT_OUT = (("modules", "mtime_ns"),)
"""Columns that answers show, and that would tell when a program was built or installed."""
COLUMNS: dict[str, dict[str, Kind]] = {
    "regions": {
        "path": Kind.PATH,
        "Name": Kind.PATH,
        "object": Kind.LABEL,
        **dict.fromkeys(("perms", "VmFlags", "PRT", "MAX", "SHRMOD", "PURGE"), Kind.CODES),
        **dict.fromkeys(("Usage", "Details", "VmmapType", "RegionType"), Kind.LABEL),
    },
    "allocations": {"VmmapType": Kind.LABEL, "Details": Kind.LABEL},
    "free": {"VmmapType": Kind.LABEL},
    "totals": {"name": Kind.LABEL},
    "totals_by_type": {"name": Kind.LABEL},
    "app_summary": {"name": Kind.LABEL},
    "malloc_zones": {"name": Kind.LABEL},
    "details": {"name": Kind.LABEL},
    "images": {"name": Kind.LABEL},
    "threads": {"name": Kind.NAME, "state": Kind.CODES},
    "modules": _MODULES,
    "unloaded_modules": _MODULES,
    "sections": {"name": Kind.LABEL},
    "segments": {},
    "heaps": {},
    "heap_blocks": {},
    "memory": {},
    "files": {"path": Kind.PATH},
    "processes": {"user": Kind.ACCOUNT, "name": Kind.NAME, "cmdline": Kind.WORDS},
}
"""The columns of text of every table."""

NUMBERS: dict[str, Kind] = {
    **dict.fromkeys(known.NUMBER_COLUMNS, Kind.NUMBER),
    **dict.fromkeys(known.ADDRESS_COLUMNS, Kind.ADDRESS),
    "high": Kind.END,
    "base": Kind.BASE,
    "inode": Kind.INODE,
    "uid": Kind.ACCOUNT_ID,
    "timestamp": Kind.BUILD,
    "checksum": Kind.BUILD,
}
"""The columns of numbers, which mean the same in every table."""
