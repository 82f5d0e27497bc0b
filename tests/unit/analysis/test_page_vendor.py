"""The libraries in a report page are what vendor.toml says, with their licences."""

from __future__ import annotations

import hashlib
import tomllib
from importlib.resources import files
from typing import Any

import pytest
from mmpscope.analysis.pages.assets import LICENCES, SCRIPTS, STYLES, join_scripts

VENDOR = files("mmpscope.analysis.pages") / "vendor"
LIBRARIES = tomllib.loads(VENDOR.joinpath("vendor.toml").read_text("utf-8"))["library"]
FILES = {file["name"]: file["sha256"] for library in LIBRARIES for file in library["files"]}


@pytest.mark.parametrize("name", FILES)
def test_a_library_is_the_file_that_was_taken_from_the_registry(name: str) -> None:
    """A byte changed by hand shows: the hash of each file is that of vendor.toml."""
    assert hashlib.sha256(VENDOR.joinpath(name).read_bytes()).hexdigest() == FILES[name]


def test_no_library_lies_there_unnamed() -> None:
    """Every file of the folder is named in vendor.toml, and every library that a page takes is among them."""
    there = {file.name for file in VENDOR.iterdir()} - {"vendor.toml"}
    taken = {name.removeprefix("vendor/") for name in (*SCRIPTS, *STYLES) if name.startswith("vendor/")}
    assert there == set(FILES)
    assert taken <= there


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: str(library["name"]))
def test_a_library_is_free_and_says_so_in_the_page(library: dict[str, Any]) -> None:
    """The licence is one that allows shipping, and its text, copyright line included, is in the script."""
    texts = [VENDOR.joinpath(file["name"]).read_text("utf-8") for file in _list_licences(library)]
    assert library["licence"] == "MIT"
    assert library["integrity"].startswith("sha512-")
    assert len(texts) == 1
    assert "Permission is hereby granted" in texts[0]
    assert texts[0].strip() in join_scripts()


def test_every_licence_of_a_library_is_joined() -> None:
    """The licences that go into a page are all that vendor.toml names."""
    named = {f"vendor/{file['name']}" for library in LIBRARIES for file in _list_licences(library)}
    assert set(LICENCES) == named


def _list_licences(library: dict[str, Any]) -> list[dict[str, str]]:
    return [file for file in library["files"] if file["name"].endswith(".LICENSE")]
