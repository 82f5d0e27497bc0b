"""The files in samples/ are what their README says: listed, small, whole, and free of private things."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from mmpscope import analysis
from mmpscope.formats.mmp import verify

SAMPLES = Path(__file__).parents[2] / "samples"
FILES = sorted(SAMPLES.glob("*.mmp"))

each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def _read_table() -> dict[str, str]:
    rows = re.findall(r"^\| (\S+\.mmp) \|.*\| ([0-9a-f]{64}) \|$", (SAMPLES / "README.md").read_text(), re.M)
    return dict(rows)


def test_readme_lists_every_sample_and_no_other() -> None:
    """The table has one row a file, each with the file's own checksum."""
    assert FILES
    assert _read_table() == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}


@each
def test_names_follow_the_pattern(path: Path) -> None:
    """<os>-<what>-v<version>.mmp, where version is that of the format."""
    assert re.fullmatch(r"linux-[a-z]+(-[a-z]+)*-v1\.0\.mmp", path.name)


def test_samples_stay_small() -> None:
    """Everything in the folder together is at most 1 MiB."""
    files = [path for path in SAMPLES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) <= 1 << 20


@each
def test_every_sample_verifies(path: Path) -> None:
    """No damage, no gap in the sequence of frames, every checksum right."""
    assert verify(path) == []


@each
def test_every_sample_tells_nothing_private(path: Path) -> None:
    """The host is called demo, the process list is short, and every path is the system's or /srv/demo."""
    for snapshot in analysis.load(path):
        assert snapshot.raw.capture.host["hostname"] == "demo"
        assert snapshot.processes.num_rows <= 4
        assert snapshot.raw.process["exe"].startswith(("/srv/demo/", "/usr/"))
        paths = {path for path in snapshot.regions["path"].to_pylist() if path and path.startswith("/")}
        allowed = ("/srv/demo/", "/usr/", "/etc/ld.so.cache", "/memfd:", "/tmp/hsperfdata_", "/SYSV", "/dev/")
        assert [path for path in paths if not path.startswith(allowed)] == []


def test_the_leak_has_twenty_snapshots() -> None:
    """One file holds a whole series."""
    assert len(analysis.load(SAMPLES / "linux-leak-v1.0.mmp")) == 20
