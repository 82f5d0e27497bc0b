"""Files on the way out: never half-written, never over an existing one, never two writers at once.

Nothing here knows what is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mmpscope.formats.errors import OutputError, OutputExistsError
from mmpscope.formats.mmp.lock import LOCKED, is_locked, is_remote, lock

__all__ = ["OutputFile"]

_IS_WINDOWS = os.name == "nt"  # an open file cannot be renamed there, and a rename never replaces
_BINARY = getattr(os, "O_BINARY", 0)
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
_UNNAMED = getattr(os, "O_TMPFILE", None)
"""Linux: a file without a name, of which nothing is left where its writer is killed."""
_FILE = "/proc/self/fd/{}"
_IN_USE = "another program is adding to it. Wait for it to end, or name another file."
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def _refuse_locked(path: Path) -> None:
    """Refuse to replace a series that still runs: its collector would write to a file without a name."""
    with contextlib.suppress(OSError):  # what cannot be read can be replaced
        if is_locked(path):
            raise OutputError(f"{path}: {_IN_USE}")


class OutputFile:
    """A file without a name, or of a temporary one, until `publish` names it; or one that is added to.

    Each `write` leaves either all of its bytes or none of them. Errors of the system come out as OutputError
    with the path that the user knows.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int,
        temporary: Path | None,
        *,
        is_named: bool = True,
        force: bool = False,
    ) -> None:
        self.path = path
        self.size = os.fstat(descriptor).st_size
        self._descriptor = descriptor
        self._temporary = temporary
        self._is_named = is_named
        self._force = force
        self._is_locked = False
        self._mode: int | None = None

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, force: bool) -> OutputFile:
        """Begin a new file beside ``path``; OutputExistsError where that exists and without ``force``."""
        target = Path(path)
        with _translated(target, "created"):
            if target.exists() and not target.is_file():
                raise OutputError(f"{target}: it is no regular file. Name a file to write to.")
            if target.is_symlink() or target.exists():
                if not force:
                    raise _exists(target)
                target = Path(os.path.realpath(target))  # what a link names is replaced, not the link
                _refuse_locked(target)
            temporary = target.with_name(f".mmpscope-{os.urandom(4).hex()}.tmp")
            descriptor = _open_unnamed(target.parent)
            is_named = descriptor is None
            if descriptor is None:
                descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
            return cls(target, descriptor, temporary, is_named=is_named, force=force)._hide()

    @classmethod
    def extend(cls, path: str | os.PathLike[str]) -> OutputFile:
        """Open an existing file to add to it, and lock it; OutputError where someone else adds to it now."""
        target = Path(path)
        with _translated(target, "opened"):
            opened = cls(target, os.open(target, os.O_RDWR | _BINARY), None)
        try:
            opened.lock()
        except OutputError:
            opened.close()
            raise
        return opened

    def _hide(self) -> OutputFile:
        """Let nobody else read it before it has its name, and keep the mode that it then gets.

        That of a file which is replaced: an answer that was private stays so.
        """
        if not _IS_WINDOWS:
            mode = (self.path.stat() if self.path.exists() else os.fstat(self._descriptor)).st_mode
            self._mode = stat.S_IMODE(mode)
            with contextlib.suppress(OSError):  # file systems without modes
                os.fchmod(self._descriptor, 0o600)
        return self

    def lock(self) -> None:
        """Keep other writers out until the file is closed; OutputError where there is one already."""
        try:
            lock(self._descriptor)
        except OSError as error:
            if error.errno in LOCKED:
                what = _IN_USE
            else:
                what = f"it cannot be locked ({error.strerror}). Name a file on another file system."
            raise OutputError(f"{self.path}: {what}") from error
        self._is_locked = True

    def write(self, data: bytes) -> None:
        """Append ``data``, in one write where the system takes it whole; if it fails, none of it stays."""
        start, done = self.size, 0
        try:
            with _translated(self.path, "written"):
                os.lseek(self._descriptor, start, os.SEEK_SET)
                while done < len(data):
                    done += os.write(self._descriptor, memoryview(data)[done:])
            self.size = start + done
        finally:
            if self.size != start + len(data):
                with contextlib.suppress(OSError):  # the error that brought us here is the one to tell
                    os.ftruncate(self._descriptor, start)

    def cut(self, size: int) -> None:
        """Drop everything from ``size`` on."""
        with _translated(self.path, "cut"):
            os.ftruncate(self._descriptor, size)
        self.size = size

    def publish(self) -> None:
        """Give the file its own name, all of it on the disk; OutputExistsError where that came into use."""
        temporary = self._temporary
        if temporary is None:
            return
        self.sync()
        with _translated(self.path, "written"):
            if self._mode is not None:
                with contextlib.suppress(OSError):
                    os.fchmod(self._descriptor, self._mode)
            if _IS_WINDOWS:
                os.close(self._descriptor)
            if self._is_named:
                _rename(temporary, self.path, force=self._force)
            else:
                self._give_name(temporary)
            self._temporary = None
            if _IS_WINDOWS:
                self._descriptor = os.open(self.path, os.O_RDWR | _BINARY)
                if self._is_locked:  # the lock went with the descriptor that was closed
                    self.lock()

    def _give_name(self, temporary: Path) -> None:
        """Link a file without a name to its own; what that replaces is replaced by a rename, in one step."""
        try:
            _link(self._descriptor, self.path)
        except FileExistsError:
            if not self._force:
                raise
            _link(self._descriptor, temporary)
            self._is_named = True
            temporary.replace(self.path)

    def sync(self) -> None:
        """Have everything on the disk."""
        with _translated(self.path, "written"):
            os.fsync(self._descriptor)

    @contextlib.contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Read what is there already."""
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            yield stream

    def close(self) -> None:
        """Close the file; one that was not published is gone."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        if self._temporary is not None and self._is_named:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
        self._temporary = None


def _open_unnamed(folder: Path) -> int | None:
    """Open a file without a name; None where there is none, or where it might not get a name afterwards.

    That takes /proc, and links. Every file system of this machine that has such files has links, too; one of
    another machine, or of a program, may not.
    """
    if _UNNAMED is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDWR | _UNNAMED, 0o666)
    except OSError:
        return None
    if os.path.lexists(_FILE.format(descriptor)) and not is_remote(os.fstat(descriptor).st_dev):
        return descriptor
    os.close(descriptor)
    return None


def _link(descriptor: int, path: Path) -> None:
    """Name an open file, as open(2) has it for O_TMPFILE; FileExistsError where the name is taken.

    A descriptor for its folder makes Python call linkat(2), which alone follows links; it is not looked at,
    as the name of the source is absolute.
    """
    os.link(_FILE.format(descriptor), path, src_dir_fd=descriptor, follow_symlinks=True)


def _rename(temporary: Path, path: Path, *, force: bool) -> None:
    """Rename, without ``force`` never over another file: a link, too, fails where the name is taken."""
    if force:
        temporary.replace(path)
    elif _IS_WINDOWS:
        temporary.rename(path)
    else:
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():  # file systems without links (FAT, some network ones) leave a short moment here
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
            temporary.rename(path)
        else:
            temporary.unlink()


def _exists(path: Path) -> OutputExistsError:
    return OutputExistsError(f"{path} exists. Use --force to replace it, or name another file.")


@contextlib.contextmanager
def _translated(path: Path, done: str) -> Iterator[None]:
    """Turn an error of the system into ours, with the path that the user knows."""
    try:
        yield
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        now = "Make room, or name a file elsewhere." if error.errno in _FULL else "Name another file."
        raise OutputError(f"{path}: it cannot be {done} ({error.strerror}). {now}") from error
