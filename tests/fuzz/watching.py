"""Runs a target on one input within bounds of time and memory, and says what came out but should not."""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple, NoReturn

__all__ = ["MOST_SECONDS", "Find", "limit_memory", "try_input"]

MOST_SECONDS = 10


class Find(NamedTuple):
    """An input that a target did not survive; equal ``where`` are one fault."""

    where: str
    told: str
    data: bytes


class _TooSlow(BaseException):
    """Passes by whatever catches exceptions."""


def try_input(run: Callable[[bytes], None], data: bytes) -> Find | None:
    """Run a target on one input; None where it behaved.

    Seconds are those of the processor: a busy machine adds nothing to them.
    """
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        run(data)
    except (Exception, _TooSlow) as error:  # noqa: BLE001  # anything at all that gets out is what we look for
        return Find(_locate(error), "".join(traceback.format_exception(error, limit=-8)), data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooSlow(f"more than {MOST_SECONDS} s")


def _locate(error: BaseException) -> str:
    """Name the kind of error and the last function of ours that it went through."""
    kind = type(error).__name__.strip("_")
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if {"formats", "analysis"} & set(Path(frame.filename).parts)
    ]
    return f"{kind} in {Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else kind


@contextmanager
def limit_memory(size: int) -> Iterator[None]:
    """Let this process take so many bytes of address space more than it has now."""
    page = resource.getpagesize()
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * page
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
