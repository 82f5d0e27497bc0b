"""Waiting on Windows, where no descriptor stands for signals and keys: looked at, many times a second."""

from __future__ import annotations

import time

import pytest
from mmpscope.collector.windows import waiting
from mmpscope.collector.windows.keys import Keyboard
from mmpscope.collector.windows.waiting import Waiting


class _Keys(Keyboard):
    """A console on which some keys wait."""

    def __init__(self, keys: bytes) -> None:
        super().__init__()
        self.keys = keys

    def read(self) -> bytes:
        keys, self.keys = self.keys, b""
        return keys


def test_signals_that_came_meanwhile_are_found_at_once() -> None:
    """All of them, in order, and only once."""
    listening = Waiting()
    listening.start()
    for number in (2, 21):
        listening.note(number)
    assert listening.wait(10.0, None, None) == (bytes([2, 21]), b"", False)
    assert listening.wait(0.0, None, None) == (b"", b"", False)


def test_keys_are_found_at_once() -> None:
    """Enter and p, as they were typed."""
    assert Waiting().wait(10.0, None, _Keys(b"\rp")) == (b"", b"\rp", False)


def test_time_is_up_when_it_is_up() -> None:
    """Neither at once, nor a slice too late by much."""
    before = time.monotonic()
    assert Waiting().wait(0.12, None, None) == (b"", b"", False)
    assert 0.12 <= time.monotonic() - before < 2.0


def test_a_signal_during_a_sleep_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen after one slice, however long one wanted to wait."""
    listening = Waiting()
    sleeps: list[float] = []

    def sleep(seconds: float, exit_handle: int | None) -> bool:
        sleeps.append(seconds)
        listening.note(2)
        return False

    monkeypatch.setattr(waiting, "_sleep", sleep)
    assert listening.wait(None, None, None) == (b"\x02", b"", False)
    assert sleeps == [0.05]


def test_the_end_of_the_process_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handle is what is waited for meanwhile."""
    handles: list[int | None] = []

    def sleep(seconds: float, exit_handle: int | None) -> bool:
        handles.append(exit_handle)
        return len(handles) == 3

    monkeypatch.setattr(waiting, "_sleep", sleep)
    assert Waiting().wait(None, 0x44, None) == (b"", b"", True)
    assert handles == [0x44] * 3
