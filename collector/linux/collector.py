"""The Linux collector: one proc root, the processes in it, and what holds for the whole system."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.errors import CollectError, ProcessGoneError
from mmpscope.collector.linux.processes import list_processes
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.system import read_capture
from mmpscope.collector.linux.target import LinuxTarget
from mmpscope.formats.model import Capture

__all__ = ["LinuxCollector"]


class LinuxCollector:
    """A `mmpscope.collector.base.Collector`; CollectError where ``root`` is no proc file system."""

    def __init__(self, options: Options, root: str = "/proc") -> None:
        self._options = options
        try:
            self._root = ProcDir(root)
        except OSError as error:
            raise CollectError(
                f"{root} cannot be read ({error.strerror}). Is the proc file system mounted?"
            ) from error
        self._mountinfo: bytes | None = None

    def list_processes(self) -> list[ProcessRow]:
        """List what runs, by pid."""
        return list_processes(self._root, command_lines=self._options.command_lines)

    def own_pid(self) -> int | None:
        """Tell our own pid, as this proc root counts it; None where it is not of the running system."""
        return self._root.find_own_pid()

    def open_target(self, pid: int, starttime: int | None = None) -> LinuxTarget:
        """Hold on to one process; CollectError where there is none, or it has no address space."""
        target = LinuxTarget(self._root, pid, self._options, self._read_mountinfo)
        if starttime not in (None, target.starttime):
            target.close()
            raise ProcessGoneError(pid, None, "the list of processes")
        return target

    def take_capture(self, processes: Sequence[ProcessRow] | None = None) -> Capture:
        """Collect what holds for the whole system now."""
        return read_capture(self._root, self._options, processes)

    def _read_mountinfo(self) -> bytes:
        """Read where cgroups are mounted for us, once: that list is long on hosts of containers."""
        if self._mountinfo is None:
            self._mountinfo = self._root.read("self/mountinfo")
        return self._mountinfo
