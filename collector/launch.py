"""Starting a program in order to watch it from its first moment."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

from mmpscope.collector.errors import CollectError

__all__ = ["Program", "launch"]

_GRACE_S = 2.0
_FIRST_STATUS = 0x8000_0000
"""From here on exit codes of Windows are statuses that people know by their digits: 0xC0000005."""


class Program:
    """A program that we started; it shares our terminal, environment and working directory."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._process = process

    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def describe_end(self) -> str:
        """Say how it ended: `process 4711 ended with exit code 3`.

        Waits a moment for it: a Ctrl-C on the terminal reaches the program too, and it may need time to end.
        What runs on is left alone: it is not ours to stop.
        """
        try:
            code: int | None = self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            return f"process {self.pid} is still running, and was left alone"
        if code < 0:
            return f"process {self.pid} was ended by signal {-code} ({_name_signal(-code)})"
        shown = code if code < _FIRST_STATUS else f"0x{code:08X}"
        return f"process {self.pid} ended with exit code {shown}"


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real-time signal"


def launch(command: Sequence[str]) -> Program:
    """Start ``command``, and return when the system has accepted it; CollectError where it does not."""
    try:
        return Program(subprocess.Popen(list(command)))  # noqa: S603  # starting what the user names is the point
    except OSError as error:
        raise CollectError(
            f"{command[0]} cannot be started: {error.strerror}. Check its name and path."
        ) from error
