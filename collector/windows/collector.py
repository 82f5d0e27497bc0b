"""The Windows collector: the processes of the running system, and what holds for all of it."""

from __future__ import annotations

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.errors import CollectError
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.system import list_processes, read_capture
from mmpscope.collector.windows.target import WindowsTarget
from mmpscope.formats.model import Capture

__all__ = ["WindowsCollector"]


class WindowsCollector:
    """A `mmpscope.collector.base.Collector`; ``win32`` is what stands in for the system in tests."""

    def __init__(self, options: Options, win32: Win32 | None = None) -> None:
        self._options = options
        self._win32 = win32 or Win32()

    def list_processes(self) -> list[ProcessRow]:
        """List what runs, by pid."""
        return list_processes(self._win32)

    def own_pid(self) -> int | None:
        """Tell our own pid."""
        return self._win32.own_pid()

    def open_target(self, pid: int) -> WindowsTarget:
        """Hold on to one process; CollectError where there is none, or it may not be looked at."""
        names = {row.pid: row.name for row in self._win32.list_processes()}
        if pid not in names:
            raise CollectError(f"there is no process {pid}. `--ps` lists what runs.")
        return WindowsTarget(self._win32, pid, names[pid], self._options)

    def take_capture(self) -> Capture:
        """Collect what holds for the whole system now."""
        return read_capture(self._win32, self._options)
