"""The commands of `mmp`, one module each: its docstring is the help text, `run` its work.

Here is what they share; pyarrow is imported only when a command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Listing, Manner, Opening, Reading, Writing
from mmpscope.formats.errors import FormatError, LimitError, MmpError, UnknownFormatError

if TYPE_CHECKING:
    from mmpscope.analysis.loading import OpenedInput
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.formats.source import Fault

__all__ = [
    "choose_compared",
    "find_bound",
    "is_one_file",
    "list_parts",
    "load_classified",
    "load_each",
    "load_pair",
    "load_sides",
    "open_each",
    "warn",
    "warn_of_faults",
]

_MOST_WARNINGS = 10
"""Lines about the files of one folder that are left out."""
_NAMED = 3


def open_each(
    inputs: Sequence[str],
    opening: Opening,
    manner: Manner,
    *,
    latest: bool = False,
    heard: list[str] | None = None,
) -> Iterator[OpenedInput]:
    """Open the files of all inputs, one after the other; what is left out of a folder is told on stderr.

    ``heard`` gets these sentences, too, for an answer that has to say what is missing in it.

    Raises FormatError or InputError for a file that was named and cannot be read, and where no file of a
    folder or pattern can be; UsageError for a snapshot that is not there.
    """
    from mmpscope.analysis.loading import open_inputs

    skipped: list[MmpError] = []
    try:
        yield from open_inputs(
            *inputs, partial=opening.partial, latest=latest, skip=lambda _, error: skipped.append(error)
        )
    finally:
        told = list(_describe_skipped(skipped, verbose=manner.verbose))
        _tell(told, manner, heard)


def load_each(
    inputs: Sequence[str],
    reading: Reading,
    manner: Manner,
    *,
    latest: bool = False,
    heard: list[str] | None = None,
) -> Iterator[LoadedSnapshot]:
    """Load the snapshots of all inputs and yield one after the other, letting go of each before the next.

    With ``latest``, a file of which no snapshots were chosen stands for the last of each process: whoever
    asks to see a series of a thousand does not mean a thousand pages.

    Damage that was survived is told on stderr, and to ``heard``. Raises as `open_each`, and CannotTellError
    where there is no snapshot at all.
    """
    from mmpscope.analysis.density import bound_rows, refuse_crowd
    from mmpscope.analysis.loading import load_chosen, load_rules

    rules = load_rules(None if reading.rules is None else Path(reading.rules))
    is_empty = True
    for opened in open_each(inputs, reading, manner, latest=latest, heard=heard):
        try:
            refuse_crowd(opened)
        except LimitError as error:
            if opened.is_named:
                raise
            _tell([f"left out: {error}"], manner, heard)
            continue
        _tell(_describe_faults(opened.path, opened.source.faults, manner), manner, heard)
        told = len(opened.source.faults)
        for snapshot in load_chosen(bound_rows(opened), rules):
            if opened.is_named or _can_read(snapshot, manner):
                is_empty = False
                yield snapshot
        late = opened.source.faults[told:]  # met as the tables were read
        _tell(_describe_faults(opened.path, late, manner), manner, heard)
    if is_empty:
        raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}. `mmp info` tells what there is")


def find_bound(inputs: Sequence[str], times: int) -> int | None:
    """Return how `density.bound_rows` bounds inputs that are opened again; None where some were chosen."""
    from mmpscope.analysis.loading import split_choice

    return None if any(split_choice(text)[1] for text in inputs) else times


def load_classified(
    inputs: Sequence[str], reading: Reading, manner: Manner, *, latest: bool = False
) -> Iterator[LoadedSnapshot]:
    """Load as `load_each`, for an answer about the regions of each: some are classified at a time."""
    from mmpscope.analysis.ahead import classify_ahead

    return classify_ahead(load_each(inputs, reading, manner, latest=latest))


def _can_read(snapshot: LoadedSnapshot, manner: Manner) -> bool:
    """Read a snapshot of a file that is one of many; where that fails, the others are read all the same."""
    try:
        _ = snapshot.raw
    except FormatError as error:
        warn(f"left out: {error}", manner)
        return False
    return True


def load_pair(
    inputs: Sequence[str], reading: Reading, manner: Manner
) -> tuple[LoadedSnapshot, LoadedSnapshot, str | None]:
    """Load the two snapshots to compare, and say how they were chosen where nobody named them.

    One input with several snapshots stands for its first and its last. Raises UsageError for anything but
    two.
    """
    found = list(load_each(inputs, reading, manner))
    if len(inputs) == 1 and len(found) > 2:
        return found[0], found[-1], _tell_ends(found)
    if len(found) > 2:
        told = f"{len(found)} snapshots are given"
        raise UsageError(f"{told}, and a comparison takes two. Choose them as in FILE#0 FILE#-1")
    _refuse_one(found)
    return found[0], found[1], None


def load_sides(inputs: Sequence[str], reading: Reading, manner: Manner) -> list[list[LoadedSnapshot]]:
    """Load the snapshots of each input; they are read when they are asked for."""
    return [[each.unread() for each in load_each([name], reading, manner)] for name in inputs]


def choose_compared(
    inputs: Sequence[str], sides: Sequence[Sequence[LoadedSnapshot]]
) -> tuple[list[LoadedSnapshot], str | None]:
    """Choose the snapshots to put side by side, two or more.

    A file alone, or standard input, stands for its first and its last snapshot, which the second value says;
    FILE#0: stands for all of them. Raises UsageError where there is but one.
    """
    found = [snapshot for side in sides for snapshot in side]
    _refuse_one(found)
    if len(found) > 2 and is_one_file(inputs):
        return [found[0], found[-1]], f"{_tell_ends(found)} (FILE#0: shows all)"
    return found, None


def is_one_file(inputs: Sequence[str]) -> bool:
    """Tell if the inputs are a file alone, or standard input, of which no snapshots were chosen."""
    return len(inputs) == 1 and (inputs[0] == "-" or Path(inputs[0]).is_file())


def _tell_ends(found: Sequence[LoadedSnapshot]) -> str:
    return f"the first and the last of {len(found)} snapshots"


def _refuse_one(found: Sequence[LoadedSnapshot]) -> None:
    if len(found) == 1:
        raise UsageError("a comparison takes two snapshots, and this is one. Give a second file")


def list_parts(
    kind: str, inputs: Sequence[str], listing: Listing, reading: Reading, outlet: tuple[Writing, Manner]
) -> int:
    """Run a command that lists one of the tables of a snapshot: threads, modules, heaps or processes.

    Raises CannotTellError where a list is not known, after the others were answered.
    """
    from mmpscope.analysis.listing import limit_rows, sort_rows
    from mmpscope.analysis.lists import require_list
    from mmpscope.analysis.reporters.list_report import report_list
    from mmpscope.analysis.reporters.report import Report, deliver

    refused: list[CannotTellError] = []

    def answer_all() -> Iterator[Report]:
        for snapshot in load_classified(inputs, reading, manner, latest=True):
            table = sort_rows(getattr(snapshot, kind), listing.sort)
            try:
                if not table.num_rows:
                    require_list(snapshot, kind)
            except CannotTellError as error:
                refused.append(error.with_traceback(None))  # which holds on to the snapshot
            else:
                yield report_list(snapshot, kind, *limit_rows(table, listing.limit))

    writing, manner = outlet
    reports = answer_all()
    if (first := next(reports, None)) is not None:
        deliver(chain([first], reports), writing, manner)
    for error in refused[:-1]:
        warn(str(error), manner)
    if refused:
        raise refused[-1]
    return 0


def warn_of_faults(path: str, faults: Sequence[Fault], manner: Manner) -> None:
    """Tell the faults of one file on stderr, all of them only in verbose."""
    _tell(_describe_faults(path, faults, manner), manner, None)


def _describe_faults(path: str, faults: Sequence[Fault], manner: Manner) -> list[str]:
    if not faults:
        return []
    from mmpscope.analysis.reporters.info_report import describe_faults

    return [f"{path}: {sentence}" for sentence in describe_faults(faults, verbose=manner.verbose)]


def _tell(sentences: Iterable[str], manner: Manner, heard: list[str] | None) -> None:
    for sentence in sentences:
        warn(sentence, manner)
        if heard is not None:
            heard.append(sentence)


def _describe_skipped(skipped: Sequence[MmpError], *, verbose: bool) -> Iterator[str]:
    """Say what was left out of folders and patterns; those of no known format take one line."""
    others = [error for error in skipped if isinstance(error, UnknownFormatError)]
    told = [error for error in skipped if error not in others] if len(others) > 1 else skipped
    shown = told if verbose or len(told) <= _MOST_WARNINGS else told[: _MOST_WARNINGS - 1]
    for error in shown:
        yield f"left out: {error}"
    if len(shown) < len(told):
        yield f"left out: {len(told) - len(shown):,} more files that cannot be read (-v lists them)"
    if len(others) > 1:
        named = ", ".join(error.path or "" for error in others[:_NAMED])
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        yield f"left out: {len(others):,} files of no known format: {named}{more}"


def warn(sentence: str, manner: Manner) -> None:
    """Say something about the input on stderr, unless asked to be quiet."""
    from mmpscope.analysis.reporters.names import show_name

    if not manner.quiet:
        print(f"mmp: warning: {show_name(sentence)}", file=sys.stderr)
