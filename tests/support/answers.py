"""What snapshots answer, written so that the answers about a redacted file can be compared with others."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa
from mmpscope.analysis import LoadedSnapshot, find_free, list_heaps, summarize
from mmpscope.formats.errors import MmpError
from mmpscope.formats.registry import open_source
from support.corpus import ROOT
from support.redacting import read_all

__all__ = ["NAMES", "PAIRS", "QUESTIONS", "SAMPLES", "Question", "answer", "read_sample", "show"]

LeftOut = Collection[str | tuple[str, str]]
Question = Callable[[LoadedSnapshot], pa.Table]
SAMPLES = sorted((ROOT / "samples").glob("*-v1.0.mmp"))
PAIRS = [
    ("linux-reserve-commit-a-v1.0.mmp", "linux-reserve-commit-b-v1.0.mmp"),
    ("linux-workers-a-v1.0.mmp", "linux-workers-b-v1.0.mmp"),
    ("linux-java-v1.0.mmp", "linux-python-v1.0.mmp"),
    ("windows-reserve-commit-v1.0.mmp", "windows-wow64-v1.0.mmp"),
    ("linux-leak-v1.0.mmp", "linux-arenas-v1.0.mmp"),
]
NAMES: set[str | tuple[str, str]] = {
    *("unit", "path", "name", "details", "exe", "hostname", "host_id", "boot_id", "build_id", "mtime_ns"),
    *(
        "name_a",
        "name_b",
        "path_a",
        "path_b",
        "build_id_a",
        "build_id_b",
        "details_a",
        "details_b",
        "taken_by",
    ),
    *(
        "inode",
        "layout",
        "raw",
        "Name",
        "Details",
        "object",
        "timestamp",
        "checksum",
        "pdb",
        "reason",
        "label",
    ),
    *(
        "snapshot",
        "user",
        "cmdline",
        "uid",
        "given_back_by",
        "between_a",
        "between_b",
        "between",
        "process",
        "before",
        "after",
    ),
}
"""Columns of names and of numbers that identify, and of texts that hold some."""


def show(table: pa.Table, without: LeftOut = ()) -> list[str]:
    """Write the rows of a table without names, in no order: names decide that, too.

    ``without`` are further columns to leave out, or pairs of the type of a row and a column.
    """
    left_out = NAMES.union(without)
    rows = [
        {name: row[name] for name in row if name not in left_out and (row.get("type"), name) not in left_out}
        for row in table.to_pylist()
    ]
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def read_sample(name: str) -> list[Any]:
    """Read the snapshots of a sample."""
    return read_all(open_source(ROOT / "samples" / name))


def answer(
    question: Question, snapshot: LoadedSnapshot, without: Collection[str | tuple[str, str]] = ()
) -> list[str]:
    """Ask a snapshot; where it cannot tell, that is the answer, and why."""
    try:
        return show(question(snapshot), without)
    except MmpError as error:
        return [type(error).__name__, str(error)]


QUESTIONS: tuple[Question, ...] = (
    lambda snapshot: snapshot.regions,
    lambda snapshot: snapshot.threads,
    lambda snapshot: snapshot.modules,
    summarize,
    find_free,
    list_heaps,
)
