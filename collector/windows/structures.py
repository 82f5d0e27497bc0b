"""Win32 structures as they lie in memory, for our own bitness; sizes are those of the Windows SDK.

Fixed-width types throughout: `ctypes.wintypes.DWORD` is 8 bytes on 64-bit Linux, where tests check layouts.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p

__all__ = [
    "HEAPENTRY32",
    "HEAPLIST32",
    "JOBOBJECT_EXTENDED_LIMIT_INFORMATION",
    "LUID_AND_ATTRIBUTES",
    "MEMORY_BASIC_INFORMATION",
    "MEMORY_REGION_INFORMATION",
    "MODULEENTRY32W",
    "OSVERSIONINFOW",
    "PERFORMANCE_INFORMATION",
    "PROCESSENTRY32W",
    "PROCESS_BASIC_INFORMATION",
    "PROCESS_MEMORY_COUNTERS_EX",
    "SYSTEM_INFO",
    "THREADENTRY32",
    "THREAD_BASIC_INFORMATION",
    "TOKEN_PRIVILEGES",
    "UNICODE_STRING",
]

_MAX_PATH = 260
_MAX_MODULE_NAME32 = 255
_WIDE = c_uint16
"""A UTF-16 unit; `c_wchar` has four bytes on Linux, and would not keep a lone surrogate."""


class MEMORY_BASIC_INFORMATION(ctypes.Structure):  # noqa: N801  # the names of the Windows SDK
    """winnt.h. The padding holds PartitionId in the 64-bit one; the 32-bit one has neither (28 bytes)."""

    _fields_ = [
        ("BaseAddress", c_size_t),
        ("AllocationBase", c_size_t),
        ("AllocationProtect", c_uint32),
        *([("PartitionId", c_uint32)] if ctypes.sizeof(c_void_p) == 8 else []),
        ("RegionSize", c_size_t),
        ("State", c_uint32),
        ("Protect", c_uint32),
        ("Type", c_uint32),
    ]


class MEMORY_REGION_INFORMATION(ctypes.Structure):  # noqa: N801  # the SDK's name
    """Class 3 of NtQueryVirtualMemory, as the headers of System Informer know it.

    CommitSize came after Windows 7, what follows it with Windows 10 1903 and 2004; the system tells how much
    of it it has filled in. Up to CommitSize it is WIN32_MEMORY_REGION_INFORMATION of memoryapi.h.
    """

    _fields_ = [
        ("AllocationBase", c_size_t),
        ("AllocationProtect", c_uint32),
        ("RegionType", c_uint32),
        ("RegionSize", c_size_t),
        ("CommitSize", c_size_t),
        ("PartitionId", c_size_t),
        ("NodePreference", c_size_t),
    ]


class PROCESSENTRY32W(ctypes.Structure):
    """tlhelp32.h; dwSize must be set before the first call."""

    _fields_ = [
        ("dwSize", c_uint32),
        ("cntUsage", c_uint32),
        ("th32ProcessID", c_uint32),
        ("th32DefaultHeapID", c_size_t),
        ("th32ModuleID", c_uint32),
        ("cntThreads", c_uint32),
        ("th32ParentProcessID", c_uint32),
        ("pcPriClassBase", c_int32),
        ("dwFlags", c_uint32),
        ("szExeFile", _WIDE * _MAX_PATH),
    ]


class THREADENTRY32(ctypes.Structure):
    """tlhelp32.h."""

    _fields_ = [
        ("dwSize", c_uint32),
        ("cntUsage", c_uint32),
        ("th32ThreadID", c_uint32),
        ("th32OwnerProcessID", c_uint32),
        ("tpBasePri", c_int32),
        ("tpDeltaPri", c_int32),
        ("dwFlags", c_uint32),
    ]


class MODULEENTRY32W(ctypes.Structure):
    """tlhelp32.h; szExePath is cut at 260 characters."""

    _fields_ = [
        ("dwSize", c_uint32),
        ("th32ModuleID", c_uint32),
        ("th32ProcessID", c_uint32),
        ("GlblcntUsage", c_uint32),
        ("ProccntUsage", c_uint32),
        ("modBaseAddr", c_size_t),
        ("modBaseSize", c_uint32),
        ("hModule", c_size_t),
        ("szModule", _WIDE * (_MAX_MODULE_NAME32 + 1)),
        ("szExePath", _WIDE * _MAX_PATH),
    ]


class HEAPLIST32(ctypes.Structure):
    """tlhelp32.h; here dwSize is a SIZE_T."""

    _fields_ = [
        ("dwSize", c_size_t),
        ("th32ProcessID", c_uint32),
        ("th32HeapID", c_size_t),
        ("dwFlags", c_uint32),
    ]


class HEAPENTRY32(ctypes.Structure):
    """tlhelp32.h; one block of a heap, for which Heap32First and Heap32Next walk from the start each time."""

    _fields_ = [
        ("dwSize", c_size_t),
        ("hHandle", c_size_t),
        ("dwAddress", c_size_t),
        ("dwBlockSize", c_size_t),
        ("dwFlags", c_uint32),
        ("dwLockCount", c_uint32),
        ("dwResvd", c_uint32),
        ("th32ProcessID", c_uint32),
        ("th32HeapID", c_size_t),
    ]


class SYSTEM_INFO(ctypes.Structure):  # noqa: N801  # the SDK's name
    """sysinfoapi.h."""

    _fields_ = [
        ("wProcessorArchitecture", c_uint16),
        ("wReserved", c_uint16),
        ("dwPageSize", c_uint32),
        ("lpMinimumApplicationAddress", c_size_t),
        ("lpMaximumApplicationAddress", c_size_t),
        ("dwActiveProcessorMask", c_size_t),
        ("dwNumberOfProcessors", c_uint32),
        ("dwProcessorType", c_uint32),
        ("dwAllocationGranularity", c_uint32),
        ("wProcessorLevel", c_uint16),
        ("wProcessorRevision", c_uint16),
    ]


class OSVERSIONINFOW(ctypes.Structure):
    """winnt.h, for RtlGetVersion, which tells the truth also to programs without a manifest."""

    _fields_ = [
        ("dwOSVersionInfoSize", c_uint32),
        ("dwMajorVersion", c_uint32),
        ("dwMinorVersion", c_uint32),
        ("dwBuildNumber", c_uint32),
        ("dwPlatformId", c_uint32),
        ("szCSDVersion", _WIDE * 128),
    ]


class PROCESS_MEMORY_COUNTERS_EX(ctypes.Structure):  # noqa: N801  # the SDK's name
    """psapi.h."""

    _fields_ = [
        ("cb", c_uint32),
        ("PageFaultCount", c_uint32),
        ("PeakWorkingSetSize", c_size_t),
        ("WorkingSetSize", c_size_t),
        ("QuotaPeakPagedPoolUsage", c_size_t),
        ("QuotaPagedPoolUsage", c_size_t),
        ("QuotaPeakNonPagedPoolUsage", c_size_t),
        ("QuotaNonPagedPoolUsage", c_size_t),
        ("PagefileUsage", c_size_t),
        ("PeakPagefileUsage", c_size_t),
        ("PrivateUsage", c_size_t),
    ]


class PERFORMANCE_INFORMATION(ctypes.Structure):  # noqa: N801  # the SDK's name
    """psapi.h; all but the counts are in pages."""

    _fields_ = [
        ("cb", c_uint32),
        ("CommitTotal", c_size_t),
        ("CommitLimit", c_size_t),
        ("CommitPeak", c_size_t),
        ("PhysicalTotal", c_size_t),
        ("PhysicalAvailable", c_size_t),
        ("SystemCache", c_size_t),
        ("KernelTotal", c_size_t),
        ("KernelPaged", c_size_t),
        ("KernelNonpaged", c_size_t),
        ("PageSize", c_size_t),
        ("HandleCount", c_uint32),
        ("ProcessCount", c_uint32),
        ("ThreadCount", c_uint32),
    ]


class PROCESS_BASIC_INFORMATION(ctypes.Structure):  # noqa: N801  # the SDK's name
    """winternl.h, class 0 of NtQueryInformationProcess."""

    _fields_ = [
        ("ExitStatus", c_int32),
        ("PebBaseAddress", c_size_t),
        ("AffinityMask", c_size_t),
        ("BasePriority", c_int32),
        ("UniqueProcessId", c_size_t),
        ("InheritedFromUniqueProcessId", c_size_t),
    ]


class THREAD_BASIC_INFORMATION(ctypes.Structure):  # noqa: N801  # the SDK's name
    """winternl.h, class 0 of NtQueryInformationThread."""

    _fields_ = [
        ("ExitStatus", c_int32),
        ("TebBaseAddress", c_size_t),
        ("UniqueProcess", c_size_t),
        ("UniqueThread", c_size_t),
        ("AffinityMask", c_size_t),
        ("Priority", c_int32),
        ("BasePriority", c_int32),
    ]


class UNICODE_STRING(ctypes.Structure):  # noqa: N801  # the SDK's name
    """ntdef.h; lengths in bytes."""

    _fields_ = [("Length", c_uint16), ("MaximumLength", c_uint16), ("Buffer", c_size_t)]


class JOBOBJECT_EXTENDED_LIMIT_INFORMATION(ctypes.Structure):  # noqa: N801  # the SDK's name
    """winnt.h, with JOBOBJECT_BASIC_LIMIT_INFORMATION and IO_COUNTERS in their places."""

    _fields_ = [
        ("PerProcessUserTimeLimit", c_int64),
        ("PerJobUserTimeLimit", c_int64),
        ("LimitFlags", c_uint32),
        ("MinimumWorkingSetSize", c_size_t),
        ("MaximumWorkingSetSize", c_size_t),
        ("ActiveProcessLimit", c_uint32),
        ("Affinity", c_size_t),
        ("PriorityClass", c_uint32),
        ("SchedulingClass", c_uint32),
        ("IoInfo", c_uint64 * 6),
        ("ProcessMemoryLimit", c_size_t),
        ("JobMemoryLimit", c_size_t),
        ("PeakProcessMemoryUsed", c_size_t),
        ("PeakJobMemoryUsed", c_size_t),
    ]


class LUID_AND_ATTRIBUTES(ctypes.Structure):  # noqa: N801  # the SDK's name
    """winnt.h; a LUID is two numbers of 32 bits."""

    _fields_ = [("Luid", c_uint32 * 2), ("Attributes", c_uint32)]


class TOKEN_PRIVILEGES(ctypes.Structure):  # noqa: N801  # the SDK's name
    """winnt.h, for one privilege."""

    _fields_ = [("PrivilegeCount", c_uint32), ("Privileges", LUID_AND_ATTRIBUTES * 1)]
