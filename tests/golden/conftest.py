"""Golden outputs: what was printed once and found good; `--update-golden` writes what is printed now."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

_OUTPUTS = Path(__file__).parent / "outputs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`; the change is then reviewed as a diff of the files."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden outputs")


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden output of a name, or make it the golden output."""

    def check(name: str, text: str) -> None:
        path = _OUTPUTS / name
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text, encoding="utf-8")
            return
        golden = path.read_text(encoding="utf-8")
        diff = difflib.unified_diff(golden.splitlines(), text.splitlines(), name, "printed now", lineterm="")
        assert text == golden, "\n".join(diff)

    return check
