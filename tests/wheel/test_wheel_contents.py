"""What an installed wheel holds: our packages only, data that code reads, both commands."""

from __future__ import annotations

import sysconfig
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]


def _find_installed() -> Distribution:
    """Look where packages are installed only: a checkout may hold the metadata of an editable install."""
    return next(iter(Distribution.discover(name="mmpscope", path=[sysconfig.get_path("purelib")])))


def _files() -> set[PurePosixPath]:
    return {PurePosixPath(str(f)) for f in _find_installed().files or []}


def test_wheel_holds_every_module_and_nothing_else() -> None:
    """Every module of the three folders is in the wheel under mmpscope/, and no other top level name is."""
    ours = {
        PurePosixPath("mmpscope") / p.relative_to(ROOT).as_posix()
        for folder in ("formats", "analysis", "collector")
        for p in (ROOT / folder).rglob("*.py")
    }
    assert ours <= _files()
    tops = {f.parts[0] for f in _files() if f.parts[0] not in {"..", "mmpscope"}}
    assert all(top.endswith(".dist-info") for top in tops)


def test_wheel_holds_what_a_page_is_made_of() -> None:
    """Templates, scripts, styles and vendored libraries of `mmp report` are in the wheel, every one."""
    folder = ROOT / "analysis" / "pages"
    needed = {
        p for part in ("templates", "static", "vendor") for p in (folder / part).glob("*") if p.is_file()
    }
    assert len(needed) > 3
    assert {PurePosixPath("mmpscope") / p.relative_to(ROOT).as_posix() for p in needed} <= _files()


def test_wheel_is_typed_and_has_both_commands() -> None:
    """py.typed is present in each package, and mmp and mmp-collect are installed."""
    assert {PurePosixPath(f"mmpscope/{p}/py.typed") for p in ("formats", "analysis", "collector")} <= _files()
    scripts = {e.name for e in _find_installed().entry_points if e.group == "console_scripts"}
    assert scripts == {"mmp", "mmp-collect"}
