"""One Windows process, held by a handle: its snapshots, whether it lives, what to wait for."""

from __future__ import annotations

import ntpath
from functools import partial

from mmpscope.collector.base import Options
from mmpscope.collector.cost import Cost
from mmpscope.collector.errors import CollectError, ProcessGoneError
from mmpscope.collector.names import printable
from mmpscope.collector.windows.api import (
    PROCESS_QUERY_INFORMATION,
    PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_VM_READ,
    Win32,
)
from mmpscope.collector.windows.blocks import read_image_base
from mmpscope.collector.windows.errors import ERROR_ACCESS_DENIED, ERROR_INVALID_PARAMETER, Win32Error
from mmpscope.collector.windows.held import OWN_BITS, Held, read_whole
from mmpscope.collector.windows.pe import parse_image
from mmpscope.collector.windows.running import Running
from mmpscope.collector.windows.snapshot import SnapshotReader
from mmpscope.collector.windows.wow64 import find_peb32
from mmpscope.formats.model import Capture, Facts, Snapshot

__all__ = ["WindowsTarget"]

_GIB = 1 << 30
_END_32 = {False: 2 * _GIB - 0x10000, True: 4 * _GIB - 0x10000}
"""Where the memory of a 32-bit program ends on 64-bit Windows, without and with LARGE_ADDRESS_AWARE."""
_NO_PROCESSES = {
    0: "is the time in which nothing runs",
    4: "is the kernel of Windows itself",
}


class WindowsTarget:
    """A process; CollectError where there is none, it may not be looked at, or it began at another time."""

    def __init__(
        self, win32: Win32, pid: int, running: Running, options: Options, starttime: int | None = None
    ) -> None:
        self.pid = pid
        self.name = b""
        self.notices: list[str] = []
        self._win32 = win32
        self._running = running
        self._options = options
        self._held = self._identify(starttime)
        try:
            self._usable = self._find_range()
        except BaseException:
            self.close()
            raise
        self._reader = SnapshotReader(win32, self._held, running, options)

    def _identify(self, starttime: int | None) -> Held:
        """Learn with the least of rights what process this is; only then open it for reading."""
        if self.pid in _NO_PROCESSES:
            what = _NO_PROCESSES[self.pid]
            raise CollectError(f"process {self.pid} {what}: it has no memory to look at.", reason=what)
        first = self._open(PROCESS_QUERY_LIMITED_INFORMATION)
        try:
            self._check(first)
            began = self._win32.get_times(first)[0]
            if starttime not in (None, began):
                raise ProcessGoneError(self.pid, None, "the list of processes")
            bits, is_wow64 = self._win32.get_bits(first)
            if bits > OWN_BITS:
                what = f"process {self.pid} is a 64-bit program, and this Python is a 32-bit one"
                raise CollectError(f"{what}. Use a 64-bit Python.", reason="64-bit, and we are not")
            handle = self._open_to_read()
        except Win32Error as error:
            raise self._explain(error) from error
        finally:
            self._win32.close(first)
        # The first handle was open until now, so that its number could not be given to another process.
        return Held(self.pid, handle, bits, is_wow64)

    def _open(self, access: int) -> int:
        try:
            return self._win32.open_process(self.pid, access)
        except Win32Error as error:
            raise self._explain(error) from error

    def _open_to_read(self) -> int:
        """Open with as few rights as will do: the map needs QUERY_INFORMATION, all the rest VM_READ."""
        try:
            return self._win32.open_process(self.pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ)
        except Win32Error as error:
            if error.code != ERROR_ACCESS_DENIED:
                raise
        return self._win32.open_process(self.pid, PROCESS_QUERY_INFORMATION)

    def _check(self, handle: int) -> None:
        """Learn the name, and refuse a number that is no pid, but is taken for one by OpenProcess."""
        if self._win32.get_pid(handle) != self.pid:
            raise self._explain_absence()
        try:
            self.name = ntpath.basename(self._win32.get_image_path(handle))
        except Win32Error:  # a process without a program, such as that of compressed memory
            names = [process.name for process in self._running.list_processes() if process.pid == self.pid]
            self.name = names[0] if names else b""

    def _find_range(self) -> Facts:
        """Find where the memory of the process ends, and who says so."""
        if not self._held.is_wow64:
            end = self._win32.system_end
            return {"start": 0, "end": end, "source": "lpMaximumApplicationAddress of GetSystemInfo"}
        try:
            aware = self._is_large_address_aware()
        except (OSError, ValueError) as error:
            source = f"assumed: the PE header of the program cannot be read ({error})"
            return {"start": 0, "end": _END_32[True], "source": source}
        source = f"a 32-bit program with{'' if aware else 'out'} LARGE_ADDRESS_AWARE (PE header)"
        return {"start": 0, "end": _END_32[aware], "source": source}

    def _is_large_address_aware(self) -> bool:
        read = partial(read_whole, self._win32, self._held.handle)
        if self._held.has_blocks_of_both:
            peb = find_peb32(self._win32, self._held, self._running.list_threads(self.pid))
        else:
            peb = self._win32.find_peb(self._held.handle)
        base = read_image_base(read, peb, 32)
        return parse_image(lambda at, size: read(base + at, size)).large_address_aware

    def check_access(self) -> None:
        """Raise CollectError where a snapshot would be refused; asks for one region."""
        try:
            self._win32.make_region_query(self._held.handle)(self._usable["start"])
        except Win32Error as error:
            raise self._judge(error) from error

    def take_snapshot(self, capture: Capture) -> Snapshot:
        """Collect one snapshot; ProcessGoneError if the process ended, CollectError if refused."""
        try:
            snapshot = self._reader.read(self._usable, capture)
        except Win32Error as error:
            raise self._judge(error) from error
        if not self.is_alive():
            raise self._gone()
        if "name" not in snapshot.process:
            snapshot.process["name"] = printable(self.name)
        return snapshot

    def estimate_cost(self) -> Cost | None:
        """Tell nothing: no rates are known for Windows."""
        return None

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._win32.is_running(self._held.handle)

    def exit_handle(self) -> int | None:
        """Give the handle of the process, which is signalled when it ends."""
        return self._held.handle

    def close(self) -> None:
        """Let go of the process."""
        self._win32.close(self._held.handle)

    def _gone(self) -> ProcessGoneError:
        return ProcessGoneError(self.pid, printable(self.name) or None, "its map")

    def _judge(self, error: Win32Error) -> CollectError:
        """Tell what a refusal means: the memory of a process that ended is refused with 5 as well."""
        return self._explain(error) if self.is_alive() else self._gone()

    def _explain(self, error: Win32Error) -> CollectError:
        if error.code == ERROR_INVALID_PARAMETER and error.function == "OpenProcess":
            return self._explain_absence()
        who = f"process {self.pid} ({printable(self.name)})" if self.name else f"process {self.pid}"
        if error.code == ERROR_ACCESS_DENIED:
            how = "" if self._options.debug_privilege else " with --debug-privilege"
            now = f"Run this as the same user or as Administrator{how}; protected processes open to nobody"
        else:
            now = "Look at --ps"
        return CollectError(f"{who} cannot be read: {error}. {now}.", reason=str(error), code=error.code)

    def _explain_absence(self) -> CollectError:
        return CollectError(f"there is no process {self.pid}. `--ps` lists what runs.", reason="it ended")
