"""Where the address space of a Linux process ends: by the rule of its kernel, or by guess from its map.

Pages of the kernel that a map shows as well (`[vsyscall]`, `[vectors]`) lie outside: no request for memory is
ever answered there.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ADDR_LIMIT_3GB", "GATES", "SpaceEnd", "infer_end", "task_size"]

ADDR_LIMIT_3GB = 0x08000000
"""personality(2): give a 32-bit process the 3 GiB that a 32-bit kernel would (`setarch i386 -3`)."""
GATES = frozenset({b"[vsyscall]", b"[vectors]"})
"""Names of the gate areas, which no process can unmap and which count against no limit."""


class SpaceEnd(NamedTuple):
    """``end`` is the first address that a process cannot have; ``source`` names the rule that says so."""

    end: int
    source: str


class _Rule(NamedTuple):
    """Ends that a kernel can be configured for, lowest first; ``usual`` is taken where no address decides."""

    ends: tuple[int, ...]
    usual: int
    source: str


_X86_47 = 0x7FFF_FFFF_F000
_ARM_3G = 0xBF00_0000
_COMPAT_X86 = 0xFFFF_E000
_RULES = {
    ("x86_64", 64): _Rule(
        (_X86_47, (1 << 56) - 4096), _X86_47, "x86_64 TASK_SIZE: 47 bits less a page (asm/page_64.h)"
    ),
    ("x86_64", 32): _Rule((_COMPAT_X86,), _COMPAT_X86, "x86_64 IA32_PAGE_OFFSET (asm/page_64_types.h)"),
    ("i386", 32): _Rule(
        (0xC000_0000, _COMPAT_X86), 0xC000_0000, "x86 __PAGE_OFFSET: 3 GiB (asm/page_32_types.h)"
    ),
    ("aarch64", 64): _Rule(
        (1 << 39, 1 << 42, 1 << 47, 1 << 48, 1 << 52),
        1 << 48,
        "arm64 TASK_SIZE_64: VA_BITS (asm/processor.h)",
    ),
    ("arm", 32): _Rule(
        (_ARM_3G, 0xC000_0000, 0xFFFF_0000), _ARM_3G, "arm TASK_SIZE: 3 GiB less 16 MiB (asm/memory.h)"
    ),
    ("riscv64", 64): _Rule(
        (1 << 38, 1 << 47, 1 << 56), 1 << 47, "riscv TASK_SIZE_64: sv39, sv48 or sv57 (asm/pgtable.h)"
    ),
    ("riscv64", 32): _Rule((1 << 31,), 1 << 31, "riscv TASK_SIZE_32: 2 GiB (asm/pgtable.h)"),
    ("ppc64", 64): _Rule(
        (1 << 46, 1 << 47, 1 << 49, 1 << 52), 1 << 47, "powerpc TASK_SIZE_USER64 (asm/task_size_64.h)"
    ),
    ("ppc64", 32): _Rule(
        (0xFFFF_F000, 1 << 32),
        0xFFFF_F000,
        "powerpc TASK_SIZE_USER32: 4 GiB less a page (asm/task_size_64.h)",
    ),
    ("s390x", 64): _Rule((1 << 42, 1 << 53), 1 << 42, "s390 TASK_SIZE: _REGION2_SIZE (asm/processor.h)"),
    ("s390x", 32): _Rule((1 << 31,), 1 << 31, "s390 TASK_SIZE: 31 bits (asm/processor.h)"),
}
_LIMIT_3GB = SpaceEnd(0xC000_0000, "x86_64 IA32_PAGE_OFFSET with ADDR_LIMIT_3GB (asm/page_64_types.h)")
_GUESSES = (_ARM_3G, 0xC000_0000, _COMPAT_X86, 1 << 32, 1 << 39, _X86_47, 1 << 48, 1 << 52, 1 << 56)
"""The usual ends, for text of an unknown machine."""
_LAST = (1 << 64) - 1
"""The last end that a fact can hold."""


def task_size(
    elf_class: int, machine: str, personality: int = 0, page_size: int = 4096, highest: int = 0
) -> SpaceEnd | None:
    """Tell where the space of a process ends; None for a machine whose rule we do not know.

    ``machine`` is the kernel's (`uname -m`), ``elf_class`` 32 or 64 that of the program. Many kernels leave
    the number of address bits to their configuration: there ``highest`` decides, the end of the highest
    region that is no gate, because every kernel puts the stack near the top.
    """
    family = _tell_family(machine)
    if family == "x86_64" and elf_class == 32 and personality & ADDR_LIMIT_3GB:
        return _LIMIT_3GB
    if family == "aarch64" and elf_class == 32:
        # With pages of 64 KiB the vectors page lies above 4 GiB less a page, and the space goes on to 4 GiB.
        end = (1 << 32) - (0 if page_size == 1 << 16 else page_size)
        return SpaceEnd(end, "arm64 TASK_SIZE_32: 4 GiB less a page (asm/processor.h)")
    rule = _RULES.get((family, elf_class))
    if rule is None:
        return None
    fitting = [end for end in rule.ends if end >= highest]
    if not highest or not fitting:
        return SpaceEnd(rule.usual, rule.source)
    return SpaceEnd(fitting[0], rule.source)


def _tell_family(machine: str) -> str:
    """Tell the family of `uname -m`: i686 -> i386, armv7l -> arm, ppc64le -> ppc64."""
    if len(machine) == 4 and machine[0] == "i" and machine.endswith("86"):
        return "i386"
    if machine.startswith("arm") and not machine.startswith("arm64"):
        return "arm"
    return {"ppc64le": "ppc64", "arm64": "aarch64", "amd64": "x86_64"}.get(machine, machine)


def infer_end(highest: int) -> SpaceEnd:
    """Guess the end of the space from ``highest``, the end of the highest region that is no gate.

    For text of an unknown machine: the smallest end that any kernel has and that lies at or above it.
    """
    end = next((end for end in _GUESSES if end >= highest), _LAST)
    return SpaceEnd(end, "inferred: the smallest usual end above the highest region")
