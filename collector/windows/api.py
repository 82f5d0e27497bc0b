"""The calls of Windows that the collector makes, each as a method that returns plain values.

Only `calls` and what is built on it call the system; tests put a stand-in with the same methods in place of
`Win32`. Every handle comes from a context manager or is closed by its owner. A call that fails raises
`Win32Error`.
"""

from __future__ import annotations

from mmpscope.collector.windows.job_calls import JobCalls
from mmpscope.collector.windows.memory import MemoryCalls
from mmpscope.collector.windows.process_calls import ProcessCalls
from mmpscope.collector.windows.security_calls import SecurityCalls
from mmpscope.collector.windows.system_calls import SystemCalls
from mmpscope.collector.windows.toolhelp import ToolhelpCalls

__all__ = [
    "PROCESS_QUERY_INFORMATION",
    "PROCESS_QUERY_LIMITED_INFORMATION",
    "PROCESS_VM_READ",
    "Win32",
]

PROCESS_VM_READ = 0x0010
PROCESS_QUERY_INFORMATION = 0x0400
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000


class Win32(ToolhelpCalls, MemoryCalls, ProcessCalls, SecurityCalls, JobCalls, SystemCalls):
    """The system we run on; only on Windows."""
