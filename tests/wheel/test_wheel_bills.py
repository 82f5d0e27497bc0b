"""The bills of materials beside wheel and .pyz: nothing that is shipped or pulled in is missing from them."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXTRAS = {"cluster", "plot", "sql", "stats"}


def _read(path: Path) -> dict[str, Any]:
    bill: dict[str, Any] = json.loads(path.with_name(f"{path.name}.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    [stated] = bill["metadata"]["component"]["hashes"]
    assert stated == {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}
    return bill


def _list_needed(name: str, extras: set[str], found: set[str]) -> set[str]:
    """Walk over what installed packages ask for: pip is not asked, it wrote what is to be judged."""
    for line in distribution(name).requires or ():
        wanted, _, marker = line.partition(";")
        part = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", wanted)[0]).lower()
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        if (extra and extra[1] not in extras) or part in found:
            continue
        try:
            distribution(part)
        except PackageNotFoundError:  # for another system or Python
            continue
        found.add(part)
        _list_needed(part, set(), found)
    return found


def test_every_package_that_is_pulled_in_is_named(wheel: Path) -> None:
    """Each dependency of wheel and extras, direct or not, in its installed version, with licence and hash."""
    components = {part["purl"]: part for part in _read(wheel)["components"]}
    needed = _list_needed("mmpscope", EXTRAS, set())
    assert {"pandas", "numpy", "msgpack", "distributed", "duckdb"} <= needed
    for name in needed:
        part = components[f"pkg:pypi/{name}@{distribution(name).version}"]
        assert part["licenses"]
        assert {stated["alg"] for stated in part["hashes"]} == {"SHA-256"}


def test_every_library_inside_a_page_is_named(wheel: Path) -> None:
    """With the address of its npm package, and each of its files with the hash that it has in the wheel."""
    components = {part["purl"].replace("%40", "@"): part for part in _read(wheel)["components"]}
    stated = tomllib.loads((ROOT / "analysis/pages/vendor/vendor.toml").read_text())["library"]
    assert len(stated) > 1
    with zipfile.ZipFile(wheel) as archive:
        for library in stated:
            part = components[f"pkg:npm/{library['name']}@{library['version']}"]
            assert part["licenses"][0]["license"]["id"] == library["licence"]
            assert len(part["components"]) == len(library["files"])
            for file in part["components"]:
                assert file["hashes"][0]["content"] == hashlib.sha256(archive.read(file["name"])).hexdigest()


def test_the_bill_of_the_one_file_names_msgpack_and_its_files() -> None:
    """All that is in mmp-collect.pyz and not ours is msgpack, file by file."""
    pyz = ROOT / "dist" / "mmp-collect.pyz"
    [msgpack] = _read(pyz)["components"]
    assert msgpack["purl"] == f"pkg:pypi/msgpack@{distribution('msgpack').version}"
    assert msgpack["licenses"]
    hashes = {file["name"]: file["hashes"][0]["content"] for file in msgpack["components"]}
    with zipfile.ZipFile(pyz) as archive:
        foreign = [n for n in archive.namelist() if not n.startswith("mmpscope/") and n != "__main__.py"]
        assert hashes == {name: hashlib.sha256(archive.read(name)).hexdigest() for name in foreign}
