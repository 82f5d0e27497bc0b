"""The commands of `mmp`, one module each: its docstring is the help text, `run` its work.

Here is what they share; pyarrow is imported only when a command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Listing, Manner, Reading, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.formats.source import Fault

__all__ = ["list_parts", "load_each", "load_pair", "warn"]


def load_each(
    inputs: Sequence[str], reading: Reading, manner: Manner, *, latest: bool = False
) -> Iterator[LoadedSnapshot]:
    """Load the snapshots of all inputs and yield one after the other, letting go of each before the next.

    With ``latest``, a file of which no snapshots were chosen stands for the last of each process: whoever
    asks to see a series of a thousand does not mean a thousand pages.

    Damage that --partial survived is told on stderr. Raises FormatError, UsageError, and CannotTellError
    where there is no snapshot at all.
    """
    from mmpscope.analysis.loading import load_chosen, load_rules, open_inputs

    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    is_empty = True
    for opened in open_inputs(*inputs, partial=reading.partial, latest=latest):
        _warn_of_faults(opened.path, opened.source.faults, manner)
        yield from load_chosen(opened, rules)
        is_empty = is_empty and not opened.chosen
    if is_empty:
        raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}. `mmp info` tells what there is")


def load_pair(
    inputs: Sequence[str], reading: Reading, manner: Manner
) -> tuple[LoadedSnapshot, LoadedSnapshot, str | None]:
    """Load the two snapshots to compare, and say how they were chosen where nobody named them.

    One input with several snapshots stands for its first and its last. Raises UsageError for anything but
    two.
    """
    found = list(load_each(inputs, reading, manner))
    if len(inputs) == 1 and len(found) > 2:
        return found[0], found[-1], f"the first and the last of {len(found)} snapshots"
    if len(found) != 2:
        told = f"{len(found)} snapshot{' is' if len(found) == 1 else 's are'} given"
        raise UsageError(f"{told}, and a comparison takes two. Choose them as in FILE#0 FILE#-1")
    return found[0], found[1], None


def list_parts(
    kind: str, inputs: Sequence[str], listing: Listing, reading: Reading, outlet: tuple[Writing, Manner]
) -> int:
    """Run a command that lists one of the tables of a snapshot: threads, modules, heaps or processes."""
    from mmpscope.analysis.extent import require_regions
    from mmpscope.analysis.listing import limit_rows, sort_rows
    from mmpscope.analysis.reporters.list_report import report_list
    from mmpscope.analysis.reporters.report import Report, deliver

    def answer(snapshot: LoadedSnapshot) -> Report:
        table = sort_rows(getattr(snapshot, kind), listing.sort)
        if not table.num_rows:
            require_regions(snapshot, kind)
        return report_list(snapshot, kind, *limit_rows(table, listing.limit))

    writing, manner = outlet
    snapshots = load_each(inputs, reading, manner, latest=True)
    deliver((answer(snapshot) for snapshot in snapshots), writing, manner)
    return 0


def _warn_of_faults(path: str, faults: Sequence[Fault], manner: Manner) -> None:
    for fault in faults:
        from mmpscope.analysis.reporters.info_report import describe_fault

        warn(f"{path}: {describe_fault(fault)}", manner)


def warn(sentence: str, manner: Manner) -> None:
    """Say something about the input on stderr, unless asked to be quiet."""
    from mmpscope.analysis.reporters.names import show_name

    if not manner.quiet:
        print(f"mmp: {show_name(sentence)}", file=sys.stderr)
