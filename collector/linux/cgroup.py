"""The memory figures of the cgroup that a process is in, and the limits of all levels above it.

Version 1, version 2 and hybrid systems (both are mounted) are told apart by where the memory controller is.
Own figures keep the kernel's names. A limit of any level above binds too, so all are listed up to the root.
"""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import NamedTuple

from mmpscope.collector.recorder import NotApplicableError
from mmpscope.formats.model import Fact, Facts
from mmpscope.formats.proc.facts import parse_membership, to_fact

__all__ = ["Cgroup", "CgroupError", "find_cgroup", "read_cgroup"]

_V2_FILES = (
    "memory.current", "memory.peak", "memory.min", "memory.low", "memory.high", "memory.max",
    "memory.swap.current", "memory.swap.high", "memory.swap.max", "memory.oom.group",
)  # fmt: skip
_V1_FILES = (
    "memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.limit_in_bytes",
    "memory.soft_limit_in_bytes", "memory.memsw.usage_in_bytes", "memory.memsw.limit_in_bytes",
    "memory.failcnt", "memory.swappiness", "memory.use_hierarchy",
)  # fmt: skip
_LIMIT = {2: "memory.max", 1: "memory.limit_in_bytes"}
_USAGE = {2: "memory.current", 1: "memory.usage_in_bytes"}
_V1_NO_LIMIT = (1 << 63) - (1 << 16)
"""Version 1 writes "no limit" as the largest page count in bytes: 9223372036854771712 with pages of 4 KiB,
9223372036854710272 with pages of 64 KiB."""
_MAX_LEVELS = 64
_MAX_FILE = 64 * 1024


class CgroupError(ValueError):
    """The memory cgroup cannot be found from here; the text says why."""


class Cgroup(NamedTuple):
    """Where the memory files of one process are; ``path`` is below the ``mount`` point."""

    version: int
    path: str
    mount: str


def find_cgroup(membership: bytes, mountinfo: bytes) -> Cgroup:
    """Find the memory cgroup from `/proc/PID/cgroup` and our own `mountinfo`.

    NotApplicableError where the process is in none, CgroupError where its cgroup is not seen from here.
    """
    paths = parse_membership(membership)
    if not paths:
        raise NotApplicableError("the process is in no memory cgroup")
    version = 1 if 1 in paths else 2  # a memory line of version 1 means that version 2 does not have it
    for root, mount in _list_mounts(os.fsdecode(mountinfo), version):
        inside = _strip_root(paths[version], root)
        if inside is not None:
            return Cgroup(version, inside, mount)
    raise CgroupError(f"no mount of cgroup version {version} shows {paths[version]}")


def _list_mounts(mountinfo: str, version: int) -> list[tuple[str, str]]:
    """List (root, mount point) of the mounts that carry the memory controller, proc_pid_mountinfo(5)."""
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) < 5 or not right:
            continue
        is_v1 = right[0] == "cgroup" and "memory" in right[-1].split(",")
        if is_v1 if version == 1 else right[0] == "cgroup2":
            found.append((_unescape(left[3]), _unescape(left[4])))
    return found


def _unescape(text: str) -> str:
    """Undo the octal escapes of mountinfo: a blank is written as `\\040`."""
    for code in ("040", "011", "012", "134"):
        text = text.replace("\\" + code, chr(int(code, 8)))
    return text


def _strip_root(path: str, root: str) -> str | None:
    """Tell the path below a mount of ``root``; None where the mount does not show it.

    In a container the mount shows a part of the tree only, and a path that starts with `/..` lies outside of
    it.
    """
    if path.startswith("/.."):
        return None
    if root == "/":
        return path
    if path == root or path.startswith(root + "/"):
        return path[len(root) :] or "/"
    return None


def read_cgroup(where: Cgroup) -> Facts:
    """Read the memory files of one cgroup and the limit and usage of every level up to the root.

    Numbers in bytes, None for "max"; a file that this kernel or level does not have is absent. `limit` is the
    smallest limit of all levels. CgroupError where there is none of these files.
    """
    own = _join(where.mount, where.path)
    facts: Facts = {"path": to_fact(os.fsencode(where.path)), "version": where.version}
    for name in _V2_FILES if where.version == 2 else _V1_FILES:
        if (text := _read(own, name)) is not None:
            facts[name] = _parse_number(text)
    if (text := _read(own, "memory.stat")) is not None:
        facts["memory.stat"] = _parse_stat(text)
    if not any(name.startswith("memory.") for name in facts):
        raise CgroupError(f"{own} shows no memory figures")
    # Without this switch of version 1 the limits above do not bind.
    facts["levels"] = _list_levels(where, 1 if facts.get("memory.use_hierarchy") == 0 else _MAX_LEVELS)
    limits = [level["limit"] for level in facts["levels"] if level["limit"] is not None]
    facts["limit"] = min(limits, default=None)
    return facts


def _list_levels(where: Cgroup, count: int) -> list[Facts]:
    levels: list[Facts] = []
    path = where.path
    for _ in range(count):
        directory = _join(where.mount, path)
        limit = _read(directory, _LIMIT[where.version])
        usage = _read(directory, _USAGE[where.version])
        levels.append(
            {
                "path": to_fact(os.fsencode(path)),
                "limit": None if limit is None else _drop_no_limit(_parse_number(limit)),
                "usage": None if usage is None else _parse_number(usage),
            }
        )
        if path == "/":
            break
        path = posixpath.dirname(path)
    return levels


def _drop_no_limit(number: Fact) -> Fact:
    return None if isinstance(number, int) and number >= _V1_NO_LIMIT else number


def _join(mount: str, path: str) -> str:
    return mount.rstrip("/") + path.rstrip("/")


def _read(directory: str, name: str) -> str | None:
    try:
        with Path(directory, name).open("rb") as file:
            return os.fsdecode(file.read(_MAX_FILE))
    except OSError:
        return None


def _parse_number(text: str) -> Fact:
    text = text.strip()
    if text.isdigit():
        return int(text)
    return None if text == "max" else text


def _parse_stat(text: str) -> Facts:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: _parse_number(pair[1]) for pair in pairs if len(pair) == 2}
