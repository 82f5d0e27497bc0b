"""The files in samples/ are what their README says: listed, small, whole, and free of private things."""

from __future__ import annotations

import hashlib
import itertools
import re
from pathlib import Path

import pytest
from mmpscope import analysis
from mmpscope.formats.registry import verify_source

SAMPLES = Path(__file__).parents[2] / "samples"
FILES = sorted(SAMPLES.glob("*.mmp*"))

PROGRAMS = {"linux": ("/srv/demo/", "/usr/"), "windows": ("C:\\demo\\",)}
ALLOWED = {
    "linux": ("/srv/demo/", "/usr/", "/etc/ld.so.cache", "/memfd:", "/tmp/hsperfdata_", "/SYSV", "/dev/"),
    "windows": ("C:\\demo\\", "C:\\windows\\"),
}

each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def _read_table() -> dict[str, str]:
    text = (SAMPLES / "README.md").read_text()
    rows = re.findall(r"^\| (\S+\.mmp\S*) \|.*\| ([0-9a-f]{64}) \|$", text, re.M)
    return dict(rows)


def test_readme_lists_every_sample_and_no_other() -> None:
    """The table has one row a file, each with the file's own checksum."""
    assert FILES
    assert _read_table() == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}


@each
def test_names_follow_the_pattern(path: Path) -> None:
    """<os>-<what>-v<version>.mmp, where version is that of the format; long series are packed."""
    assert re.fullmatch(r"(linux|windows)-[a-z0-9]+(-[a-z]+)*-v1\.0\.mmp(\.gz)?", path.name)


def test_samples_stay_small() -> None:
    """Everything in the folder together is at most 1 MiB."""
    files = [path for path in SAMPLES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) <= 1 << 20


@each
def test_every_sample_verifies(path: Path) -> None:
    """No damage, no gap in the sequence of frames, every checksum right."""
    assert verify_source(path) == []


@each
def test_every_sample_tells_nothing_private(path: Path) -> None:
    """The host is demo or a token, the process list is short, every path is the system's or the demo's."""
    system = path.name.partition("-")[0]
    for snapshot in analysis.load(path):
        host = snapshot.raw.capture.host["hostname"].lower()
        assert re.fullmatch(r"[a-z]{11}" if "redacted" in path.name else "demo", host)
        assert snapshot.processes.num_rows <= 10
        assert snapshot.raw.process["exe"].startswith(PROGRAMS[system])
        paths = {path for path in snapshot.regions["path"].to_pylist() if path and not path.startswith("[")}
        assert [path for path in paths if not path.startswith(ALLOWED[system])] == []


def test_the_leak_has_twenty_snapshots() -> None:
    """One file holds a whole series."""
    assert len(analysis.load(SAMPLES / "linux-leak-v1.0.mmp")) == 20


def test_the_windows_steps_are_six_snapshots_of_one_process() -> None:
    """Reserved, committed, written: what moves is what the README of the samples says."""
    path = SAMPLES / "windows-reserve-commit-v1.0.mmp"
    snapshots = analysis.load(path)
    assert len(snapshots) == 6
    totals = [analysis.diff(a, b).types.to_pylist()[0] for a, b in itertools.pairwise(snapshots[:4])]
    moved = [[row[f"{name}_delta"] >> 20 for name in ("size", "committed", "total_ws")] for row in totals]
    assert moved == [[64, 0, 0], [0, 32, 0], [0, 0, 16]]


def test_the_redacted_sample_is_another_without_names_and_addresses() -> None:
    """As many regions of the same sizes and types; no module but the well-known is called as it was."""
    plain, redacted = (
        analysis.load(SAMPLES / f"linux-{name}-v1.0.mmp")[0] for name in ("python", "redacted")
    )
    kept = ["size", "type", "rule", "protection", "total_ws"]
    assert redacted.regions.select(kept).equals(plain.regions.select(kept))
    assert {row.item for row in redacted.raw.capability} >= {"rebase"}
    addresses = [set(each.regions["address"].to_pylist()) for each in (plain, redacted)]
    assert not {address for address in addresses[0] & addresses[1] if 1 << 40 < address < 1 << 60}
