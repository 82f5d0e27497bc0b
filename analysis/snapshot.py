"""One snapshot, ready to be asked: its tables in Arrow, each made when it is first asked for.

Decoding is apart from classification: whoever needs only raw columns does not pay for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from mmpscope.analysis.capability import list_capability
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.encoded import EncodedColumns
from mmpscope.analysis.freespace import Holes, compare_stated_free, list_holes
from mmpscope.analysis.heaps import list_heaps
from mmpscope.analysis.modules import list_modules
from mmpscope.analysis.processes import list_processes
from mmpscope.analysis.regions import Regions, build_regions
from mmpscope.analysis.rules import RULES_VERSION, Rule
from mmpscope.analysis.rules_vmmap import TYPE_COLUMN
from mmpscope.analysis.schema import CAPABILITY
from mmpscope.analysis.space import UsableRange, find_granularity, find_page_size, find_usable_range
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.threads import list_threads
from mmpscope.analysis.totals import Values, compare_stated_total, read_totals
from mmpscope.analysis.type_sums import TypeSums
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.source import Entry

__all__ = ["LoadedSnapshot"]


class LoadedSnapshot:
    """One process at one moment; every table is an Arrow table, computed once.

    ``label`` is file and number, as in ``run.mmp#3``; ``rules`` are the user's own, which go before ours.
    ``last_of`` is above 1 where nobody chose, and this one stands for that many of its process.
    ``entry`` is what its file lists of it.
    """

    def __init__(
        self,
        label: str,
        read: Callable[[], Snapshot],
        rules: Sequence[Rule] = (),
        *,
        last_of: int = 1,
        entry: Entry | None = None,
    ) -> None:
        self.label = label
        self.last_of = last_of
        self.entry = entry
        self.rules = tuple(rules)
        self._read = read
        self._classify: Callable[[LoadedSnapshot], Regions] = build_regions
        self._find_shared: Callable[[str], pa.Table | None] = lambda name: None
        self._decoded: dict[str, RawColumns] = {}

    def __repr__(self) -> str:
        return f"<LoadedSnapshot {self.label}>"

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_snapshot

        return show_snapshot(self)

    @cached_property
    def raw(self) -> Snapshot:
        """The snapshot as it was stored; FormatError where its bytes are damaged."""
        return self._read()

    @property
    def process(self) -> Facts:
        """Facts of the process under their kernel names: pid, name, status, limits ..."""
        return self.raw.process

    @property
    def moment(self) -> Facts:
        """When it was taken: time_ns, mono_ns, cost of each source, whether the map moved."""
        return self.raw.moment

    @property
    def capture(self) -> Capture:
        """System-wide facts of that moment."""
        return self.raw.capture

    @property
    def rules_version(self) -> str:
        """The version of the classification rules, with a plus where the user's own went first."""
        return f"{RULES_VERSION}+" if self.rules else RULES_VERSION

    @cached_property
    def usable_range(self) -> UsableRange:
        """The addresses that the process could use: start, end (half-open), and who says so."""
        return find_usable_range(self.process, self.capture, self.raw_columns)

    @cached_property
    def page_size(self) -> int:
        """Bytes of a page of memory."""
        return find_page_size(self.process, self.capture, self.raw_columns)

    @property
    def granularity(self) -> int:
        """Bytes to whose multiple the system aligns a new mapping: the page on Linux, 64 KiB on Windows."""
        return find_granularity(self.capture, self.page_size)

    @cached_property
    def raw_regions(self) -> pa.Table:
        """The raw columns of the regions, sorted by address."""
        return self.raw_columns.table

    @cached_property
    def raw_columns(self) -> RawColumns:
        """The raw columns of the regions for numpy, sorted by address."""
        columns = self.decode_raw("regions")
        starts = columns.numbers("start").values
        if (starts[1:] >= starts[:-1]).all():  # as maps are
            return columns
        return RawColumns(columns.table.take(pa.array(np.argsort(starts, kind="stable"))))

    @cached_property
    def classified(self) -> Regions:
        """The regions with what was found on the way to them: geometry and classes."""
        return self._classify(self)

    def classify_by(self, classify: Callable[[LoadedSnapshot], Regions]) -> None:
        """Have the regions classified by another way, when they are asked for (stacking.py)."""
        self._classify = classify

    def share_tables(self, find: Callable[[str], pa.Table | None]) -> None:
        """Have tables cut out of those of several snapshots, when they are asked for (shared_tables.py)."""
        self._find_shared = find

    def find_shared(self, name: str) -> pa.Table | None:
        """Return a table that was made together with those of other snapshots; None where it was not."""
        return self._find_shared(name)

    @cached_property
    def holes(self) -> Holes:
        """What is free, as `find_snapshot_holes` has it; raises as that does."""
        return list_holes(self)

    @cached_property
    def regions(self) -> pa.Table:
        """schema.REGIONS, then every raw column, sorted by address."""
        shared = self.find_shared("regions")
        return self.classified.table if shared is None else shared

    @cached_property
    def type_sums(self) -> tuple[dict[str, TypeSums], dict[str, set[str]]]:
        """The rows of its summary before they are a table, and what Total lacks: summary.py reads it."""
        from mmpscope.analysis.summary import sum_snapshot

        return sum_snapshot(self)

    @cached_property
    def stated_totals(self) -> dict[str, Values]:
        """What the source states of each type of memory, and of the whole, in place of regions."""
        return read_totals(self)

    @cached_property
    def stated_allocations(self) -> pa.Table | None:
        """The allocations that the source states, in the form of regions; None where it states none.

        Those of VMMap have figures of their own, which are not the sums over their sub-blocks. What Windows
        itself says of its allocations are a few facts beside the regions, and no figures.
        """
        rows = self.raw.tables.get("allocations")
        if rows is None or not rows.rows or TYPE_COLUMN not in rows.columns:
            return None
        return self.with_raw(replace(self.raw, tables={"regions": rows}, capability=[])).regions

    def with_raw(self, raw: Snapshot) -> LoadedSnapshot:
        """Return the same snapshot with other facts and tables."""
        return LoadedSnapshot(self.label, lambda: raw, self.rules, last_of=self.last_of, entry=self.entry)

    def unread(self) -> LoadedSnapshot:
        """Return the same snapshot, to be read anew: who lets go of it keeps none of its tables."""
        return LoadedSnapshot(self.label, self._read, self.rules, last_of=self.last_of, entry=self.entry)

    @cached_property
    def threads(self) -> pa.Table:
        """schema.THREADS."""
        shared = self.find_shared("threads")
        return list_threads(self) if shared is None else shared

    @cached_property
    def modules(self) -> pa.Table:
        """schema.MODULES."""
        shared = self.find_shared("modules")
        return list_modules(self) if shared is None else shared

    @cached_property
    def heaps(self) -> pa.Table:
        """schema.HEAPS."""
        return list_heaps(self)

    @cached_property
    def processes(self) -> pa.Table:
        """schema.PROCESSES: what else ran on the machine; empty where it was not asked for."""
        return list_processes(self)

    @cached_property
    def capability(self) -> pa.Table:
        """schema.CAPABILITY: why something is null."""
        rows = self.stated_capability
        columns = {field.name: [getattr(row, field.name) for row in rows] for field in CAPABILITY}
        return build_table(CAPABILITY, columns, len(rows))

    @cached_property
    def stated_capability(self) -> list[Capability]:
        """The rows of `capability` before they are a table: of many snapshots one table is made."""
        disputes = {"free": compare_stated_free(self), "totals": compare_stated_total(self)}
        doubts = ((item, reason) for item, reason in disputes.items() if reason is not None)
        stated = [Capability(item, "partial", None, reason) for item, reason in doubts]
        return [*list_capability(self), *stated]

    def decode(self, name: str) -> pa.Table:
        """Decode one raw table of the snapshot, or of its capture; empty where there is none."""
        return self.decode_raw(name).table

    def decode_raw(self, name: str) -> RawColumns:
        """Return one raw table for numpy; a column is decoded when it is asked for."""
        if name not in self._decoded:
            places = (tables for tables in (self.raw.tables, self.capture.tables) if name in tables)
            found = next(places, {name: Table(0, {})})
            self._decoded[name] = EncodedColumns(found[name])
        return self._decoded[name]
