"""mmp-collect.exe, built by PyInstaller under Wine as a release is on Windows, and run."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope import analysis
from mmpscope.collector.build import build_pyz
from mmpscope.formats._version import __version__
from support.wine import WinePython, find_builder, to_windows
from support.wine_collecting import Target, make_once

pytestmark = pytest.mark.real

SCRIPT = Path(__file__).parents[2] / "packaging" / "windows" / "build_exe.py"


@pytest.fixture(scope="module")
def program(pythons: dict[int, WinePython], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built once."""
    builder = find_builder()
    if isinstance(builder, str):
        pytest.skip(builder)

    def make(folder: Path) -> None:
        pyz = folder / "mmp-collect.pyz"
        pyz.write_bytes(build_pyz())
        done = builder.run(*map(to_windows, (SCRIPT, pyz, folder / "mmp-collect.exe")))
        assert done.returncode == 0, done.stderr

    return make_once(tmp_path_factory, "exe", make) / "mmp-collect.exe"


def test_the_program_collects_itself(pythons: dict[int, WinePython], program: Path, tmp_path: Path) -> None:
    """`mmp-collect.exe --self` writes a sound file, of a process whose program it is."""
    path = tmp_path / "own.mmp"
    done = pythons[64].run("--self", "-o", to_windows(path), program=program)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{to_windows(path)}\n", "")
    [snapshot] = analysis.load(path)
    assert snapshot.process["exe"] == to_windows(program)
    assert snapshot.regions["total_ws"].null_count == 0
    assert any(path.endswith("python311.dll") for path in snapshot.decode("modules")["path"].to_pylist())


def test_the_program_collects_another_process(
    pythons: dict[int, WinePython], targets: dict[int, Target], program: Path, tmp_path: Path
) -> None:
    """A 32-bit process is collected by the 64-bit program, as by the .pyz."""
    path = tmp_path / "other.mmp"
    done = pythons[64].run(str(targets[32].pid), "-o", to_windows(path), program=program)
    assert (done.returncode, done.stderr) == (0, "")
    [snapshot] = analysis.load(path)
    assert (snapshot.process["pid"], snapshot.process["bits"]) == (targets[32].pid, 32)


def test_the_program_says_its_version_and_needs_no_python(
    pythons: dict[int, WinePython], program: Path, tmp_path: Path
) -> None:
    """It runs from a folder in which there is nothing but it."""
    alone = tmp_path / "alone.exe"
    alone.write_bytes(program.read_bytes())
    assert pythons[64].run("--version", program=alone).stdout == f"mmp-collect {__version__}\n"


def test_the_program_stays_small(program: Path) -> None:
    """With all of Python that it needs it is at most 12 MiB."""
    assert program.stat().st_size <= 12 << 20
