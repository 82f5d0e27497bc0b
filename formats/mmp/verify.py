"""Read everything that a `.mmp` file holds and list what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from mmpscope.formats.errors import FormatError, UnsupportedVersionError
from mmpscope.formats.limits import DEFAULT_LIMITS, Allowance, Limits
from mmpscope.formats.mmp.columns import MAX_REFERENCES, decode_column
from mmpscope.formats.mmp.contents import Contents, list_contents, unpack_index
from mmpscope.formats.mmp.frames import FileBytes, read_payload
from mmpscope.formats.mmp.header import check_magic
from mmpscope.formats.mmp.plausible import CHECKED, MOST_CHECKED, list_contradictions
from mmpscope.formats.mmp.reader import HEAD_BYTES, MmpFile, PathOrStream, naming, open_stream
from mmpscope.formats.mmp.scan import Scan, scan
from mmpscope.formats.model import Fact, Table
from mmpscope.formats.source import Fault

__all__ = ["verify"]

_CHEAP = ("null", "const", "same")
_FOR_EACH_ROW, _FOR_A_SORT = 4, 3
"""What comparing a region with others, and a sort, take in place of decoding a number."""


def verify(
    source: PathOrStream, *, limits: Limits = DEFAULT_LIMITS, allowance: Allowance | None = None
) -> list[Fault]:
    """Return every fault: of frames and their order, of the index, of payloads, tables and columns.

    Tables for which the ``allowance`` is too small are not decoded, which is a fault, too; None allows all.
    NotASnapshotError and UnsupportedVersionError where there is nothing to verify.
    """
    with ExitStack() as opened:
        name, stream = open_stream(source, opened)
        data = FileBytes(stream)
        with naming(name):
            check_magic(data.read(0, HEAD_BYTES))
            walked = scan(data, limits)
            contents = list_contents(walked, partial=True)
            faults = list(walked.faults) or list(_check_indexes(data, walked, limits))
        file = MmpFile(name, data, contents, partial=True, limits=limits)
        refused: list[str] = []
        for entry in file.entries:
            faults.extend(_check_snapshot(file, entry.index, allowance, refused))
    return [*faults, *_tell_refused(refused)]


def _tell_refused(refused: Sequence[str]) -> Iterator[Fault]:
    if refused:
        more = f" and {len(refused) - 1:,} more" if len(refused) > 1 else ""
        told = f"{refused[0]}{more} has more cells than are decoded of so few bytes"
        yield Fault(f"{told} (`mmp verify --all` decodes them)")


def _check_indexes(data: FileBytes, walked: Scan, limits: Limits) -> Iterator[Fault]:
    """Compare each index with the frames before it, which must all be there: offsets move otherwise."""
    found = Contents()
    for frame, _ in walked.frames:
        if frame.kind == "index":
            try:
                listed = unpack_index(read_payload(data, frame), limits)
            except FormatError as error:
                yield Fault(f"the index is damaged: {error.what}", offset=frame.offset)
                continue
            if (listed.headers, listed.notes, listed.snapshots) != (
                found.headers,
                found.notes,
                found.snapshots,
            ):
                yield Fault("the index does not list what is there", offset=frame.offset)
        found.add(frame.kind, frame.offset, frame.info)


def _check_snapshot(
    file: MmpFile, index: int, allowance: Allowance | None, refused: list[str]
) -> Iterator[Fault]:
    """Check the tables of one snapshot; ``refused`` takes the names of those that are not allowed."""
    offset = file.entries[index].info["offset"]
    try:
        snapshot = file.read(index)
    except FormatError as error:
        yield _describe(error, offset, lost=f"snapshot {index}")
        return
    for tables in (snapshot.capture.tables, snapshot.tables):
        for name in tables:
            try:
                table = tables[name]
            except FormatError as error:
                yield _describe(error, offset, lost=f"table {name} of snapshot {index}")
            else:
                where = f"table {name} of snapshot {index}"
                if allowance is not None and not allowance.take(_count_cells(table)):
                    refused.append(where)
                    continue
                kept: dict[str, list[Fact]] | None = {} if tables is snapshot.tables else None
                yield from _check_table(table, where, offset, kept if name == "regions" else None)
                yield from list_contradictions(kept or {}, snapshot.capture.system, where, offset)


def _count_cells(table: Table) -> int:
    """Count what is decoded of a table; what other columns refer to is decoded with each of them."""
    return table.rows * (_FOR_EACH_ROW + sum(_count_steps(table, name) for name in table.columns))


def _count_steps(table: Table, name: str) -> int:
    """Count the columns that are decoded for one; a column by the order of another is sorted, too."""
    steps, at = 0, table.columns.get(name)
    for _ in range(MAX_REFERENCES):
        if at is None:
            break
        steps += (at.enc not in _CHEAP) + (at.values is not None) + (_FOR_A_SORT if at.by is not None else 0)
        at = None if at.of is None else table.columns.get(at.of)
    return steps


def _check_table(
    table: Table, where: str, offset: int, kept: dict[str, list[Fact]] | None = None
) -> Iterator[Fault]:
    """Decode every column, one after the other; ``kept`` takes those that are looked at once more."""
    for name in table.columns:
        try:
            column = decode_column(table, name)
            if kept is not None and name in CHECKED and table.rows <= MOST_CHECKED:
                kept[name] = column
        except UnsupportedVersionError:
            continue  # an encoding of a newer minor version is no fault
        except FormatError as error:
            yield _describe(error, offset, lost=f"column {name} of {where}")


def _describe(error: FormatError, offset: int, lost: str | None = None) -> Fault:
    return Fault(error.what, offset=offset if error.offset is None else error.offset, lost=lost)
