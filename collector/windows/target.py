"""One Windows process, held by a handle: its snapshots, whether it lives, what to wait for."""

from __future__ import annotations

import sys
from functools import partial

from mmpscope.collector.base import Options
from mmpscope.collector.errors import CollectError, ProcessGoneError
from mmpscope.collector.windows.api import (
    PROCESS_QUERY_INFORMATION,
    PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_VM_READ,
    Win32,
)
from mmpscope.collector.windows.blocks import read_peb
from mmpscope.collector.windows.errors import ERROR_ACCESS_DENIED, ERROR_INVALID_PARAMETER, Win32Error
from mmpscope.collector.windows.lists import Held
from mmpscope.collector.windows.pe import parse_image
from mmpscope.collector.windows.snapshot import SnapshotReader
from mmpscope.collector.windows.wow64 import find_peb32
from mmpscope.formats.model import Capture, Facts, Snapshot

__all__ = ["WindowsTarget"]

_I386 = 0x014C
_OWN_BITS = 64 if sys.maxsize > 1 << 32 else 32
_GIB = 1 << 30
_END_32 = {False: 2 * _GIB - 0x10000, True: 4 * _GIB - 0x10000}
"""Where the memory of a 32-bit program ends on 64-bit Windows, without and with LARGE_ADDRESS_AWARE."""


class WindowsTarget:
    """A process; CollectError where there is none, or it may not be looked at."""

    def __init__(self, win32: Win32, pid: int, name: bytes, options: Options) -> None:
        self.pid = pid
        self.name = name
        self.notices: list[str] = []
        self._win32 = win32
        self._options = options
        handle = self._open()
        try:
            self._held = self._look(handle)
            self._usable = self._find_range()
        except BaseException:
            win32.close(handle)
            raise
        self._reader = SnapshotReader(win32, self._held, options)

    def _open(self) -> int:
        """Open with as few rights as will do: the map needs QUERY_INFORMATION, stacks and heaps VM_READ."""
        rights = (
            PROCESS_QUERY_INFORMATION | PROCESS_VM_READ,
            PROCESS_QUERY_INFORMATION,
            PROCESS_QUERY_LIMITED_INFORMATION,
        )
        for access in rights:
            try:
                return self._win32.open_process(self.pid, access)
            except Win32Error as error:
                refusal = error
                if error.code != ERROR_ACCESS_DENIED:
                    break
        raise self._explain(refusal) from refusal

    def _look(self, handle: int) -> Held:
        try:
            machine, native = self._win32.get_machines(handle)
        except Win32Error as error:
            raise self._explain(error) from error
        is_32 = machine == _I386 or (machine == 0 and _OWN_BITS == 32 and native == 0)
        bits = 32 if is_32 else 64
        if bits > _OWN_BITS:
            what = f"process {self.pid} is a 64-bit program, and this Python is a 32-bit one"
            raise CollectError(f"{what}. Use a 64-bit Python.")
        return Held(self.pid, handle, bits, bits < _OWN_BITS)

    def _find_range(self) -> Facts:
        """Find where the memory of the process ends, and who says so."""
        if self._held.bits == _OWN_BITS:
            end = int(self._win32.system_end)
            return {"start": 0, "end": end, "source": "lpMaximumApplicationAddress of GetSystemInfo"}
        try:
            aware = self._is_large_address_aware()
        except (OSError, ValueError) as error:
            source = f"assumed: the PE header of the program cannot be read ({error})"
            return {"start": 0, "end": _END_32[True], "source": source}
        source = f"a 32-bit program with{'' if aware else 'out'} LARGE_ADDRESS_AWARE (PE header)"
        return {"start": 0, "end": _END_32[aware], "source": source}

    def _is_large_address_aware(self) -> bool:
        read = partial(self._win32.read_memory, self._held.handle)
        peb = read_peb(read, find_peb32(self._win32, self.pid, self._held.handle), 32)
        return parse_image(lambda at, size: read(peb.image_base + at, size)).large_address_aware

    def take_snapshot(self, capture: Capture) -> Snapshot:
        """Collect one snapshot; ProcessGoneError if the process ended, CollectError if refused."""
        try:
            snapshot = self._reader.read(self._usable, capture)
        except Win32Error as error:
            if not self.is_alive():
                raise ProcessGoneError(self.pid, self.name.decode("utf-8", "replace"), "its map") from error
            raise self._explain(error) from error
        if not self.is_alive():
            raise ProcessGoneError(self.pid, self.name.decode("utf-8", "replace"), "its map")
        return snapshot

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._win32.is_running(self._held.handle)

    def exit_handle(self) -> int | None:
        """Give nothing to wait for: what waits on Windows asks `is_alive` from time to time."""
        return None

    def close(self) -> None:
        """Let go of the process."""
        self._win32.close(self._held.handle)

    def _explain(self, error: Win32Error) -> CollectError:
        if error.code == ERROR_INVALID_PARAMETER:
            return CollectError(f"there is no process {self.pid}. `--ps` lists what runs.")
        now = (
            "Run this as the same user, or as Administrator"
            if error.code == ERROR_ACCESS_DENIED
            else "Look at --ps"
        )
        return CollectError(f"process {self.pid} cannot be read: {error}. {now}.")
