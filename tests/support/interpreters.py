"""Other CPythons on this machine, for code that has to run on them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["find_pythons"]


def find_pythons() -> dict[str, Path]:
    """Find the CPythons from 3.9 up that pyenv has, by version; none where there is no pyenv."""
    try:
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    found = {}
    for folder in Path(done.stdout.strip()).glob("versions/3.*"):
        version = folder.name.split(".")
        python = folder / "bin" / "python"
        if version[1].isdigit() and int(version[1]) >= 9 and os.access(python, os.X_OK):
            found[folder.name] = python
    return found
