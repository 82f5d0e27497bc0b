"""A captured /proc, as `smemcap` or `tar` makes it, in a folder or an archive: one capture of its processes.

What each process has is read when its snapshot is asked for; small files of all processes make the list of
processes. A process of which the map cannot be read is a snapshot that says so, and the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.formats.errors import FormatError, InputError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.model import Capability, Capture, Fact, Facts, Snapshot
from mmpscope.formats.proc.facts import parse_counters, parse_os_release, to_fact
from mmpscope.formats.proc.processes import COLUMNS, encode_processes
from mmpscope.formats.proc.reader import build_snapshot, build_totals, read_facts
from mmpscope.formats.proc.smaps import Regions, parse_smaps
from mmpscope.formats.source import Entry, Fault, ListedSource

if TYPE_CHECKING:
    from mmpscope.formats.containers.packed import TextBudget
    from mmpscope.formats.containers.tree import Tree

__all__ = ["is_proc_tree", "open_tree"]

_MAPS = ("smaps", "maps", "smaps_rollup")
_SMALL = ("stat", "status", "cmdline", "limits", "cgroup")
_NAME = re.compile(r"((?:.*/)?)(\d{1,10})/(" + "|".join((*_MAPS, *_SMALL)) + ")")
_THREADS = re.compile(r"(?:^|/)\d{1,10}/task/$")
_MAX_SMALL = 4 << 20
"""Bytes of a small file; the longest command line that a kernel takes has 2 MiB by default."""
_SETTINGS = ("max_map_count", "mmap_min_addr", "overcommit_memory", "overcommit_ratio", "overcommit_kbytes")
_VERSION = re.compile(rb"Linux version (\S+) [^\n]*?(#\d[^\n]*)")
_NOT_THERE = "it was not captured"


class _Process(NamedTuple):
    """What was captured of one process: the path of its folder, the files in it, and what small ones tell."""

    pid: int
    folder: str
    files: Sequence[str]
    facts: Facts


def is_proc_tree(names: Iterable[str]) -> bool:
    """Whether names of files are those of a captured /proc: `12/smaps` or `12/maps`, in whatever folder."""
    return any(match is not None and match[3] in _MAPS for match in map(_NAME.fullmatch, names))


def open_tree(tree: Tree, name: str, texts: TextBudget | None = None) -> ListedSource:
    """Open a captured /proc: a snapshot for each process, by pid, which share one capture.

    ``texts`` bounds the maps of a packed one; those beyond it are told. Folders with a /proc of their own, as
    of several machines, are captures of their own. The source's faults grow while snapshots are read.
    FormatError and InputError where the archive itself is damaged.
    """
    reader = _TreeReader(tree, texts)
    entries: list[Entry] = []
    reads = []
    for root, folders in _find_processes(tree.names).items():
        processes = [reader.read_process(root, pid, files) for pid, files in sorted(folders.items())]
        capture = reader.read_capture(root, processes)
        for process in processes:
            if _has_map(process.files):
                name_ = process.facts.get("name")
                shown = name_.decode("utf-8", "backslashreplace") if isinstance(name_, bytes) else name_
                entries.append(Entry(len(entries), process.pid, name=shown))
                reads.append(partial(reader.read_snapshot, process, capture))
    return ListedSource(name, "captured /proc", entries, reads, reader.faults)


def _find_processes(names: Iterable[str]) -> dict[str, dict[int, list[str]]]:
    """Find the files of each process: by the folder that its /proc is in, then by pid."""
    found: dict[str, dict[int, list[str]]] = {}
    for match in map(_NAME.fullmatch, names):
        if match is not None and not _THREADS.search(match[1]):
            found.setdefault(match[1], {}).setdefault(int(match[2]), []).append(match[3])
    return {root: each for root, each in found.items() if any(map(_has_map, each.values()))}


def _has_map(files: Sequence[str]) -> bool:
    return not set(_MAPS).isdisjoint(files)


class _TreeReader:
    def __init__(self, tree: Tree, texts: TextBudget | None) -> None:
        self.faults: list[Fault] = list(tree.faults)
        self._tree = tree
        self._texts = texts
        self._names = frozenset(tree.names)
        self._told: set[Fault] = set()

    def read_process(self, root: str, pid: int, files: Sequence[str]) -> _Process:
        """Read the small files of a process; a file that is damaged is left out, and noted."""
        folder = f"{root}{pid}/"
        data = {file: self._try_read(folder + file) for file in _SMALL if file in files}
        known = {file: content for file, content in data.items() if content is not None}
        try:
            facts = read_facts(known)
        except ValueError as error:
            self._note(folder + "stat", str(error))
            facts = read_facts({file: content for file, content in known.items() if file != "stat"})
        return _Process(pid, folder, files, {**facts, "pid": pid})

    def read_capture(self, root: str, processes: Sequence[_Process]) -> Capture:
        """Read what holds for the whole system: host, meminfo, settings, and the list of processes."""
        host: Facts = {"os": "linux", **self._read_host(root)}
        system: Facts = {}
        meminfo = self._try_read(root + "meminfo")
        if meminfo is not None:
            system["meminfo"] = parse_counters(meminfo)
        for name in _SETTINGS:
            text = self._try_read(f"{root}sys/vm/{name}")
            if text is not None and text.strip().isdigit():
                system[name] = int(text)
        items = ("hostname", "kernel", "os_release", "boot_id", "machine")  # each map tells its page size
        missing = [item for item in items if item not in host]
        missing += [item for item in ("meminfo", *_SETTINGS) if item not in system]
        capability = [Capability(item, "unavailable", None, _NOT_THERE) for item in missing]
        tables = {}
        rows = [_make_row(process) for process in processes if {"stat", "status"} & process.facts.keys()]
        if rows:
            tables["processes"] = encode_processes(
                {name: [row.get(name) for row in rows] for name in COLUMNS}, len(rows)
            )
            capability.append(Capability("processes.user", "unavailable", None, _NOT_THERE))
            if all(row["rss"] is None for row in rows):
                reason = "stat counts pages, and status was not captured"
                capability.append(Capability("processes.rss", "unavailable", None, reason))
        return Capture(host, system, {}, tables, capability)

    def _read_host(self, root: str) -> Facts:
        files = {
            "hostname": "sys/kernel/hostname",
            "kernel": "sys/kernel/osrelease",
            "version": "sys/kernel/version",
            "boot_id": "sys/kernel/random/boot_id",
        }
        texts = {item: self._try_read(root + file) for item, file in files.items()}
        host: Facts = {item: to_fact(text.strip()) for item, text in texts.items() if text is not None}
        match = _VERSION.match(self._try_read(root + "version") or b"")
        if match is not None:
            host = {"kernel": to_fact(match[1]), "version": to_fact(match[2]), **host}
        for file in (root + "etc/os-release", re.sub(r"proc/$", "etc/os-release", root)):
            release = parse_os_release(self._try_read(file) or b"")
            if release is not None:
                host["os_release"] = release
        return host

    def read_snapshot(self, process: _Process, capture: Capture) -> Snapshot:
        """Read one process: from smaps, else from maps, else the totals of its roll-up."""
        facts = dict(process.facts)
        rollup = self._try_read(process.folder + "smaps_rollup") if "smaps_rollup" in process.files else None
        if rollup:
            facts.update(read_facts({"smaps_rollup": rollup}))
        regions, refused = self._read_regions(process)
        if regions is not None:
            snapshot = build_snapshot(regions, facts, capture, _NOT_THERE)
        elif facts.get("smaps_rollup"):
            snapshot = build_totals(facts, capture, _NOT_THERE)
        else:
            missing = Capability("regions", "unavailable", None, "its map could not be read")
            snapshot = Snapshot(capture, facts, {}, {}, [missing])
        snapshot.capability += refused
        return snapshot

    def _read_regions(self, process: _Process) -> tuple[Regions | None, list[Capability]]:
        """Read the regions of a process; one without address space has an empty smaps, and an empty maps."""
        found: Regions | None = None
        refused: list[Capability] = []
        for file in ("smaps", "maps"):
            path = process.folder + file
            if file not in process.files or (found is not None and found.rows):
                continue
            try:
                text = self._tree.read(path, DEFAULT_LIMITS.table_raw_bytes)
                if self._texts is not None:
                    self._texts.take(path, [text])
                regions = parse_smaps(text)
            except (FormatError, InputError) as error:
                self._note(path, str(error))
                refused.append(Capability(file, "unavailable", None, str(error)))
                continue
            for fault in regions.faults:
                self._note(path, fault.what, fault.line)
            found = regions if regions.rows or found is None else found
        return found, refused

    def _try_read(self, path: str) -> bytes | None:
        """Read a small file; None where it is not there, or cannot be read."""
        if path not in self._names:
            return None
        try:
            return self._tree.read(path, _MAX_SMALL)
        except (FormatError, InputError) as error:
            self._note(path, str(error))
            return None

    def _note(self, path: str, what: str, line: int | None = None) -> None:
        """Note a fault once, however often its snapshot is read."""
        fault = Fault(f"{path}: {what}", line=line)
        if fault not in self._told:
            self._told.add(fault)
            self.faults.append(fault)


def _make_row(process: _Process) -> dict[str, Fact]:
    """Make a row of the table `processes`; sizes are those of status, as stat counts in pages."""
    facts = process.facts
    stat, status = facts.get("stat", {}), facts.get("status", {})
    name = facts.get("name")
    anonymous, command = status.get("RssAnon"), facts.get("cmdline")
    words = [word.encode() if isinstance(word, str) else word for word in command or []]
    return {
        "pid": process.pid,
        "ppid": stat.get("ppid", status.get("PPid")),
        "uid": facts.get("uid"),
        "name": name.encode() if isinstance(name, str) else name,
        "threads": stat.get("num_threads", status.get("Threads")),
        "rss": status.get("VmRSS"),
        "private": None if anonymous is None else anonymous + status.get("VmSwap", 0),
        "starttime": stat.get("starttime"),
        "cmdline": None if command is None else b"".join(word + b"\0" for word in words),
    }
