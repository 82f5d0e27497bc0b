"""The scripts and styles of a page, in the order in which they are joined to one script and one style.

The libraries among them are those of vendor/vendor.toml; their licences go into the page with them.
"""

from __future__ import annotations

from importlib.resources import files

__all__ = ["LICENCES", "SCRIPTS", "STYLES", "join_scripts", "join_styles"]

SCRIPTS = (
    "vendor/virtual-core.js",
    "vendor/uplot.js",
    "static/data.js",
    "static/dom.js",
    "static/format.js",
    "static/sorting.js",
    "static/edges.js",
    "static/finding.js",
    "static/copy.js",
    "static/palette.js",
    "static/state.js",
    "static/grid.js",
    "static/listing.js",
    "static/tree.js",
    "static/card.js",
    "static/regions.js",
    "static/summary.js",
    "static/processes.js",
    "static/changes.js",
    "static/room.js",
    "static/limits.js",
    "static/head.js",
    "static/pairs.js",
    "static/diff.js",
    "static/lists.js",
    "static/paper.js",
    "static/map_layout.js",
    "static/map_paint.js",
    "static/map_tell.js",
    "static/map_view.js",
    "static/map_holes.js",
    "static/map_pair.js",
    "static/map.js",
    "static/timeline_chart.js",
    "static/timeline.js",
    "static/definitions.js",
    "static/main.js",
)
"""One module script is made of these, so that all names at their top level are shared: a file imports nothing
and exports nothing. Libraries come first, main.js last."""

STYLES = ("vendor/uplot.css", "static/theme.css", "static/map.css", "static/timeline.css")
LICENCES = ("vendor/virtual-core.LICENSE", "vendor/uplot.LICENSE")


def join_scripts() -> str:
    """Join the scripts of a page, below the licences of the libraries."""
    return "\n".join([*(f"/*\n{_join((name,)).strip()}\n*/" for name in LICENCES), _join(SCRIPTS)])


def join_styles() -> str:
    """Join the styles of a page."""
    return _join(STYLES)


def _join(names: tuple[str, ...]) -> str:
    folder = files("mmpscope.analysis.pages")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)
