"""What is said to help where the kernel refuses to hold a process, in a made /proc/sys."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from mmpscope.collector.linux import freeze
from mmpscope.collector.linux.freeze import Freeze
from support.fakeproc import FakeProc, FakeProcess

_UNLESS = "unless a seccomp filter or a container forbids ptrace"


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (None, f"the same user or sudo would help, {_UNLESS}"),
        ("0\n", f"the same user or sudo would help, {_UNLESS}"),
        ("1\n", f"kernel.yama.ptrace_scope is 1: sudo would help, {_UNLESS}"),
        ("2\n", f"kernel.yama.ptrace_scope is 2: sudo would help, {_UNLESS}"),
        ("3\n", "kernel.yama.ptrace_scope is 3, so that nobody may until the machine starts anew"),
    ],
)
def test_a_refused_hold_says_what_would_help(
    scope: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yama's four settings, and a kernel without it: the same user is no help where only ancestors may."""
    proc = FakeProc(tmp_path)
    directory = proc.add(FakeProcess())
    (proc.path / "self").rename(proc.path / str(os.getpid()))
    (proc.path / "self").symlink_to(str(os.getpid()))
    if scope is not None:
        proc.write("sys/kernel/yama/ptrace_scope", scope.encode())

    def refuse(request: int, tid: int, data: int) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(freeze, "_find_ptrace", lambda: refuse)
    with pytest.raises(OSError, match="ptrace is refused") as caught, Freeze(directory, 4711, 1.0):
        raise AssertionError("it must not be held")
    assert str(caught.value) == f"ptrace is refused: operation not permitted (EPERM); {words}"
    assert caught.value.errno == errno.EPERM
