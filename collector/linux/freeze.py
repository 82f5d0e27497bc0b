"""Holds every thread of one process still while it is read; nothing of the process is read or written here.

By PTRACE_SEIZE and PTRACE_INTERRUPT (with what is asked of waitid, Linux 4.7), which send no signal and leave
a stopped process stopped. The kernel lets go of all by itself when the thread that traces ends, `kill -9` of
us included.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import threading
import time
from types import TracebackType
from typing import Callable

from mmpscope.collector.linux.denied import advise_hold, read_ptrace_scope
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import NotApplicableError, explain
from mmpscope.formats.proc.stat_line import parse_stat

__all__ = ["Freeze"]

_DETACH, _SEIZE, _INTERRUPT = 17, 0x4206, 0x4207  # ptrace(2); the same on every architecture
_EVENT_STOP = 128
_WALL = 0x4000_0000  # __WALL of waitpid(2): threads that are traced count as children
_LOOK = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT | _WALL
_ENDS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_STOP_S = 1.0
"""How long a thread may take to stop; one that waits for a disk or a network file system cannot."""
_FIRST_NAP_S, _LONGEST_NAP_S = 0.0001, 0.01
_GONE = (errno.ESRCH, errno.ENOENT)
_TRACER = re.compile(rb"^TracerPid:\s*(\d+)", re.MULTILINE)
_GROUP = re.compile(rb"^Tgid:\s*(\d+)", re.MULTILINE)
_JOB_STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)

Ptrace = Callable[[int, int, int], None]


class _RefusedError(OSError):
    """A refusal with a sentence of its own."""

    def __str__(self) -> str:
        return str(self.strerror)


class Freeze:
    """Holds a process from entering the `with` statement to leaving it, at most ``limit_s``.

    Entering raises OSError or ValueError with the reason where it cannot be held; nothing of it is held then.
    ``held_ns`` tells afterwards for how long it was, ``has_expired`` whether the limit ended that.

    A thread of its own traces: it ends at the limit whatever the rest of us does, and what it has not let go
    of by then, the kernel does. Ctrl-Z waits meanwhile, as a collector that is stopped could not let go.
    """

    def __init__(self, process: ProcDir, pid: int, limit_s: float) -> None:
        self.held_ns = 0
        self.has_expired = False
        self._process = process
        self._pid = pid
        self._limit_s = limit_s
        self._threads: dict[int, int] = {}  # the signal that each was about to get, 0 for none
        self._error: Exception | None = None
        self._is_held = threading.Event()
        self._may_go = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._mask_before: set[int] = set()

    def __enter__(self) -> Freeze:
        _refuse_what_is_no_neighbour(self._process, self._pid)
        self._mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, _JOB_STOPS)
        try:
            self._thread.start()
            self._is_held.wait()
        except RuntimeError as error:
            self._end()
            raise _RefusedError(errno.EAGAIN, "no thread could be started that holds it") from error
        except BaseException:
            self._end()
            raise
        if self._error is not None:
            self._end()
            raise self._error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._may_go.set()
        if self._thread.ident is not None:
            self._thread.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask_before)

    def _run(self) -> None:
        """Hold, wait until it may go or time is up, let go; our own end frees what never stopped."""
        try:
            ptrace = _find_ptrace()
            start = time.monotonic()
            try:
                self._hold_all(ptrace, start + min(_STOP_S, self._limit_s))
                self._is_held.set()
                self.has_expired = not self._may_go.wait(max(0.0, start + self._limit_s - time.monotonic()))
            finally:
                self._let_go(ptrace)
                self.held_ns = int((time.monotonic() - start) * 1e9)
        except Exception as error:  # noqa: BLE001  # it is raised again by whoever waits for us
            self._error = error
        finally:
            self._is_held.set()

    def _hold_all(self, ptrace: Ptrace, deadline: float) -> None:
        """Stop each thread, and look again: one that was not stopped yet may have started others.

        When a list that was made while all known threads stood still has no other in it, there is none.
        """
        with ProcDir("task", self._process) as task:
            while True:
                others = [tid for tid in task.list_numbers() if tid not in self._threads]
                if not others:
                    return
                seized = [tid for tid in others if self._seize(ptrace, task, tid)]
                for tid in seized:
                    self._wait_stopped(task, tid, deadline)
                if time.monotonic() > deadline:
                    raise _RefusedError(errno.ETIMEDOUT, "it starts threads faster than they can be stopped")

    def _seize(self, ptrace: Ptrace, task: ProcDir, tid: int) -> bool:
        """Seize one thread and ask it to stop; False where it has ended or its number is a stranger's."""
        try:
            ptrace(_SEIZE, tid, 0)
        except OSError as error:
            if error.errno in _GONE or _has_ended(task, tid):
                self._bury(tid)
                return False
            raise self._explain(error) from error
        self._threads[tid] = 0
        if _has_ended(task, tid):  # before we held it: a stranger may have its number, and runs on
            self._bury(tid)
            return False
        with contextlib.suppress(ProcessLookupError):
            ptrace(_INTERRUPT, tid, 0)
        return True

    def _wait_stopped(self, task: ProcDir, tid: int, deadline: float) -> None:
        """Wait for a stop, and note the signal that it came on the way to.

        The kernel keeps that signal as long as nobody takes the stop from it (WNOWAIT): it reaches the
        process even where we are killed meanwhile.
        """
        nap_s = _FIRST_NAP_S
        while True:
            try:
                found = os.waitid(os.P_PID, tid, _LOOK)
            except ChildProcessError:  # execve has taken the place of the thread
                return
            if found is not None and found.si_code in _ENDS:
                self._bury(tid)
                return
            if found is not None:
                is_signal = found.si_code == os.CLD_TRAPPED and found.si_status >> 8 != _EVENT_STOP
                self._threads[tid] = found.si_status & 0x7F if is_signal else 0
                return
            if time.monotonic() > deadline:
                raise _RefusedError(
                    errno.ETIMEDOUT, f"thread {tid} did not stop: the kernel is at work for it"
                )
            time.sleep(nap_s)
            nap_s = min(2 * nap_s, _LONGEST_NAP_S)

    def _bury(self, tid: int) -> None:
        """Forget a thread that ended, with what is left of it; a whole process is left to its parent."""
        if tid != self._pid:
            self._threads.pop(tid, None)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, tid, os.WEXITED | os.WNOHANG | _WALL)

    def _let_go(self, ptrace: Ptrace) -> None:
        for tid, number in self._threads.items():
            with contextlib.suppress(OSError):  # it has ended; or it never stopped, and our own end frees it
                ptrace(_DETACH, tid, number)

    def _explain(self, error: OSError) -> OSError:
        """Say why the kernel refuses, as far as it can be told."""
        tracer = _find_tracer(self._process)
        if tracer:
            return _RefusedError(error.errno, f"it is traced by process {tracer}, and only one can")
        now = advise_hold(read_ptrace_scope(self._process))
        return _RefusedError(error.errno, f"ptrace is refused: {explain(error)}; {now}")


def _refuse_what_is_no_neighbour(process: ProcDir, pid: int) -> None:
    """Raise where ptrace would hold a stranger of that pid, or ourselves."""
    try:
        own = process.read_link("../self")
    except OSError:
        own = b""
    if own != b"%d" % os.getpid():
        raise NotApplicableError("its proc root has other pids than our own system calls")
    if pid == os.getpid():
        raise NotApplicableError("a process cannot hold itself")


def _find_tracer(process: ProcDir) -> int:
    """Tell which process traces already, 0 for none; the kernel names the thread of it that does."""
    tracer = _TRACER.search(process.read("status"))
    if tracer is None or not int(tracer[1]):
        return 0
    try:
        group = _GROUP.search(process.read(f"../{int(tracer[1])}/status"))
    except OSError:  # it has ended, or is hidden
        group = None
    return int((group or tracer)[1])


def _has_ended(task: ProcDir, tid: int) -> bool:
    try:
        return parse_stat(task.read(f"{tid}/stat")).state in (b"Z", b"X")
    except OSError:
        return True


def _find_ptrace() -> Ptrace:
    """Give ptrace of the C library; ValueError where this Python cannot call it."""
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).ptrace
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"this Python cannot call ptrace ({error})") from error
    call.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    call.restype = ctypes.c_long

    def ptrace(request: int, tid: int, data: int) -> None:
        if call(request, tid, None, data) == -1:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return ptrace
