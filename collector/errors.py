"""What can go wrong between us and a process, each in one sentence: what, where, what now."""

from __future__ import annotations

import errno
import os

from mmpscope.formats.errors import MmpError

__all__ = ["AccessDeniedError", "CollectError", "ProcessGoneError", "UsageError"]


class CollectError(MmpError):
    """A process, or a fact that nothing can be said without, cannot be read.

    ``reason`` is the same in a few words, without the process; ``code`` what the system answered.
    """

    def __init__(self, sentence: str, reason: str = "it cannot be read", code: int | None = None) -> None:
        self.reason = reason
        self.code = code
        super().__init__(sentence)


class ProcessGoneError(CollectError):
    """The process was there and is no more, or its number belongs to another one by now."""

    def __init__(self, pid: int, name: str | None, while_reading: str) -> None:
        self.pid = pid
        who = f"process {pid} ({name})" if name else f"process {pid}"
        super().__init__(f"{who} ended while I read {while_reading}. Nothing of it was kept.", "it ended")


class AccessDeniedError(CollectError):
    """The system does not let us read the one file that matters."""

    def __init__(self, path: str, code: int, now: str) -> None:
        self.path = path
        reason = os.strerror(code).lower() if code != errno.EACCES else "permission denied"
        super().__init__(f"{path} cannot be read: {reason}. {now}", reason, code)


class UsageError(MmpError):
    """The request itself cannot be followed: contradicting options, or a name that fits several processes."""

    exit_code = 2
