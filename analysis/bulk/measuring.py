"""Files to measures, the work that compare and trend run over many; a file that cannot be read is a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mmpscope.analysis.bulk.files import open_hashed
from mmpscope.analysis.bulk.run import Outcome
from mmpscope.analysis.loading import InputFile, OpenedInput, load_chosen
from mmpscope.analysis.measures.measure import Gatherer, Measures, join_measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.rules import Rule
from mmpscope.formats.errors import FormatError, MmpError
from mmpscope.formats.source import Fault

__all__ = ["FileError", "Measured", "Measuring", "join_measured", "measure_batch", "name_snapshot"]

_Faults = tuple[str, tuple[Fault, ...]]


class FileError(NamedTuple):
    """A file, or one snapshot of a file, that could not be read, and why in one sentence."""

    input: str
    reason: str


@dataclass(frozen=True)
class Measured:
    """The measures of some files, what could not be read of them, and damage that was survived, by path."""

    measures: Measures
    errors: tuple[FileError, ...]
    faults: tuple[_Faults, ...] = ()


@dataclass(frozen=True)
class Measuring:
    """How files are measured: ``wanted`` of schema.MEASURES, damage survived, the user's own rules."""

    wanted: Collection[str] = tuple(MEASURES)
    partial: bool = False
    rules: tuple[Rule, ...] = ()


def name_snapshot(digest: str, index: int) -> str:
    """Return the id of a snapshot: sha256 of its file, a colon, its number in the file."""
    return f"{digest}:{index}"


def measure_batch(files: Sequence[InputFile], measuring: Measuring) -> Measured:
    """Measure the snapshots of some files, one after the other, letting go of each before the next."""
    gatherer, errors, faults = Gatherer(measuring.wanted), list[FileError](), list[_Faults]()
    for file in files:
        try:
            with open_hashed(file, partial=measuring.partial) as (opened, digest):
                errors += _measure_snapshots(opened, digest, gatherer, measuring.rules)
                if opened.source.faults:
                    faults.append((file.path, tuple(opened.source.faults)))
        except MmpError as error:
            errors.append(FileError(file.path + (file.choice or ""), str(error)))
        except MemoryError:
            errors.append(FileError(file.path, f"{file.path} takes more memory than there is"))
    return Measured(gatherer.build(), tuple(errors), tuple(faults))


def _measure_snapshots(
    opened: OpenedInput, digest: str, gatherer: Gatherer, rules: Sequence[Rule]
) -> Iterator[FileError]:
    for index, snapshot in zip(opened.chosen, load_chosen(opened, rules), strict=True):
        try:
            gatherer.add(snapshot, name_snapshot(digest, opened.source.entries[index].index))
        except FormatError as error:
            yield FileError(snapshot.label, str(error))


def join_measured(outcomes: Iterable[Outcome[Measured]]) -> Measured:
    """Put what came of batches of files together, in order."""
    measures, errors, faults = list[Measures](), list[FileError](), list[_Faults]()
    for outcome in outcomes:
        if outcome.result is None:
            errors += [FileError(file.path, f"{file.path}: {outcome.error}") for file in outcome.files]
            continue
        measures.append(outcome.result.measures)
        errors += outcome.result.errors
        faults += outcome.result.faults
    return Measured(join_measures(measures), tuple(errors), tuple(faults))
