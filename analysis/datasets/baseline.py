"""Snapshots of a dataset as the baseline of a check: what was kept of each, not the snapshot itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.capability import find_estimates
from mmpscope.analysis.checks.budget import MAPPINGS, MODULE, MODULES, RIGHTS, TOTAL, TYPE, Subject
from mmpscope.analysis.checks.figures import Figure, Pair, join_sides, measure_figure, pair_up
from mmpscope.analysis.checks.parts import Named, find_tail, matches, measure_part
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.datasets.reading import read_parts
from mmpscope.analysis.datasets.schema import RAW_PREFIX
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.extent import find_extent
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.families import find_family
from mmpscope.analysis.identity import identify
from mmpscope.analysis.mapping_count import find_counted

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.summary import Summary

__all__ = ["KeptSnapshot", "Moment", "find_moment", "read_baseline"]

Row = Mapping[str, Any]
Moment = tuple[object, ...]
"""What tells one snapshot from every other: boot, pid, start time and monotonic time."""

_TABLES = ("captures", "summaries", "modules", "capability", "regions")
_INSTANCE = ("boot_id", "pid", "start_time")
_DELETED = " (deleted)"
_NAMELESS = "memory without a name"
_ALL = "all regions"
_APART = ("Page Table", "Unusable")
"""Rows that are left out of both totals where one side does not tell them, as in a diff."""
_UNTOLD = "no fact tells it from other private data"
_UNKNOWN = "not all of it is known"


def read_baseline(
    root: Path, new: LoadedSnapshot, said: list[str], seen: set[Moment] | None = None
) -> Iterator[KeptSnapshot]:
    """Yield the snapshots of the program of the new one, without itself.

    Of a series the last of each process counts, and of copies one: ``seen`` has the moments of what counts
    already, and grows. What is left out is appended to ``said``. CannotTellError where there is none; raises
    as `read_measures`.
    """
    name, own = show_fact(new.process.get("name")), find_moment(new)
    count, others, copies, last = 0, 0, 0, _find_last(root)
    seen = set() if seen is None else seen
    for tables in read_parts(root, _TABLES):
        captures = [row for row in tables["captures"].to_pylist() if row["snapshot_id"] in last]
        wanted = [row for row in captures if None in (name, row["name"]) or row["name"] == name]
        others += len(captures) - len(wanted)
        kept = [row for row in wanted if own is None or _find_moment_of(row) != own]
        if len(kept) < len(wanted):
            said.append(f"{root} has the snapshot that is checked, which does not count")
        count += len(kept)
        fresh = [row for row in kept if _find_moment_of(row) not in seen]
        copies += len(kept) - len(fresh)
        seen.update(filter(None, map(_find_moment_of, fresh)))
        yield from (KeptSnapshot(row, tables) for row in fresh)
    if copies:
        said.append(f"{copies:,} of {root} are copies of others, and do not count")
    if others:
        said.append(f"{others:,} snapshots of {root} are of other programs, and do not count")
    if not count:
        raise CannotTellError(f"no other snapshot of {root} is of {name or 'this program'}. Name a baseline")


def _find_last(root: Path) -> set[str]:
    """Return the ids of the last snapshot of each process of each file; without a pid each is one.

    A file that has grown between two builds is one, though its content is not: its path tells that.
    """
    last: dict[object, tuple[int, str]] = {}
    for tables in read_parts(root, ("captures",)):
        for row in tables["captures"].select(["snapshot_id", "input", *_INSTANCE]).to_pylist():
            snapshot, instance = row["snapshot_id"], tuple(row[name] for name in _INSTANCE)
            file, number = row["input"].rpartition("#")[0], int(snapshot.rpartition(":")[2])
            key = snapshot if row["pid"] is None else (file, instance)
            last[key] = max(last.get(key, (-1, "")), (number, snapshot))
    return {snapshot for _, snapshot in last.values()}


def find_moment(snapshot: LoadedSnapshot) -> Moment | None:
    """Tell a snapshot from every other; None where its facts do not."""
    one, mono = identify(snapshot), get_number(snapshot.moment, "mono_ns")
    told = (one.boot, one.pid, one.start_time, mono)
    return None if None in told else told


def _find_moment_of(row: Row) -> Moment | None:
    told = tuple(row[name] for name in (*_INSTANCE, "mono_ns"))
    return None if None in told else told


@dataclass(frozen=True)
class KeptSnapshot:
    """One snapshot of a dataset: its row of captures, and the tables of the part that it is in."""

    capture: Row
    tables: Mapping[str, pa.Table]

    @property
    def label(self) -> str:
        """File and number, as it was when it was read."""
        return str(self.capture["input"])

    @property
    def has_moved(self) -> bool:
        """Whether the map changed while it was read."""
        return self.capture["map_moved"] is True

    def measure(
        self, new: LoadedSnapshot, summary: Summary, subjects: Sequence[Subject]
    ) -> tuple[dict[Subject, Pair], dict[Subject, Named]]:
        """Measure what is checked, beside the new snapshot, of which `summary` is: figures, and names."""
        pairs: dict[Subject, Pair] = {}
        names: dict[Subject, Named] = {}
        for subject in subjects:
            if subject == RIGHTS:
                names[subject] = self._list_unsafe()
            elif subject == MODULES:
                names[subject] = self._list_modules()
            elif subject.kind == TOTAL:
                pairs[subject] = self._compare_totals(new, summary, subject.metric)
            else:
                is_type = subject.kind == TYPE
                after = measure_figure(new, summary, subject) if is_type else measure_part(new, subject)
                pairs[subject] = pair_up(self._measure(subject, new), after)
        return pairs, names

    def _take(self, name: str) -> pa.Table:
        table = self.tables[name]
        return table.filter(pc.equal(table["snapshot_id"].cast(pa.string()), self.capture["snapshot_id"]))

    @cached_property
    def _summary(self) -> dict[str, Row]:
        return {row["type"]: row for row in self._take("summaries").to_pylist()}

    @cached_property
    def _modules(self) -> list[Row]:
        return list(self._take("modules").to_pylist())

    @property
    def _lacking(self) -> str | None:
        """Why not all regions are known; None where they are."""
        return (
            None if self.capture["extent"] == _ALL else self.capture["lacks"] or "not all regions are known"
        )

    def _explain(self, metric: str) -> str | None:
        """Say why a figure is not known, or not exactly."""
        for row in self._take("capability").to_pylist():
            if row["item"] == f"regions.{metric}" and row["state"] != "ok":
                return str(row["reason"] or row["state"])
        return None

    def _compare_totals(self, new: LoadedSnapshot, summary: Summary, metric: str) -> Pair:
        """Add up on both sides the types that both know."""
        if (lacking := join_sides(self._lacking, find_extent(new).reason)) is not None:
            return Pair(None, None, lacking)
        after = {row["type"]: row for row in summary.table.to_pylist()}
        sums, left_out = [0, 0], []
        for kind, row in self._summary.items():
            if kind in ("Total", "Free"):
                continue
            sides = (row, after[kind])
            known = [_is_known(side, metric) for side in sides]
            if all(known):
                sums = [total + (side[metric] or 0) for total, side in zip(sums, sides, strict=True)]
            elif kind in _APART:
                left_out.append(kind)
            else:
                return Pair(None, None, join_sides(*self._explain_both(new, metric, known)))
        note = f"without {', '.join(left_out)}, which one side does not tell" if left_out else None
        return Pair(sums[0], sums[1], self._doubt(new, metric), note)

    def _explain_both(self, new: LoadedSnapshot, metric: str, known: Sequence[bool]) -> list[str | None]:
        reasons = [self._explain(metric), _explain_new(new, metric)]
        return [None if is_known else why or _UNKNOWN for is_known, why in zip(known, reasons, strict=True)]

    def _doubt(self, new: LoadedSnapshot, metric: str) -> str | None:
        """Say which side has but an estimate, where the other has the figure itself."""
        estimates = [self._explain(metric), find_estimates(new).get(metric)]
        return join_sides(*estimates) if estimates.count(None) == 1 else None

    def _measure(self, subject: Subject, new: LoadedSnapshot) -> Figure:
        if subject == MAPPINGS:
            return Figure(
                self.capture["mappings"], None if self.capture["mappings"] is not None else _UNKNOWN
            )
        if subject.kind == MODULE:
            return self._measure_modules(subject)
        row = self._summary[subject.where]
        if row["size"] is None:
            return Figure(None, _UNTOLD)
        if not _is_known(row, subject.metric):
            return Figure(row[subject.metric], self._explain(subject.metric) or _UNKNOWN)
        return Figure(row[subject.metric], self._doubt(new, subject.metric))

    def _measure_modules(self, subject: Subject) -> Figure:
        named = self._list_modules()
        if named.lacking is not None:
            return Figure(None, named.lacking)
        values = [row[subject.metric] for row in self._modules if matches(row["path"] or "", subject.where)]
        partial = subject.metric in (self._summary["Image"]["partial"] or "").split(", ")
        if None in values or (values and partial):
            return Figure(None, f"{subject.metric} is not known of all of it")
        return Figure(sum(values), is_there=bool(values))

    def _list_modules(self) -> Named:
        if self._lacking is not None:
            return Named({}, self._lacking)
        if not self._modules:
            return Named({}, "it has no list of modules")
        return Named(Counter((row["path"] or "").removesuffix(_DELETED) for row in self._modules))

    def _list_unsafe(self) -> Named:
        """Add up the memory that is writable and executable, as `checks.parts.list_unsafe` does."""
        regions = self._take("regions")
        raw = _take_raw(regions)
        rights, counted = find_family(raw).read_rights(raw), find_counted(regions)
        lacking = self._lacking
        if lacking is None and not rights.has_access[counted].all():
            lacking = "it does not tell the access rights of all memory"
        path, size = raw.text("path"), raw.numbers("size").values
        amounts: Counter[str] = Counter()
        for place in np.flatnonzero(
            rights.writable & rights.executable & rights.has_access & counted
        ).tolist():
            name = path.values[path.codes[place]] or _NAMELESS
            amounts[find_tail(name.removesuffix(_DELETED))] += int(size[place])
        return Named(amounts, lacking)


def _is_known(row: Row, metric: str) -> bool:
    """Tell if a figure of a type is known in full; memory of a type that cannot be told is in another."""
    if row["size"] is None and row["type"] not in _APART:
        return True
    return row[metric] is not None and metric not in (row["partial"] or "").split(", ")


def _explain_new(new: LoadedSnapshot, metric: str) -> str | None:
    for row in new.stated_capability:
        if row.item == f"regions.{metric}" and row.state != "ok":
            return row.reason or row.state
    return None


def _take_raw(regions: pa.Table) -> RawColumns:
    """Return the columns of the source under their own names: those that this snapshot has."""
    columns = {"start": regions["address"], "size": regions["size"]}
    for name in regions.column_names:
        if name.startswith(RAW_PREFIX) and regions[name].null_count < regions.num_rows:
            columns[name.removeprefix(RAW_PREFIX)] = regions[name]
    return RawColumns(pa.table({name: column.combine_chunks() for name, column in columns.items()}))
