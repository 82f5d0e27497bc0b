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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.options import Inputs, Manner, Reading

if TYPE_CHECKING:
    from mmpscope.analysis.pages.page_data import PageData

__all__ = ["run"]


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
    from mmpscope.analysis.pages.making import make_page_data
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


def _check_form(path: str, *, is_markdown: bool) -> None:
    """Refuse a file whose name promises something else, and a page on a terminal."""
    import sys

    from mmpscope.analysis.errors import UsageError
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
