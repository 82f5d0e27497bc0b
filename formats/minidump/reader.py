"""A minidump as one snapshot: the map from MemoryInfoList or LinuxMaps, and whatever else the dump tells.

A stream that is damaged costs what it would have told; only without a map is there no snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TypeVar

from mmpscope.formats.errors import FormatError, NotASnapshotError
from mmpscope.formats.interface import Input
from mmpscope.formats.minidump.captured import Captured, read_memory64_list, read_memory_list
from mmpscope.formats.minidump.directory import Directory, Stream, read_directory
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.maps import MAPS, read_map
from mmpscope.formats.minidump.modules import Module, read_modules, read_unloaded, tabulate_modules
from mmpscope.formats.minidump.proc_files import read_files
from mmpscope.formats.minidump.streams import StreamType, name_stream
from mmpscope.formats.minidump.system import (
    Machine,
    count_handles,
    read_comment,
    read_memory_basics,
    read_misc_info,
    read_system_info,
    read_vm_counters,
)
from mmpscope.formats.minidump.threads import Thread, add_names, add_times, read_threads, tabulate_threads
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.facts import to_fact
from mmpscope.formats.source import Entry, ListedSource

__all__ = ["open_minidump"]

T = TypeVar("T")

_ADVICE = (
    "Take one with MiniDumpWithFullMemoryInfo, as `procdump -ma` does; on Linux one with a copy of "
    "/proc/PID/maps, as Breakpad makes it."
)
_MOST_NAMED = 20
"""Of the streams of a dump without a map; a hostile one has as many kinds of them as it likes."""
_WOW64 = b"\\wow64.dll"
_WINDOWS_PAGE = 4096
"""Of x86, x64 and ARM64; only Itanium had another one."""
_IN_WOW64 = "a 64-bit dump of a 32-bit process (it has wow64.dll): threads show their 64-bit side"
_ENVIRONMENT = "the dump holds the environment; it may hold secrets and is left out"


def open_minidump(given: Input) -> ListedSource:
    """Read a minidump as one snapshot.

    NotASnapshotError where it has no map of the address space, TruncatedError where it is cut and damage is
    not to be survived, CorruptError or LimitError where the map itself contradicts the bytes at hand.
    """
    dump = DumpFile(given.stream, partial=given.partial)
    directory = read_directory(dump)
    _refuse_without_map(directory)
    snapshot = _Reader(dump, directory).read()
    process = snapshot.process
    entry = Entry(0, process.get("pid"), snapshot.moment.get("time_ns"), process.get("name"))
    name = f"minidump with {process['source']['version']}"
    return ListedSource(given.name, name, [entry], [lambda: snapshot], dump.faults.list())


def _refuse_without_map(directory: Directory) -> None:
    streams = directory.streams
    if any(number in streams for number in MAPS):
        return
    names = ", ".join(stream.name for stream in islice(streams.values(), _MOST_NAMED))
    more = f" and {len(streams) - _MOST_NAMED} more" if len(streams) > _MOST_NAMED else ""
    what = f"a minidump without a map of the address space: it holds {names}{more}"
    if StreamType.MEMORY64_LIST in streams:
        what += "; Memory64List lists the memory that was captured, which is not all that was mapped"
    raise NotASnapshotError(what, now=_ADVICE)


class _Reader:
    """Reads the streams in the order in which they need each other, and keeps what could not be had."""

    def __init__(self, dump: DumpFile, directory: Directory) -> None:
        self._dump = dump
        self._directory = directory
        self._missing: list[Capability] = []

    def read(self) -> Snapshot:
        """Read all that is known of the process."""
        machine = self._read("system", StreamType.SYSTEM_INFO, read_system_info)
        self._dump.bits = machine.bits if machine else None
        process, release = read_files(self._dump, self._directory.streams)
        process |= self._read_if_there(StreamType.MISC_INFO, read_misc_info) or {}
        basics = self._read_if_there(StreamType.SYSTEM_MEMORY_INFO, read_memory_basics) or {}
        modules = self._read_modules(machine)
        process |= _describe_process(machine, modules, process, basics)
        known = read_map(self._dump, self._directory.streams, machine, process.get("page_size"))
        process |= {**known.process, **self._read_details()}
        process["source"] = {"format": "minidump", "version": known.name, "flags": self._directory.flags}
        moment = {"time_ns": self._directory.time * 10**9} if self._directory.time else {}
        tables = {"regions": known.table, **self._read_tables(machine, modules)}
        host = {**(machine.host if machine else {}), **release, **basics}
        capability = [*known.capability, *self._missing, *self._judge(process)]
        return Snapshot(Capture(host=host, moment=moment), process, moment, tables, capability)

    def _read(self, item: str, number: StreamType, read: Callable[[DumpFile, Stream], T]) -> T | None:
        """Read a stream; where it is absent or damaged, that is why ``item`` is missing."""
        if number not in self._directory.streams:
            reason = f"the dump has no {name_stream(number)}"
            self._missing.append(Capability(item, "unavailable", None, reason))
            return None
        try:
            return read(self._dump, self._directory.streams[number])
        except FormatError as error:
            self._dump.faults.add(error.what, offset=error.offset, lost=item)
            self._missing.append(Capability(item, "unavailable", None, error.what))
            return None

    def _read_if_there(self, number: StreamType, read: Callable[[DumpFile, Stream], T]) -> T | None:
        """Read a stream that many dumps do without."""
        return self._read(name_stream(number), number, read) if number in self._directory.streams else None

    def _read_modules(self, machine: Machine | None) -> list[Module]:
        is_windows = machine is None or machine.os == "windows"
        read = partial(read_modules, is_windows=is_windows)
        return self._read("modules", StreamType.MODULE_LIST, read) or []

    def _read_threads(self, machine: Machine | None) -> list[Thread]:
        extended = StreamType.THREAD_EX_LIST in self._directory.streams
        number = StreamType.THREAD_EX_LIST if extended else StreamType.THREAD_LIST
        architecture = machine.architecture if machine else None
        read = partial(read_threads, architecture=architecture, extended=extended)
        threads = self._read("threads", number, read) or []
        self._read_if_there(StreamType.THREAD_INFO_LIST, partial(add_times, threads=threads))
        self._read_if_there(StreamType.THREAD_NAMES, partial(add_names, threads=threads))
        return threads

    def _read_tables(self, machine: Machine | None, modules: list[Module]) -> dict[str, Table]:
        captured = Captured()
        self._read_if_there(StreamType.MEMORY_LIST, partial(read_memory_list, captured=captured))
        self._read_if_there(StreamType.MEMORY64_LIST, partial(read_memory64_list, captured=captured))
        unloaded = self._read_if_there(StreamType.UNLOADED_MODULE_LIST, read_unloaded) or []
        return {
            "threads": tabulate_threads(self._read_threads(machine)),
            "modules": tabulate_modules(modules),
            "unloaded_modules": tabulate_modules(unloaded),
            "memory": captured.encode(),
        }

    def _read_details(self) -> Facts:
        """Read what is of interest to a person; ``streams`` are the sizes of all that the dump has."""
        facts: Facts = {
            "vm_counters": self._read_if_there(StreamType.PROCESS_VM_COUNTERS, read_vm_counters),
            "handles": self._read_if_there(StreamType.HANDLE_DATA, count_handles),
            "streams": {stream.name: stream.stated for stream in self._directory.streams.values()},
        }
        forms = {StreamType.COMMENT_A: "latin-1", StreamType.COMMENT_W: "utf-16-le"}
        comments = [
            self._read_if_there(number, partial(read_comment, encoding=encoding))
            for number, encoding in forms.items()
        ]
        facts["comments"] = [comment for comment in comments if comment]
        return {name: fact for name, fact in facts.items() if fact}

    def _judge(self, process: Facts) -> list[Capability]:
        judged = []
        if "pid" not in process:
            judged.append(Capability("process", "unavailable", None, "the dump does not name its process"))
        if process.get("wow64"):
            judged.append(Capability("bits", "ok", None, _IN_WOW64))
        if StreamType.LINUX_ENVIRON in self._directory.streams:
            judged.append(Capability("environ", "skipped", None, _ENVIRONMENT))
        return judged


def _describe_process(machine: Machine | None, modules: list[Module], told: Facts, basics: Facts) -> Facts:
    """Tell name, program, word size and page size, as far as ``told`` does not have them.

    The first module of the list is the program itself.
    """
    facts: Facts = {}
    is_windows = machine is not None and machine.os == "windows"
    path = modules[0].path if modules else None
    if path:
        facts["exe"] = to_fact(path)
        facts["name"] = told.get("name") or to_fact(path.rpartition(b"\\" if is_windows else b"/")[2])
    if machine is None or machine.bits is None:
        return facts
    facts["bits"] = machine.bits
    if not is_windows:
        facts["elf"] = {"class": machine.bits, "machine": machine.name}
        return facts
    facts["page_size"] = basics.get("page_size") or _WINDOWS_PAGE
    if machine.bits == 64 and any(_is_wow64(module) for module in modules):
        facts |= {"bits": 32, "wow64": True}
    return facts


def _is_wow64(module: Module) -> bool:
    return module.path is not None and module.path[-len(_WOW64) :].lower() == _WOW64
