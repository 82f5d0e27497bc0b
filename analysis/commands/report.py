"""Make one HTML file of any number of snapshots, to look at and to attach to a bug report.

The file shows what `mmp summary`, `regions`, `free`, `threads`, `modules`, `heaps` and `processes` tell, as
tables and as a map of the address space; of several snapshots also the timeline with its verdicts, and what
changed from the first to the last. It needs no other file, no network and no program but a browser. It is at
most 6 MiB; what is left out to keep it so small is said on it. Verdicts need the extra stats: pip install
'mmpscope[stats]'.

With --markdown, it prints a block of at most 60 lines for the text of an issue instead.

\b
Examples:
  mmp report before.mmp after.mmp -o report.html
  mmp report day.mmp -o report.html --keep 17
  mmp report run.mmp#-1 --markdown
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.options import Inputs, Manner, Reading

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.process_choice import ProcessSets
    from mmpscope.analysis.pages.page_data import Budget, PageData

__all__ = ["make_page_data", "run"]

_MOST_HEARD = 5
"""Sentences about files that were left out, or damaged, which a page repeats."""
_LEAST_OF_SETS = 3
"""Snapshots of two captures of which one has several processes."""
_MOST_SNAPSHOTS = 10_000
"""The sums of so many take a third of a page."""


@dataclass(frozen=True)
class Form:
    """In which form, and where."""

    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, as in report.html."),
    ] = None
    force: Annotated[bool, typer.Option("-f", "--force", help="Replace an output that exists.")] = False
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a block for the text of an issue.")] = (
        False
    )
    keep: Annotated[
        list[int] | None,
        typer.Option("--keep", metavar="N", min=0, help="Keep the lists of snapshot N of a long series."),
    ] = None


def run(inputs: Inputs, form: Form, reading: Reading, manner: Manner) -> int:
    """Make the page, or the block, of all snapshots of the inputs."""
    from mmpscope.analysis.output import STDOUT, check_output, open_output
    from mmpscope.analysis.pages.page_data import Budget

    path = form.output or STDOUT
    _check_form(path, is_markdown=form.markdown)
    check_output(path, force=form.force)
    budget = Budget(kept=tuple(form.keep or ()), most_lists=1 if form.markdown else None)
    data = make_page_data(inputs, reading, manner, path, budget)
    text = _write(data, is_markdown=form.markdown)
    with open_output(path, force=form.force) as stream:
        stream.write(text.encode())
    return 0


def make_page_data(
    inputs: list[str], reading: Reading, manner: Manner, output: str, budget: Budget | None = None
) -> PageData:
    """Make the data of a page of all snapshots of the inputs; ``output`` is where the page will go.

    Raises as `load_each`, CannotTellError for a snapshot alone that tells no figure, and UsageError for more
    snapshots than a page holds.
    """
    from pathlib import Path

    from mmpscope.analysis.commands import find_bound, load_each
    from mmpscope.analysis.density import COPIED
    from mmpscope.analysis.extent import require_figures
    from mmpscope.analysis.loading import load_rules
    from mmpscope.analysis.pages.page_data import build_page
    from mmpscope.analysis.pages.tables import show_text
    from mmpscope.analysis.progress import follow
    from mmpscope.analysis.trends.following import Shelf

    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    with closing(Shelf(rules, partial=reading.partial, times=find_bound(inputs, COPIED))) as shelf:
        heard: list[str] = []
        moments = shelf.list_moments(load_each(inputs, reading, manner, heard=heard))
        if len(moments) > _MOST_SNAPSHOTS:
            told = f"{len(moments):,} snapshots are more than a page holds"
            raise UsageError(f"{told}, {_MOST_SNAPSHOTS:,}. Choose some, as in FILE#0:{_MOST_SNAPSHOTS}")
        if budget is not None and any(number >= len(moments) for number in budget.kept):
            raise UsageError(f"--keep {max(budget.kept)}: snapshots are 0 to {len(moments) - 1:,}")
        if len(moments) == 1:
            require_figures(shelf.read(moments[0].label))
        sets = _find_sets(inputs, reading, manner, len(moments))
        data = build_page(moments, shelf.read, lambda each: follow(each, manner, output), budget, sets)
        data.page["notes"] += map(show_text, _shorten(heard))
        return data


def _shorten(heard: list[str]) -> list[str]:
    """Keep what a page repeats of the sentences on standard error, which who gets the page does not see."""
    more = len(heard) - _MOST_HEARD
    return [*heard[:_MOST_HEARD], *([f"{more:,} more were told as the page was made"] if more > 0 else [])]


def _find_sets(inputs: list[str], reading: Reading, manner: Manner, count: int) -> ProcessSets | None:
    """Return the two captures of several processes that the inputs are, if they are that."""
    from mmpscope.analysis.commands import is_one_file, load_sides
    from mmpscope.analysis.diffs.process_choice import find_sets

    if count < _LEAST_OF_SETS or not (len(inputs) == 2 or is_one_file(inputs)):
        return None
    try:
        sets = find_sets(inputs, load_sides(inputs, reading, manner))
    except UsageError:  # all of one moment: there is nothing to compare
        return None
    if sets is None or len(sets.a) == len(sets.b) == 1:
        return None
    is_twice = [each.label for each in sets.a] == [each.label for each in sets.b]
    return None if is_twice else sets


def _check_form(path: str, *, is_markdown: bool) -> None:
    """Refuse a file whose name promises something else, and a page on a terminal."""
    import sys

    from mmpscope.analysis.export import check_extension
    from mmpscope.analysis.output import STDOUT

    if is_markdown:
        check_extension(path, "a block of Markdown", (".md", ".txt"), "Name an .md file")
        return
    check_extension(path, "a page", (".html", ".htm"), "Name an .html file")
    if path == STDOUT and sys.stdout.isatty():
        raise UsageError("a page is nothing for a terminal. Name a file, as in -o report.html, or --markdown")


def _write(data: PageData, *, is_markdown: bool) -> str:
    if is_markdown:
        from mmpscope.analysis.reporters.markdown_report import render_markdown

        return render_markdown(data)
    from mmpscope.analysis.pages.page import render_page

    return render_page(data)
