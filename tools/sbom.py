"""Writes the bills of materials of a release, CycloneDX in JSON: `python tools/sbom.py report.json dist/`.

`report.json` is what `pip install --report report.json 'dist/NAME.whl[EXTRAS]'` wrote in an empty place:
every package that the wheel pulls in, with version, hash and licence. Beside the wheel goes the bill of it,
with the JavaScript libraries inside, and beside mmp-collect.pyz the bill of that. `cyclonedx-py` knows no
file inside a wheel and no hash, so the model of its library is filled here; it checks what is written.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

VENDOR = Path(__file__).resolve().parents[1] / "analysis" / "pages" / "vendor" / "vendor.toml"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_TROVE = "License :: OSI Approved :: "


def main() -> int:
    """Write `WHEEL.cdx.json` and, where the one-file collector is there, `mmp-collect.pyz.cdx.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path, help="what pip install --report wrote of wheel and extras")
    parser.add_argument("dist", type=Path, help="the folder of the wheel and of mmp-collect.pyz")
    parsed = parser.parse_args()
    installed = json.loads(parsed.report.read_text("utf-8"))["install"]
    [wheel] = parsed.dist.glob("mmpscope-*.whl")
    write(describe_wheel(wheel, installed), wheel.with_name(f"{wheel.name}.cdx.json"))
    pyz = parsed.dist / "mmp-collect.pyz"
    if pyz.exists():
        write(describe_pyz(pyz, installed), pyz.with_name(f"{pyz.name}.cdx.json"))
    return 0


def describe_wheel(wheel: Path, installed: list[dict[str, Any]]) -> Bom:
    """Describe the wheel: what it pulls in, who needs whom, and the libraries inside."""
    parts = {_fold(item["metadata"]["name"]): item for item in installed}
    own = parts.pop("mmpscope")
    components = {name: describe_package(item) for name, item in parts.items()}
    vendored = [describe_library(library) for library in tomllib.loads(VENDOR.read_text("utf-8"))["library"]]
    top = describe_package(own)
    top.hashes = [_hash(wheel.read_bytes())]
    bom = _make_bom(top, [*components.values(), *vendored])
    bom.register_dependency(top, [*_find_needed(own, components), *vendored])
    for name, item in parts.items():
        bom.register_dependency(components[name], _find_needed(item, components))
    return bom


def describe_pyz(pyz: Path, installed: list[dict[str, Any]]) -> Bom:
    """Describe the one-file collector: our sources, and the Python part of msgpack, file by file."""
    parts = {_fold(item["metadata"]["name"]): item for item in installed}
    top = describe_package(parts["mmpscope"])
    top.name, top.purl = "mmp-collect.pyz", None
    top.hashes = [_hash(pyz.read_bytes())]
    msgpack = describe_package(parts["msgpack"])
    msgpack.hashes.clear()  # that of the wheel with its compiled part, which is not in here
    with zipfile.ZipFile(pyz) as archive:
        for name in archive.namelist():
            if name.startswith("msgpack/"):
                hashes = [_hash(archive.read(name))]
                msgpack.components.add(Component(name=name, type=ComponentType.FILE, hashes=hashes))
    bom = _make_bom(top, [msgpack])
    bom.register_dependency(top, [msgpack])
    return bom


def describe_package(item: dict[str, Any]) -> Component:
    """Describe a Python package by what pip says of it; the hash is that of the file that pip installed."""
    facts = item["metadata"]
    stated = item.get("download_info", {}).get("archive_info", {}).get("hashes", {})
    return Component(
        name=facts["name"],
        version=facts["version"],
        type=ComponentType.APPLICATION if facts["name"] == "mmpscope" else ComponentType.LIBRARY,
        purl=PackageURL("pypi", None, _fold(facts["name"]), facts["version"]),
        bom_ref=f"pypi:{_fold(facts['name'])}",
        licenses=_name_licence(facts),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=stated["sha256"])] if "sha256" in stated else [],
    )


def describe_library(library: dict[str, Any]) -> Component:
    """Describe a JavaScript library inside report pages: its npm package, and the files made of it."""
    group, _, name = library["name"].rpartition("/")
    integrity = base64.b64decode(library["integrity"].removeprefix("sha512-")).hex()
    files = [
        Component(
            name=f"mmpscope/analysis/pages/vendor/{file['name']}",
            type=ComponentType.FILE,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=file["sha256"])],
        )
        for file in library["files"]
    ]
    return Component(
        name=name,
        group=group or None,
        version=library["version"],
        type=ComponentType.LIBRARY,
        purl=PackageURL("npm", group or None, name, library["version"]),
        bom_ref=f"npm:{library['name']}",
        licenses=[LicenseFactory().make_from_string(library["licence"])],
        hashes=[HashType(alg=HashAlgorithm.SHA_512, content=integrity)],
        properties=[Property(name="mmpscope:why", value=library["why"])],
        components=files,
    )


def write(bom: Bom, path: Path) -> None:
    """Write a bill whose form is that of the standard; SystemExit where it is not."""
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"{path.name}: {fault}")
    path.write_text(f"{text}\n", "utf-8")


def _make_bom(top: Component, components: Iterable[Component]) -> Bom:
    bom = Bom(components=components)
    bom.metadata.component = top
    return bom


def _find_needed(item: dict[str, Any], components: dict[str, Component]) -> list[Component]:
    """Find what a package asks for, of what was installed: an extra that nobody wanted is not there."""
    wanted = (_NAME.match(line) for line in item["metadata"].get("requires_dist", ()))
    names = sorted({_fold(match[0]) for match in wanted if match})
    return [components[name] for name in names if name in components]


def _name_licence(facts: dict[str, Any]) -> list[License]:
    """Name the licence: the expression, else the classifier, else the first line of what is stated.

    SystemExit where there is none: a pip older than 25 hands no expression on.
    """
    if "license_expression" in facts:
        return [LicenseFactory().make_from_string(facts["license_expression"])]
    classifiers = (line for line in facts.get("classifier", ()) if line.startswith(_TROVE))
    named = next(classifiers, "").removeprefix(_TROVE) or facts.get("license", "").strip()
    if not named:
        raise SystemExit(f"{facts['name']}: the report names no licence. Write it with pip 25 or newer")
    return [LicenseFactory().make_from_string(named.splitlines()[0])]


def _hash(content: bytes) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(content).hexdigest())


def _fold(name: str) -> str:
    """Fold a name as package indexes do, which take `_` and `.` for `-`."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
