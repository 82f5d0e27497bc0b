"""A CPython for Windows under Wine, made of what is at hand: `python tests/support/wine.py` sets it up.

Wine comes from the distribution. The wheel `panda3d` for Windows carries python311.dll and its extension
modules; the pure-Python standard library is that of the Python 3.11 which runs this; a launcher of ten lines
is compiled. All of it lies in a cache folder (`MMP_WINE`, default ~/.cache/mmpscope-wine), and is made once:
some 20 s and 1.5 GB, most of it Wine's own prefix. `python tests/support/wine.py end` ends what runs in it.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache, partial
from pathlib import Path

__all__ = [
    "BITS",
    "WinePython",
    "compile_program",
    "end_session",
    "find_builder",
    "find_wine_python",
    "hold_session",
    "read_to_end",
    "set_up",
    "to_windows",
]

BITS = (64, 32)
_PANDA = "panda3d==1.10.16"
_PLATFORMS = {64: "win_amd64", 32: "win32"}
_COMPILERS = {64: "x86_64-w64-mingw32-gcc", 32: "i686-w64-mingw32-gcc"}
_NOT_NEEDED = (
    "_tkinter",
    "_sqlite3",
    "_ssl",
    "_msi",
    "_hashlib",
    "tcl",
    "tk",
    "sqlite3",
    "libssl",
    "libcrypto",
    "winsound",
)
_NO_LIBRARY = ("test", "tests", "__pycache__", "site-packages", "lib-dynload", "idlelib", "tkinter")
_NOR_THESE = ("turtledemo", "ensurepip", "lib2to3", "pydoc_data", "config-*", "*.so")
_LAUNCHER = r"""
#include <windows.h>

int wmain(int argc, wchar_t **argv)
{
    HMODULE python = LoadLibraryW(L"python311.dll");
    int (*run)(int, wchar_t **) = python ? (void *)GetProcAddress(python, "Py_Main") : NULL;
    return run ? run(argc, argv) : 120;
}
"""
_BUILDER = "builder"
_PYINSTALLER = (
    "pyinstaller==6.22.3",
    "pyinstaller-hooks-contrib==2026.9",
    "altgraph==0.17.5",
    "packaging==26.4",
    "pefile==2024.8.26",
    "pywin32-ctypes==0.2.3",
    "setuptools==84.2.1",
)
"""All by name: pip would leave out what only Windows needs, as it runs on Linux."""
_PATIENCE_S = 120.0
_WINE64 = "/usr/lib/wine/wine64"
"""Debian's loader of 64-bit programs, which is on no PATH. `wine` itself is a 32-bit program there: it would
start a 64-bit one through a third process, whose end is not the end of the program."""


class WinePython:
    """A Windows Python of 32 or 64 bits; both live in one Wine prefix, so that each can look at the other."""

    def __init__(self, folder: Path, bits: int, name: str | None = None, prefix: Path | None = None) -> None:
        self.bits = bits
        self.executable = folder / (name or str(bits)) / "python.exe"
        self._prefix = prefix or folder / "prefix"

    @property
    def environment(self) -> dict[str, str]:
        """The environment for Wine: its prefix, no debugging output, no dialogs."""
        wanted = {"WINEPREFIX": str(self._prefix), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
        return {**os.environ, **wanted}

    @property
    def loader(self) -> str:
        """What starts a program of this bitness in the process that we start."""
        if self.bits == 64:
            return shutil.which("wine64") or (_WINE64 if Path(_WINE64).exists() else "wine")
        return "wine"

    def rename(self, name: str) -> WinePython:
        """Give this Python under another name, which tells it from those of other tests."""
        other = copy(self)
        other.executable = self.executable.with_name(name)
        if not other.executable.exists():  # a copy: Wine tells the first name of a file that has two
            made = other.executable.with_suffix(f".{os.getpid()}")
            shutil.copy(self.executable, made)
            made.replace(other.executable)
        return other

    def start(
        self, *arguments: str, program: Path | None = None, has_input: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start it, or another program, with standard handles that it bears: pipes, and NUL for an input.

        This Python dies at start where a standard handle is a regular file.
        """
        return subprocess.Popen(
            [self.loader, str(program or self.executable), *arguments],
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )

    def run(self, *arguments: str, program: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run it to its end, and give what it said with plain line ends; TimeoutExpired where it hangs."""
        with self.start(*arguments, program=program) as process:
            out, err = read_to_end(process)
        texts = [data.decode("utf-8", "replace").replace("\r\n", "\n") for data in (out, err)]
        return subprocess.CompletedProcess(process.args, process.returncode, *texts)


def read_to_end(process: subprocess.Popen[bytes], patience_s: float = _PATIENCE_S) -> tuple[bytes, bytes]:
    """Read what a program says until it ends; what hangs is ended, and TimeoutExpired comes out.

    Not until its pipes are closed: services of Wine that it was the first to need (rpcss.exe) keep them.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    said = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    end = time.monotonic() + patience_s
    while True:
        has_ended = process.poll() is not None
        ready, _, _ = select.select(said, [], [], 0 if has_ended else 0.02)
        blocks = {number: os.read(number, 1 << 16) for number in ready}
        for number, block in blocks.items():
            said[number] += block
        if has_ended and not any(blocks.values()):
            return said[process.stdout.fileno()], said[process.stderr.fileno()]
        if time.monotonic() > end:
            process.kill()
            raise subprocess.TimeoutExpired(process.args, patience_s)


@contextmanager
def hold_session(python: WinePython) -> Iterator[None]:
    """Have Wine's own processes run on between the programs of the body: starting them takes a second."""
    with python.start("-c", "import sys; sys.stdin.read()", has_input=True):
        yield


def to_windows(path: Path) -> str:
    """Name a file of ours as programs under Wine see it: `Z:` is the root."""
    return "Z:" + str(path.resolve()).replace("/", "\\")


@cache
def find_wine_python(bits: int) -> WinePython | str:
    """Find the Python that was set up, or say why there is none."""
    return _find(bits, str(bits))


@cache
def find_builder() -> WinePython | str:
    """Find the 64-bit Python that has PyInstaller, or say why there is none."""
    return _find(64, _BUILDER)


def _find(bits: int, name: str) -> WinePython | str:
    if shutil.which("wine") is None:
        return "there is no wine"
    python = WinePython(_find_folder(), bits, name)
    if not python.executable.exists():
        return f"no Python for Wine is set up under {python.executable.parent} (python tests/support/wine.py)"
    return python


def _find_folder() -> Path:
    return Path(os.environ.get("MMP_WINE") or Path.home() / ".cache" / "mmpscope-wine")


def set_up() -> None:
    """Make what is not there yet; CalledProcessError where a download, the compiler or Wine fails."""
    if sys.version_info[:2] != (3, 11):
        raise SystemExit("run this with Python 3.11: its standard library goes with python311.dll")
    folder = _find_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for bits in BITS:
        _make(folder / str(bits), partial(_fill_python, bits=bits))
    _make(folder / _BUILDER, partial(_fill_builder, python=folder / "64"))
    _make_prefix(folder)
    for bits in BITS:
        done = WinePython(folder, bits).run("-c", "import sys; print(sys.version)")
        print(f"{bits} bits: {done.stdout.strip() or done.stderr.strip()}", flush=True)
        done.check_returncode()


def end_session() -> None:
    """End what runs in our prefix, and in no other one; a moment is given to it, as it mostly ends itself."""
    environment = WinePython(_find_folder(), 64).environment
    if shutil.which("wineserver") and (_find_folder() / "prefix").is_dir():
        try:
            subprocess.run(["wineserver", "-w"], env=environment, timeout=5, check=False)
        except subprocess.TimeoutExpired:
            subprocess.run(["wineserver", "-k"], env=environment, timeout=_PATIENCE_S, check=False)


def _make_prefix(folder: Path) -> None:
    """Let Wine set itself up; what it starts for that keeps no handle of ours."""
    if not (folder / "prefix" / "system.reg").exists():
        subprocess.run(
            ["wineboot", "-i"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=WinePython(folder, 64).environment,
            timeout=_PATIENCE_S,
            check=True,
        )


def _make(home: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder under another name, so that one that was interrupted is never taken for whole."""
    if not home.exists():
        unfinished = home.with_name(f"{home.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        fill(unfinished)
        unfinished.rename(home)


def compile_program(source: Path, program: Path, bits: int) -> None:
    """Compile a C file for Windows; FileNotFoundError without the compiler, CalledProcessError on errors."""
    command = [_COMPILERS[bits], "-municode", "-O1", "-s", "-o", str(program), str(source)]
    subprocess.run(command, check=True)


def _fill_python(home: Path, bits: int) -> None:
    [wheel] = _download(home / "wheels", _PLATFORMS[bits], _PANDA)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            base = Path(name).name
            is_library = name.startswith("deploy_libs/") and base.lower().endswith((".dll", ".pyd"))
            if is_library and not base.startswith(_NOT_NEEDED):
                (home / base).write_bytes(archive.read(name))
    shutil.rmtree(wheel.parent)
    library = sysconfig.get_path("stdlib")
    shutil.copytree(library, home / "Lib", ignore=shutil.ignore_patterns(*_NO_LIBRARY, *_NOR_THESE))
    (home / "python311._pth").write_text("Lib\n.\n")
    source = home / "launcher.c"
    source.write_text(_LAUNCHER)
    compile_program(source, home / "python.exe", bits)


def _fill_builder(home: Path, python: Path) -> None:
    shutil.copytree(python, home, dirs_exist_ok=True)
    wheels = _download(home / "wheels", _PLATFORMS[64], *_PYINSTALLER)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(home / "site-packages")
    shutil.rmtree(home / "wheels")
    (home / "python311._pth").write_text("Lib\n.\nsite-packages\n")


def _download(folder: Path, platform: str, *requirements: str) -> list[Path]:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    command += ["--platform", platform, "--python-version", "3.11", "--implementation", "cp"]
    subprocess.run(
        [*command, "--abi", "cp311", "--abi", "none", "-d", str(folder), *requirements], check=True
    )
    return sorted(folder.glob("*.whl"))


if __name__ == "__main__":
    end_session() if sys.argv[1:] == ["end"] else set_up()
