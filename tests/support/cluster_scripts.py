"""What tests of a cluster run in processes of their own; answers are JSON on standard output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mmpscope.analysis.bulk.files import list_inputs
from mmpscope.analysis.bulk.measuring import Measured, Measuring, join_measured, measure_batch
from mmpscope.analysis.bulk.run import run_files
from mmpscope.analysis.loading import InputFile
from support.workers import name_or_die

__all__ = ["measure", "measure_slowly", "name_or_die_there"]

_BATCH_FILES = 4
_BATCH_S = 0.3


def measure_slowly(batch: Sequence[InputFile], begun: str) -> Measured:
    """Measure a batch after a while, so that a worker can be killed in mid-work; leave word who began."""
    Path(begun).mkdir(exist_ok=True)
    Path(begun, str(os.getpid())).touch()
    time.sleep(_BATCH_S)
    return measure_batch(batch, Measuring(("captures", "summaries")))


def measure(folder: str, begun: str, scheduler: str | None = None) -> None:
    """Measure the files of a folder here or on a cluster, and print what came of it."""
    work = partial(measure_slowly, begun=begun)
    files = list_inputs([folder])
    measured = join_measured(run_files(work, files, workers=1, scheduler=scheduler, batch_files=_BATCH_FILES))
    captures = measured.measures.captures
    answer = {
        "inputs": captures.column("input").to_pylist(),
        "captures": str(captures.drop_columns("input").to_pylist()),
        "summaries": str(measured.measures.summaries.to_pylist()),
        "errors": [error.input for error in measured.errors],
    }
    print(json.dumps(answer))


def name_or_die_there(scheduler: str, *names: str) -> None:
    """Name files on a cluster, of which some end their worker, and print which did."""
    files = [InputFile(name, {}, None, True) for name in names]
    done, killed = list[str](), list[str]()
    for outcome in run_files(name_or_die, files, scheduler=scheduler, batch_files=_BATCH_FILES):
        done += outcome.result or ()
        killed += [file.path for file in outcome.files if outcome.error is not None]
    print(json.dumps({"done": done, "killed": killed}))
