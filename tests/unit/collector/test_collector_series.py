"""When a snapshot is due, what signals and keys do in between, and that the terminal is put back."""

from __future__ import annotations

import os
import pty
import signal
import termios
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from mmpscope.collector.cost import Cost
from mmpscope.collector.errors import ProcessGoneError
from mmpscope.collector.events import Cut, Event, Events, interruptible
from mmpscope.collector.keys import Keyboard
from mmpscope.collector.series import Plan, Schedule, Series
from mmpscope.formats.model import Capture, Snapshot


def test_due_times_do_not_drift() -> None:
    """A snapshot that takes long does not move the next ones off their grid."""
    schedule = Schedule(Plan(10.0), start=100.0)
    due = []
    for now in (100.0, 112.5, 120.1):
        schedule.mark_taken(now)
        due.append(schedule.find_due())
    assert due == [110.0, 120.0, 130.0]


def test_missed_times_are_left_out() -> None:
    """Three intervals overslept are one snapshot, not three in a row."""
    schedule = Schedule(Plan(1.0), start=0.0)
    schedule.mark_taken(0.0)
    schedule.mark_taken(4.5)
    assert schedule.find_due() == 5.0


@pytest.mark.parametrize(
    ("plan", "taken"),
    [(Plan(1.0, count=3), 3), (Plan(1.0, duration_s=2.0), 3), (Plan(1.0, 9, 0.5), 1), (Plan(5.0, 1), 1)],
)
def test_a_plan_ends_by_count_or_duration(plan: Plan, taken: int) -> None:
    """The first snapshot counts, one exactly at the end of the duration too, and the earlier end wins."""
    schedule, now, count = Schedule(plan, start=0.0), 0.0, 0
    while (due := schedule.find_due()) is not None:
        now = due
        count += 1
        schedule.mark_taken(now)
    assert count == taken


class _Target:
    """A process that ends after so many looks."""

    pid = 4711
    name = b"demo"

    def __init__(self, lives: int = 1000) -> None:
        self.notices: list[str] = []
        self.lives = lives

    def take_snapshot(self, capture: Capture) -> Snapshot:
        raise AssertionError("nobody asks this target for a snapshot")

    def check_access(self) -> None:
        raise AssertionError("nobody asks whether this target may be read")

    def estimate_cost(self) -> Cost | None:
        return None

    def is_alive(self) -> bool:
        self.lives -= 1
        return self.lives > 0

    def exit_handle(self) -> int | None:
        return None

    def close(self) -> None:
        pass


def _run(plan: Plan, take: Callable[[int], None], lives: int = 1000) -> tuple[int, str | None, list[str]]:
    count = 0
    said: list[str] = []

    def count_and_take() -> None:
        nonlocal count
        take(count)
        count += 1

    with Events() as events:
        ended_by = Series(_Target(lives), plan, count_and_take, events, said.append).run()
    return count, ended_by, said


def _nothing(count: int) -> None:
    pass


def test_a_fulfilled_plan_ends_without_a_word() -> None:
    """Count reached: nothing ended the series before its time."""
    assert _run(Plan(0.01, count=4), _nothing) == (4, None, [])


def test_the_end_of_the_process_ends_the_series() -> None:
    """Without a descriptor to wait for, the process is looked at now and then."""
    assert _run(Plan(3600.0), _nothing, lives=2) == (1, "process 4711 ended", [])


def test_a_process_gone_in_mid_snapshot_ends_the_series() -> None:
    """What was taken before stays, and the end is no error; before the first one it is."""

    def vanish_at(at: int) -> Callable[[int], None]:
        def take(count: int) -> None:
            if count == at:
                raise ProcessGoneError(4711, "demo", "its map")

        return take

    assert _run(Plan(0.01), vanish_at(2)) == (2, "process 4711 ended", [])
    with pytest.raises(ProcessGoneError):
        _run(Plan(0.01), vanish_at(0))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_series_after_the_snapshot_in_the_making(name: str) -> None:
    """A wish to stop that comes in mid-snapshot lets it be finished."""

    def take(count: int) -> None:
        if count == 1:
            os.kill(os.getpid(), signal.Signals[name])

    assert _run(Plan(0.01), take) == (2, f"stopped by {name}", [])


def test_a_second_signal_does_not_wait() -> None:
    """Who asks twice gets out at once, where the snapshot is being read."""
    cut = Cut()

    def take() -> None:
        with cut.allowed():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

    start = time.monotonic()
    with Events(cut=cut) as events, pytest.raises(KeyboardInterrupt):
        Series(_Target(), Plan(0.01), take, events, lambda _: None).run()
    assert time.monotonic() - start < 5


def test_sigusr1_takes_one_now() -> None:
    """The long interval does not matter, and the snapshot counts apart from the plan."""

    def take(count: int) -> None:
        os.kill(os.getpid(), signal.SIGUSR1 if count < 2 else signal.SIGTERM)

    assert _run(Plan(3600.0, count=2), take) == (3, "stopped by SIGTERM", [])


def test_handlers_are_as_before_afterwards() -> None:
    """Whoever calls us from a program of their own finds their signal handlers again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    _run(Plan(0.01, count=1), _nothing)
    with interruptible(Cut()):
        pass
    assert {number: signal.getsignal(number) for number in before} == before


def test_an_ignored_signal_stays_ignored() -> None:
    """nohup ignores SIGHUP: so do we."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Events(), interruptible(Cut()):
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_sigterm_interrupts_a_single_snapshot() -> None:
    """Outside of a series SIGTERM is what Ctrl-C is, so that a file half made is taken away."""
    cut = Cut()
    with interruptible(cut), pytest.raises(KeyboardInterrupt), cut.allowed():
        signal.raise_signal(signal.SIGTERM)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Give (controlling side, terminal) of a pseudo terminal."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


class _Keyboard(Keyboard):
    """A keyboard in the foreground: a test's terminal does not control its process."""

    def _is_foreground(self) -> bool:
        return True


def test_keys_take_and_pause_and_the_terminal_is_put_back(terminal: tuple[int, int]) -> None:
    """Enter takes a snapshot, p pauses, other keys do nothing; afterwards the terminal is as before."""
    person, fd = terminal
    before = termios.tcgetattr(fd)
    with Events(_Keyboard(fd)) as events:
        assert not termios.tcgetattr(fd)[3] & (termios.ICANON | termios.ECHO)
        assert termios.tcgetattr(fd)[3] & termios.ISIG
        os.write(person, b"x\n")
        assert events.wait(5, None) == {Event.TAKE}
        os.write(person, b"p")
        assert events.wait(5, None) == {Event.PAUSE}
    assert termios.tcgetattr(fd) == before


def test_a_paused_series_takes_only_by_hand(terminal: tuple[int, int]) -> None:
    """While it pauses time passes without snapshots; p goes on."""
    person, fd = terminal
    count = 0
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            threading.Timer(0.2, os.write, (person, b"p")).start()

    def take() -> None:
        nonlocal count
        count += 1
        if count == 1:
            os.write(person, b"p")
        elif count == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    start = time.monotonic()
    with Events(_Keyboard(fd)) as events:
        assert Series(_Target(), Plan(0.01), take, events, say).run() == "stopped by SIGTERM"
    assert time.monotonic() - start > 0.15
    assert said == ["paused: Enter takes a snapshot, p goes on", "going on"]


def test_a_terminal_that_goes_away_ends_the_keys_only(terminal: tuple[int, int]) -> None:
    """A closed terminal makes no busy loop: it is not asked again."""
    read_end, write_end = os.pipe()
    keyboard = _Keyboard(terminal[1])
    keyboard.fd, keyboard.is_listening = read_end, True
    os.close(write_end)
    assert keyboard.read() == b""
    assert not keyboard.is_listening
    os.close(read_end)
