"""Inputs to snapshots: files of any readable format or some of their snapshots, folders, patterns, URIs."""

from __future__ import annotations

import glob
import os
import re
import sys
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.remote import is_uri, list_remote, open_remote
from mmpscope.formats.containers.packed import read_chunks, spool
from mmpscope.formats.errors import FormatError, InputError, MmpError
from mmpscope.formats.model import Snapshot
from mmpscope.formats.proc.beside import join_files, read_beside
from mmpscope.formats.registry import open_source
from mmpscope.formats.source import Entry, Source
from mmpscope.formats.whole import measure_stream, read_whole

if TYPE_CHECKING:
    from mmpscope.analysis.rules import Rule
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "InputFile",
    "OpenedInput",
    "expand_input",
    "list_files",
    "load",
    "load_chosen",
    "load_rules",
    "open_file",
    "open_inputs",
    "refuse_all",
    "split_choice",
]

_CHOICE = re.compile(r"(?P<path>.+)#(?:(?P<one>-?\d+)|(?P<first>-?\d*):(?P<last>-?\d*))", re.DOTALL)
_STDIN = "-"


class InputFile(NamedTuple):
    """One file that an input stands for.

    ``others`` are files of its process beside it, by item; ``choice`` is what the input chooses of it, as in
    #3. ``is_named``: the input names this very file, not a folder or pattern that it belongs to.
    ``folder`` is the one that relative names are of, where that is not the current one.
    """

    path: str
    others: Mapping[str, str]
    choice: str | None
    is_named: bool
    folder: str = ""

    def locate(self, path: str) -> str:
        """Return a name by which a file can be opened from here; that of a URI or of standard input stays."""
        return path if path == _STDIN or is_uri(path) or not self.folder else str(Path(self.folder, path))


class OpenedInput(NamedTuple):
    """One file of the inputs, and the numbers of the snapshots that are wanted of it.

    ``last_of`` tells how many a process has of which only the last is wanted, by the number of that one.
    ``is_named``: the input names this very file, not a folder or pattern that it belongs to. ``choice`` is
    what the input chooses of it. ``size`` are its bytes, 0 where they are not known before it is read; None
    for a folder and for what is elsewhere. ``watch`` is given each snapshot that is read (density.py).
    """

    path: str
    source: Source
    chosen: Sequence[int]
    last_of: Mapping[int, int]
    is_named: bool
    choice: str | None = None
    size: int | None = None
    watch: Callable[[int, Snapshot], Snapshot] = lambda _, snapshot: snapshot

    def read(self, index: int) -> Snapshot:
        """Read one snapshot; raises as `Source.read`."""
        return self.watch(index, self.source.read(index))


def load(*inputs: str | Path, partial: bool = False, rules: Path | None = None) -> list[LoadedSnapshot]:
    """Load snapshots, in the order given; their tables are read when they are asked for.

    An input is a file of any readable format (also packed, or an archive of such files), ``-`` for standard
    input, a captured /proc, another folder (its files, sorted), a pattern such as ``*.mmp``, or a URI that
    pyarrow.fs reads, such as ``s3://bucket/run.mmp``, which may be a folder or a pattern as well. Of a folder
    or pattern, 12.status, 12.cmdline, 12.limits and 12.smaps_rollup belong to 12.smaps (or 12.maps).
    ``file.mmp#3`` is one snapshot, ``#-1`` the last, ``#0:5`` the first five; a file whose very name has the
    ``#`` goes first. ``partial`` takes the whole snapshots of a damaged file. ``rules`` is a TOML file of
    classification rules that go before ours (docs/metrics.md, "Your own rules").

    Raises UsageError for a snapshot that is not there, InputError or FormatError for a file that cannot be
    read. Such a file of a folder or pattern is left out with a Python warning, unless none of them can be.
    """
    own = load_rules(rules)
    opened = open_inputs(*inputs, partial=partial)
    return [snapshot for each in opened for snapshot in load_chosen(each, own)]


def load_rules(path: Path | None) -> Sequence[Rule]:
    """Read a user's own rules, none for None. FormatError where the file is not as described."""
    if path is None:
        return ()
    from mmpscope.analysis.user_rules import read_rules  # TOML, which few have

    return read_rules(path)


def _warn_of_skipped(path: str, error: MmpError) -> None:
    warnings.warn(f"left out: {error}", stacklevel=2)


def open_inputs(
    *inputs: str | Path,
    partial: bool = False,
    latest: bool = False,
    skip: Callable[[str, MmpError], None] = _warn_of_skipped,
) -> Iterator[OpenedInput]:
    """Open inputs as `load` does; with ``latest``, an input of which no snapshots were chosen stands for the
    last of each of its processes.

    ``skip`` is told each file of a folder or pattern that cannot be read.
    """
    for text in map(str, inputs):
        files, count = list_files(text), 0
        for file in files:
            try:
                opened = open_file(file, partial=partial, latest=latest)
            except (FormatError, InputError) as error:
                if file.is_named:
                    raise
                skip(file.path, error)
                continue
            count += 1
            yield opened
        if not count:
            raise refuse_all(split_choice(text)[0], len(files))


def list_files(text: str) -> list[InputFile]:
    """Return the files that an input stands for; raises as `expand_input`."""
    name, choice = split_choice(text)
    paths = expand_input(name)
    return [InputFile(path, others, choice, paths == [name]) for path, others in join_files(paths)]


def open_file(
    file: InputFile, *, partial: bool = False, latest: bool = False, stream: BinaryIO | None = None
) -> OpenedInput:
    """Open one file; ``stream`` is its content, where that is open already.

    Raises FormatError or InputError where it cannot be read, UsageError for a snapshot that is not there.
    """
    path, others, choice, is_named, _ = file
    if is_uri(path):
        beside = {item: _read_remote(other) for item, other in others.items()}
        stream = stream or open_remote(path)
    else:
        beside = read_beside({item: file.locate(other) for item, other in others.items()})
    size = _measure(file.locate(path))
    if path == _STDIN and stream is None and not sys.stdin.buffer.seekable():
        stream = spool(read_chunks(sys.stdin.buffer))
        size = measure_stream(stream)
    place = file.locate(path) if file.folder and stream is None else path
    source = open_source(place, partial=partial, beside=beside, stream=stream)
    chosen = None if choice is None else _CHOICE.fullmatch(path + choice)
    opened = _choose_of(source, path, chosen, latest=latest, is_named=is_named)
    return opened._replace(choice=choice, size=size)


def _measure(path: str) -> int | None:
    if path == _STDIN:
        return measure_stream(sys.stdin.buffer) if sys.stdin.buffer.seekable() else 0
    return Path(path).stat().st_size if not is_uri(path) and Path(path).is_file() else None


def split_choice(text: str) -> tuple[str, str | None]:
    """Part FILE and #3; a file whose very name has the # goes first."""
    choice = None if text == _STDIN or Path(text).exists() else _CHOICE.fullmatch(text)
    return (text, None) if choice is None else (choice["path"], text[len(choice["path"]) :])


def _read_remote(uri: str) -> bytes:
    with open_remote(uri) as stream:
        return read_whole(stream)


def refuse_all(name: str, count: int) -> InputError:
    """Make the error for a folder or pattern of which no file can be read."""
    what = "its only file cannot" if count == 1 else f"none of its {count:,} files can"
    return InputError(f"{name}: {what} be read. `mmp formats` lists what can be")


def expand_input(text: str) -> list[str]:
    """Return the files that a name stands for, sorted by name; a plain name stands for itself, and so does
    the folder of a captured /proc.

    Raises InputError where a folder or pattern holds no file, UsageError for an empty name or a dataset.
    """
    if not text:  # as an unset variable of a shell leaves it; Path("") would be the current folder
        raise UsageError("the name of an input is empty. Give a file, a folder or -")
    if is_uri(text):
        return list_remote(text)
    path = Path(text)
    if text == _STDIN or path.is_file() or (path.is_dir() and _is_captured(path)):
        return [text]
    if path.is_dir():
        _refuse_dataset(path)
        found = sorted(_list_folder(path))
    elif glob.has_magic(text):
        names = glob.glob(text, recursive=True)  # noqa: PTH207  # Path.glob takes no absolute pattern
        found = sorted(name for name in names if _is_file(Path(name)))
    else:
        return [text]  # whoever opens it says what is wrong with it
    if not found:
        what = (
            "no file matches it"
            if glob.has_magic(text)
            else "there is no file in it that could be a snapshot"
        )
        raise InputError(f"{text}: {what}. Check the path.")
    return found


def _refuse_dataset(path: Path) -> None:
    from mmpscope.analysis.datasets.layout import is_dataset  # few inputs are folders

    if is_dataset(path):
        takers = "`mmp compare`, `mmp trend`, `mmp check --baseline` and `mmp dataset sql`"
        raise UsageError(
            f"{path} is a dataset and holds no snapshots that could be shown. Ask it by {takers}"
        )


def _list_folder(path: Path) -> Iterator[str]:
    """Yield the visible files of a folder, without a Path of each: there may be a hundred thousand."""
    begin = str(path / "x")[:-1]
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and (entry.is_file() or _is_file(Path(entry.path))):
                yield begin + entry.name


def _is_file(path: Path) -> bool:
    """Tell if a file is meant; a link to nothing is one, and whoever opens it says so."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _is_captured(path: Path) -> bool:
    from mmpscope.formats.containers.captured import is_captured_folder  # few inputs are folders

    return is_captured_folder(path)


def _choose_of(
    source: Source, path: str, choice: re.Match[str] | None, *, latest: bool, is_named: bool
) -> OpenedInput:
    """Choose of an opened source; UsageError, the source being closed, where that is not there."""
    try:
        chosen = _choose(range(len(source.entries)), choice, path)
    except UsageError:
        source.close()
        raise
    last_of = _find_latest(source.entries) if latest and choice is None else {}
    return OpenedInput(path, source, list(last_of) or chosen, last_of, is_named)


def _choose(indices: range, choice: re.Match[str] | None, path: str) -> Sequence[int]:
    if choice is None:
        return indices
    if choice["one"] is None:
        first, last = (int(word) if word else None for word in (choice["first"], choice["last"]))
        return indices[first:last]
    try:
        return [indices[int(choice["one"])]]
    except IndexError:
        count = len(indices)
        raise UsageError(f"{path} has no snapshot #{choice['one']}: it has {count}, from #0 on") from None


def _find_latest(entries: Sequence[Entry]) -> dict[int, int]:
    """Return the number of the last snapshot of each process, and how many that process has.

    Maps that tell no pid may be of any process: each stands for itself, unless the format says that all of a
    file are of one (VMMap's own .mmp). A pid of another file of an archive may be of another machine.
    """
    processes = [
        (number, None)
        if entry.pid is None and not entry.info.get("of_one_process")
        else (entry.pid, entry.info.get("member", ""))
        for number, entry in enumerate(entries)
    ]
    counts = Counter(processes)
    latest = {process: number for number, process in enumerate(processes)}
    return {number: counts[process] for process, number in sorted(latest.items(), key=lambda item: item[1])}


def load_chosen(opened: OpenedInput, rules: Sequence[Rule]) -> Iterator[LoadedSnapshot]:
    """Yield the wanted snapshots of what `open_inputs` opened; the source closes with the last of them."""
    from mmpscope.analysis.snapshot import LoadedSnapshot  # pyarrow; info, verify and convert do without

    shared = _Shared(opened)
    for index in opened.chosen:
        entry = opened.source.entries[index]
        yield LoadedSnapshot(
            f"{opened.path}#{entry.index}",
            shared.reader(index),
            rules,
            last_of=opened.last_of.get(index, 1),
            entry=entry,
        )


class _Shared:
    """A source that is closed when the last snapshot that may still be read from it is gone."""

    def __init__(self, opened: OpenedInput) -> None:
        self._opened = opened
        weakref.finalize(self, opened.source.close)

    def reader(self, index: int) -> Callable[[], Snapshot]:
        """Return what reads one snapshot; it keeps the source open."""
        return lambda: self._opened.read(index)
