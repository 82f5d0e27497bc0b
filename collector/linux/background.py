"""One call in a second thread, for work that the kernel does while the interpreter is free."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

__all__ = ["Background"]

T = TypeVar("T")


class Background(Generic[T]):
    """Runs ``call`` while the body of the `with` statement runs; the statement does not end before it has."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:  # noqa: BLE001  # it is raised again where the result is asked for
            self._error = error

    def result(self) -> T:
        """Wait for the result; an error of the call is raised here."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def __enter__(self) -> Background[T]:
        try:
            self._thread.start()
        except (
            RuntimeError
        ):  # a container at its limit of processes (pids.max, ulimit -u): one after the other
            self._run()
        return self

    def wait(self) -> None:
        """Wait until the call has ended, whatever came of it."""
        if self._thread.ident is not None:
            self._thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wait()
