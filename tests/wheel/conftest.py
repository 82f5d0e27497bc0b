"""These tests look at a built and installed wheel; elsewhere they are not even collected (a skip hides them).

`MMP_TEST_INSTALLED=1` has them run. They want wheel and sdist in dist/, where `make build` puts them.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

if not os.environ.get("MMP_TEST_INSTALLED"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Find the one wheel that was built."""
    [path] = (ROOT / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="session")
def sdist() -> Path:
    """Find the one sdist that was built."""
    [path] = (ROOT / "dist").glob("*.tar.gz")
    return path
