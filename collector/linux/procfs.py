"""Opening and reading proc files, each once, with what it cost and why it failed; nothing is parsed here."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Callable, TypeVar

from mmpscope.formats.model import Capability, Fact, Facts

__all__ = ["NotApplicableError", "ProcDir", "Recorder", "explain"]

T = TypeVar("T")


class NotApplicableError(ValueError):
    """This process has no such thing, and that is no lack of ours; the text says why."""


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


class Recorder:
    """Collects, for one snapshot or capture, the cost of each source in ns and the reason behind each gap."""

    def __init__(self) -> None:
        self.cost: dict[str, int] = {}
        self._capability: dict[str, Capability] = {}

    @property
    def capability(self) -> list[Capability]:
        """What was had and what was not, in the order of asking."""
        return list(self._capability.values())

    def attempt(self, item: str, read: Callable[[], T]) -> T | None:
        """Do as `require`, but where the system refuses, note why and return None.

        A ValueError (what was read makes no sense) counts as refusal, with its text for a reason.
        """
        try:
            return self.require(item, read)
        except OSError as error:
            self.miss(item, "unavailable", error.errno, explain(error))
        except ValueError as error:
            state = "not applicable" if isinstance(error, NotApplicableError) else "unavailable"
            self.miss(item, state, None, str(error))
        return None

    def require(self, item: str, read: Callable[[], T]) -> T:
        """Call ``read`` and note its time and success; its errors come out as they are."""
        value = self.measure(item, read)
        self._capability.setdefault(item, Capability(item, "ok"))
        return value

    def measure(self, item: str, work: Callable[[], T]) -> T:
        """Call ``work``, which is no source of the system, and note its time."""
        start = time.perf_counter_ns()
        try:
            return work()
        finally:
            self.cost[item] = self.cost.get(item, 0) + time.perf_counter_ns() - start

    def absorb(self, other: Recorder) -> None:
        """Take over what another recorder noted."""
        for item, cost in other.cost.items():
            self.cost[item] = self.cost.get(item, 0) + cost
        for known in other.capability:
            self._capability.setdefault(known.item, known)

    def gather(self, readers: Mapping[str, Callable[[], Fact]]) -> Facts:
        """Attempt each reader; what could not be had is left out."""
        values = {item: self.attempt(item, read) for item, read in readers.items()}
        return {item: value for item, value in values.items() if value is not None}

    def miss(self, item: str, state: str, code: int | None, reason: str) -> None:
        """Note that ``item`` is not there, or not whole (`partial`), and why."""
        self._capability[item] = Capability(item, state, code, reason)


def explain(error: OSError) -> str:
    """Say what the system answered: `permission denied (EACCES)`."""
    number = error.errno or 0
    return f"{os.strerror(number).lower()} ({errno.errorcode.get(number, number)})"
