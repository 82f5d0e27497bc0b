"""Look at snapshots in a browser: the page of `mmp report`, made in a temporary place and opened.

It prints where the page is, which stays there until the system clears its temporary files. BROWSER names
another browser, as in BROWSER=firefox.

\b
Examples:
  mmp view run.mmp
  mmp view before.mmp after.mmp
"""

from __future__ import annotations

from typing import Annotated

import typer
from mmpscope.analysis.options import Inputs, Manner, Reading

__all__ = ["run"]

_NAME = "report.html"


def run(
    inputs: Inputs,
    reading: Reading,
    manner: Manner,
    no_open: Annotated[bool, typer.Option("--no-open", help="Make the page only, and say where.")] = False,
) -> int:
    """Make the page and open it; a browser that cannot be started is told, and is no failure."""
    import tempfile
    import webbrowser
    from pathlib import Path

    from mmpscope.analysis.commands import warn
    from mmpscope.analysis.commands.report import make_page_data
    from mmpscope.analysis.output import STDOUT
    from mmpscope.analysis.pages.page import render_page

    text = render_page(make_page_data(inputs, reading, manner, STDOUT))
    path = Path(tempfile.mkdtemp(prefix="mmp-"), _NAME)  # only its owner may look into it
    path.write_text(text, "utf-8")
    print(path)
    if not no_open and not webbrowser.open(path.as_uri()):
        warn(f"there is no browser to start. Open {path} in one, or name one in BROWSER", manner)
    return 0
