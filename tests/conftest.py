"""What every test stands on: an environment in which the same input prints the same text."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _same_text_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix width, colour, locale and time zone, for this process and for those that a test starts."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("MMP_DEBUG", raising=False)
