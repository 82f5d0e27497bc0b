"""Read every byte of a file and name each damage.

Exit code 0: all of it is whole. Exit code 1: there is damage, or what cannot be true, as regions that
overlap, or a file of a folder or archive that is no snapshot; --partial of the other commands reads what is
whole.

--repair writes a new .mmp file of every whole snapshot, note and system fact of a damaged one, byte for byte
as they were, and ends with exit code 0 where that holds at least one snapshot. The damaged file stays.

\b
Examples:
  mmp verify run.mmp
  mmp verify run.mmp --repair -o good.mmp
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Inputs, Manner, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.source import Fault

__all__ = ["run"]

_EMPTY = "a process without address space, no permission to read it, or a failed copy"


@dataclass(frozen=True)
class Mending:
    """What is looked at, and what is done about damage."""

    all: Annotated[
        bool, typer.Option("--all", help="Decode all tables, however many rows few bytes hold of them.")
    ] = False
    repair: Annotated[
        bool, typer.Option("--repair", help="Write what is whole of one .mmp file to the .mmp file -o.")
    ] = False


class Mended(NamedTuple):
    """A repaired file: how many snapshots it has, and how many of these lack the facts of their system."""

    name: str
    whole: int
    bare: int

    def describe(self) -> str:
        """Say what it holds, and what was lost that no snapshot shows."""
        told = f"{self.name}: {self.whole:,} whole snapshot{'' if self.whole == 1 else 's'}"
        if not self.bare:
            return told
        some = "without" if self.bare == self.whole else f"{self.bare:,} of them without"
        return f"{told}, {some} the facts of their system (host, boot id)"


def run(inputs: Inputs, mending: Mending, writing: Writing, manner: Manner) -> int:
    """Verify each file; 1 where one of them is damaged."""
    from mmpscope.analysis.reporters.report import deliver

    if mending.repair:
        return _repair(inputs, writing, manner)
    found: dict[str, Sequence[Fault]] = {}
    try:
        for text in inputs:
            _verify_input(text, found, thorough=mending.all)
    finally:  # what was found before a file that cannot be read at all is said, too
        if found:
            deliver([_report(found)], writing, manner)
    return 1 if any(found.values()) else 0


def _repair(inputs: Sequence[str], writing: Writing, manner: Manner) -> int:
    """Copy the whole frames of one file into a new one, and tell what was lost."""
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.reporters.report import deliver
    from mmpscope.formats.mmp import copy_file, open_file

    output = writing.output
    if len(inputs) != 1 or output is None or output == STDOUT or Path(output).suffix != ".mmp":
        raise UsageError("--repair takes one .mmp file and the name of another, as in -o good.mmp")
    check_output(output, force=writing.force)
    with open_file(inputs[0], partial=True) as source:
        if not source.entries:
            raise CannotTellError(f"there is no whole snapshot in {inputs[0]}, and nothing is written")
    faults = copy_file(inputs[0], output, partial=True, force=writing.force)
    with open_file(output) as source:
        mended = Mended(output, len(source.entries), source.count_bare())
    deliver([_report({inputs[0]: faults}, mended)], Writing(json=writing.json), manner)
    return 0


def _verify_input(text: str, found: dict[str, Sequence[Fault]], *, thorough: bool) -> None:
    """Verify the files that an input stands for; one of many that cannot be read at all is damage."""
    from mmpscope.analysis.loading import expand_input, refuse_all
    from mmpscope.formats.errors import FormatError, InputError, NotASnapshotError
    from mmpscope.formats.proc.beside import join_files
    from mmpscope.formats.registry import verify_source
    from mmpscope.formats.source import Fault

    paths, count = expand_input(text), 0
    for path, _ in join_files(paths):
        try:
            found[path] = verify_source(path, thorough=thorough)
        except (FormatError, InputError) as error:
            if paths == [text]:
                raise
            what = error.what if isinstance(error, FormatError) else str(error)
            has_bytes = isinstance(error, FormatError) and not isinstance(error, NotASnapshotError)
            found[path] = [Fault(what, lost="all of it" if has_bytes else None)]
        else:
            count += 1
    if not count:
        raise refuse_all(text, len(paths))


def _say_whole(path: str) -> str:
    """Say that nothing is wrong; an empty file proves little."""
    is_empty = Path(path).is_file() and not Path(path).stat().st_size
    return f"ok, but empty: {_EMPTY}" if is_empty else "ok"


def _report(found: dict[str, Sequence[Fault]], repaired: Mended | None = None) -> Report:
    """Report the faults, and which file has how many snapshots now."""
    from mmpscope.analysis.reporters.info_report import describe_fault
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.analysis.reporters.report import Report

    lines = [
        show_name(f"{path}: {sentence}")
        for path, faults in found.items()
        for sentence in ([describe_fault(fault) for fault in faults] or [_say_whole(path)])
    ]
    if repaired is not None:
        lines.append(show_name(repaired.describe()))
    name, count = (None, None) if repaired is None else (repaired.name, repaired.whole)
    rows = [
        {"file": path, "ok": not faults, "faults": [asdict(fault) for fault in faults]}
        for path, faults in found.items()
    ]
    return Report("verify", lambda _: lines, {"output": name, "snapshots": count}, rows=rows)
