"""Makes the pictures of report pages in docs/pictures anew: `python tools/screenshots.py`.

Needs Chromium, and Playwright of the extra test. Each picture is the window of a browser, 1280 or 400 pixels
wide, light or dark, at a part of the report of a sample, and at most 150 KiB large. Look at them before they
are committed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import OpenPage, browse, open_report  # noqa: E402  # found by the path above

MOST_BYTES = 150 << 10
SETTLED_MS = 500


class Picture(NamedTuple):
    """One picture: which samples, which part of their report, and how the window is."""

    name: str
    samples: tuple[str, ...]
    section: str
    width: int = 1280
    scheme: str = "light"
    height: int = 840


LEAK = ("linux-leak-v1.0.mmp",)
PAIR = ("linux-reserve-commit-a-v1.0.mmp", "linux-reserve-commit-b-v1.0.mmp")
FRAGMENTED = ("linux-fragmented-v1.0.mmp",)
WINDOWS = ("windows-wow64-v1.0.mmp",)
SHOWN = (
    Picture("summary-light", LEAK, "top"),
    Picture("timeline-light", LEAK, "timeline", height=600),
    Picture("changes-dark", PAIR, "diff", scheme="dark", height=720),
    Picture("map-light", FRAGMENTED, "map", height=600),
    Picture("regions-dark", WINDOWS, "regions", scheme="dark", height=600),
    Picture("narrow-light", LEAK, "top", width=400),
    Picture("narrow-dark", FRAGMENTED, "map", width=400, scheme="dark"),
)


def main() -> int:
    """Write every picture; 1 where one is too large."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browse() as browser:
        pages = {samples: make_page(samples, Path(folder)) for samples in {each.samples for each in SHOWN}}
        for picture in SHOWN:
            page, width = pages[picture.samples], picture.width
            with open_report(browser, page, width=width, scheme=picture.scheme) as opened:
                opened.page.set_viewport_size({"width": width, "height": picture.height})
                take(opened, picture.section, PICTURES / f"{picture.name}.png")
    large = [path.name for path in PICTURES.glob("*.png") if path.stat().st_size > MOST_BYTES]
    if large:
        print(f"larger than {MOST_BYTES >> 10} KiB: {', '.join(sorted(large))}", file=sys.stderr)
    return 1 if large else 0


def make_page(samples: tuple[str, ...], folder: Path) -> Path:
    """Make the report of some samples, named as a user in the root of a checkout would name them."""
    path = folder / f"{samples[0]}.html"
    names = [f"samples/{name}" for name in samples]
    command = [sys.executable, "-m", "mmpscope.analysis", "report", *names, "-o", str(path)]
    subprocess.run(command, cwd=ROOT, check=True)
    return path


def take(opened: OpenPage, section: str, path: Path) -> None:
    """Take a picture of the window once the section is at its top, below the bar that stays."""
    if section != "top":
        opened.page.evaluate("section => document.getElementById(section).scrollIntoView()", section)
    opened.page.wait_for_timeout(SETTLED_MS)
    opened.page.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(main())
