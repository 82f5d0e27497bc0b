"""Opening and reading proc files, each once; nothing is parsed here."""

from __future__ import annotations

import io
import os
from types import TracebackType

__all__ = ["ProcDir"]


class ProcDir:
    """One directory below the proc root, held open.

    Held open because a process directory stays bound to its process: after the process has ended every read
    fails, even when its number has been given to another one.
    """

    def __init__(self, path: str, parent: ProcDir | None = None) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        self.fd: int = os.open(path, flags, dir_fd=None if parent is None else parent.fd)
        self.path: str = path if parent is None else f"{parent.path}/{path}"

    def read(self, name: str, size: int = -1) -> bytes:
        """Read one file whole, or at most ``size`` bytes of it; OSError as the system gives it.

        `readall` asks again until the end in C: the kernel hands out at most a page or so a call.
        """
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY, dir_fd=self.fd)
        with io.FileIO(fd) as file:
            return file.readall() if size < 0 else file.read(size) or b""

    def read_link(self, name: str) -> bytes:
        """Read where a symbolic link points, as bytes; OSError as the system gives it."""
        return os.readlink(name.encode(), dir_fd=self.fd)

    def list_numbers(self) -> list[int]:
        """List the entries that are numbers (processes, threads), in order."""
        names = os.listdir(self.fd)  # noqa: PTH208  # pathlib does not list an open directory
        return sorted(int(name) for name in names if name.isdigit())

    def find_own_pid(self) -> int | None:
        """Tell which of the numbers is ours; None where this proc root is not of a running system."""
        try:
            return int(os.readlink("self", dir_fd=self.fd))
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Let go of the directory."""
        os.close(self.fd)

    def __enter__(self) -> ProcDir:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
