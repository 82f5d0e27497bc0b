"""A snapshot from an ELF core: what was mapped, by which process, where each thread stood.

A core says nothing of what is resident, and data of the process is not read, save one page of each module.
"""

from __future__ import annotations

from itertools import pairwise
from typing import BinaryIO

from mmpscope.formats.elfcore.headers import CoreHeaders, read_headers
from mmpscope.formats.elfcore.modules import list_modules
from mmpscope.formats.elfcore.naming import Names, list_perms, name_regions
from mmpscope.formats.elfcore.notes import CoreNotes, MappedFiles, read_notes
from mmpscope.formats.elfcore.registers import Thread
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.elf import name_machine
from mmpscope.formats.proc.facts import to_fact
from mmpscope.formats.proc.modules import tabulate
from mmpscope.formats.proc.space import GATES, infer_end, task_size
from mmpscope.formats.source import Entry, ListedSource

__all__ = ["open_core"]

_MMAP_MIN_ADDR = 65536
_USUAL_PAGE = 4096
_NO_SHARING = "a core does not say whether a mapping is private or shared"
_LACKS = {
    "smaps": "a core does not say what is resident",
    "cmdline": "a core has the first 80 bytes of it as one text (psinfo, pr_psargs)",
    **dict.fromkeys(
        ("status", "stat", "limits", "cgroup", "personality", "heaps", "processes"), "a core does not hold it"
    ),
}
_BY_PROGRAM = (
    "a program wrote this core and not the kernel (it has section headers, as those of gcore): "
    "it left out regions that it did not dump"
)
_GDB_PERMS = "; gdb writes every region as readable"


def open_core(stream: BinaryIO, name: str, *, partial: bool) -> ListedSource:
    """Read a core as one snapshot.

    NotASnapshotError where it is a program, or has no memory map; TruncatedError where its program headers
    are cut, and ``partial`` is not given; CorruptError where they contradict themselves.
    """
    faults = FaultLog()
    headers = read_headers(stream, faults, partial=partial)
    if not headers.start and not headers.damaged:
        raise NotASnapshotError(
            "a core without a memory map: it has no PT_LOAD",
            now="Take a core of the whole process, as gcore makes it.",
        )
    notes = read_notes(stream, headers, faults)
    _note_faults(headers, faults)
    snapshot = _build(stream, headers, notes)
    version = f"{headers.identity.elf_class}-bit {headers.machine}"
    entry = Entry(0, snapshot.process.get("pid"), None, snapshot.process.get("name"))
    return ListedSource(name, f"ELF core {version}", [entry], [lambda: snapshot], faults.list())


def _note_faults(headers: CoreHeaders, faults: FaultLog) -> None:
    if headers.missing:
        what = "the core is cut: the memory map is whole, of the memory itself some is missing"
        faults.add(what, offset=headers.file_size, lost=f"{headers.missing:,} bytes of data")
    ranges = sorted(zip(headers.start, headers.size, strict=True))
    overlaps = sum(start + size > after for (start, size), (after, _) in pairwise(ranges))
    for _ in range(overlaps):
        faults.add("a region overlaps the next one")


def _build(stream: BinaryIO, headers: CoreHeaders, notes: CoreNotes) -> Snapshot:
    names = name_regions(headers, notes)
    process = _describe_process(headers, notes, names)
    page_size = process.get("page_size", _USUAL_PAGE)
    modules = list_modules(stream, headers, names, notes.files, page_size)
    tables = {
        "regions": _tabulate_regions(headers, names),
        "threads": _tabulate_threads(notes.threads),
        "files": _tabulate_files(notes.files),
        **tabulate(modules),
    }
    host: Facts = {"machine": headers.machine}
    if notes.system is not None:
        host["os"] = notes.system
    if "page_size" in process:
        host["page_size"] = page_size
    capability = _judge(headers, notes, names)
    return Snapshot(Capture(host=host), process, {}, tables, capability)


def _describe_process(headers: CoreHeaders, notes: CoreNotes, names: Names) -> Facts:
    identity = headers.identity
    process: Facts = {
        "source": {"format": "ELF core", "version": f"{identity.elf_class}-bit {headers.machine}"},
        "elf": {
            "class": identity.elf_class,
            "machine": name_machine(identity.machine),
            "byte_order": headers.byte_order,
        },
    }
    info = notes.psinfo
    for key, fact in (("pr_pid", "pid"), ("pr_fname", "name"), ("pr_uid", "uid"), ("pr_gid", "gid")):
        if key in info:
            process[fact] = info[key]
    process |= {
        key: value
        for key, value in (("psinfo", info), ("auxv", notes.auxv), ("siginfo", notes.siginfo))
        if value
    }
    if notes.auxv.get("AT_PAGESZ"):
        process["page_size"] = notes.auxv["AT_PAGESZ"]
    if notes.threads:
        process["signal"] = notes.threads[0].signal  # the kernel lists the thread that died first
    executable = _find_executable(notes)
    if executable is not None:
        process["exe"] = to_fact(executable)
    if notes.system == "linux":
        process["range"] = _find_range(headers, names, process.get("page_size", _USUAL_PAGE))
    return process


def _find_executable(notes: CoreNotes) -> bytes | None:
    """Find the program: the mapped file that holds its own program headers (AT_PHDR)."""
    at = notes.auxv.get("AT_PHDR")
    files = notes.files
    for start, size, path in zip(files.start, files.size, files.path, strict=True):
        if at is not None and start <= at < start + size:
            return path
    return None


def _find_range(headers: CoreHeaders, names: Names, page_size: int) -> Facts:
    highest = max(
        (
            start + size
            for start, size, path in zip(headers.start, headers.size, names.path, strict=True)
            if path not in GATES
        ),
        default=0,
    )
    space = task_size(headers.identity.elf_class, headers.machine, 0, page_size, highest)
    space = space or infer_end(highest)
    lowest = min((_MMAP_MIN_ADDR, *headers.start))
    source = f"vm.mmap_min_addr is assumed; {space.source}"
    return {"start": lowest, "end": space.end, "source": source}


def _tabulate_regions(headers: CoreHeaders, names: Names) -> Table:
    """start, size, perms, offset, path as `maps` has them; filesz: bytes of it that the core holds."""
    columns = {
        "start": Plain("uint", headers.start),
        "size": Plain("uint", headers.size, len_of="start"),
        "perms": Plain("text", list_perms(headers.flags), "utf-8"),
        "offset": Plain("uint", names.offset),
        "path": Plain("text", names.path, "bytes"),
        "filesz": Plain("uint", headers.filesz),
    }
    return encode_table(columns, len(headers.start))


def _tabulate_threads(threads: list[Thread]) -> Table:
    columns = {name: Plain("uint", [getattr(thread, name) for thread in threads]) for name in Thread._fields}
    return encode_table(columns, len(threads))


def _tabulate_files(files: MappedFiles) -> Table:
    """NT_FILE as it stands: start, size, offset in bytes, path."""
    columns = {
        "start": Plain("uint", files.start),
        "size": Plain("uint", files.size, len_of="start"),
        "offset": Plain("uint", files.offset),
        "path": Plain("text", files.path, "bytes"),
    }
    return encode_table(columns, len(files.start))


def _judge(headers: CoreHeaders, notes: CoreNotes, names: Names) -> list[Capability]:
    judged = [Capability("maps", "ok", None, "the PT_LOAD program headers")]
    why = _tell_loss(headers, names)
    if why is not None:
        judged.append(Capability("regions", "partial", None, why))
    if not notes.files.start:
        judged.append(Capability("regions.path", "unavailable", None, "the core has no NT_FILE"))
    if not notes.threads:
        why = "the core has no NT_PRSTATUS" if notes.system in (None, "linux") else _name_foreign(notes)
        judged.append(Capability("threads", "unavailable", None, why))
    elif notes.threads[0].sp is None:
        why = f"where {headers.machine} keeps its stack pointer is not known to this version"
        judged.append(Capability("threads.sp", "unavailable", None, why))
    for key, item in (("psinfo", "process"), ("auxv", "auxv")):
        if not getattr(notes, key):
            judged.append(Capability(item, "unavailable", None, "the core has no note of it"))
    why = _NO_SHARING + (_GDB_PERMS if headers.sections > 1 else "")
    judged.append(Capability("regions.perms", "partial", None, why))
    for item, reason in _LACKS.items():
        judged.append(Capability(item, "partial" if item == "cmdline" else "unavailable", None, reason))
    return judged


def _name_foreign(notes: CoreNotes) -> str:
    return f"the notes of {notes.system} are not read by this version"


def _tell_loss(headers: CoreHeaders, names: Names) -> str | None:
    """Say why regions may be missing; None where the core lists them all, as those of a kernel do."""
    if headers.cut:
        return "the program headers are cut"
    if headers.damaged:
        return f"{headers.damaged} program headers are damaged"
    if headers.sections > 1:
        return _BY_PROGRAM
    if names.unmatched:
        return f"{names.unmatched} mappings of files are named but have no PT_LOAD"
    return None
