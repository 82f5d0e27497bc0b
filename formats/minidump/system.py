"""What a minidump says of machine, process and moment besides memory: SystemInfo, MiscInfo and smaller ones.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_system_info and
minidumpapiset.h of the Windows SDK.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from mmpscope.formats.errors import FormatError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.lists import read_header
from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import to_fact

__all__ = [
    "Machine",
    "count_handles",
    "read_comment",
    "read_memory_basics",
    "read_misc_info",
    "read_system_info",
    "read_vm_counters",
]

_SYSTEM = struct.Struct("<H 4x BBIIIII")
_WINDOWS = 2  # VER_PLATFORM_WIN32_NT
_PLATFORMS = {
    0: "windows", 1: "windows", _WINDOWS: "windows", 0x8101: "macos", 0x8102: "ios", 0x8201: "linux",
    0x8203: "android", 0x8206: "fuchsia",
}  # fmt: skip
"""winnt.h, and MDOSPlatform in minidump_format.h of Breakpad."""
_MACHINES: dict[int, tuple[str, str, int | None]] = {
    0: ("x86", "i386", 32), 1: ("MIPS", "mips", 32), 5: ("ARM", "arm", 32), 6: ("IA64", "ia64", 64),
    9: ("AMD64", "x86_64", 64), 10: ("x86", "i386", 32), 12: ("ARM64", "aarch64", 64),
    0x8002: ("PPC64", "ppc64", 64), 0x8003: ("ARM64", "aarch64", 64), 0x8004: ("MIPS64", "mips64", 64),
    0x8005: ("RISCV", "riscv32", 32), 0x8006: ("RISCV64", "riscv64", 64),
}  # fmt: skip
"""PROCESSOR_ARCHITECTURE_* (winnt.h, Breakpad): what Windows calls it, what uname does, and its word size."""

_MISC = struct.Struct("<IIIIII")
_HAS_PID, _HAS_TIMES = 1, 2
_BUILD_OFFSET, _BUILD_BYTES, _HAS_BUILD = 232, 520, 0x100
"""BuildString of MINIDUMP_MISC_INFO_4: WCHAR[MAX_PATH]."""
_BASICS = struct.Struct("<4x I I 12x I QQ")
_COUNTERS = struct.Struct("<HHI")
_REVISIONS = {
    1: (
        "PeakWorkingSetSize", "WorkingSetSize", "QuotaPeakPagedPoolUsage", "QuotaPagedPoolUsage",
        "QuotaPeakNonPagedPoolUsage", "QuotaNonPagedPoolUsage", "PagefileUsage", "PeakPagefileUsage",
        "PrivateUsage",
    ),
    2: (
        "PeakWorkingSetSize", "WorkingSetSize", "QuotaPeakPagedPoolUsage", "QuotaPagedPoolUsage",
        "QuotaPeakNonPagedPoolUsage", "QuotaNonPagedPoolUsage", "PagefileUsage", "PeakPagefileUsage",
        "PeakVirtualSize", "VirtualSize", "PrivateUsage", "PrivateWorkingSetSize", "SharedCommitUsage",
    ),
}  # fmt: skip
"""MINIDUMP_PROCESS_VM_COUNTERS_1 and _2, each 64 bits, up to those of a job."""
_GROUPS = {
    "PeakVirtualSize": 0x2, "VirtualSize": 0x2, "PrivateUsage": 0x4 | 0x8, "PrivateWorkingSetSize": 0x8,
    "SharedCommitUsage": 0x8,
}  # fmt: skip
"""MINIDUMP_PROCESS_VM_COUNTERS_*: the flags by which a counter of revision 2 is there."""
_HANDLES = struct.Struct("<IIII")
_MAX_COMMENT_BYTES = 1 << 14


class Machine(NamedTuple):
    """What SystemInfo says of the processor, as a number and as uname has it, and of the system."""

    os: str
    architecture: int
    name: str
    bits: int | None
    host: Facts


def read_system_info(dump: DumpFile, stream: Stream) -> Machine:
    """Read processor and operating system; CorruptError where the stream is too short."""
    architecture, processors, product, *version, platform, csd = read_header(dump, stream, _SYSTEM)
    system = _PLATFORMS.get(platform, f"platform 0x{platform:x}")
    unknown = f"processor 0x{architecture:x}"
    own, unix, bits = _MACHINES.get(architecture, (unknown, unknown, None))
    host: Facts = {"os": system, "machine": own if system == "windows" else unix, "processors": processors}
    if any(version):
        host["kernel"] = ".".join(map(str, version))
    service_pack = _read_service_pack(dump, csd)
    if service_pack:
        host["version"] = service_pack
    if system == "windows":
        host |= {"product_type": product, "allocation_granularity": 1 << 16}
    return Machine(system, architecture, unix, bits, host)


def _read_service_pack(dump: DumpFile, offset: int) -> str | bytes | None:
    """Read CSDVersion: the service pack of Windows, on Linux all of uname."""
    if not offset:
        return None
    try:
        return to_fact(dump.read_name(offset, "the version of the system").strip())
    except FormatError as error:
        dump.faults.add(error.what, offset=error.offset, lost="the version of the system")
        return None


def read_misc_info(dump: DumpFile, stream: Stream) -> Facts:
    """Read pid, create_time (seconds since 1970), user_time and kernel_time (seconds), build."""
    _, flags, pid, created, user, kernel = read_header(dump, stream, _MISC)
    facts: Facts = {}
    if flags & _HAS_PID:
        facts["pid"] = pid
    if flags & _HAS_TIMES:
        facts |= {"create_time": created, "user_time": user, "kernel_time": kernel}
    if flags & _HAS_BUILD and stream.size >= _BUILD_OFFSET + _BUILD_BYTES:
        data = dump.read(stream.offset + _BUILD_OFFSET, _BUILD_BYTES, "the build of the system")
        build = data.decode("utf-16-le", "replace").split("\0", 1)[0]
        facts["build"] = build
    return facts


def read_memory_basics(dump: DumpFile, stream: Stream) -> Facts:
    """Read page_size, allocation_granularity, and the lowest and highest user address of the system."""
    _, page, granularity, lowest, highest = read_header(dump, stream, _BASICS)
    return {
        "page_size": page,
        "allocation_granularity": granularity,
        "lowest_user_address": lowest,
        "highest_user_address": highest,
    }


def read_vm_counters(dump: DumpFile, stream: Stream) -> Facts:
    """Read the counters of the process under the names of Windows, in bytes; {} for an unknown revision."""
    revision, flags, faults = read_header(dump, stream, _COUNTERS)
    names = _REVISIONS.get(revision, ())
    layout = struct.Struct(f"{_COUNTERS.format}{len(names)}Q")
    if not names or stream.size < layout.size:
        return {}
    values = layout.unpack(dump.read(stream.offset, layout.size, stream.name))[3:]
    counters = {
        name: value
        for name, value in zip(names, values, strict=True)
        if revision == 1 or name not in _GROUPS or flags & _GROUPS[name]
    }
    return {"PageFaultCount": faults, **counters}


def count_handles(dump: DumpFile, stream: Stream) -> int:
    """Tell how many handles the dump lists; they themselves say nothing of memory."""
    return read_header(dump, stream, _HANDLES)[2]


def read_comment(dump: DumpFile, stream: Stream, encoding: str) -> str:
    """Read a comment, as procdump writes one, up to its first NUL and 16 KiB."""
    data = dump.read(stream.offset, min(stream.size, _MAX_COMMENT_BYTES), stream.name)
    return data.decode(encoding, "replace").split("\0", 1)[0].strip()
