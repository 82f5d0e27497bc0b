"""A Dask cluster on loopback: a scheduler and workers, each a process of its own, ended with the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cluster", "find_port", "start_cluster"]

_PATIENCE_S = 60
_TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Cluster:
    """``address`` is that of the scheduler; ``workers`` are its processes."""

    address: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill_worker(self, number: int) -> None:
        """End a worker as the kernel does where memory is out."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()


def find_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def start_cluster(folder: Path, *, count: int = 2, restarting: bool = False) -> Iterator[Cluster]:
    """Start a scheduler and ``count`` workers of one thread, and wait until all can be reached.

    ``restarting`` workers have a nanny that starts them anew, and a file is given up after two deaths.
    """
    port = find_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["worker", address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    worker.append("--nanny" if restarting else "--no-nanny")
    with ExitStack() as started:
        log = started.enter_context((folder / "dask.log").open("wb"))
        _start(scheduler, log.fileno(), started)
        wait_for_port(port)
        workers = [_start(worker, log.fileno(), started) for _ in range(count)]
        _wait_for_lines(folder / "dask.log", b"Registered to:", count)
        yield Cluster(address, tuple(workers))


def _start(words: list[str], log: int, started: ExitStack) -> subprocess.Popen[bytes]:
    python_path = os.pathsep.join([str(_TESTS), str(_TESTS.parent)])
    environment = {
        **os.environ,
        "PYTHONPATH": python_path,  # where the functions of tests are that workers call
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s",
    }
    command = [sys.executable, "-m", "dask", *words]
    process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    started.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with its children: a nanny has one."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def wait_for_port(port: int) -> None:
    """Wait until somebody listens; TimeoutError where nobody does in a minute."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens on port {port}")


def _wait_for_lines(path: Path, words: bytes, count: int) -> None:
    end = time.monotonic() + _PATIENCE_S
    while path.read_bytes().count(words) < count:
        if time.monotonic() > end:
            raise TimeoutError(f"{path.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
