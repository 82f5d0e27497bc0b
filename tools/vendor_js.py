"""Makes the libraries of report pages anew from the npm registry: `python tools/vendor_js.py` (needs npm).

analysis/pages/vendor/vendor.toml says which, in which version and with which hash. A package whose integrity
is another, or a file that comes out otherwise than its sha256 says, stops it before anything is written. To
take a newer version, change it there with the integrity that `npm view NAME@VERSION dist.integrity` prints,
and run with --accept: it prints the hashes of the new files, to be put there after a look at them.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).resolve().parent.parent / "analysis" / "pages" / "vendor"


def main() -> int:
    """Write the files of all libraries, or say which does not match."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write files of other hashes, and print them")
    accept = parser.parse_args().accept
    stated = tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))
    made: dict[str, bytes] = {}
    for library in stated["library"]:
        made |= make_files(library, stated["esbuild"]["version"])
    hashes = {file["name"]: file["sha256"] for library in stated["library"] for file in library["files"]}
    different = [name for name, content in made.items() if hash_content(content) != hashes[name]]
    for name in different:
        print(f"{name}: sha256 {hash_content(made[name])}, vendor.toml has {hashes[name] or 'none'}")
    if different and not accept:
        return 1
    for name, content in made.items():
        (VENDOR / name).write_bytes(content)
    return 0


def make_files(library: dict[str, Any], esbuild: str) -> dict[str, bytes]:
    """Return the files of a library by name: taken from its package, or bundled from its exports."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        package = fetch_package(library, root)
        return {
            file["name"]: (package / file["from"]).read_bytes()
            if "from" in file
            else bundle(library, package, esbuild)
            for file in library["files"]
        }


def fetch_package(library: dict[str, Any], folder: Path) -> Path:
    """Unpack a package below a folder; raises SystemExit where its integrity is not the stated one."""
    name = f"{library['name']}@{library['version']}"
    told = subprocess.run(["npm", "pack", "--json", name], cwd=folder, check=True, capture_output=True)
    archive = folder / json.loads(told.stdout)[0]["filename"]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != library["integrity"]:
        raise SystemExit(f"{name}: integrity is sha512-{digest}, vendor.toml has {library['integrity']}")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


def bundle(library: dict[str, Any], package: Path, esbuild: str) -> bytes:
    """Bundle the named exports of a package of ES modules to one script with one global."""
    entry = package / "vendored.js"
    entry.write_text(f'export {{ {", ".join(library["exports"])} }} from "./dist/esm/index.js";\n', "utf-8")
    options = ["--bundle", "--minify", "--format=iife", f"--global-name={library['global']}"]
    command = ["npm", "exec", "--yes", f"esbuild@{esbuild}", "--", entry.name, *options]
    made = subprocess.run(
        [*command, f"--banner:js={library['banner']}"], cwd=package, check=True, capture_output=True
    )
    return made.stdout


def hash_content(content: bytes) -> str:
    """Return the SHA-256 of a file in hex."""
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
