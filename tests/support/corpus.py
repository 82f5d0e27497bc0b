"""Public files that we may not ship: where they are, and what a test does without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["CORPUS", "find_corpus_file", "read_corpus_file"]

ROOT = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("MMP_CORPUS", ROOT.parent / "shared" / "data"))


def find_corpus_file(name: str) -> Path:
    """Find a file of the corpus; without a corpus the test is skipped, without the file it fails in CI."""
    path = CORPUS / name
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus is not here: {CORPUS} (set MMP_CORPUS)")
    if not path.exists():
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"the corpus has no {name}")
    return path


def read_corpus_file(name: str) -> bytes:
    """Read a file of the corpus, or skip like `find_corpus_file`."""
    return find_corpus_file(name).read_bytes()
