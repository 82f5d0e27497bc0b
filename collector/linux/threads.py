"""The threads of one process: id, name, state, start time, and where each one's stack pointer is."""

from __future__ import annotations

import errno

from mmpscope.collector.linux.denied import read_ptrace_scope
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import Recorder, explain
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Fact, Table
from mmpscope.formats.proc.stat_line import Registers, parse_registers, parse_stat

__all__ = ["read_threads"]

_GONE = (errno.ENOENT, errno.ESRCH)
_REFUSED = (errno.EACCES, errno.EPERM)


def read_threads(process: ProcDir, recorder: Recorder) -> Table:
    """Read one row a thread: tid, name, state, starttime (clock ticks after boot), sp, ip.

    OSError where they cannot be listed. A thread that ends meanwhile is left out. sp and ip are null where a
    thread runs just now (the kernel knows them only of blocked ones) and where we may not look: see the
    capability `threads.sp`.
    """
    rows: dict[str, list[Fact]] = {"tid": [], "name": [], "state": [], "starttime": [], "sp": [], "ip": []}
    pointers = _PointerReader(process)
    with ProcDir("task", process) as task:
        for tid in task.list_numbers():
            try:
                stat = parse_stat(task.read(f"{tid}/stat"))
                registers = pointers.read(f"task/{tid}/syscall")
            except OSError as error:
                if error.errno in _GONE:
                    continue
                raise
            sp, ip = registers or (None, None)
            row = (tid, stat.comm, stat.state, stat.starttime, sp, ip)
            for column, value in zip(rows.values(), row):
                column.append(value)
    pointers.report(recorder, len(rows["tid"]))
    kinds = {"name": "bytes", "state": "utf-8"}
    columns = {
        name: Plain("text" if name in kinds else "uint", values, kinds.get(name))
        for name, values in rows.items()
    }
    return encode_table(columns, len(rows["tid"]))


class _PointerReader:
    """Reads registers until the system says no for good, and counts what is missing."""

    def __init__(self, process: ProcDir) -> None:
        self.process = process
        self.error: OSError | None = None
        self.failed = 0
        self.running = 0

    def read(self, name: str) -> Registers | None:
        if self.error is not None and self.error.errno in _REFUSED:
            self.failed += 1
            return None
        try:
            registers = parse_registers(self.process.read(name))
        except OSError as error:
            if error.errno == errno.ESRCH:
                raise
            self.failed += 1
            self.error = error  # ENOENT: the kernel was built without the file, or the thread has just ended
            return None
        self.running += registers is None
        return registers

    def report(self, recorder: Recorder, threads: int) -> None:
        if self.error is not None:
            state = "unavailable" if self.failed >= threads else "partial"
            scope = read_ptrace_scope(self.process)
            hint = f"; kernel.yama.ptrace_scope is {scope}, sudo would help" if scope else ""
            recorder.miss("threads.sp", state, self.error.errno, explain(self.error) + hint)
        elif self.running:
            text = f"{self.running} of {threads} threads were running: the kernel knows sp of blocked ones"
            recorder.miss("threads.sp", "partial", None, text)
