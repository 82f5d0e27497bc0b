"""Threads, as the details of stacks and TEBs name them: `[~0; 11f0.2bcc]` is thread 2bcc of process 11f0."""

from __future__ import annotations

from dataclasses import dataclass

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table
from mmpscope.formats.windbg.address_rows import split_thread
from mmpscope.formats.windbg.listing import Listing

__all__ = ["find_pid", "tabulate_threads"]

_STACKS = (b"Stack", b"Stack32")
"""Stack64 is where a 32-bit process runs while it is in the 64-bit layer of the system."""
_TEBS = (b"TEB", b"TEB32")
_PEBS = (b"PEB", b"PEB32", b"PEB64")


@dataclass
class _Thread:
    stack_start: int | None = None
    stack_end: int | None = None
    teb: int | None = None


def find_pid(listing: Listing) -> int | None:
    """Find the process id in the details of a PEB, a stack or a TEB."""
    for usage, details in zip(listing.texts("Usage"), listing.texts("Details"), strict=True):
        if usage in (*_STACKS, *_TEBS) and details is not None:
            ids = split_thread(details)
            if ids is not None:
                return ids[0]
        if usage in _PEBS and details is not None:
            try:
                return int(details.strip(b"[]"), 16)
            except ValueError:
                continue
    return None


def tabulate_threads(listing: Listing) -> Table:
    """Make a table of threads: tid, stack_start, stack_size (its whole reservation, in bytes) and teb."""
    threads: dict[int, _Thread] = {}
    rows = zip(listing.ranges(), listing.texts("Usage"), listing.texts("Details"), strict=True)
    for (start, size), usage, details in rows:
        if usage not in (*_STACKS, *_TEBS) or details is None:
            continue
        ids = split_thread(details)
        if ids is None:
            continue
        thread = threads.setdefault(ids[1], _Thread())
        if usage in _TEBS:
            thread.teb = start
        else:
            thread.stack_start = min(start, start if thread.stack_start is None else thread.stack_start)
            thread.stack_end = max(start + size, thread.stack_end or 0)
    sizes = [
        None if thread.stack_start is None else (thread.stack_end or 0) - thread.stack_start
        for thread in threads.values()
    ]
    columns = {
        "tid": Plain("uint", list(threads)),
        "stack_start": Plain("uint", [thread.stack_start for thread in threads.values()]),
        "stack_size": Plain("uint", sizes),
        "teb": Plain("uint", [thread.teb for thread in threads.values()]),
    }
    return encode_table(columns, len(threads))
