"""The numbers of minidump streams and their names, as their documentation has them.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ne-minidumpapiset-minidump_stream_type, and for
those of Breakpad and Crashpad minidump_format.h and crashpad/minidump/minidump_extensions.h.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["StreamType", "name_stream"]


class StreamType(IntEnum):
    """The streams that have a name; those with a reader are used, the others are listed."""

    UNUSED = 0
    THREAD_LIST = 3
    MODULE_LIST = 4
    MEMORY_LIST = 5
    EXCEPTION = 6
    SYSTEM_INFO = 7
    THREAD_EX_LIST = 8
    MEMORY64_LIST = 9
    COMMENT_A = 10
    COMMENT_W = 11
    HANDLE_DATA = 12
    FUNCTION_TABLE = 13
    UNLOADED_MODULE_LIST = 14
    MISC_INFO = 15
    MEMORY_INFO_LIST = 16
    THREAD_INFO_LIST = 17
    HANDLE_OPERATION_LIST = 18
    TOKEN = 19
    JAVA_SCRIPT_DATA = 20
    SYSTEM_MEMORY_INFO = 21
    PROCESS_VM_COUNTERS = 22
    IPT_TRACE = 23
    THREAD_NAMES = 24
    CRASHPAD_INFO = 0x43500001
    BREAKPAD_INFO = 0x47670001
    ASSERTION_INFO = 0x47670002
    LINUX_CPU_INFO = 0x47670003
    LINUX_PROC_STATUS = 0x47670004
    LINUX_LSB_RELEASE = 0x47670005
    LINUX_CMD_LINE = 0x47670006
    LINUX_ENVIRON = 0x47670007
    LINUX_AUXV = 0x47670008
    LINUX_MAPS = 0x47670009
    LINUX_DSO_DEBUG = 0x4767000A
    MOZ_LINUX_LIMITS = 0x4D7A0003
    MOZ_SOFT_ERRORS = 0x4D7A0004


def name_stream(number: int) -> str:
    """Name a stream as its documentation does, less the word Stream; an unknown one by its number in hex."""
    try:
        known = StreamType(number)
    except ValueError:
        return f"0x{number:x}"
    return known.name.title().replace("_", "")
