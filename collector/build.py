"""Builds the collector into one file: `python -m mmpscope.collector.build -o mmp-collect.pyz`.

For machines that have only a Python. The file holds the collector, the part of formats that it imports, and
msgpack's Python part; no analysis. The same sources give the same bytes: members are sorted, stored without
compression, and dated 1980.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mmpscope.formats.errors import MmpError, OutputError, OutputExistsError

__all__ = ["build_pyz", "main"]

_FORMATS = ("__init__", "_version", "errors", "faults", "limits", "model", "source")
_PACKAGES = (
    "formats/mmp",
    "formats/proc",
    "formats/redaction",
    "collector",
    "collector/linux",
    "collector/windows",
)
_MSGPACK = ("__init__", "exceptions", "ext", "fallback")
_NOT_NEEDED = {"collector/build.py"}
_OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = b'''\
# -*- coding: utf-8 -*-
"""Starts mmp-collect; written for any Python, so that an old one gets a sentence and no traceback."""
import sys

if sys.version_info < (3, 9):
    sys.stderr.write("mmp-collect needs Python 3.9 or newer; this is %d.%d.\\n" % sys.version_info[:2])
    sys.exit(3)
from mmpscope.collector.__main__ import main

sys.exit(main())
'''


def build_pyz() -> bytes:
    """Build the file in memory; FileNotFoundError where a source that it needs is not there."""
    return _zip(sorted(_list_members()))


def _list_members() -> Iterator[tuple[str, bytes]]:
    root = _find_folder("mmpscope.formats").parent
    yield "__main__.py", _MAIN
    yield "mmpscope/__init__.py", b'"""The collector of mmpscope."""\n'
    for name in _FORMATS:
        yield f"mmpscope/formats/{name}.py", (root / f"formats/{name}.py").read_bytes()
    for package in _PACKAGES:
        for path in (root / package).glob("*.py"):
            name = f"{package}/{path.name}"
            if name not in _NOT_NEEDED:
                yield f"mmpscope/{name}", path.read_bytes()
    folder = _find_folder("msgpack")
    for name in _MSGPACK:
        yield f"msgpack/{name}.py", (folder / f"{name}.py").read_bytes()
    yield "msgpack/LICENSE", _read_licence("msgpack")
    yield "mmpscope/LICENSE", _read_licence("mmpscope")


def _find_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package} is not installed as files")
    return Path(spec.origin).parent


def _read_licence(distribution: str) -> bytes:
    """Read the licence that a distribution was installed with."""
    for path in importlib.metadata.files(distribution) or ():
        if path.name in ("COPYING", "LICENSE"):
            return path.read_binary()
    raise FileNotFoundError(f"{distribution} is installed without its licence")


def _zip(members: list[tuple[str, bytes]]) -> bytes:
    """Zip without a clock, a compressor's version or a file's permissions getting into the bytes."""
    buffer = io.BytesIO()
    buffer.write(_SHEBANG)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name, _OLDEST_DATE)
            info.create_system = _UNIX
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def main() -> int:
    """Write the file that `-o` names, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m mmpscope.collector.build", description=__doc__)
    parser.add_argument("-o", "--output", metavar="FILE", default="mmp-collect.pyz", type=Path)
    parser.add_argument("-f", "--force", action="store_true", help="replace FILE if it exists")
    parsed = parser.parse_args()
    try:
        _write(parsed.output, build_pyz(), force=parsed.force)
    except MmpError as error:
        print(f"build: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _write(path: Path, data: bytes, *, force: bool) -> None:
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(data)
        path.chmod(0o755)
    except FileExistsError as error:
        raise OutputExistsError(f"{path} exists. Use --force to replace it.") from error
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


if __name__ == "__main__":
    sys.exit(main())
