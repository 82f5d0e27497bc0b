"""Runs `mmp`: within the test for speed, or as the installed program where a process of its own matters."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from mmpscope.analysis.__main__ import main

__all__ = ["PROGRAM", "Answer", "run_mmp", "run_program"]

PROGRAM = Path(sys.executable).parent / "mmp"
"""What the installation made of the entry point."""

_PATIENCE_S = 60


class Answer(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def run_mmp(*words: object, stdin: bytes = b"", columns: int = 80, terminal: bool = False) -> Answer:
    """Run a command line in this process, exactly as the entry point does."""
    kind = _Terminal if terminal else io.TextIOWrapper
    given, out, err = (kind(io.BytesIO(data), "utf-8") for data in (stdin, b"", b""))
    with (
        mock.patch.object(sys, "argv", ["mmp", *map(str, words)]),
        mock.patch.object(sys, "stdin", given),
        mock.patch.dict(os.environ, COLUMNS=str(columns)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main()
    return Answer(code, _take(out), _take(err))


def _take(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def run_program(*words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the installed `mmp` to its end; options are those of `subprocess.run`."""
    command = [str(PROGRAM), *map(str, words)]
    return subprocess.run(
        command, **{"capture_output": True, "timeout": _PATIENCE_S, "check": False, **options}
    )
