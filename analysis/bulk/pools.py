"""Where work runs: in this process, in processes of this machine, or on a Dask cluster, all alike to use.

An executor of concurrent.futures does the work; scheduling and retries are its own, not ours.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.lean import go_lean
from mmpscope.formats.errors import InputError

__all__ = ["Pool", "count_processors", "open_cluster", "open_processes"]

_CONNECT_S = 10
"""How long a scheduler may take to answer."""


class Pool(Protocol):
    """Something that runs calls; ``size`` is how many at once.

    ``executor`` takes calls now; ``broken`` are the exceptions of a call whose worker died.
    """

    size: int
    executor: Executor
    broken: tuple[type[BaseException], ...]

    def renew(self, executor: Executor) -> None:
        """Have an executor that takes calls, after a worker of this one died."""
        ...


def count_processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux alone
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _LocalPool:
    broken: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, size: int) -> None:
        self.size = size
        self.executor: Executor = self._start()

    def _start(self) -> Executor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.size, context, initializer=_settle)

    def renew(self, executor: Executor) -> None:
        """Start anew, unless that was done: one death ends every call of an executor."""
        if executor is self.executor:
            executor.shutdown(wait=True, cancel_futures=True)
            self.executor = self._start()


@contextmanager
def open_processes(size: int) -> Iterator[Pool]:
    """Have processes of this machine, started as they are needed; they share nothing with this one.

    Leaving lets go of what has not begun.
    """
    pool = _LocalPool(size)
    try:
        yield pool
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def _settle() -> None:
    """Make a new process a worker.

    Ctrl-C reaches every process of a terminal; the first one tells the others what to do.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    go_lean()


@dataclass
class _Cluster:
    size: int
    executor: Executor
    broken: tuple[type[BaseException], ...]

    def renew(self, executor: Executor) -> None:
        """Do nothing: the executor of a cluster outlives its workers."""


@contextmanager
def open_cluster(scheduler: str) -> Iterator[Pool]:
    """Connect to the scheduler of a Dask cluster, as in tcp://10.0.0.1:8786.

    Raises InputError where it does not answer, UsageError without the extra.
    """
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise UsageError("--scheduler needs Dask: pip install 'mmpscope[cluster]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters becomes one sentence of ours
    try:
        client = Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        what = f"{scheduler}: no scheduler answers ({reason})"
        raise InputError(f"{what}. Is `dask scheduler` running there?") from error
    with client, client.get_executor(pure=False) as executor:
        size = max(1, sum(client.nthreads().values()))
        yield _Cluster(size, executor, (KilledWorker,))
