"""Files as workers take them: their bytes are read once, so that hash and content are of one state."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from mmpscope.analysis.loading import InputFile, OpenedInput, list_files, open_file
from mmpscope.analysis.remote import is_uri, open_remote
from mmpscope.formats.registry import explain_refusal

__all__ = ["BATCH_FILES", "find_size", "hash_again", "list_inputs", "make_batches", "open_hashed"]

BATCH_FILES = 64
_FILE_BYTES = 128 << 10
"""A batch has at most as many bytes as if its files had so many each."""
_AHEAD_BYTES = 32 << 20
"""A file of at most so many bytes is read once; a larger one twice, to be hashed first."""
_CHUNK_BYTES = 1 << 20
_STDIN = "-"


def list_inputs(inputs: Iterable[str]) -> list[InputFile]:
    """Return the files of all inputs, in the order given; raises as `expand_input`."""
    return list(chain.from_iterable(map(list_files, inputs)))


def find_size(file: InputFile) -> int:
    """Return how many bytes a local file has; 0 for what is no file, or is gone, or is elsewhere."""
    try:
        return 0 if is_uri(file.path) else os.stat(file.locate(file.path)).st_size  # noqa: PTH116  # a sixth of Path
    except OSError:
        return 0


def make_batches(
    files: Sequence[InputFile], workers: int, batch_files: int = BATCH_FILES
) -> Iterator[tuple[InputFile, ...]]:
    """Part files into batches, in order: of a few megabytes, and several for each worker."""
    most = max(1, min(batch_files, len(files) // (4 * workers)))
    batch: list[InputFile] = []
    held = 0
    for file in files:
        size = find_size(file)
        if batch and (len(batch) >= most or held + size > batch_files * _FILE_BYTES):
            yield tuple(batch)
            batch, held = [], 0
        batch.append(file)
        held += size
    if batch:
        yield tuple(batch)


@contextmanager
def open_hashed(
    file: InputFile, *, partial: bool = False, latest: bool = False
) -> Iterator[tuple[OpenedInput, str]]:
    """Open a file as `open_file` does and tell the sha256 of its bytes, in hex; it is closed at the end.

    Of a captured folder it is that of the names and bytes of its files. Raises as `open_file`.
    """
    with ExitStack() as opened:
        location = file.locate(file.path)
        if location != _STDIN and not is_uri(location) and Path(location).is_dir():
            stream, digest = None, _hash_folder(Path(location))
        else:
            stream, digest = _read_ahead(file, opened)
        source = open_file(file, partial=partial, latest=latest, stream=stream)
        opened.callback(source.source.close)
        yield source, digest


def hash_again(location: str) -> str | None:
    """Return the sha256 of a local file that could not be opened as one of ours; None of anything else."""
    if location == _STDIN or is_uri(location) or not Path(location).is_file():
        return None
    digest = hashlib.sha256()
    try:
        with Path(location).open("rb") as stream:
            _add_stream(digest, stream)
    except OSError:  # it is gone since
        return None
    return digest.hexdigest()


def _read_ahead(file: InputFile, opened: ExitStack) -> tuple[BinaryIO, str]:
    stream = _open(file, opened)
    try:
        head = _read_head(stream)
        if len(head) <= _AHEAD_BYTES or not stream.seekable():
            whole = head if len(head) <= _AHEAD_BYTES else head + stream.read()
            return io.BytesIO(whole), hashlib.sha256(whole).hexdigest()
        digest = hashlib.sha256(head)
        _add_stream(digest, stream)
        stream.seek(0)
    except OSError as error:
        raise explain_refusal(file.path, error) from error
    return stream, digest.hexdigest()


def _read_head(stream: BinaryIO) -> bytes:
    """Read one byte more than is read ahead at most; Python makes room for all that is asked for."""
    try:
        size = min(os.fstat(stream.fileno()).st_size, _AHEAD_BYTES)
    except (OSError, AttributeError):  # what has no file behind it
        size = 0
    head = stream.read(size + 1) if size else b""
    if 0 < len(head) <= size:
        return head
    return head + stream.read(_AHEAD_BYTES + 1 - len(head))  # it has grown since, or nobody knows its size


def _open(file: InputFile, opened: ExitStack) -> BinaryIO:
    if file.path == _STDIN:
        return sys.stdin.buffer
    if is_uri(file.path):
        return opened.enter_context(open_remote(file.path))
    try:
        return opened.enter_context(Path(file.locate(file.path)).open("rb"))
    except OSError as error:
        raise explain_refusal(file.path, error) from error


def _add_stream(digest: hashlib._Hash, stream: BinaryIO) -> None:
    while chunk := stream.read(_CHUNK_BYTES):
        digest.update(chunk)


def _hash_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as stream:
            _add_stream(digest, stream)
    return digest.hexdigest()
