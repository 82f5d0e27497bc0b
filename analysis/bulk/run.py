"""One pure function over many files, batch by batch, wherever it runs; results keep the order of the files.

A file that kills its worker costs the rest nothing: its batch is done again file by file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from mmpscope.analysis.bulk.files import BATCH_FILES, find_size, make_batches
from mmpscope.analysis.bulk.pools import Pool, count_processors, open_cluster, open_processes
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.lean import keep_little
from mmpscope.analysis.loading import InputFile
from mmpscope.analysis.remote import is_uri
from mmpscope.formats.errors import InputError

__all__ = ["Outcome", "run_files"]

Result = TypeVar("Result")
Batch = tuple[InputFile, ...]

_AHEAD = 2
"""Batches that wait for each worker: none is idle, and no more than these are held."""
_WORTH_BYTES = 2 << 20
"""Bytes of snapshots that take longer than a process takes to start."""
_STDIN = "-"
_KILLED = "it ended the process that read it, twice: out of memory, or a fault of ours"


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of some files: a result, or the reason why there is none."""

    files: Batch
    result: Result | None
    error: str | None = None


def run_files(
    work: Callable[[Batch], Result],
    files: Sequence[InputFile],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    batch_files: int = BATCH_FILES,
) -> Iterator[Outcome[Result]]:
    """Call ``work`` with batches of files and yield what it returns, in the order of the files.

    ``work`` is pure and can be pickled, such as functools.partial of a function of a module: a batch whose
    worker died is done again. Without ``workers`` there is one for each processor, fewer for few files; one
    works in this process. ``scheduler`` is that of a Dask cluster, whose workers see the same files under
    the same names. A batch has at most ``batch_files``. What ``work`` raises ends it all; closing the
    iterator lets go of what has not begun.

    Raises InputError where no scheduler answers, UsageError without the extra, and for standard input there.
    """
    is_piped = any(file.path == _STDIN for file in files)
    if scheduler is not None:
        if is_piped:
            raise UsageError("standard input cannot be read from a cluster. Give a file that its workers see")
        yield from _run_on_cluster(scheduler, work, files, batch_files)
        return
    count = 1 if is_piped else workers or _choose_workers(files)
    batches = make_batches(files, count, batch_files)
    if count == 1:
        for batch in batches:
            yield Outcome(batch, work(batch))
    else:
        with open_processes(count) as pool:
            yield from _run_on(pool, work, batches)


def _choose_workers(files: Sequence[InputFile]) -> int:
    """Use no more processes than have something to do."""
    processors = count_processors()
    if any(is_uri(file.path) for file in files):
        return min(processors, len(files))
    return max(1, min(processors, len(files), sum(map(find_size, files)) // _WORTH_BYTES))


def _run_on_cluster(
    scheduler: str, work: Callable[[Batch], Result], files: Sequence[InputFile], batch_files: int
) -> Iterator[Outcome[Result]]:
    """Run on workers that have another current folder: relative names are of this one."""
    placed = [file._replace(folder=str(Path.cwd())) for file in files]
    with open_cluster(scheduler) as pool:
        try:
            yield from _run_on(pool, work, make_batches(placed, pool.size, batch_files))
        except CancelledError as error:
            what = f"{scheduler}: the scheduler is gone before all was done"
            raise InputError(f"{what}. Start it, and run this once more.") from error


def _run_on(
    pool: Pool, work: Callable[[Batch], Result], batches: Iterator[Batch]
) -> Iterator[Outcome[Result]]:
    submitted = deque[tuple[Batch, Executor, Future[Result]]]()
    try:
        for batch in batches:
            submitted.append((batch, pool.executor, pool.executor.submit(_call, work, batch)))
            if len(submitted) >= pool.size * _AHEAD:
                yield from _take(pool, work, *submitted.popleft())
        while submitted:
            yield from _take(pool, work, *submitted.popleft())
    finally:
        for _, _, future in submitted:
            future.cancel()


def _take(
    pool: Pool, work: Callable[[Batch], Result], batch: Batch, executor: Executor, future: Future[Result]
) -> Iterator[Outcome[Result]]:
    """Yield the result of a batch; where its worker died, those of its files, each done alone.

    One death ends all calls of an executor of processes: batches without fault come here, too.
    """
    try:
        result = future.result()
    except pool.broken:
        pool.renew(executor)
    else:
        yield Outcome(batch, result)
        return
    for file in batch:
        executor = pool.executor
        try:
            result = executor.submit(_call, work, (file,)).result()
        except pool.broken:
            pool.renew(executor)
            yield Outcome((file,), None, _KILLED)
        else:
            yield Outcome((file,), result)


def _call(work: Callable[[Batch], Result], batch: Batch) -> Result:
    """Do the work in a worker: there are as many of these as processors, so that Arrow needs no threads."""
    import pyarrow as pa

    keep_little()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    return work(batch)
