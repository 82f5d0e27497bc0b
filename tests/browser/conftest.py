"""One Chromium for all tests of this folder, and pages of the samples."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import browse
from support.mmp_command import run_mmp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """A running Chromium; of one module, since no other event loop runs beside that of Playwright."""
    with browse() as running:
        yield running


@pytest.fixture(scope="session")
def report_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a report of files, each once a run."""
    made: dict[tuple[Path, ...], Path] = {}
    folder = tmp_path_factory.mktemp("reports")

    def make(*files: Path) -> Path:
        if files not in made:
            path = folder / f"{len(made)}.html"
            answer = run_mmp("report", *files, "-o", path)
            assert (answer.code, answer.err) == (0, "")
            made[files] = path
        return made[files]

    return make


@pytest.fixture(scope="session")
def arenas(report_of: Callable[..., Path]) -> Path:
    """The report of one snapshot with arenas, stacks and libraries."""
    return report_of(SAMPLES / "linux-arenas-v1.0.mmp")


@pytest.fixture(scope="session")
def pair(report_of: Callable[..., Path]) -> Path:
    """The report of two snapshots of one process."""
    return report_of(*(SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab"))
