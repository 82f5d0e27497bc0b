"""The Windows collector: the processes of the running system, and what holds for all of it."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.errors import CollectError
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.running import Running
from mmpscope.collector.windows.system import list_processes, read_capture
from mmpscope.collector.windows.target import WindowsTarget
from mmpscope.formats.model import Capture

__all__ = ["WindowsCollector"]


class WindowsCollector:
    """A `mmpscope.collector.base.Collector`; ``win32`` is what stands in for the system in tests.

    CollectError where SeDebugPrivilege is asked for, and not to be had.
    """

    def __init__(self, options: Options, win32: Win32 | None = None) -> None:
        self._options = options
        self._win32 = win32 or Win32()
        self._running = Running(self._win32, is_once=options.every_process)
        if options.debug_privilege:
            self._enable_debug_privilege()

    def _enable_debug_privilege(self) -> None:
        try:
            self._win32.enable_debug_privilege()
        except Win32Error as error:
            now = "Run this as Administrator, or leave --debug-privilege out"
            raise CollectError(f"SeDebugPrivilege is not to be had: {error}. {now}.") from error

    def list_processes(self) -> list[ProcessRow]:
        """List what runs, by pid."""
        return list_processes(self._win32, self._running, command_lines=self._options.command_lines)

    def own_pid(self) -> int | None:
        """Tell our own pid."""
        return self._win32.own_pid()

    def open_target(self, pid: int, starttime: int | None = None) -> WindowsTarget:
        """Hold on to one process; CollectError where there is none, or it may not be looked at."""
        return WindowsTarget(self._win32, pid, self._running, self._options, starttime)

    def take_capture(self, processes: Sequence[ProcessRow] | None = None) -> Capture:
        """Collect what holds for the whole system now."""
        return read_capture(
            self._win32, self._options, self.list_processes if processes is None else lambda: processes
        )
