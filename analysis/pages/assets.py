"""The scripts and styles of a page, in the order in which they are joined to one script and one style."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["SCRIPTS", "STYLES", "join_scripts", "join_styles"]

SCRIPTS = (
    "static/data.js",
    "static/main.js",
)
"""One module script is made of these, so that all names at their top level are shared: each file has a prefix
of its own, imports nothing and exports nothing. data.js comes first, main.js last."""

STYLES = ("static/page.css",)


def join_scripts() -> str:
    """Join the scripts of a page."""
    return _join(SCRIPTS)


def join_styles() -> str:
    """Join the styles of a page."""
    return _join(STYLES)


def _join(names: tuple[str, ...]) -> str:
    folder = files("mmpscope.analysis.pages")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)
