"""Files to measures, the work that compare and trend run over many; a file that cannot be read is a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.bulk.files import open_hashed
from mmpscope.analysis.bulk.run import Outcome
from mmpscope.analysis.density import MEASURED, bound_rows, refuse_crowd
from mmpscope.analysis.loading import InputFile, load_chosen
from mmpscope.analysis.measures.measure import Gatherer, Measures, join_measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.stack_tables import stack_together
from mmpscope.formats.errors import FormatError, MmpError
from mmpscope.formats.source import Fault, Source

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["FileError", "Measured", "Measuring", "join_measured", "measure_batch", "name_snapshot"]

_STACKED, _STACKED_ROWS = 64, 1 << 15
"""Snapshots, and regions, that are measured together at most: more gain nothing, and take memory."""

_JOINED = 32
"""Batches whose measures become one: each column of a batch takes more memory than its few values do."""

_Faults = tuple[str, tuple[Fault, ...]]


class FileError(NamedTuple):
    """A file, or one snapshot of a file, that could not be read, and why in one sentence."""

    input: str
    reason: str


@dataclass(frozen=True)
class Measured:
    """The measures of some files, what could not be read of them, and damage that was survived, by path.

    ``earlier`` counts the snapshots of series that a later one of their process stands for.
    """

    measures: Measures
    errors: tuple[FileError, ...]
    faults: tuple[_Faults, ...] = ()
    earlier: int = 0


@dataclass(frozen=True)
class Measuring:
    """How files are measured: ``wanted`` of schema.MEASURES, damage survived, the user's own rules.

    With ``latest`` a series stands for the last snapshot of each of its processes, unless some are chosen.
    """

    wanted: Collection[str] = tuple(MEASURES)
    partial: bool = False
    rules: tuple[Rule, ...] = ()
    latest: bool = False


def name_snapshot(digest: str, index: int) -> str:
    """Return the id of a snapshot: sha256 of its file, a colon, its number in the file."""
    return f"{digest}:{index}"


def measure_batch(files: Sequence[InputFile], measuring: Measuring) -> Measured:
    """Measure the snapshots of some files, a few thousand regions at a time."""
    stack, sources, earlier = _Stack(Gatherer(measuring.wanted)), list[tuple[str, Source]](), 0
    for number, file in enumerate(files):
        try:
            opening = open_hashed(file, partial=measuring.partial, latest=measuring.latest)
            with opening as (opened, digest):
                refuse_crowd(opened)
                sources.append((file.path, opened.source))
                earlier += sum(opened.last_of.values()) - len(opened.last_of)
                loaded = load_chosen(bound_rows(opened, MEASURED), measuring.rules)
                for index, snapshot in zip(opened.chosen, loaded, strict=True):
                    stack.add(number, snapshot, name_snapshot(digest, opened.source.entries[index].index))
        except MmpError as error:
            stack.errors.append((number, FileError(file.path + (file.choice or ""), str(error))))
        except MemoryError:
            reason = f"{file.path} takes more memory than there is"
            stack.errors.append((number, FileError(file.path, reason)))
    measures, errors = stack.finish()
    faults = ((path, tuple(source.faults)) for path, source in sources if source.faults)
    return Measured(measures, errors, tuple(faults), earlier)


class _Stack:
    """Snapshots that were read and are measured together; never more than a few thousand regions of them."""

    def __init__(self, gatherer: Gatherer) -> None:
        self.errors: list[tuple[int, FileError]] = []
        self._gatherer = gatherer
        self._waiting: list[tuple[int, LoadedSnapshot, str]] = []
        self._rows = 0

    def add(self, number: int, snapshot: LoadedSnapshot, snapshot_id: str) -> None:
        """Read a snapshot of file ``number``, and measure what is waiting if that is enough."""
        try:
            tables = snapshot.raw.tables
            self._rows += tables["regions"].rows if "regions" in tables else 0
        except FormatError as error:
            self.errors.append((number, FileError(snapshot.label, str(error))))
            return
        self._waiting.append((number, snapshot, snapshot_id))
        if self._rows >= _STACKED_ROWS or len(self._waiting) >= _STACKED:
            self._measure()

    def _measure(self) -> None:
        waiting = [(snapshot, snapshot_id) for _, snapshot, snapshot_id in self._waiting]
        stacks = stack_together([snapshot for snapshot, _ in waiting])
        failed = self._gatherer.add_all(waiting, stacks)
        for place, error in failed.items():
            number, snapshot, _ = self._waiting[place]
            self.errors.append((number, FileError(snapshot.label, str(error))))
        self._waiting, self._rows = [], 0

    def finish(self) -> tuple[Measures, tuple[FileError, ...]]:
        """Measure the rest; errors are told in the order of the files."""
        self._measure()
        ordered = sorted(self.errors, key=lambda error: error[0])
        return self._gatherer.build(), tuple(error for _, error in ordered)


def join_measured(outcomes: Iterable[Outcome[Measured]]) -> Measured:
    """Put what came of batches of files together, in order."""
    joined, recent = list[Measures](), list[Measures]()
    errors, faults, earlier = list[FileError](), list[_Faults](), 0
    for outcome in outcomes:
        if outcome.result is None:
            errors += [FileError(file.path, f"{file.path}: {outcome.error}") for file in outcome.files]
            continue
        recent.append(outcome.result.measures)
        if len(recent) == _JOINED:
            joined, recent = [*joined, join_measures(recent)], []
        errors += outcome.result.errors
        faults += outcome.result.faults
        earlier += outcome.result.earlier
    return Measured(join_measures([*joined, *recent]), tuple(errors), tuple(faults), earlier)
