"""Makes a page of any inputs into a file: `python -m mmpscope.analysis.pages.sample -o page.html INPUT...`.

For whoever works on scripts and styles: it takes them from the checkout as they are now.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from mmpscope.analysis.loading import load
from mmpscope.analysis.pages.page import render_page
from mmpscope.analysis.pages.page_data import build_page
from mmpscope.analysis.trends.following import Shelf

__all__ = ["main", "make_page"]


def make_page(*inputs: str) -> str:
    """Make a page of all snapshots of some inputs."""
    with closing(Shelf((), partial=False)) as shelf:
        return render_page(build_page(shelf.list_moments(load(*inputs)), shelf.read))


def main() -> int:
    """Write a page, over what was there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("-o", "--output", required=True, type=Path)
    given = parser.parse_args()
    given.output.write_text(make_page(*given.inputs), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
