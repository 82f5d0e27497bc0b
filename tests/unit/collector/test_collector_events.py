"""Signals at awkward moments, many open files, long waits, a kernel without pidfd, no thread to be had."""

from __future__ import annotations

import os
import pty
import resource
import signal
import termios
import threading

import pytest
from mmpscope.collector.events import Cut, Event, Events, interruptible
from mmpscope.collector.keys import Keyboard
from mmpscope.collector.linux.background import Background


def test_a_cut_waits_until_nothing_can_be_spoiled() -> None:
    """Asked for while a frame is written, it comes with the next reading and not before."""
    cut = Cut()
    cut.ask()
    with pytest.raises(KeyboardInterrupt), cut.allowed():
        pytest.fail("the reading was begun")


def test_a_cut_ends_a_reading_at_once_and_only_once() -> None:
    """The clean-up behind an interrupted reading is not interrupted again."""
    cut = Cut()
    with pytest.raises(KeyboardInterrupt), cut.allowed():
        cut.ask()
    cut.ask()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_does_not_interrupt_the_writing(name: str) -> None:
    """A frame and its bookkeeping belong together: a signal between them only leaves a wish."""
    cut = Cut()
    with interruptible(cut):
        os.kill(os.getpid(), signal.Signals[name])
    with pytest.raises(KeyboardInterrupt), cut.allowed():
        pass


def test_a_wait_of_centuries_is_no_overflow() -> None:
    """poll takes 24 days at most, select some hundred years: a longer wait is cut into pieces."""
    with Events() as events:
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        assert events.wait(1e15, None) == {Event.TAKE}


def test_more_than_1024_open_files_are_no_obstacle() -> None:
    """Descriptors that a server left open for us push ours beyond what select can watch."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("this system lets nobody open that many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with Events() as events:
            assert events.wait(0.01, None) == set()
    finally:
        for fd in many:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_a_thread_the_call_is_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container at its limit of processes has no thread for us: then one thing goes after the other."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Background(lambda: 7) as background:
        pass
    assert background.result() == 7


def _is_raw(fd: int) -> bool:
    return not termios.tcgetattr(fd)[3] & termios.ECHO


def test_a_terminal_that_is_not_ours_any_more_is_not_read() -> None:
    """After Ctrl-Z and `bg` what is typed is the shell's: a read from the background would stop us."""
    primary, secondary = pty.openpty()
    keyboard = Keyboard(secondary)
    keyboard.is_listening = True  # it was ours when we started; no process group of this test owns it now
    os.write(primary, b"p\n")
    assert keyboard.read() == b""
    assert not keyboard.is_listening
    os.close(primary)
    os.close(secondary)


class _Keyboard(Keyboard):
    """A keyboard in the foreground: a test's terminal does not control its process."""

    def _is_foreground(self) -> bool:
        return True


def test_a_stopped_collector_gives_the_terminal_back_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-Z: the shell that takes over has its echo; continued, we listen to keys again."""
    primary, secondary = pty.openpty()
    seen: list[bool] = []

    def stop_and_go_on(pid: int, number: int) -> None:
        assert (pid, number) == (os.getpid(), signal.SIGTSTP)
        assert signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL
        seen.append(_is_raw(secondary))
        signal.raise_signal(signal.SIGCONT)

    with Events(_Keyboard(secondary)):
        monkeypatch.setattr(os, "kill", stop_and_go_on)
        signal.raise_signal(signal.SIGTSTP)
        assert seen == [False]
        assert _is_raw(secondary)
        signal.raise_signal(signal.SIGTSTP)
        assert seen == [False, False]
    os.close(primary)
    os.close(secondary)
