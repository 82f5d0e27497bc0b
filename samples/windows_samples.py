"""Makes the Windows samples, in Wine: `make_samples.py` calls this within its namespaces.

Everything lies in C:\\demo, so that no path of the machine gets into the files.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

__all__ = ["WINDOWS_STEPS", "collect_windows"]

SAMPLES = Path(__file__).resolve().parent
WINDOWS_STEPS = ("start 2", "reserve", "commit", "touch", "section second touch", "file first touch")
_SLEEPER = "print('ready', flush=True); input()"


def collect_windows(folder: Path) -> None:
    """Set up Wine in ``folder``, and collect both samples; CalledProcessError where a program fails."""
    os.environ["MMP_WINE"] = str(folder)
    sys.path.insert(0, str(SAMPLES.parent / "tests"))
    from support.wine import BITS, WinePython, end_session, hold_session, set_up

    set_up()
    end_session()
    demo = folder / "prefix" / "drive_c" / "demo"
    shutil.rmtree(demo, ignore_errors=True)
    pythons = {bits: WinePython(demo, bits, prefix=folder / "prefix") for bits in BITS}
    for bits, python in pythons.items():
        shutil.copytree(folder / str(bits), python.executable.parent)
    try:
        with hold_session(pythons[64]):
            _collect_both(demo, pythons[64], pythons[32])
    finally:
        end_session()


def _collect_both(demo: Path, wide: object, narrow: object) -> None:
    from mmpscope.collector.build import build_pyz
    from support.wine import WinePython

    assert isinstance(wide, WinePython)
    assert isinstance(narrow, WinePython)
    (demo / "mmp-collect.pyz").write_bytes(build_pyz())
    shutil.copy(SAMPLES / "programs" / "windows_steps.py", demo)
    with (demo / "mapped.bin").open("wb") as file:
        file.truncate(16 << 20)
    collector = r"C:\demo\mmp-collect.pyz"
    steps = wide.run(
        r"C:\demo\windows_steps.py", collector, r"C:\demo\steps.mmp", r"C:\demo\mapped.bin", *WINDOWS_STEPS
    )
    steps.check_returncode()
    with narrow.start("-c", _SLEEPER, has_input=True) as sleeper:
        assert sleeper.stdout is not None
        sleeper.stdout.readline()
        listed = wide.run(collector, "--ps").stdout.splitlines()
        [pid] = [line.split()[0] for line in listed if " 32 python.exe" in line]
        wide.run(collector, pid, "--no-processes", "-o", r"C:\demo\wow64.mmp").check_returncode()
        sleeper.kill()
    for made, name in (("steps", "reserve-commit"), ("wow64", "wow64")):
        shutil.copyfile(demo / f"{made}.mmp", SAMPLES / f"windows-{name}-v1.0.mmp")
