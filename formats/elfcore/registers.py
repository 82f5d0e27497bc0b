"""Where the stack pointer and the program counter stand in NT_PRSTATUS, by machine.

`struct elf_prstatus` (linux/elfcore.h) is a fixed head, then the general registers in the order of each
machine's `elf_gregset_t` (asm/ptrace.h, asm/user.h).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["Thread", "parse_prstatus"]

_MACHINES = {
    (62, 64): (19, 16),  # x86-64: user_regs_struct, r15 .. rip .. rsp
    (3, 32): (15, 12),  # i386: ebx .. eip .. esp
    (183, 64): (31, 32),  # arm64: x0 .. x30, sp, pc
    (40, 32): (13, 15),  # arm: r0 .. r15
    (20, 32): (1, 32),  # ppc: gpr 0 .. 31, nip
    (21, 64): (1, 32),  # ppc64: the same
    (22, 64): (17, 1),  # s390x: psw mask, psw address, gpr 0 .. 15
    (243, 64): (2, 0),  # riscv: pc, ra, sp
    (243, 32): (2, 0),
    (258, 64): (3, 33),  # loongarch64: r0 .. r31, orig_a0, csr_era
    (8, 64): (29, 34),  # mips64: r0 .. r31, lo, hi, epc
}
"""(e_machine, class) -> index of stack pointer and program counter among the registers."""
_HEAD = {64: (32, 112), 32: (24, 72)}
"""Class -> offset of pr_pid, offset of pr_reg."""
_SIGNAL_AT = 12


class Thread(NamedTuple):
    """One thread: id, the signal it was to get, stack pointer and program counter (null: unknown machine)."""

    tid: int
    signal: int
    sp: int | None
    ip: int | None


def parse_prstatus(data: bytes, elf_class: int, order: str, machine: int) -> Thread | None:
    """Parse NT_PRSTATUS; None where it is too short to name a thread."""
    pid_at, registers_at = _HEAD[elf_class]
    if len(data) < pid_at + 4:
        return None
    (signal,) = struct.unpack_from(order + "H", data, _SIGNAL_AT)
    (tid,) = struct.unpack_from(order + "I", data, pid_at)
    places = _MACHINES.get((machine, elf_class))
    word, width = ("Q", 8) if elf_class == 64 else ("I", 4)
    if places is None or len(data) < registers_at + width * (max(places) + 1):
        return Thread(tid, signal, None, None)
    sp, ip = (struct.unpack_from(order + word, data, registers_at + width * place)[0] for place in places)
    return Thread(tid, signal, sp, ip)
