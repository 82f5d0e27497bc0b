"""One Linux process, held by its proc directory: its snapshots, whether it lives, what to wait for."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable

from mmpscope.collector.base import Options
from mmpscope.collector.cost import Cost
from mmpscope.collector.errors import AccessDeniedError, CollectError, ProcessGoneError
from mmpscope.collector.linux.cost import estimate_cost
from mmpscope.collector.linux.denied import advise, read_ptrace_scope
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.regions import explain_light
from mmpscope.collector.linux.snapshot import SnapshotReader
from mmpscope.collector.names import printable
from mmpscope.formats.model import Capability, Capture, Fact, Snapshot
from mmpscope.formats.proc.stat_line import Stat, parse_stat

__all__ = ["LinuxTarget"]

_REFUSED = (errno.EACCES, errno.EPERM)
_ENDED = (b"Z", b"X")
"""States of proc_pid_stat(5): zombie and dead."""
_LOADING_TRIES, _LOADING_WAIT_S = 100, 0.001
_EXEC_TRIES = 3
_HOLD_MISSED = dict.fromkeys(
    ("unavailable", "not applicable"), "it was not held, and ran on while it was read"
)
_HOLD_MISSED["partial"] = "it was not held to the end"
_IMAGE = ("startcode", "endcode", "startstack", "start_data", "start_brk", "arg_start", "env_start")
"""Fields of proc_pid_stat(5) that execve sets; newer ones are absent from old kernels."""
_TGID = re.compile(rb"^Tgid:\s*(\d+)", re.MULTILINE)


class LinuxTarget:
    """A process of ``root``; CollectError where there is none, it is hidden, or it has no address space."""

    def __init__(self, root: ProcDir, pid: int, options: Options, mountinfo: Callable[[], bytes]) -> None:
        self.pid = pid
        self.name = b""
        self.notices: list[str] = []
        self._root = root
        self._options = options
        self._pidfd: int | None = None
        try:
            self._directory = ProcDir(str(pid), root)
        except OSError as error:
            raise self._explain_absence(error) from error
        try:
            self.starttime = self._identify()
            self._pidfd = self._open_pidfd()
        except BaseException:
            self.close()
            raise
        self._reader = SnapshotReader(self._directory, options, mountinfo)

    def _identify(self) -> int:
        """Learn name and start time; refuse what is no process with an address space."""
        stat = self._read_loaded_stat()
        self.name = stat.comm
        who = f"process {self.pid} ({printable(stat.comm)})"
        if stat.is_kernel_thread:
            raise CollectError(f"{who} is a kernel thread: it has no address space.")
        if stat.state in _ENDED:
            self._refuse_headless(stat)
            raise CollectError(f"{who} is a zombie: it has ended, and has no address space any more.")
        tgid = _TGID.search(self._read("status"))
        if tgid is not None and int(tgid[1]) != self.pid:
            raise CollectError(f"{self.pid} is a thread of process {int(tgid[1])}. Give that pid.")
        return stat.starttime

    def _read_loaded_stat(self) -> Stat:
        """Read stat, after a moment where a program is just being loaded.

        Between the first and last steps of execve its map holds the stack and little else, and its name is
        still that of its parent; startcode is 0 until it is done (binfmt_elf). What we start is seen so.
        """
        stat = self._read_stat()
        for _ in range(_LOADING_TRIES):
            if stat.numbers["startcode"] or stat.is_kernel_thread or stat.state in _ENDED:
                break
            time.sleep(_LOADING_WAIT_S)
            stat = self._read_stat()
        return stat

    def _open_pidfd(self) -> int | None:
        """Open a pidfd (Linux 5.3) where pids of this proc root are those of our own system calls."""
        if self._root.find_own_pid() != os.getpid():
            return None
        try:
            return os.pidfd_open(self.pid)
        except (OSError, AttributeError):
            return None

    def take_snapshot(self, capture: Capture) -> Snapshot:
        """Collect one snapshot; ProcessGoneError if the process ended, AccessDeniedError if refused."""
        for _ in range(_EXEC_TRIES):
            stat = self._read_loaded_stat()
            self.name = stat.comm
            try:
                snapshot = self._reader.read(stat, capture)
            except OSError as error:
                raise self._explain(error, error.filename or "maps") from error
            after = self._read_stat()
            if after.starttime != self.starttime or after.state in _ENDED:
                self._refuse_headless(after)
                raise self._gone("its map")
            if _find_image(after) == _find_image(stat):
                break
        else:
            text = "the process started another program each time that its map was read"
            snapshot.capability.append(Capability("regions", "partial", None, text))
        if not snapshot.tables["regions"].rows:
            raise self._gone("its map")
        self._notice_gaps(snapshot)
        return snapshot

    def _refuse_headless(self, stat: Stat) -> None:
        """Refuse a process whose main thread has called pthread_exit while others go on.

        It looks like a zombie, and its maps is empty, but it has not ended: num_threads still counts them.
        """
        if stat.numbers["num_threads"] > 1:
            who = f"process {self.pid} ({printable(stat.comm)})"
            raise CollectError(
                f"the main thread of {who} has ended and others go on: the kernel shows no memory of such a "
                "process. Look at it before that happens."
            )

    def _notice_gaps(self, snapshot: Snapshot) -> None:
        for known in snapshot.capability:
            if known.item == "smaps" and known.state != "ok" and not self._options.light:
                self.notices.append(f"process {self.pid}: no counters of its mappings: {known.reason}")
            if known.item == "freeze" and known.state != "ok":
                self.notices.append(f"process {self.pid}: {_HOLD_MISSED[known.state]}: {known.reason}")

    def check_access(self) -> None:
        """Raise CollectError where a snapshot would be refused: the kernel asks when maps is opened."""
        try:
            self._directory.read("maps", 1)
        except OSError as error:
            raise self._explain(error, "maps") from error

    def estimate_cost(self) -> Cost | None:
        """Estimate what the counters will cost where that is to be asked for, and no budget bounds it."""
        options = self._options
        if options.light or options.budget_s is not None or not (options.full or options.freeze):
            return None
        maps, status = self._read("maps"), self._read("status")
        return None if explain_light(maps, status, options) else estimate_cost(maps, status)

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        try:
            stat = self._read_stat()
            return stat.state not in _ENDED or stat.numbers["num_threads"] > 1
        except ProcessGoneError:
            return False

    def exit_handle(self) -> int | None:
        """Give a descriptor that becomes readable when the process ends, None where the kernel has none."""
        return self._pidfd

    def close(self) -> None:
        """Let go of the process."""
        self._directory.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def _read_stat(self) -> Stat:
        try:
            return parse_stat(self._read("stat"))
        except ValueError as error:
            raise CollectError(f"{self._directory.path}/stat cannot be understood: {error}.") from error

    def _read(self, name: str) -> bytes:
        try:
            return self._directory.read(name)
        except OSError as error:
            raise self._explain(error, name) from error

    def _explain(self, error: OSError, name: str) -> CollectError:
        """Say what a failed read means: the directory is bound to its process, so absence is its end."""
        if error.errno not in _REFUSED:
            return self._gone(name)
        owner = os.fstat(self._directory.fd).st_uid
        now = advise(owner, os.geteuid(), read_ptrace_scope(self._directory))
        return AccessDeniedError(f"{self._directory.path}/{name}", error.errno or 0, now)

    def _explain_absence(self, error: OSError) -> CollectError:
        if error.errno in _REFUSED:
            now = "The system hides it (hidepid): run this as the same user, or with sudo."
            return AccessDeniedError(f"{self._root.path}/{self.pid}", error.errno or 0, now)
        return CollectError(f"there is no process {self.pid}{self._find_hint()}", "it ended")

    def _find_hint(self) -> str:
        """Tell a process that is hidden (hidepid=2) from one that is not there: signals still find it."""
        if self._root.find_own_pid() == os.getpid():
            try:
                os.kill(self.pid, 0)
            except PermissionError:
                return " that I may see: it is hidden (hidepid). Run this as the same user, or with sudo."
            except (OSError, OverflowError):
                pass
        return ". `--ps` lists what runs."

    def _gone(self, name: str) -> ProcessGoneError:
        return ProcessGoneError(self.pid, printable(self.name) or None, name)


def _find_image(stat: Stat) -> tuple[Fact, ...]:
    """Tell what changes where execve replaces the program: smaps, read meanwhile, just ends in the middle."""
    return tuple(stat.numbers.get(name) for name in _IMAGE)
