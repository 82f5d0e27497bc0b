"""The lock of a file that is added to: one writer at a time, and whether there is one; readers need none."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import ctypes
    import msvcrt
else:
    import fcntl

__all__ = ["LOCKED", "is_locked", "is_remote", "lock"]

LOCKED = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
"""What `lock` fails with where somebody else has the lock."""
_LOCK_AT = 1 << 62  # Windows locks bytes, not files: one that no reader will ever ask for
_AT_ONCE, _EXCLUSIVELY = 1, 2  # LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
_ERROR_LOCK_VIOLATION = 33
_BINARY = getattr(os, "O_BINARY", 0)
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "virtiofs", "fuse.")
"""How the types of file systems begin on which the writer may be under another kernel."""


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file until it is closed; OSError of LOCKED where somebody has it, another where none can.

    ``shared`` ones go along with each other.
    """
    if sys.platform == "win32":
        # Not msvcrt.locking, whose positions have 32 bits. An OVERLAPPED: two words, the offset, an event.
        words = ctypes.sizeof(ctypes.c_void_p) // 4
        overlapped = (ctypes.c_uint32 * (3 * words + 2))()
        overlapped[2 * words], overlapped[2 * words + 1] = _LOCK_AT & 0xFFFF_FFFF, _LOCK_AT >> 32
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        flags = _AT_ONCE if shared else _AT_ONCE | _EXCLUSIVELY
        if not kernel.LockFileEx(handle, flags, 0, 1, 0, overlapped):
            code = ctypes.get_last_error()
            number = errno.EACCES if code == _ERROR_LOCK_VIOLATION else errno.EINVAL
            raise OSError(number, ctypes.FormatError(code).strip())
    else:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def is_locked(path: str | os.PathLike[str]) -> bool | None:
    """Tell whether somebody adds to a file now, None where that cannot be told; OSError without it.

    For a moment we have the lock ourselves: a writer that begins in just that moment would be refused, so do
    not ask all the time. On a network file system only a lock that is held says something.
    """
    descriptor = os.open(path, os.O_RDONLY | _BINARY)
    try:
        lock(descriptor, shared=True)
        return None if sys.platform == "linux" and is_remote(os.fstat(descriptor).st_dev) else False
    except OSError as error:
        return True if error.errno in LOCKED else None
    finally:
        os.close(descriptor)


def is_remote(device: int, mountinfo: str = "/proc/self/mountinfo") -> bool:
    """Whether another machine may write to the file system of a device, by its type in mountinfo."""
    name = f"{os.major(device)}:{os.minor(device)}"
    with suppress(OSError):
        for line in Path(mountinfo).read_text(errors="replace").splitlines():
            head, _, tail = line.partition(" - ")
            if head.split()[2:3] == [name]:
                return tail.startswith(_REMOTE)
    return False
