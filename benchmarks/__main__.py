"""``python -m benchmarks``: measure, print the table of ratios, say by exit code if limits hold."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.commands import ROOT
from benchmarks.figures import Figure, Options, render_markdown, render_table

NAMES = (
    "collect",
    "file_size",
    "long_series",
    "many",
    "dataset_sql",
    "load",
    "diff",
    "read_text",
    "report",
    "startup",
    "windows_walk",
)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure ratios against named peers."
    )
    parser.add_argument(
        "--only", choices=NAMES, action="append", help="measure this figure (may be repeated)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny inputs, one run: shows that it works, no more"
    )
    parser.add_argument(
        "--markdown",
        metavar="FILE",
        type=Path,
        nargs="?",
        const=ROOT / "docs" / "benchmarks.md",
        help="also write the table to this file (docs/benchmarks.md)",
    )
    return parser.parse_args()


def _find_corpus() -> Path | None:
    corpus = Path(os.environ.get("MMP_CORPUS", ROOT.parent / "shared" / "data"))
    return corpus if corpus.is_dir() else None


def main() -> int:
    """Return 1 where a limit is missed, else 0; ratios of tiny inputs are held to none."""
    arguments = _parse_arguments()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="mmp-benchmarks-") as folder:
        options = Options(Path(folder), _find_corpus(), arguments.quick)
        for name in arguments.only or NAMES:
            print(f"measuring {name} ...", file=sys.stderr)
            figures += importlib.import_module(f"benchmarks.{name}").measure(options)
    if arguments.quick:
        figures = [replace(figure, limit=None) for figure in figures]
    print(render_table(figures), end="")
    if arguments.markdown:
        arguments.markdown.write_text(render_markdown(figures))
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
