"""Small files below /proc, each a pure function from its bytes to facts under the kernel's own names.

Values in kB become bytes, other numbers stay as printed, unknown keys are kept. Names are text where they are
UTF-8, else bytes.
"""

from __future__ import annotations

import os
import re
import struct
from typing import Literal

from mmpscope.formats.model import Fact, Facts

__all__ = [
    "parse_auxv",
    "parse_cmdline",
    "parse_counters",
    "parse_limits",
    "parse_membership",
    "parse_os_release",
    "parse_status",
    "to_fact",
]

_COUNTER = re.compile(rb"^([^:\n]+):[ \t]*(\d{1,20})([ \t]+kB)?[ \t\r]*$", re.MULTILINE)
_STATUS = re.compile(rb"^([^:\n]+):[ \t]?([^\n]*)$", re.MULTILINE)
_KB = re.compile(rb"[ \t]*(\d{1,17}) kB")
_NUMBER = re.compile(rb"0|[1-9]\d{0,18}")
_LISTS = {"Uid", "Gid", "Groups", "NStgid", "NSpid", "NSpgid", "NSsid"}
_TEXTS = re.compile(r"Name|State|Umask|Sig.*|ShdPnd|Cap.*|.*_allowed(_list)?")
"""Keys whose value may look like a number and is none: masks in hex or octal, CPU lists, a name `7`."""
_LIMIT = re.compile(
    rb"^(Max .+?)[ \t]{2,}(unlimited|\d{1,19})[ \t]+(unlimited|\d{1,19})[ \t]*(\w*)[ \t\r]*$", re.MULTILINE
)
_LARGEST = (1 << 64) - 1
"""No kernel has larger numbers; saved text may, up to some that take Python seconds to read."""
_AT_NULL = 0
_AT_NAMES = {
    2: "EXECFD", 3: "PHDR", 4: "PHENT", 5: "PHNUM", 6: "PAGESZ", 7: "BASE", 8: "FLAGS", 9: "ENTRY",
    10: "NOTELF", 11: "UID", 12: "EUID", 13: "GID", 14: "EGID", 15: "PLATFORM", 16: "HWCAP", 17: "CLKTCK",
    18: "FPUCW", 19: "DCACHEBSIZE", 20: "ICACHEBSIZE", 21: "UCACHEBSIZE", 22: "IGNOREPPC", 23: "SECURE",
    24: "BASE_PLATFORM", 25: "RANDOM", 26: "HWCAP2", 27: "RSEQ_FEATURE_SIZE", 28: "RSEQ_ALIGN",
    29: "HWCAP3", 30: "HWCAP4", 31: "EXECFN", 32: "SYSINFO", 33: "SYSINFO_EHDR", 51: "MINSIGSTKSZ",
}  # fmt: skip
"""linux/auxvec.h and the architectures' asm/auxvec.h."""


def to_fact(name: bytes) -> str | bytes:
    """Keep a name as text where it is UTF-8, and byte for byte where it is not."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name


def parse_counters(data: bytes) -> Facts:
    """Parse `key: number kB` lines: `smaps_rollup` and `meminfo`; lines of another form are left out.

    What has no unit is a count (`HugePages_Total`) and stays as it is; what is beyond 64 bits is left out.
    """
    counters = {
        key.decode("ascii", "backslashreplace"): int(value) * (1024 if unit else 1)
        for key, value, unit in _COUNTER.findall(data)
    }
    return {key: number for key, number in counters.items() if number <= _LARGEST}


def parse_status(data: bytes) -> Facts:
    """Parse `/proc/PID/status`, proc_pid_status(5): kB to bytes, ids and groups as lists, masks as text."""
    facts: Facts = {}
    for raw_key, value in _STATUS.findall(data.replace(b"\r\n", b"\n")):
        key = raw_key.decode("ascii", "backslashreplace")
        facts[key] = _parse_status_value(key, value)
    return facts


def _parse_status_value(key: str, value: bytes) -> Fact:
    if key == "Name":
        return to_fact(value)  # blanks at its end are part of it
    words = value.split()
    if key in _LISTS and all(map(_NUMBER.fullmatch, words)):
        return [int(word) for word in words]
    in_kb = _KB.fullmatch(value)
    if in_kb is not None:
        return int(in_kb[1]) * 1024
    value = value.strip()
    if _NUMBER.fullmatch(value) and not _TEXTS.fullmatch(key):
        return int(value)
    return to_fact(value)


def parse_limits(data: bytes) -> Facts:
    """Parse `/proc/PID/limits` to {name: [soft, hard, unit]}, None for unlimited or for no unit."""
    return {
        name.decode(): [_parse_limit(soft), _parse_limit(hard), unit.decode() or None]
        for name, soft, hard, unit in _LIMIT.findall(data)
    }


def _parse_limit(text: bytes) -> int | None:
    return None if text == b"unlimited" else int(text)


def parse_auxv(data: bytes, elf_class: int, byte_order: Literal["little", "big"] = "little") -> Facts:
    """Parse `/proc/PID/auxv` to {`AT_PAGESZ`: number, ...}, up to AT_NULL; unknown types are called `AT_99`.

    Entries are pairs of words of the *process*, 32 or 64 bits by its ELF class, not of the kernel.
    """
    pair = struct.Struct(("<" if byte_order == "little" else ">") + ("QQ" if elf_class == 64 else "II"))
    facts: Facts = {}
    for kind, value in pair.iter_unpack(data[: len(data) // pair.size * pair.size]):
        if kind == _AT_NULL:
            break
        facts[f"AT_{_AT_NAMES.get(kind, kind)}"] = value
    return facts


def parse_cmdline(data: bytes) -> list[Fact]:
    """Parse `/proc/PID/cmdline`; a process may write over it, and then there need not be a NUL at its end."""
    arguments = data[:-1] if data.endswith(b"\0") else data
    return [to_fact(argument) for argument in arguments.split(b"\0")] if data else []


def parse_membership(data: bytes) -> dict[int, str]:
    """Parse `/proc/PID/cgroup` to the path of the memory cgroup in the hierarchies of version 1 and 2.

    Lines are `id:controllers:path` (cgroups(7)); version 2 is the one with id 0. Paths are as from
    `os.fsdecode`.
    """
    paths: dict[int, str] = {}
    for line in os.fsdecode(data).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            paths[1] = path
        elif number == "0" and not controllers:
            paths[2] = path
    return paths


def parse_os_release(data: bytes) -> str | bytes | None:
    """Find the name that os-release(5) has for people: `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"`."""
    for line in data.splitlines():
        name, _, value = line.partition(b"=")
        if name == b"PRETTY_NAME":
            return to_fact(value.strip(b"\"' "))
    return None
