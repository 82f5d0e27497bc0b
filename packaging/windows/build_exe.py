"""Builds mmp-collect.exe of the one-file collector: `python build_exe.py mmp-collect.pyz mmp-collect.exe`.

Runs on Windows, in a Python that has PyInstaller; the program is of that Python's bits, and needs none. What
goes into it is what the .pyz holds, byte for byte the same sources.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path


def build(pyz: Path, program: Path) -> None:
    """Unpack the sources, and have PyInstaller make one program of them; SystemExit where it fails."""
    from PyInstaller.__main__ import run

    with tempfile.TemporaryDirectory() as folder:
        sources, work = Path(folder, "sources"), Path(folder, "work")
        with zipfile.ZipFile(pyz) as archive:
            archive.extractall(sources)
        run(
            [
                str(sources / "__main__.py"),
                f"--name={program.stem}",
                "--onefile",
                "--console",
                "--noupx",
                "--noconfirm",
                "--log-level=WARN",
                f"--paths={sources}",
                f"--workpath={work}",
                f"--specpath={work}",
                f"--distpath={work / 'made'}",
            ]
        )
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work / "made" / f"{program.stem}.exe", program)


def main() -> int:
    """Build what the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pyz", type=Path, help="made by python -m mmpscope.collector.build")
    parser.add_argument("program", type=Path, help="the program to write")
    parsed = parser.parse_args()
    build(parsed.pyz.resolve(), parsed.program.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
