"""Debian's smem against our figures: PSS, USS, RSS and swap of each process of a captured /proc."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from mmpscope import analysis
from support.corpus import find_corpus_file

CAPTURED = "smemcap/smem-layout.tar"
COLUMNS = ("pss", "uss", "rss", "swap", "vss")
OURS = {"pss": "pss", "uss": "uss", "rss": "Rss", "swap": "swap", "vss": "size"}


def run_smem(captured: Path, folder: Path) -> dict[int, dict[str, int]]:
    """Return what smem says of each pid, in KiB.

    smem 1.5 on Python 3 fails on an archive (`smem -S FILE`): it takes bytes for text. From a folder with a
    /proc in it, it reads the same files.
    """
    if shutil.which("smem") is None:
        pytest.skip("there is no smem here (apt: smem)")
    with tarfile.open(captured) as archive:
        archive.extractall(folder / "proc", filter="data")
    command = ["smem", "-S", str(folder), "-H", "-n", "-c", " ".join(("pid", *COLUMNS))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    return {pid: dict(zip(COLUMNS, figures, strict=True)) for pid, *figures in rows}


@pytest.mark.real
def test_every_figure_of_smem_is_ours(tmp_path: Path) -> None:
    """The archive as we read it gives, process by process and to the KiB, what smem adds up."""
    captured = find_corpus_file(CAPTURED)
    theirs = run_smem(captured, tmp_path)
    ours = {}
    for snapshot in analysis.load(captured):
        regions = snapshot.regions.select(list(OURS.values())).to_pydict()
        ours[snapshot.process["pid"]] = {name: sum(regions[column]) // 1024 for name, column in OURS.items()}
    assert len(ours) == 2
    assert ours == theirs


@pytest.mark.real
def test_the_folder_that_smem_reads_is_the_same_capture(tmp_path: Path) -> None:
    """A folder with the same files has the same processes and figures as the archive."""
    captured = find_corpus_file(CAPTURED)
    theirs = run_smem(captured, tmp_path)
    snapshots = analysis.load(tmp_path)
    sums = {s.process["pid"]: sum(s.regions["pss"].to_pylist()) // 1024 for s in snapshots}
    assert sums == {pid: figures["pss"] for pid, figures in theirs.items()}
