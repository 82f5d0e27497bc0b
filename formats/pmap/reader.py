"""Listings of pmap: one process or several, each a snapshot with the regions that were printed.

Figures are in KiB there, and in bytes here, under the names that the kernel has for them. `-x` prints the sum
of Shared_Dirty and Private_Dirty: it is the column Dirty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from mmpscope.formats.errors import LimitError, NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import encode_table
from mmpscope.formats.model import Capture, Facts, Snapshot, Table
from mmpscope.formats.pmap.capability import list_capability
from mmpscope.formats.pmap.columns import BARE_DETAILED, PLAIN, guess_columns, read_head
from mmpscope.formats.pmap.listing import Listing
from mmpscope.formats.pmap.totals import is_detailed_total, is_rule, read_totals
from mmpscope.formats.proc.facts import to_fact
from mmpscope.formats.proc.reader import describe_space
from mmpscope.formats.proc.smaps import check_lines
from mmpscope.formats.proc.space import GATES
from mmpscope.formats.proc.titles import is_harmless
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.text import read_text, walk_lines

__all__ = ["open_listing"]

_PROCESS = re.compile(rb"(\d{1,10}):(?:[ \t]+([^\n]*))?")
_NO_COLUMNS = re.compile(BARE_DETAILED)
_ROW_START = re.compile(rb"[ \t]*[0-9a-fA-F]{6,16}[ \t]+\S")
_MOST_LISTINGS = 1 << 15
"""The usual number of pids."""
_THREAD = re.compile(rb"\[([^\]\n]{1,64})\][ \t]*")


def open_listing(stream: BinaryIO, name: str) -> ListedSource:
    """Read listings of pmap; NotASnapshotError where there is none, LimitError where a text is too large."""
    text = read_text(stream)
    check_lines(text)
    log = FaultLog()
    snapshots: list[Snapshot] = []
    for listing in _read_listings(text, log):
        if len(snapshots) == _MOST_LISTINGS:
            raise LimitError(
                f"there are more than {_MOST_LISTINGS:,} listings in it", now="Give fewer at once."
            )
        snapshots.append(_make_snapshot(listing))
    if not snapshots:
        raise NotASnapshotError("it is like a listing of pmap, but has no row of one", now="Print it again.")
    entries = [
        Entry(index, snapshot.process.get("pid"), name=_show(snapshot.process.get("name")))
        for index, snapshot in enumerate(snapshots)
    ]
    kinds = {snapshot.process["source"]["format"]: None for snapshot in snapshots}
    reads: list[Callable[[], Snapshot]] = [partial(_take, snapshot) for snapshot in snapshots]
    return ListedSource(name, ", ".join(kinds), entries, reads, log.list())


def _take(snapshot: Snapshot) -> Snapshot:
    return snapshot


def _show(name: str | bytes | None) -> str | None:
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name


def _read_listings(text: bytes, log: FaultLog) -> Iterator[Listing]:
    """Yield each listing when it ends: with the next process, with the next head, or with the text."""
    current = Listing()
    for number, line in walk_lines(text):
        process = _PROCESS.fullmatch(line)
        columns = None if process else read_head(line)
        if process is not None or (columns is not None and (current.is_done or current.columns)):
            yield from _end(current, number, log)
            current = Listing(carried=current.totals or current.carried)
        if process is not None:
            current.pid, current.command = int(process[1]), process[2]
        elif columns is not None:
            current.set_columns(columns)
        elif line.strip() and not is_rule(line):
            _read_line(current, line, number, log)
    if current.is_bare and not current.is_done and text[-1:] != b"\n":
        _note(current, "the text ends within a line", text.count(b"\n") + 1, log)
    yield from _end(current, text.count(b"\n") + 1, log)


def _read_line(listing: Listing, line: bytes, number: int, log: FaultLog) -> None:
    """Read a row or the totals; another line is a fault where it could be a row."""
    if listing.columns is None:
        if is_detailed_total(line):  # of a kernel thread -X prints the totals so far, and no row
            return
        guessed = guess_columns(line)
        if guessed is not None:
            listing.set_columns(guessed, is_bare=True)
        elif _NO_COLUMNS.match(line):
            what = f"line {number} is of pmap -X without a head: which figure is which cannot be told"
            raise NotASnapshotError(what, now="Print it without -q.")
    columns = listing.columns or PLAIN
    totals = None if listing.is_done else read_totals(line, columns)
    row = None if listing.is_done or listing.columns is None else columns.read(line)
    if totals is not None:
        for name in listing.check(totals):
            _note(listing, f"the total of {name} is not the sum of its rows", number, log)
    elif row is not None:
        listing.add(row)
    elif _ROW_START.match(line) or (listing.starts and not listing.is_done and not is_harmless(line)):
        _note(listing, "this line is no row of pmap; it is left out", number, log)


def _note(listing: Listing, what: str, number: int, log: FaultLog) -> None:
    log.add(what, line=number)
    listing.missing = listing.missing or f"line {number}: {what}"


def _end(listing: Listing, number: int, log: FaultLog) -> Iterator[Listing]:
    """Yield a listing, if it is one, where line ``number`` begins another or ends the text.

    Of a kernel thread -X and -q print nothing but its name in brackets, or -X the totals so far.
    """
    is_thread = listing.command is not None and _THREAD.fullmatch(listing.command) is not None
    if listing.columns is not None and not listing.is_done:
        if not listing.is_bare:
            _note(listing, "the listing ends before its totals", number, log)
        elif listing.paths and listing.paths[-1] not in GATES:  # above which there is nothing
            listing.missing = listing.missing or "it has no totals: it was printed with -q, or it is cut"
    if listing.starts or listing.is_done or is_thread:
        yield listing


def _make_snapshot(listing: Listing) -> Snapshot:
    process: Facts = {"source": {"format": f"pmap {listing.option}".rstrip() + " text"}}
    if listing.pid is not None:
        process["pid"] = listing.pid
    if listing.command:
        process["command"] = to_fact(listing.command)
        process["name"] = to_fact(_name_command(listing.command))
    capability = list(list_capability(listing))
    table = Table(0, {})
    if listing.starts:
        columns = listing.make_columns()
        capability += describe_space(columns, process)
        table = encode_table(columns, len(listing.starts))
    return Snapshot(Capture(host={"os": "linux"}), process, {}, {"regions": table}, capability)


def _name_command(command: bytes) -> bytes:
    """Name a process by its command line: `/usr/bin/sleep 300` is sleep, `[kthreadd]` kthreadd."""
    thread = _THREAD.fullmatch(command)
    words = command.split(None, 1)
    return thread[1] if thread else words[0].rpartition(b"/")[2] if words else b""
