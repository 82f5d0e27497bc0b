"""What would help where the system does not let us look at a process."""

from __future__ import annotations

from mmpscope.collector.linux.procfs import ProcDir

__all__ = ["advise", "advise_hold", "read_ptrace_scope"]

_NOBODY = 3


def advise(owner: int, own_uid: int, ptrace_scope: int | None) -> str:
    """Say what would help, for a process whose proc directory belongs to ``owner``.

    Reading a map needs what ptrace(2) calls PTRACE_MODE_READ: same user and a process that may be dumped, or
    the capability CAP_SYS_PTRACE. A process that may not be dumped (setuid, or by prctl) has a directory of
    root.
    """
    if own_uid == 0:
        return "Root may not: it lacks CAP_SYS_PTRACE (a container), or a security module stands between."
    if owner != own_uid:
        return f"It belongs to user {owner}, or may not be dumped: run this as the same user, or with sudo."
    scope = "" if not ptrace_scope else f" (kernel.yama.ptrace_scope is {ptrace_scope})"
    return f"A security module stands between{scope}: run this with sudo."


def advise_hold(ptrace_scope: int | None) -> str:
    """Say what would help where ptrace is refused.

    Yama lets with 1 those trace who started the process, and root; with 2 root alone; with 3, which cannot be
    taken back, nobody.
    """
    if not ptrace_scope:
        return "the same user or sudo would help, unless a seccomp filter or a container forbids ptrace"
    yama = f"kernel.yama.ptrace_scope is {ptrace_scope}"
    if ptrace_scope >= _NOBODY:
        return f"{yama}, so that nobody may until the machine starts anew"
    return f"{yama}: sudo would help, unless a seccomp filter or a container forbids ptrace"


def read_ptrace_scope(process: ProcDir) -> int | None:
    """Read the setting of Yama that narrows who may look at registers; None where the kernel has no Yama."""
    try:
        return int(process.read("../sys/kernel/yama/ptrace_scope"))
    except (OSError, ValueError):
        return None
