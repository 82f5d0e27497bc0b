"""What a comparison keeps of files and datasets: with thousands of them, memory is what is kept of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mmpscope.analysis.bulk.measuring import FileError, Measured, Measuring, measure_batch
from mmpscope.analysis.comparisons.metrics import keep_compared
from mmpscope.analysis.datasets.reading import read_errors, read_measures
from mmpscope.analysis.loading import InputFile
from mmpscope.analysis.measures.measure import join_measures

__all__ = ["WANTED", "measure_compared", "read_compared"]

WANTED = ("captures", "summaries")
"""The tables of measures that a comparison reads."""


def measure_compared(files: Sequence[InputFile], measuring: Measuring) -> Measured:
    """Measure files as `measure_batch` does, and keep what is compared."""
    measured = measure_batch(files, measuring)
    return replace(measured, measures=keep_compared(measured.measures))


def read_compared(dataset: str) -> Iterator[Measured]:
    """Yield what is compared of a dataset, that of one part at a time; raises as `read_measures`.

    Files that its builds could not read are told last.
    """
    for measures in read_measures(dataset, WANTED):
        yield Measured(keep_compared(measures), ())
    errors = tuple(FileError(*row) for row in read_errors(dataset))
    yield Measured(keep_compared(join_measures([])), errors)
