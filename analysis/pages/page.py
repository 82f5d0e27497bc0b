"""The data of a page into one HTML file, which loads nothing and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from mmpscope.analysis.pages.assets import join_scripts, join_styles
from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.plain import list_plain_tables
from mmpscope.analysis.pages.processes import name_process, say_of_pair

if TYPE_CHECKING:
    from jinja2 import Environment
    from mmpscope.analysis.pages.page_data import PageData

__all__ = ["render_page"]

_TEMPLATE = "report.html.j2"


def render_page(data: PageData) -> str:
    """Write a page as HTML."""
    script, style = join_scripts(), join_styles()
    policy = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    page = data.page
    return (
        _load_templates()
        .get_template(_TEMPLATE)
        .render(
            page=page,
            snapshot=page["snapshots"][page["shown"]],
            lists=data.shown,
            whose=name_process(page["snapshots"][page["shown"]]),
            changed=say_of_pair(page),
            tables=list(list_plain_tables(data)),
            policy="; ".join(" ".join(pair) for pair in policy.items()),
            blocks={
                "page": pack(page),
                **{f"snapshot-{number}": text for number, text in data.lists.items()},
            },
            script=script,
            style=style,
        )
    )


def _hash(text: str) -> str:
    """Name an inline script or style by its content (Content Security Policy Level 3, hash-source)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _load_templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("mmpscope.analysis.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
