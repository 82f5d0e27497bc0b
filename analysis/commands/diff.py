"""Compare snapshots of a process: what is new, gone, grown or shrunk.

Two files, or two snapshots as in run.mmp#0 run.mmp#5; of one file with several, the first and the last.
Three or more, or run.mmp#0:, stand side by side, and the first and the last are compared.
Files of several processes (collect --all, an archive, a folder) are compared process by process: matched by
instance, else by program, arguments and parent, and added up by PSS; --process shows one of them in detail.
Totals come first, then the types, then what changed most, with the rest folded into one row so that the
changes add up. Two snapshots of one process are compared by address, two processes by what their memory is:
files by path and build, threads and memory by name, the rest by type and size. --same and --other decide
where the files do not tell. Of one boot, the earlier is the one before, in whatever order they are given.

\b
Examples:
  mmp diff before.mmp after.mmp
  mmp diff monday.mmp tuesday.mmp --by module
  mmp diff 9h.mmp 10h.mmp 11h.mmp
  mmp diff run.mmp#0 run.mmp#-1 --metric total_ws --top 50
  mmp diff host-9h.mmp host-10h.mmp
  mmp diff host-9h.mmp host-10h.mmp --process nginx
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.options import Inputs, Manner, Reading, Types, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.process_choice import ProcessSets
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["run"]

_SWAPPED = "the second was taken before the first, and is the one before (--as-given keeps order)"


@dataclass(frozen=True)
class Question(Types):
    """How the two are compared, and what counts."""

    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="FIGURE",
            help="What decides which changes are the largest: private unless given, of processes pss.",
        ),
    ] = None
    limit: Annotated[
        int,
        typer.Option("-n", "--limit", "--top", metavar="N", min=0, help="At most N changes; 0 shows all."),
    ] = 20
    least: Annotated[
        str | None, typer.Option("--min", metavar="SIZE", help="Only changes of at least SIZE, as in 64K.")
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="FACT",
            help="Group by type, module, path, directory, name, thread, size-class or rule.",
        ),
    ] = None
    process: Annotated[
        str | None,
        typer.Option("--process", metavar="NAME|PID", help="Of several processes, this one in detail."),
    ] = None

    @property
    def figure(self) -> str:
        """The figure that ranks what changed within a process."""
        return self.metric or "private"


@dataclass(frozen=True)
class Pairing:
    """What the two are to each other."""

    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="same: one process, by address; different: two of them."),
    ] = None
    same: Annotated[bool, typer.Option("--same", help="They are of one process: --mode same.")] = False
    other: Annotated[bool, typer.Option("--other", help="They are two processes: --mode different.")] = False
    as_given: Annotated[
        bool, typer.Option("--as-given", help="The first is the one before, whenever it was taken.")
    ] = False

    def choose_mode(self) -> str | None:
        """Return the mode that was asked for; None for none. Raises UsageError for more than one."""
        asked = ["same"] * self.same + ["different"] * self.other
        asked += [] if self.mode is None else [self.mode]
        if len(set(asked)) > 1:
            raise UsageError(f"{' and '.join(asked)} exclude each other. Give one of --same, --other, --mode")
        return asked[0] if asked else None


def run(
    inputs: Inputs,
    question: Question,
    pairing: Pairing,
    reading: Reading,
    writing: Writing,
    manner: Manner,
) -> int:
    """Compare the two snapshots of the inputs, or the first and the last of more, or process by process."""
    from mmpscope.analysis.commands import choose_compared, load_sides
    from mmpscope.analysis.reporters.report import deliver

    sides = load_sides(inputs, reading, manner)
    sets = _find_processes(inputs, sides, question)
    said: list[str] = []
    pair = _choose_pair(sets, question, pairing)
    if sets is not None and pair is None:
        report = _compare_processes(sets, question, pairing, said)
    else:
        found, chosen = (pair, None) if pair else choose_compared(inputs, sides)
        said += [chosen] if chosen else []
        make = _compare_pair if len(found) == 2 else _compare_series
        report = make(found, question, pairing, said)
    deliver([report], writing, manner)
    return 0


def _find_processes(
    inputs: Sequence[str], sides: Sequence[list[LoadedSnapshot]], question: Question
) -> ProcessSets | None:
    """Return the two sets of processes that the inputs stand for, if they are of several."""
    from mmpscope.analysis.commands import is_one_file
    from mmpscope.analysis.diffs.process_choice import find_sets

    may_be = len(inputs) > 1 or is_one_file(inputs)
    sets = find_sets(inputs, sides) if may_be else None
    if sets is None and question.process is not None:
        raise UsageError("--process chooses one of several processes, and each input has one. Leave it out")
    return sets


def _choose_pair(
    sets: ProcessSets | None, question: Question, pairing: Pairing
) -> list[LoadedSnapshot] | None:
    """Return the two snapshots of one process, of several, that was asked for; None for all of them."""
    from mmpscope.analysis.diffs.process_choice import choose_partner, choose_process

    if sets is None:
        return None
    mode = pairing.choose_mode()
    if question.process is not None:
        return [*choose_process(sets, question.process, mode)]
    pair = choose_partner(sets, mode)
    return None if pair is None else [*pair]


def _compare_processes(sets: ProcessSets, question: Question, pairing: Pairing, said: list[str]) -> Report:
    from mmpscope.analysis.diffs.process_schema import TOTAL_WS
    from mmpscope.analysis.diffs.processes import diff_processes
    from mmpscope.analysis.reporters.amounts import parse_size
    from mmpscope.analysis.reporters.processes_diff_report import TOTAL_WS_WARNING, report_processes

    if question.by is not None or question.type:
        raise UsageError("--by and --type are about one process. Choose it with --process NAME or PID")
    least = 0 if question.least is None else parse_size(question.least, "--min")
    if not pairing.as_given and (other := sets.put_in_order()) is not None:
        sets = other
        said.append(_SWAPPED)
    said += [TOTAL_WS_WARNING] if question.metric == TOTAL_WS else []
    result = diff_processes(sets.a, sets.b, pairing.choose_mode(), metric=question.metric)
    return report_processes(result, sets.names, said, question.limit, least)


def _compare_pair(
    found: list[LoadedSnapshot], question: Question, pairing: Pairing, said: list[str]
) -> Report:
    from mmpscope.analysis.identity import is_later

    before, after = found
    if not pairing.as_given and is_later(before, after):
        before, after = after, before
        said.append(_SWAPPED)
    return _compare((before, after), question, pairing, said)[0]


def _compare_series(
    found: list[LoadedSnapshot], question: Question, pairing: Pairing, said: list[str]
) -> Report:
    from mmpscope.analysis.diffs.series import read_series
    from mmpscope.analysis.diffs.snapshots import check_words
    from mmpscope.analysis.reporters.series_report import add_series

    check_words(question.figure, question.limit)
    said.append(f"the first and the last of {len(found)} snapshots")
    series = read_series(found, question.figure, as_given=pairing.as_given)
    if series.is_sorted:
        said.append("snapshots are in the order of the clock of their boot (--as-given keeps yours)")
    report, result = _compare((series.first, series.last), question, pairing, said, with_totals=False)
    return add_series(report, series.steps, result)


def _compare(
    pair: tuple[LoadedSnapshot, LoadedSnapshot],
    question: Question,
    pairing: Pairing,
    said: list[str],
    *,
    with_totals: bool = True,
) -> tuple[Report, DiffResult]:
    from mmpscope.analysis.diffs.choice import Choice, choose_changes
    from mmpscope.analysis.diffs.groups import group_changes
    from mmpscope.analysis.diffs.snapshots import diff
    from mmpscope.analysis.listing import choose_types
    from mmpscope.analysis.reporters.amounts import parse_size
    from mmpscope.analysis.reporters.diff_report import report_diff

    kinds = choose_types(question.type)
    least = 0 if question.least is None else parse_size(question.least, "--min")
    result = diff(*pair, pairing.choose_mode(), metric=question.figure, limit=question.limit)
    groups = None if question.by is None else group_changes(pair, result, question.by, kinds)
    chosen = choose_changes(result, kinds, Choice(question.limit, least, groups))
    if kinds:
        said.append(f"only what changed of {', '.join(kinds)}; Total is that of the whole process")
    report = report_diff(pair, chosen, said, question.limit, with_totals=with_totals)
    # Written as a table, the answer is what was asked for: the groups, where there are any.
    return (report if groups is None else replace(report, tabulate=lambda: groups)), chosen
