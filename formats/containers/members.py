"""An archive as one source: the snapshots of every member that is a map, each member opened when it is read.

A member may be packed once more (`x.smaps.gz` in a zip); an archive in an archive is told and left out. A
member that cannot be read is told, and the others are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain

from mmpscope.formats.containers.packed import HEAD_BYTES, find_packing, read_chunks, spool, unwrap
from mmpscope.formats.containers.tree import Archive
from mmpscope.formats.errors import FormatError, LimitError, NotASnapshotError, UnknownFormatError
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.model import Snapshot
from mmpscope.formats.registry import find_format, verify_content
from mmpscope.formats.source import Entry, Fault, Source

__all__ = ["ARCHIVES", "MemberSource", "verify_members"]

ARCHIVES = ("tar", "zip")
_MOST_MAPS = 20_000
"""One every half minute for a week. All of them are listed in memory; files of a folder are not."""
_NAMED = 3
"""So many of the members that are no snapshots are named."""
_MOST_TOLD = 500
"""Characters of why the first of them is none."""

_Work = Callable[[str, Format, Input], list[Fault]]


class MemberSource:
    """The members of an archive as one `mmpscope.formats.source.Source`.

    Only the member that was read last is kept open: a series of large maps would not fit in memory. A
    snapshot tells the name of its member in ``process["source"]["member"]``, an entry in its name.
    NotASnapshotError where no member can be read.
    """

    def __init__(self, archive: Archive, given: Input) -> None:
        self.name = given.name
        self.entries: list[Entry] = []
        self._archive = archive
        self._given = given
        self._places: list[tuple[str, int]] = []
        self._last: tuple[str, Source] | None = None
        self._formats: Counter[str] = Counter()
        with ExitStack() as opened:
            opened.callback(self._let_go)
            self.faults = _visit(archive, given, self._add)
            if not self._formats:
                raise _refuse(archive, self.faults)
            opened.pop_all()
        found = (f"{known} ({count:,})" if count > 1 else known for known, count in self._formats.items())
        self.format = f"{', '.join(found)} in {archive.kind}"
        self._opened = given.opened.pop_all()

    def read(self, index: int) -> Snapshot:
        """Read one snapshot; IndexError outside the list, FormatError where its bytes are damaged."""
        if not 0 <= index < len(self._places):
            raise IndexError(f"no snapshot {index}")
        member, inner = self._places[index]
        try:
            source = self._reopen(member)
            snapshot = source.read(inner)
        except FormatError as error:
            error.path = f"{self.name}/{member}"
            raise
        known = snapshot.process.get("source")
        told = {"format": source.format, **(known if isinstance(known, dict) else {}), "member": member}
        return replace(snapshot, process={**snapshot.process, "source": told})

    def close(self) -> None:
        """Let go of the archive and of the member that was read last."""
        self._let_go()
        self._opened.close()

    def _add(self, member: str, known: Format, content: Input) -> list[Fault]:
        source = self._keep(member, known.open(content))
        self._formats[source.format] += 1
        for entry in source.entries:
            name = f"{member}: {entry.name}" if entry.name else member
            self._places.append((member, entry.index))
            self.entries.append(
                replace(entry, index=len(self.entries), name=name, info={**entry.info, "member": member})
            )
        return source.faults

    def _reopen(self, member: str) -> Source:
        if self._last is not None and self._last[0] == member:
            return self._last[1]
        with _unpacked(self._archive, member, self._given, []) as (known, content):
            return self._keep(member, known.open(content))

    def _keep(self, member: str, source: Source) -> Source:
        self._let_go()
        self._last = (member, source)
        return source

    def _let_go(self) -> None:
        if self._last is not None:
            self._last[1].close()
            self._last = None


def verify_members(archive: Archive, given: Input) -> list[Fault]:
    """Read every member that is a map and list what is wrong, with what is left out."""
    found: list[str] = []

    def verify(member: str, known: Format, content: Input) -> list[Fault]:
        found.append(member)
        return verify_content(known, content)

    faults = _visit(archive, given._replace(partial=True), verify)
    if not found:
        raise _refuse(archive, faults)
    return faults


def _visit(archive: Archive, given: Input, work: _Work) -> list[Fault]:
    """Do ``work`` with every member that is a map; return what was told of the archive and of members."""
    faults, unknown, count = list(archive.faults), [], 0
    for member in filter(_is_visible, archive.names):
        told: list[Fault] = []
        if count == _MOST_MAPS:
            what = f"it has more than {_MOST_MAPS:,} maps"
            raise LimitError(what, now="Unpack it: a folder of them has no limit.")
        try:
            with _unpacked(archive, member, given, told) as (known, content):
                count += 1
                told += work(member, known, content)
        except UnknownFormatError:
            unknown.append(member)
        except FormatError as error:
            told.append(Fault(error.what, error.offset, lost="this member"))
        faults += [replace(fault, what=f"{member}: {fault.what}") for fault in told]
    if unknown:
        faults.append(_tell_unknown(unknown))
    return faults


def _is_visible(member: str) -> bool:
    """Leave out what a folder leaves out, too, and what macOS adds to every zip file."""
    parts = member.split("/")
    return not parts[-1].startswith(".") and parts[0] != "__MACOSX"


@contextmanager
def _unpacked(
    archive: Archive, member: str, given: Input, faults: list[Fault]
) -> Iterator[tuple[Format, Input]]:
    """Copy one member out of its archive, unpack it, and tell what it is; LimitError for too much text."""
    with ExitStack() as opened:
        chunks = archive.read_chunks(member)
        first = next(chunks, b"")
        head = first[:HEAD_BYTES]
        known, is_packed = find_format(head, member), find_packing(head) is not None
        if known is None and not is_packed:
            raise UnknownFormatError("it is no snapshot")  # not copied: it may be a film
        stream = opened.enter_context(spool(chain([first], chunks)))
        if is_packed:
            stream, head, _ = unwrap(stream, given.partial, faults, opened)
            known = find_format(head, member)
        if known is None:
            raise UnknownFormatError("it is no snapshot")
        if known.name in ARCHIVES:
            raise NotASnapshotError("an archive in an archive is left out")
        if given.texts is not None and known.weight:
            given.texts.take(member, read_chunks(stream), known.weight)
            stream.seek(0)
        yield known, given._replace(stream=stream, name=f"{archive.name}/{member}", opened=opened, beside={})


def _tell_unknown(members: list[str]) -> Fault:
    count, named = len(members), ", ".join(members[:_NAMED])
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    is_one = count == 1
    return Fault(
        f"{count:,} member{' is' if is_one else 's are'} no snapshot{'' if is_one else 's'}: {named}{more}"
    )


def _refuse(archive: Archive, faults: list[Fault]) -> NotASnapshotError:
    if not faults:
        return NotASnapshotError("it is an archive without a file", now="Give one with snapshots in it.")
    first = faults[0].what
    first = first if len(first) <= _MOST_TOLD else f"{first[:_MOST_TOLD]}..."  # names may have 64 KiB
    count = len(archive.names)
    which = "the only file in it is no" if count == 1 else f"none of the {count:,} files in it is a"
    what = f"{which} snapshot that I can read: {first}"
    return NotASnapshotError(what, now="`mmp formats` lists what can be read.")
