"""What runs on the system: asked anew each time, or once for a look at every process."""

from __future__ import annotations

from collections import defaultdict

from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.rows import Process, Thread

__all__ = ["Running"]


class Running:
    """The lists of processes and threads that Toolhelp gives for the whole system only.

    With ``is_once`` they are taken at the first question: asking 300 processes one by one for their threads
    would walk the list of all threads 300 times.
    """

    def __init__(self, win32: Win32, *, is_once: bool) -> None:
        self._win32 = win32
        self._is_once = is_once
        self._processes: list[Process] | None = None
        self._threads: dict[int, list[Thread]] | None = None

    def list_processes(self) -> list[Process]:
        """List every process."""
        if self._processes is None or not self._is_once:
            self._processes = self._win32.list_processes()
        return self._processes

    def list_threads(self, pid: int) -> list[Thread]:
        """List the threads of one process."""
        if self._threads is None or not self._is_once:
            threads: dict[int, list[Thread]] = defaultdict(list)
            for thread in self._win32.list_threads():
                threads[thread.pid].append(thread)
            self._threads = dict(threads)
        return self._threads.get(pid, [])
