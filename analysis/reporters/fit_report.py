"""Whether a request fits, in one sentence; in verbose, with a row for each thing that was weighed."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.free_schema import FIT
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_size
from mmpscope.analysis.reporters.head import describe_snapshot, draw_choice
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import TextColumn, render_table

if TYPE_CHECKING:
    from mmpscope.analysis.fit import FitAnswer
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["report_fit"]

_GAP = "  "
_PROSE, _LEAST_PROSE = 160, 30
"""Columns for a reason: where nothing limits the width, and where there is hardly room."""


def report_fit(snapshot: LoadedSnapshot, answer: FitAnswer) -> Report:
    """Make the answer of `mmp free --fits`."""
    sentence = _word(answer, snapshot.granularity)
    facts: dict[str, object] = {
        "snapshot": describe_snapshot(snapshot),
        "outcome": answer.outcome,
        "size": answer.size,
        "align": answer.align,
        "binding": answer.binding.name,
        "address": None if answer.address is None else f"0x{answer.address:016x}",
        "placement": answer.placement,
        "sentence": sentence,
    }
    # the answer to many snapshots must not keep them and their files open
    label, last_of = snapshot.label, snapshot.last_of
    rows = list(iterate_rows(describe_columns(answer.to_table(), FIT)))

    def draw(screen: Screen) -> list[str]:
        sentences = [show_name(f"{label}: {sentence}"), *draw_choice(last_of)]
        lines = [line for told in sentences for line in screen.wrap(told)]
        return [*lines, "", *_draw_checks(answer, screen)] if screen.verbose else lines

    return Report("fit", draw, facts, rows=rows)


def _word(answer: FitAnswer, granularity: int) -> str:
    request = show_size(answer.size)
    if answer.align > granularity:
        request += f" at a multiple of {show_size(answer.align)}"
    binding = answer.binding
    if answer.exit_code == 1:
        most = "" if binding.available is None else f" allows {_show_most(answer)} at most"
        return f"{request} does not fit: the {binding.name}{most} ({binding.reason})."
    if answer.exit_code == 4:
        return f"cannot tell if {request} fits: {binding.reason}."
    place = answer.placement if answer.address is None else f"at {answer.address:x}, {answer.placement}"
    nearest = (
        "" if binding.available is None else f"; the {binding.name} allows {show_size(binding.available)}"
    )
    return f"{request} fits: {place}{nearest}."


def _show_most(answer: FitAnswer) -> str:
    """Add the bytes where both read alike: no one believes that 23.5 GiB do not fit into 23.5 GiB."""
    most, available = show_size(answer.binding.available), answer.binding.available
    return f"{most} ({available:,} of {answer.size:,} bytes)" if most == show_size(answer.size) else most


def _draw_checks(answer: FitAnswer, screen: Screen) -> list[str]:
    """Write a row a check; the reason is prose, and takes as many lines as it needs in what room is left."""
    columns = [
        TextColumn("Check", [check.name for check in answer.checks]),
        TextColumn("Outcome", [check.outcome for check in answer.checks]),
        TextColumn("Allows", [_show_limit(check.available) for check in answer.checks], True),
    ]
    head, *rows = render_table(columns, Screen())
    reasons = ["Why", *(show_name(check.reason) for check in answer.checks)]
    indent = max(map(len, (head, *rows))) + len(_GAP)
    room = max(_LEAST_PROSE, (screen.width or _PROSE) - indent)
    lines = []
    for row, reason in zip((head, *rows), reasons, strict=True):
        first, *others = textwrap.wrap(reason, room) or [""]
        lines += [f"{row:{indent}}{first}".rstrip(), *(" " * indent + other for other in others)]
    return lines


def _show_limit(available: int | None) -> str:
    return NOT_APPLICABLE if available is None else show_size(available)
