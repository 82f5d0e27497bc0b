"""Runs a command within what is promised of an input of 1 MiB: 512 MiB and 10 s of processor."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path
from typing import NamedTuple

from support.mmp_command import PROGRAM

__all__ = ["COMMANDS", "Said", "run_bounded"]

_MEMORY = 512 << 20
_ADDRESSES = 4 << 30
"""What libraries reserve and never touch (threads of numpy, pools of pyarrow) is no memory."""
_PROCESSOR_S = 10

COMMANDS = {
    "info": "info IN", "verify": "verify IN", "summary": "summary IN", "regions": "regions IN",
    "free": "free IN", "fits": "free IN --fits 1M", "threads": "threads IN", "modules": "modules IN",
    "heaps": "heaps IN", "processes": "processes IN", "diff": "diff IN", "compare": "compare IN",
    "trend": "trend IN", "check": "check IN#0 --baseline IN", "report": "report IN -o OUT.html",
    "markdown": "report IN --markdown", "export": "export IN -t regions -o OUT.csv",
    "export free": "export IN -t free -o OUT.csv", "xml": "export IN --format vmmap-xml -o OUT.xml",
    "convert": "convert IN -o OUT.mmp", "redact": "redact IN -o OUT.mmp",
    "json": "regions IN --json", "flat": "regions IN --flat", "holes": "free IN -n 0",
}  # fmt: skip
"""Every command; IN is the input, OUT a name for the output."""


class Said(NamedTuple):
    """Exit code, output and errors."""

    code: int
    out: bytes
    errors: bytes


def run_bounded(command: str, content: bytes, folder: Path) -> Said:
    """Run a command on content of at most 1 MiB; AssertionError where it takes more than is promised."""
    assert len(content) <= 1 << 20
    path = folder / "IN"
    path.write_bytes(content)
    words = [word.replace("IN", str(path)).replace("OUT", str(folder / "out")) for word in command.split()]
    with (folder / "said").open("wb") as out, (folder / "errors").open("wb") as err:
        process = subprocess.Popen([str(PROGRAM), *words], stdout=out, stderr=err, preexec_fn=_limit)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert used.ru_maxrss * 1024 <= _MEMORY
    said = Said(process.returncode, (folder / "said").read_bytes(), (folder / "errors").read_bytes())
    assert b"a fault of ours" not in said.errors
    return said


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S))
