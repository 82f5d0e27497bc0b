"""The Windows Pythons and the collector for the tests of this folder, and Wine kept running between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mmpscope.collector.build import build_pyz
from support.wine import BITS, WinePython, find_wine_python, hold_session
from support.wine_collecting import Target, WineCollector, run_target


def _find(bits: int) -> WinePython:
    found = find_wine_python(bits)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture(scope="session")
def pythons() -> Iterator[dict[int, WinePython]]:
    """Both Pythons, by their bits, in a session of Wine that lasts as long as the tests."""
    found = {bits: _find(bits) for bits in BITS}
    with hold_session(found[64]):
        yield found


@pytest.fixture(scope="session")
def collectors(
    pythons: dict[int, WinePython], tmp_path_factory: pytest.TempPathFactory
) -> dict[int, WineCollector]:
    """The one-file collector in both Pythons, by their bits."""
    pyz: Path = tmp_path_factory.mktemp("collector") / "mmp-collect.pyz"
    pyz.write_bytes(build_pyz())
    return {bits: WineCollector(python, pyz) for bits, python in pythons.items()}


@pytest.fixture(scope="session")
def collector(collectors: dict[int, WineCollector]) -> WineCollector:
    """The collector in the 64-bit Python."""
    return collectors[64]


@pytest.fixture(scope="session")
def targets(pythons: dict[int, WinePython]) -> Iterator[dict[int, Target]]:
    """Two processes to look at, by their bits."""
    with run_target(pythons[64]) as wide, run_target(pythons[32]) as narrow:
        yield {64: wide, 32: narrow}
