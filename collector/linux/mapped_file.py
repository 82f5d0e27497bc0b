"""Opening the very file that a process has mapped, and no other, waiting for no pipe and touching no device.

The path in `maps` is only a hint: the file may be deleted, replaced, or lie in another root. `map_files`
names the mapped file itself, even a deleted one, but needs a capability; else the path is walked below the
target's own root, then below ours, and what is found there must be the mapped inode.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from types import TracebackType

from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import explain
from mmpscope.formats.proc.modules import FileKey, MappedPart

__all__ = ["MappedFile", "MappedFileError", "open_mapped"]

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DELETED = b" (deleted)"
_OTHER_DEVICE = "the device of the file is not the mapping's, as on btrfs and overlayfs"


class MappedFileError(Exception):
    """The mapped file cannot be had; the text says why."""


class MappedFile:
    """A regular file, open for reading; ``doubt`` says why it might not be the mapped one."""

    def __init__(self, fd: int, doubt: str | None = None) -> None:
        self.fd = fd
        self.doubt = doubt
        status = os.fstat(fd)
        self.size = status.st_size
        self.mtime_ns = status.st_mtime_ns

    def read(self, offset: int, size: int) -> bytes:
        """Read ``size`` bytes at ``offset``, fewer where the file ends."""
        return os.pread(self.fd, size, offset)

    def __enter__(self) -> MappedFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.fd)


def open_mapped(process: ProcDir, key: FileKey, mapping: MappedPart) -> MappedFile:
    """Open the file behind ``mapping``; MappedFileError where it is gone, replaced, or may not be read."""
    try:
        return _open_link(process, f"map_files/{mapping.start:x}-{mapping.end:x}")
    except OSError:
        # EPERM without CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, ENOENT where the map has moved on.
        return _open_path(process, key)


def _open_link(process: ProcDir, name: str) -> MappedFile:
    _check_regular(os.stat(name, dir_fd=process.fd))
    return MappedFile(os.open(name, _READ & ~os.O_NOFOLLOW, dir_fd=process.fd))


def _open_path(process: ProcDir, key: FileKey) -> MappedFile:
    reasons: list[str] = []
    for root in ("root", "/"):
        for path in _spell_path(key.path):
            try:
                return _open_below(process, root, path, key)
            except OSError as error:
                reasons.append(explain(error))
            except MappedFileError as error:
                reasons.append(str(error))
    if key.path.endswith(_DELETED):
        raise MappedFileError("the file was deleted after it was mapped")
    raise MappedFileError(reasons[0])


def _spell_path(path: bytes) -> Iterator[bytes]:
    """Give the path as `maps` has it, and with line feeds: they are written `\\012`, a backslash as is."""
    yield path
    if b"\\012" in path:
        yield path.replace(b"\\012", b"\n")


def _open_below(process: ProcDir, root: str, path: bytes, key: FileKey) -> MappedFile:
    """Walk ``path`` one name at a time, following nothing.

    The kernel prints paths with every link resolved, so a link found now was put there later, and an absolute
    one would lead out of the target's root.
    """
    *parents, name = path.strip(b"/").split(b"/")
    directory = os.open(root, _DIRECTORY & ~os.O_NOFOLLOW, dir_fd=process.fd)
    try:
        for parent in parents:
            inner = os.open(parent, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = inner
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        doubt = _check_identity(status, key)
        fd = os.open(name, _READ, dir_fd=directory)
    finally:
        os.close(directory)
    if (status.st_dev, status.st_ino) != _identify(fd):
        os.close(fd)
        raise MappedFileError("the file at this path is not the mapped one")
    return MappedFile(fd, doubt)


def _check_identity(status: os.stat_result, key: FileKey) -> str | None:
    """Compare with the mapping.

    On btrfs and overlayfs `maps` and stat name different devices for one file (say 0:31 and 0:45): the
    inode decides, and the doubt is kept.
    """
    if status.st_ino != key.inode:
        raise MappedFileError("the file at this path is not the mapped one")
    _check_regular(status)
    device = (os.major(status.st_dev), os.minor(status.st_dev))
    return None if device == (key.dev_major, key.dev_minor) else _OTHER_DEVICE


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise MappedFileError("what is mapped is not a regular file")


def _identify(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
