"""The one builder of a dataset: makes it, locks it, sweeps what a stopped one left, and commits batches.

A new dataset to which no file came is taken away again, however its builder ends, short of being killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from mmpscope.analysis.datasets.batches import MOMENT_FACTS, Batch, FileRow, drop_snapshots, find_moments
from mmpscope.analysis.datasets.layout import (
    DESCRIPTION,
    Description,
    is_dataset,
    list_leftovers,
    list_parts,
    place_part,
    read_description,
)
from mmpscope.analysis.datasets.schema import DATASET_VERSION, PARTITIONED
from mmpscope.analysis.errors import UsageError
from mmpscope.formats._version import __version__
from mmpscope.formats.errors import OutputError
from mmpscope.formats.mmp.lock import is_locked
from mmpscope.formats.mmp.output import OutputFile
from pyarrow import parquet

__all__ = ["Writer", "open_writer"]

_LOCK = "mmpscope-dataset.lock"
_TEMPORARY = ".mmpscope-"
_NO_GENERATION = 0
"""The first one is 1: all parts are left over from others."""
_KNOWN_BY = ["content", "input", "bytes", "mtime_ns", "error"]


class Writer:
    """A dataset that nobody else adds to; ``description`` says what is added to it."""

    def __init__(self, root: Path, description: Description) -> None:
        self.root = root
        self.description = description
        self._contents: set[bytes] = set()
        self._damaged: set[bytes] = set()
        self._errors: dict[bytes, str] = {}
        self._places: set[bytes] = set()
        self._whole: set[bytes] = set()
        self._moments: set[bytes] = set()
        self._read_known()

    @property
    def is_empty(self) -> bool:
        """Whether no file came to it that could be read."""
        return not self._contents

    def has_file(self, path: str, size: int | None, mtime_ns: int | None) -> bool:
        """Tell whether this very file was read before, by its name, size and time."""
        return _digest(path, size, mtime_ns) in self._places

    def find_error(self, path: str, size: int | None, mtime_ns: int | None) -> str | None:
        """Return why nothing came of a file that `has_file` tells of; None where something did."""
        place = _digest(path, size, mtime_ns)
        return None if place in self._whole else self._errors.get(place)

    def has_content(self, content: str) -> bool:
        """Tell whether a file of this content was read before, and could be."""
        return bytes.fromhex(content) in self._contents

    def commit(self, batch: Batch) -> Batch:
        """Add what is new of a batch, all of it or nothing, and return that; OutputError if it cannot be.

        The part of ``files`` is written last: with it, and only then, the others count.
        """
        batch = self._keep_new(batch)
        if not batch.files:
            return batch
        written: list[Path] = []
        generation, name = self.description.generation, batch.name
        try:
            for place, data in (*batch.parts.items(), (("files", None), batch.render_files())):
                written.append(place_part(self.root, place, generation, name, _tell_columns(data)))
                _write(written[-1], data)
        except OutputError:
            _remove(written)
            raise
        for row in batch.files:
            self._learn(row)
        self._moments.update(batch.moments.values())
        return batch

    def list_lost(self) -> list[str]:
        """Name the files that count now, and of which the generation in the making has no copy."""
        return [
            row.input
            for row in _read_files(self.root, read_description(self.root).generation)
            if row.content is not None and row.error is None and not self.has_content(row.content)
        ]

    def discard(self) -> None:
        """Remove all parts that do not count now, and files that were never finished."""
        _remove(list(list_leftovers(self.root, read_description(self.root).generation)))

    def publish(self) -> None:
        """Let the parts of this generation count, and no others."""
        _write(self.root / DESCRIPTION, self.description.render())
        self.discard()

    def _keep_new(self, batch: Batch) -> Batch:
        seen: set[str] = set()
        files: list[FileRow] = []
        old: set[str] = set()
        for row in batch.files:
            if self._knows(row) or (row.content or row.input) in seen:
                old.add(row.content or "")
                continue
            seen.add(row.content or row.input)
            files.append(row)
        moments: set[bytes] = set()
        dropped: set[str] = set()
        for id_, moment in batch.moments.items():
            content = id_.partition(":")[0]
            if content not in seen or moment in self._moments or moment in moments:
                dropped.add(id_)
            moments.add(moment)
        kept = drop_snapshots(batch, dropped)
        counts = Counter(id_.partition(":")[0] for id_ in kept.moments)
        return replace(kept, files=[_count(row, counts) for row in files])

    def _knows(self, row: FileRow) -> bool:
        if row.content is not None:
            is_damaged = row.error is not None and bytes.fromhex(row.content) in self._damaged
            return is_damaged or self.has_content(row.content)
        return _digest(row.input, row.error) in self._places

    def _learn(self, row: FileRow) -> None:
        if row.content is None:
            self._places.add(_digest(row.input, row.error))
        else:
            known = self._contents if row.error is None else self._damaged
            known.add(bytes.fromhex(row.content))
        if row.mtime_ns is not None:
            place = _digest(row.input, row.bytes, row.mtime_ns)
            self._places.add(place)
            if row.error is None:  # now, with --partial; an earlier row in error stays
                self._whole.add(place)
            else:
                self._errors[place] = row.error

    def _read_known(self) -> None:
        for row in _read_files(self.root, self.description.generation):
            self._learn(row)
        for part in list_parts(self.root, self.description.generation, "captures")["captures"]:
            table = parquet.ParquetFile(part.path).read(["snapshot_id", *MOMENT_FACTS])
            self._moments.update(find_moments(table).values())


@contextmanager
def open_writer(root: Path, rules: str, *, rebuild: bool) -> Iterator[Writer]:
    """Open a dataset to add to it, and make it where there is none; its ``rules`` are then these.

    What a stopped build has left is swept. With ``rebuild`` all is read anew, and counts from
    `Writer.publish` on. Of a new dataset that is empty in the end nothing stays.

    Raises UsageError where the folder holds anything else, OutputError where it cannot be written to or
    another build runs, UnsupportedVersionError where a newer version has built it.
    """
    if not is_dataset(root):
        _refuse_others(root)
    with _hold(root):
        is_new, writer = not is_dataset(root), None
        try:
            if is_new:
                _write(root / DESCRIPTION, _describe(1, rules).render())
            description = read_description(root)
            _remove(list(list_leftovers(root, description.generation)))
            if rebuild:
                description = _describe(description.generation + 1, rules)
            writer = Writer(root, description)
            yield writer
        finally:
            if is_new and (writer is None or writer.is_empty):
                _take_away(root)


def _describe(generation: int, rules: str) -> Description:
    return Description(DATASET_VERSION, generation, rules, f"mmpscope {__version__}")


def _take_away(root: Path) -> None:
    """Remove a dataset, all but its lock and the folder that it is in."""
    _remove(list(list_leftovers(root, _NO_GENERATION)))
    for table in (*PARTITIONED, "files"):
        _remove_folders([*(root / table).glob("month=*"), root / table])
    _remove([root / DESCRIPTION])


def _refuse_others(root: Path) -> None:
    """Refuse a place that can become no dataset; what a stopped build has left of one is no other file."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is no folder. A dataset is a folder: name a new one")
    left = (entry.name for entry in (root.iterdir() if root.is_dir() else ()))
    if any(name != _LOCK and not name.startswith(_TEMPORARY) for name in left):
        raise UsageError(f"{root} is no dataset, and holds other files. Name a new or an empty folder")


@contextmanager
def _hold(root: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made; where no dataset is in it at the end, both go again."""
    made = [folder for folder in (root, *root.parents) if not folder.exists()]
    with ExitStack() as ended:
        ended.callback(_remove_folders, made)
        ended.callback(_remove_lock, root)  # once it is closed: Windows removes no open file
        _make_folder(root)
        ended.enter_context(closing(_lock(root)))
        yield


def _remove_lock(root: Path) -> None:
    path = root / _LOCK
    with contextlib.suppress(OSError):  # it was never made
        if not is_dataset(root) and not is_locked(path):  # another builder may have begun
            path.unlink()


def _lock(root: Path) -> OutputFile:
    path = root / _LOCK
    try:
        path.touch()
    except OSError as error:
        raise OutputError(
            f"{root}: nothing can be added to it ({error.strerror}). Check its rights"
        ) from error
    return OutputFile.extend(path)


def _read_files(root: Path, generation: int) -> Iterator[FileRow]:
    for part in list_parts(root, generation, "files")["files"]:
        for row in parquet.ParquetFile(part.path).read(_KNOWN_BY).to_pylist():
            yield FileRow(**row)


def _count(row: FileRow, counts: Mapping[str, int]) -> FileRow:
    """Say how many snapshots a file has added, by its content; an error stays one."""
    return row if row.error is not None else replace(row, snapshots=counts.get(row.content or "", 0))


def _tell_columns(data: bytes) -> str:
    """Return 8 hex digits that follow from the names and types of the columns of a part."""
    told = [(field.name, str(field.type)) for field in parquet.read_schema(io.BytesIO(data))]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:8]


def _digest(*told: object) -> bytes:
    return hashlib.sha256(json.dumps(told).encode()).digest()[:16]


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: it cannot be made ({error.strerror}).") from error


def _write(path: Path, data: bytes) -> None:
    _make_folder(path.parent)
    with closing(OutputFile.create(path, force=True)) as output:
        output.write(data)
        output.publish()


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # what stays does not count, and the next build tries again
            path.unlink()


def _remove_folders(paths: Iterable[Path]) -> None:
    """Remove folders in which nothing is, inner ones first."""
    for path in paths:
        with contextlib.suppress(OSError):  # it is not there, or holds what is not ours
            path.rmdir()
