"""The collector as one file: what is in it, that its bytes are always the same, and that it runs."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.collecting import read_snapshots, run_sleeper
from support.interpreters import find_pythons

PYTHONS = find_pythons()


def _build(output: Path) -> Path:
    command = [sys.executable, "-m", "mmpscope.collector.build", "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    return output


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the file once."""
    return _build(tmp_path_factory.mktemp("pyz") / "mmp-collect.pyz")


def test_the_same_sources_give_the_same_bytes(pyz: Path, tmp_path: Path) -> None:
    """Two builds are equal to the byte: no clock, no order of a directory gets in."""
    assert _build(tmp_path / "again.pyz").read_bytes() == pyz.read_bytes()


def _lay_out(folder: Path, when: int) -> None:
    """Copy all that goes into the file to a folder of another date, so that any Python can import it."""
    for package in ("mmpscope.formats", "mmpscope.collector", "msgpack"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(Path(spec.origin).parent, folder.joinpath(*package.split(".")), ignore=ignored)
    for name in ("mmpscope", "msgpack"):
        [licence] = [f for f in importlib.metadata.files(name) or () if f.name in ("COPYING", "LICENSE")]
        home = folder / f"{name}-1.dist-info"
        home.mkdir()
        (home / licence.name).write_bytes(licence.read_binary())
        (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (home / "RECORD").write_text(f"{home.name}/{licence.name},,\n")
    for path in folder.rglob("*"):
        os.utime(path, (when, when))


@pytest.mark.real
@pytest.mark.skipif(not PYTHONS, reason="no other CPython from 3.9 up")
@pytest.mark.parametrize("version", PYTHONS)
def test_any_builder_makes_the_same_bytes(pyz: Path, tmp_path: Path, version: str) -> None:
    """Another Python, folder, date of the sources, umask, time zone and seed of hashes change no byte."""
    _lay_out(tmp_path / "elsewhere", when=sum(map(int, version.split("."))) * 86_400 * 365)
    environment = {
        "PYTHONPATH": str(tmp_path / "elsewhere"),
        "PYTHONHASHSEED": version.replace(".", ""),
        "TZ": "Pacific/Auckland",
    }
    command = [str(PYTHONS[version]), "-S", "-m", "mmpscope.collector.build", "-o", "other.pyz"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, umask=0o077)
    assert (tmp_path / "other.pyz").read_bytes() == pyz.read_bytes()


def test_it_holds_the_collector_and_nothing_of_the_analysis(pyz: Path) -> None:
    """Collector, its part of formats and msgpack's Python part with its licence; no other package."""
    names = set(zipfile.ZipFile(pyz).namelist())
    assert {"__main__.py", "mmpscope/collector/linux/target.py", "mmpscope/formats/mmp/writer.py"} <= names
    assert {"msgpack/fallback.py", "msgpack/LICENSE", "mmpscope/LICENSE"} <= names
    tops = {"/".join(name.split("/")[:2]) for name in names}
    assert not {"mmpscope/analysis", "mmpscope/formats/registry.py", "mmpscope/collector/build.py"} & (
        tops | names
    )


def test_an_existing_file_is_not_replaced_without_force(pyz: Path) -> None:
    """The build follows the rule of every output."""
    command = [sys.executable, "-m", "mmpscope.collector.build", "-o", str(pyz)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "exists. Use --force" in run.stderr


def _run_alone(python: str, pyz: Path, folder: Path) -> None:
    """Collect a process with nothing but this Python: no site packages, no environment, no source tree."""
    with run_sleeper() as sleeper:
        command = [
            python,
            "-S",
            "-E",
            str(pyz),
            str(sleeper.pid),
            "-o",
            "a.mmp",
            "--interval",
            "0.01",
            "--count",
            "2",
        ]
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={}, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "a.mmp\n", "")
        snapshots = read_snapshots(folder / "a.mmp")
    assert [snapshot.process["pid"] for snapshot in snapshots] == [sleeper.pid] * 2
    assert all(
        snapshot.tables.keys() == {"regions", "threads", "modules", "segments"} for snapshot in snapshots
    )


def test_it_runs_in_an_empty_environment(pyz: Path, tmp_path: Path) -> None:
    """With -S -E nothing that is installed helps it, and what it writes reads like any other file."""
    _run_alone(sys.executable, pyz, tmp_path)


def test_an_old_python_gets_a_sentence(pyz: Path) -> None:
    """The start of the file is valid in any Python and refuses an old one in words."""
    main = zipfile.ZipFile(pyz).read("__main__.py").decode()
    code = f"import sys; sys.version_info = (3, 6, 15)\n{main}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert run.stderr == "mmp-collect needs Python 3.9 or newer; this is 3.6.\n"


@pytest.mark.real
@pytest.mark.skipif(not PYTHONS, reason="no other CPython from 3.9 up")
@pytest.mark.parametrize("version", PYTHONS)
def test_it_runs_on_every_python_from_3_9_up(pyz: Path, tmp_path: Path, version: str) -> None:
    """Each CPython that is here collects a process with the one file and nothing else."""
    _run_alone(str(PYTHONS[version]), pyz, tmp_path)
