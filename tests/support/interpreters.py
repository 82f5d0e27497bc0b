"""Other CPythons on this machine, for code that has to run on them: pyenv's, and the newest of Debian.

`python3 tests/support/interpreters.py` sets the newest one up. Only a Debian that is not released yet has it,
with a C library that is newer than ours: so its packages are unpacked into a cache folder (`MMP_PYTHONS`,
default ~/.cache/mmpscope-pythons) with all libraries that it needs, and a script starts it with these. It
takes some 15 s and 50 MB; apt checks the signatures. Nothing of the system is changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["find_pythons", "set_up"]

_NEWEST = "3.14"
_SUITE = "forky"
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_PYTHON = ("{0}", "{0}-minimal", "lib{0}-minimal", "lib{0}-stdlib", "{0}-venv")
_LIBRARIES = (
    "libbz2-1.0",
    "libc6",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libsqlite3-0",
    "libssl3t64",
    "libstdc++6",
    "libuuid1",
    "libzstd1",
    "zlib1g",
)
_PATIENCE_S = 120.0


def find_pythons() -> dict[str, Path]:
    """Find the CPythons from 3.9 up that pyenv has, by version, and the one that was set up; none may be."""
    found = {}
    for folder in sorted([*_list_pyenv(), _find_folder() / _NEWEST]):
        version = folder.name.split(".")
        python = folder / "bin" / "python"
        if version[1].isdigit() and int(version[1]) >= 9 and os.access(python, os.X_OK):
            found[folder.name] = python
    return found


def _list_pyenv() -> list[Path]:
    try:
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return list(Path(done.stdout.strip()).glob("versions/3.*"))


def _find_folder() -> Path:
    return Path(os.environ.get("MMP_PYTHONS") or Path.home() / ".cache" / "mmpscope-pythons").resolve()


def set_up() -> str:
    """Make the newest Python if it is not there, and say what it is, or why it cannot be had from here.

    That the mirror cannot be reached is no fault; CalledProcessError where what came from it does not run.
    """
    home = _find_folder() / _NEWEST
    if not home.exists():
        mirror = _find_mirror()
        if mirror is None:
            return f"Python {_NEWEST} cannot be had from here: this is no Debian with a mirror"
        unfinished = home.with_name(f"{_NEWEST}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        if reason := _download(mirror, unfinished):
            return f"Python {_NEWEST} cannot be had from here: {reason}"
        _unpack(unfinished, home)
        unfinished.rename(home)
    code = "import bz2, ctypes, lzma, sqlite3, ssl, sys, zlib; print(sys.version)"
    return subprocess.run(
        [home / "bin" / "python", "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def _find_mirror() -> str | None:
    """Name the mirror that this machine takes its own packages from."""
    if not Path(_KEYS).exists() or shutil.which("apt-get") is None:
        return None
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return next((line for line in done.stdout.splitlines() if line.rstrip("/").endswith("/debian")), None)


def _download(mirror: str, folder: Path) -> str:
    """Download the packages with an apt that knows one suite and no installed package; the reason if not."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={_KEYS}] {mirror} {_SUITE} main\n")
    options = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "APT::Update::Error-Mode": "any",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    packages = [*(name.format(f"python{_NEWEST}") for name in _PYTHON), *_LIBRARIES]
    for command in ([*apt, "update"], [*apt, "download", *packages]):
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"the mirror took longer than {_PATIENCE_S:.0f} s"
        if done.returncode:
            return done.stderr.strip().partition("\n")[0]
    return ""


def _unpack(folder: Path, home: Path) -> None:
    """Unpack what was downloaded, and write the script that starts it from its final place."""
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder / "root"], check=True)
        package.unlink()
    for name in ("lists", "archives"):
        shutil.rmtree(folder / name)
    [loader] = (folder / "root" / "usr" / "lib").glob("*/ld-linux-*.so.*")
    libraries = home / loader.parent.relative_to(folder)
    # Python takes its own name, and with it a virtual environment, from how it was called.
    program = home / "root" / "usr" / "bin" / f"python{_NEWEST}"
    start = f"""'{libraries / loader.name}' --argv0 "$0" --library-path '{libraries}'"""
    script = f"""#!/bin/sh\nexec {start} '{program}' "$@"\n"""
    (folder / "bin").mkdir()
    (folder / "lib").symlink_to("root/usr/lib")  # the standard library, looked for beside the script
    python = folder / "bin" / "python"
    python.write_text(script)
    python.chmod(0o755)


if __name__ == "__main__":
    print(set_up(), flush=True)
