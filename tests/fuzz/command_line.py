"""The whole command line on one input: every command that reads, in this process, held to what it promises.

Structures are kept whole and their contents are not: names that act on terminals, numbers that cannot be.
"""

from __future__ import annotations

import copy
import itertools
import tempfile
import zlib
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutation import NUMBERS
from support.mmp_builder import MmpBuilder, column, numbers, table, texts
from support.mmp_command import Answer, run_mmp

__all__ = ["COMMANDS", "run_commands", "write_lies"]

COMMANDS = (
    "info", "info -v", "verify", "summary", "regions", "free", "free --fits 1M", "threads", "modules",
    "diff", "compare", "trend", "report -f -o page.html", "summary --json", "export -t regions --format csv",
    "export -t regions --format txt",
)  # fmt: skip
_EXIT_CODES = {0, 1, 2, 3, 4}
_ACTING = {*map(chr, (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)))} - {"\n"}
_LONGEST_REFUSAL = 4000
_NAMES = (
    b"/bin/x", b"[heap]", b"[stack]", b"=1+1", b"+1", b"-1", b"@a", b"\tx", b"\rx", b"a\nb", b"\x1b[31mred",
    b"\x1b]0;t\x07", "/\u202egpj.exe".encode(), b"\x9b1m", b"\xff\xfe", b"</script><b>", b"a" * 5000, b"",
)  # fmt: skip


def run_commands(data: bytes) -> None:
    """Run two of the commands, chosen by the input, on it; AssertionError where a promise is broken."""
    random = Random(zlib.crc32(data))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, random.choice(("input.mmp", "in\x1bput\u202e.maps", "=1.smaps")))
        path.write_bytes(data)
        for command in random.sample(COMMANDS, 2):
            words = command.replace("page.html", str(Path(folder, "page.html"))).split()
            partial = ["--partial"] if random.random() < 0.5 and words[0] != "verify" else []
            _check(command, run_mmp(*words, *partial, path))


def _check(command: str, answer: Answer) -> None:
    told = f"{command}: {answer.err[-1500:]}"
    if answer.code not in _EXIT_CODES:
        raise AssertionError(f"exit code {answer.code} of {told}")
    if answer.code == 3 and (not answer.err.startswith("mmp: ") or len(answer.err) > _LONGEST_REFUSAL):
        raise AssertionError(f"no sentence of {told}")
    acting = _ACTING & {*answer.out, *answer.err}
    if acting:
        raise AssertionError(f"{sorted(acting)!r} in what is shown by {told}")


def write_lies(data: bytes) -> bytes:
    """Make a whole `.mmp` of two snapshots whose names act and whose numbers cannot be, by chance."""
    random = Random(zlib.crc32(data))
    builder = MmpBuilder()
    builder.add_header()
    name = random.choice(_NAMES)
    host = {"os": random.choice(("linux", "windows", "x\x1b[1m")), "hostname": "h\u202e", "page_size": 4096}
    capture = builder.add_capture({"host": host, "system": {"meminfo": {"MemTotal": _number(random)}}})
    for moment, pid in itertools.product((1, 2), (7,)):
        process: dict[str, Any] = {"pid": pid, "name": name, "exe": random.choice(_NAMES), "cmdline": [name]}
        for _ in range(random.randrange(3)):
            process[random.choice(("status", "limits", "name", "stat", "cgroup", "peb"))] = random.choice(
                ({}, [], None, _number(random), {"Threads": -1}, {"Max stack size": [0, 0]}, name)
            )
        content = {"process": copy.deepcopy(process), "tables": _make_tables(random)}
        builder.add_snapshot(content, capture=capture, pid=pid, time_ns=moment * random.choice((1, 10**18)))
    builder.close()
    return builder.data


def _number(random: Random) -> int:
    return max(0, random.choice(NUMBERS)) % (1 << 64)


def _make_tables(random: Random) -> dict[str, Any]:
    rows = random.choice((0, 1, 2, 5, 40))
    starts = [0x10000 * (row + 1) for row in range(rows)]
    sizes = [random.choice((4096, 0x10000)) for _ in starts]
    figures = {
        name: [random.choice((0, 4096)) for _ in starts] for name in ("Rss", "Pss", "Anonymous", "Swap")
    }
    figures |= {"start": starts, "size": sizes}
    for _ in range(random.randrange(4)):
        victim = figures[random.choice(list(figures))]
        if victim:
            victim[random.randrange(rows)] = _number(random)
    stored = {
        name: column("uint", "plain", width=8, data=numbers(values, 8)) for name, values in figures.items()
    }
    stored["path"] = texts([random.choice((*_NAMES, None)) for _ in starts])
    stored["perms"] = texts([random.choice((b"rw-p", b"r-xp", b"---p", b"\x1b", b"")) for _ in starts])
    stored[random.choice(("=2", "raw.\x1b[1m", "inode", "address"))] = stored["size"]
    for each in ("path", "perms"):
        stored[each].pop("rows", None)
    return {random.choice(("regions", "regions", "regions", "threads", "modules")): table(stored, rows)}
