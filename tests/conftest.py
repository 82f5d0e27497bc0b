"""What every test stands on: the same input prints the same text, and nothing is skipped silently in CI."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings
from support.turns import take_turn

IN_CI = bool(os.environ.get("CI"))

# Behind a shell (`pytest &`) SIGINT is ignored, behind nohup SIGHUP: who sends it would wait for ever.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        is_interrupt = number is signal.SIGINT
        signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _same_text_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix width, colour, locale and time zone, for this process and for those that a test starts."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("MMP_DEBUG", raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where CI promised to have everything that tests need."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be missing: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that measures time run alone."""
    with take_turn(alone=item.get_closest_marker("alone") is not None):
        return (yield)


# A busy machine is no fault of a property: no deadline for an example, and the same examples in every CI run.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if IN_CI else "local")
