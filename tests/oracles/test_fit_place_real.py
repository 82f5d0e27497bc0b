"""Where a request would go, against where the kernel puts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.mmp_command import run_mmp

_PROGRAM = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
print("ready", flush=True)
for line in sys.stdin:
    size = int(line)
    at = libc.mmap(None, size, 3, 0x22, -1, 0)
    libc.munmap(at, size)
    print(at, flush=True)
"""
"""PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS."""


@pytest.mark.skipif(sys.platform != "linux", reason="it asks this kernel")
@pytest.mark.parametrize("size", [200 << 20, 64 << 20, (64 << 20) + 4096])
def test_the_kernel_puts_it_where_we_say(size: int, tmp_path: Path) -> None:
    """Multiples of 2 MiB go to multiples of it since Linux 6.7, below the highest place there is."""
    command = [sys.executable, "-c", _PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        path = tmp_path / "a.mmp"
        assert run_mmp("collect", process.pid, "-o", path).code == 0
        process.stdin.write(f"{size}\n")
        process.stdin.flush()
        real = int(process.stdout.readline())
        process.stdin.close()
    said = json.loads(run_mmp("free", path, "--fits", size, "--json").out)
    assert said["address"] == f"0x{real:016x}", said
