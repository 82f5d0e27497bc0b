"""What was built: no file in wheel or sdist that does not belong, licences, and the same bytes each time."""

from __future__ import annotations

import calendar
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
STRAY = (
    "__pycache__",
    "*.pyc",
    "*.so",
    ".*_cache",
    ".hypothesis",
    ".venv*",
    "crash-*",
    "core.[0-9]*",
    "*.log",
)
KINDS = {".py", ".js", ".css", ".j2", ".toml", ".typed", ".LICENSE"}
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "samples/README.md")


def _kind(name: str) -> str:
    path = PurePosixPath(name)
    return path.suffix or path.name


def _find_stray(names: Iterable[str], *patterns: str) -> list[str]:
    return [n for n in names if any(fnmatch(part, pattern) for part in n.split("/") for pattern in patterns)]


def test_the_wheel_holds_no_test_and_nothing_stray(wheel: Path) -> None:
    """Under mmpscope/ are sources and what pages are made of, and beside it the description of the wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    ours = [name for name in names if name.startswith("mmpscope/")]
    assert {_kind(name) for name in ours} - {"py.typed"} <= KINDS
    assert not _find_stray(names, *STRAY, "test*")
    assert all(".dist-info/" in name for name in set(names) - set(ours))
    assert wheel.stat().st_size < 2 << 20


def test_the_wheel_holds_its_licences(wheel: Path) -> None:
    """Our own, and that of each JavaScript library, word for word."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [own] = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
        assert archive.read(own) == (ROOT / "LICENSE").read_bytes()
        vendor = ROOT / "analysis" / "pages" / "vendor"
        libraries = tomllib.loads((vendor / "vendor.toml").read_text())["library"]
        licences = [f["name"] for lib in libraries for f in lib["files"] if f["name"].endswith(".LICENSE")]
        assert len(licences) == len(libraries)
        for name in licences:
            assert archive.read(f"mmpscope/analysis/pages/vendor/{name}") == (vendor / name).read_bytes()


def test_the_sdist_holds_the_tree_and_nothing_stray(sdist: Path) -> None:
    """Each file is one of the checkout, but for what setuptools writes; tests are among them."""
    with tarfile.open(sdist) as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
    assert all(member.isfile() for member in members)
    names = {member.name.partition("/")[2] for member in members}
    written = {name for name in names if name.startswith("mmpscope.egg-info/")} | {"PKG-INFO", "setup.cfg"}
    assert not [name for name in names - written if not (ROOT / name).is_file()]
    assert not _find_stray(names, *STRAY)
    assert {*NEEDED, "tests/wheel/test_wheel_build.py"} <= names


@pytest.mark.parametrize("source", ["sdist", "tree"])
def test_another_build_gives_the_same_wheel(source: str, wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """Another folder, date of the sources and seed of hashes change no byte; SOURCE_DATE_EPOCH counts."""
    when = calendar.timegm((*zipfile.ZipFile(wheel).infolist()[0].date_time, 0, 0, 0))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(when), "PYTHONHASHSEED": "7"}
    wanted = sdist if source == "sdist" else _copy_sources(tmp_path / "elsewhere")
    command = [
        sys.executable,
        "-m",
        "uv",
        "build",
        "-q",
        "--wheel",
        "-o",
        str(tmp_path / "made"),
        str(wanted),
    ]
    subprocess.run(command, check=True, env=environment)
    assert (tmp_path / "made" / wheel.name).read_bytes() == wheel.read_bytes()


def _copy_sources(folder: Path) -> Path:
    for name in ("formats", "analysis", "collector"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    return folder
