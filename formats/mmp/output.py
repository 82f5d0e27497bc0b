"""Files on the way out: never half-written, never over an existing one, never two writers at once.

Nothing here knows what is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mmpscope.formats.errors import OutputError, OutputExistsError

if sys.platform == "win32":
    import ctypes
    import msvcrt
else:
    import fcntl

__all__ = ["OutputFile"]

_LOCK_AT = 1 << 62  # Windows locks bytes, not files: one that no reader will ever ask for
_EXCLUSIVELY_AT_ONCE = 3  # LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY
_ERROR_LOCK_VIOLATION = 33
_IS_WINDOWS = os.name == "nt"  # an open file cannot be renamed there, and a rename never replaces
_BINARY = getattr(os, "O_BINARY", 0)
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class OutputFile:
    """A file under a temporary name until `publish` gives it its own; or an existing file that is added to.

    Each `write` leaves either all of its bytes or none of them. Errors of the system come out as OutputError
    with the path that the user knows.
    """

    def __init__(self, path: Path, descriptor: int, temporary: Path | None, *, force: bool = False) -> None:
        self.path = path
        self.size = os.fstat(descriptor).st_size
        self._descriptor = descriptor
        self._temporary = temporary
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
            temporary = target.with_name(f".mmpscope-{os.urandom(4).hex()}.tmp")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY
            return cls(target, os.open(temporary, flags, 0o666), temporary, force=force)._hide()

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
            _lock(self._descriptor)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
                what = "another program is adding to it. Wait for it to end, or name another file."
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
            _rename(temporary, self.path, force=self._force)
            self._temporary = None
            if _IS_WINDOWS:
                self._descriptor = os.open(self.path, os.O_RDWR | _BINARY)
                if self._is_locked:  # the lock went with the descriptor that was closed
                    self.lock()

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
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
            self._temporary = None


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        # Not msvcrt.locking, whose positions have 32 bits. An OVERLAPPED: two words, the offset, an event.
        words = ctypes.sizeof(ctypes.c_void_p) // 4
        overlapped = (ctypes.c_uint32 * (3 * words + 2))()
        overlapped[2 * words], overlapped[2 * words + 1] = _LOCK_AT & 0xFFFF_FFFF, _LOCK_AT >> 32
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        if not kernel.LockFileEx(handle, _EXCLUSIVELY_AT_ONCE, 0, 1, 0, overlapped):
            code = ctypes.get_last_error()
            number = errno.EACCES if code == _ERROR_LOCK_VIOLATION else errno.EINVAL
            raise OSError(number, ctypes.FormatError(code).strip())
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
