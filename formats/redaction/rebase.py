"""Addresses moved zone by zone, by distances that are secret: where ASLR put things is told no longer.

Sizes, order, and all distances within a zone stay. What cannot move stays, and the plan says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from mmpscope.formats.mmp.columns import Plain, decode_column
from mmpscope.formats.model import Capability, Fact, Facts, Snapshot, Table
from mmpscope.formats.proc.space import infer_end
from mmpscope.formats.redaction.rules import NUMBERS, Kind
from mmpscope.formats.redaction.tokens import Tokens
from mmpscope.formats.redaction.zones import (
    Zone,
    choose_linux_space,
    choose_windows_space,
    cut_linux,
    cut_windows,
)

__all__ = ["REBASE", "Rebase", "plan_rebase"]

REBASE = "rebase"
"""The item of the capability list of a snapshot that says which addresses were moved."""
_MOVED = "addresses are moved by secret distances, and those below 0x{:x} stay as they are"
_STAY = "addresses stay as they are: {}"
_STAY_BETWEEN = (
    "addresses from 0x{:x} to 0x{:x} stay as they are: a region lies across the limits of what moves"
)
_USER_SHARED = 0x7FFE_0000
"""KUSER_SHARED_DATA lies here in every process of every Windows: that it stays tells nothing."""
_STAY_LOW = "addresses below 0x{:x} stay as they are: nothing there is moved"
_MASK = (1 << 64) - 1
_FOUR_GIB = 1 << 32
_HIGHEST = 1 << 56
"""No process has memory above it; a map shows pages of the kernel there."""
_AUXV = ("AT_PHDR", "AT_ENTRY", "AT_BASE", "AT_RANDOM", "AT_SYSINFO_EHDR")
_NUMBER = re.compile(r"(?<![0-9A-Za-z])(?:(0[xX])([0-9a-fA-F]{9,16})|[0-9]{9,20})(?![0-9A-Za-z])")
"""What may be an address in a text: hex behind 0x, or digits that could be hex as well."""
_Range = tuple[int, int]


class Rebase:
    """Where each address of one snapshot goes."""

    def __init__(
        self,
        zones: Sequence[Zone],
        distances: Sequence[int],
        said: Capability,
        tokens: Tokens,
        low: str | None = None,
    ) -> None:
        self.said = said
        self._low = low
        self._tokens = tokens
        self._starts = [zone.start for zone in zones]
        self._distances = distances

    def move(self, number: int, kind: Kind) -> int | None:
        """Move a number of a kind; what is no address stays. None where it is left out."""
        if kind is Kind.KERNEL:
            return number if number in (0, 1) else None
        if kind not in (Kind.ADDRESS, Kind.END, Kind.BASE):
            return number
        if not 0 <= number <= _MASK:
            return None
        return self._move_end(number) if kind is Kind.END else self._move(number)

    def list_unmoved(self) -> list[str]:
        """Give the reason why addresses stay, or which are never moved; nothing where all of them moved."""
        if self.said.state != "ok":
            return [self.said.reason or ""]
        return [] if self._low is None else [self._low]

    def move_columns(self, table: str, columns: Mapping[str, Plain]) -> dict[str, Plain]:
        """Move the addresses of a table, column by column."""
        moved = dict(columns)
        for name, column in columns.items():
            kind = NUMBERS.get(name, Kind.NUMBER)
            if kind is not Kind.NUMBER and column.type != "text":
                changed = {value: self.move(value, kind) for value in set(column.values) - {None}}
                moved[name] = column._replace(values=[changed.get(value) for value in column.values])
        if "base" in columns and "low" in columns:
            bases = zip(columns["base"].values, columns["low"].values)
            moved["base"] = columns["base"]._replace(values=[self._move_base(*pair) for pair in bases])
        if table == "free" and {"start", "size"} <= columns.keys():
            holes = [self._move_hole(*hole) for hole in zip(columns["start"].values, columns["size"].values)]
            for place, name in enumerate(("start", "size")):
                moved[name] = columns[name]._replace(values=[hole[place] for hole in holes])
        if "Largest" in columns and "name" in columns and any(self._distances):
            rows = zip(columns["name"].values, columns["Largest"].values)
            moved["Largest"] = columns["Largest"]._replace(values=[_hide_hole(*row) for row in rows])
        return moved

    def move_text(self, text: str) -> str:
        """Move the addresses in a text that was redacted; what only may be one becomes a token."""
        return _NUMBER.sub(self._move_piece, text)

    def _move(self, address: int) -> int:
        return (address + self.find_distance(address)) & _MASK

    def _move_end(self, address: int) -> int:
        """Move the first address behind something, which goes where its last byte goes."""
        return (address + self.find_distance(max(address - 1, 0))) & _MASK

    def _move_base(self, base: int | None, low: int | None) -> int | None:
        """Move the base of a module with its lowest byte: that of a program with fixed addresses is 0."""
        if base is None:
            return None
        return self._move(base) if low is None else (base + self.find_distance(low)) & _MASK

    def _move_hole(self, start: int, size: int) -> tuple[int, int]:
        """Move a hole, which begins where what is before it ends, and ends where what is behind it begins."""
        moved = self._move_end(start)
        return moved, max(self._move(start + size) - moved, 0)

    def find_distance(self, address: int) -> int:
        """Return how far an address moves, negative downwards."""
        return self._distances[max(bisect_right(self._starts, address) - 1, 0)]

    def _move_piece(self, found: re.Match[str]) -> str:
        if found[1]:
            return f"{found[1]}{self._move(int(found[2], 16)):x}"
        is_moved = any(self.find_distance(int(found[0], base)) for base in (10, 16))
        return self._tokens.make_name(found[0]) if is_moved else found[0]


def _hide_hole(name: bytes | None, largest: int | None) -> int | None:
    """Leave out the largest hole, which lies between two zones and would tell how far these moved."""
    return None if name is None or b"free" in name.lower() else largest


def plan_rebase(snapshot: Snapshot, tokens: Tokens) -> Rebase:
    """Choose how far each zone of a snapshot moves: the same for whatever shares its layout.

    FormatError where the table of regions is damaged.
    """
    regions = list(_list_ranges(snapshot.tables, "regions", "allocations"))
    zones, why_not = _cut(snapshot, regions)
    if why_not is not None:
        said = Capability(REBASE, "skipped", None, _STAY.format(why_not))
        return Rebase([Zone("all", 0, 1 << 64)], [0], said, tokens)
    staying = _find_staying(zones, regions)
    distances = [0 if zone in staying else _choose_distance(zone, snapshot, tokens) for zone in zones]
    crossed = [zone for zone in staying if zone.unit]
    said = Capability(REBASE, "ok", None, _MOVED.format(zones[1].start))
    if crossed:
        told = _STAY_BETWEEN.format(crossed[0].start, crossed[-1].end)
        said = Capability(REBASE, "skipped", None, told)
    is_low = any(start < zones[1].start and start >> 16 != _USER_SHARED >> 16 for start, _ in regions)
    return Rebase(zones, distances, said, tokens, _STAY_LOW.format(zones[1].start) if is_low else None)


def _list_ranges(tables: Mapping[str, Table], *names: str) -> Iterator[_Range]:
    for name in names:
        table = tables.get(name)
        if table is None or not {"start", "size"} <= table.columns.keys():
            continue
        for start, size in zip(decode_column(table, "start"), decode_column(table, "size")):
            if start is not None and size and start < _HIGHEST:
                yield start, start + size


def _cut(snapshot: Snapshot, regions: Sequence[_Range]) -> tuple[list[Zone], str | None]:
    """Return the zones of a snapshot, or why its system has none that we know."""
    system, machine = _read_system(snapshot), _read_machine(snapshot)
    if system == "macos":
        return [], "where macos places memory is not known"
    end = _find_end(snapshot, regions, system)
    if end <= _FOUR_GIB:
        return [], "in 32 bits there is no room to move them"
    if system == "windows":
        return cut_windows(choose_windows_space(end), end), None
    return cut_linux(choose_linux_space(end, machine), end, machine), None


def _read_system(snapshot: Snapshot) -> str:
    """Tell linux, windows or macos: as the snapshot says, else by the columns of its regions."""
    stated = snapshot.capture.host.get("os")
    if stated in ("windows", "macos"):
        return str(stated)
    columns = snapshot.tables["regions"].columns if "regions" in snapshot.tables else {}
    if "RegionType" in columns:
        return "macos"
    return "windows" if {"State", "VmmapType"} & columns.keys() and "perms" not in columns else "linux"


def _read_machine(snapshot: Snapshot) -> str:
    stated = (snapshot.capture.host.get("machine"), _get(snapshot.process, "elf", "machine"))
    return next((each for each in stated if isinstance(each, str)), "")


def _find_end(snapshot: Snapshot, regions: Sequence[_Range], system: str) -> int:
    """Return where the space of a process ends: as stated, else behind all regions, else by its bits."""
    highest = max((end for _, end in regions), default=0)
    stated = _get(snapshot.process, "range", "end")
    if type(stated) is int:
        return max(stated, highest)
    bits = _get(snapshot.process, "elf", "class") or snapshot.process.get("bits")
    if bits == 32 or (highest and highest <= _FOUR_GIB and bits != 64):
        return _FOUR_GIB
    if system == "windows":
        holes = max((end for _, end in _list_ranges(snapshot.tables, "free")), default=0)
        return holes if holes >= highest else choose_windows_space(highest)
    return infer_end(highest).end if highest > _FOUR_GIB else 1 << 47


def _get(facts: Facts, name: str, key: str) -> Fact:
    inner = facts.get(name)
    return inner.get(key) if isinstance(inner, dict) else None


def _find_staying(zones: Sequence[Zone], regions: Sequence[_Range]) -> list[Zone]:
    """List the zones that must stay, as a region does not lie in one alone, or in the room between two.

    A zone that may move into that of another stays where the other does, as the stack does with the mappings.
    """
    starts = [zone.start for zone in zones]
    staying: set[int] = set()
    for start, end in regions:
        first = bisect_right(starts, start) - 1
        if end > zones[first].end:
            last = max(bisect_right(starts, end - 1) - 1, first + 1)
            staying.update(range(first, min(last + 1, len(zones))))
    for number, zone in enumerate(zones[1:], 1):
        if zone.least < 0 and zones[number - 1].end == zone.start and number - 1 in staying:
            staying.add(number)
    return [zones[number] for number in sorted(staying)]


def _choose_distance(zone: Zone, snapshot: Snapshot, tokens: Tokens) -> int:
    if not zone.unit:
        return 0
    steps = (zone.most - zone.least) // zone.unit
    layout = _name_boot(snapshot) if zone.is_shared else _name_layout(snapshot)
    return zone.least + zone.unit * tokens.choose(f"{REBASE} {zone.name}", repr(layout), steps)


def _name_layout(snapshot: Snapshot) -> tuple[Fact, ...]:
    """Say what tells this layout from others, in every snapshot of it.

    Children that a program forked have its layout, and what the kernel told it when it started: they must
    move alike, as many distances of one layout would tell it. Where that is not known it is the instance.
    """
    told = tuple(_get(snapshot.process, "auxv", name) for name in _AUXV)
    if any(type(address) is int and address > _FOUR_GIB for address in told):
        return told
    process = snapshot.process
    started = _get(process, "stat", "starttime"), process.get("start_time"), process.get("create_time")
    return (*_name_boot(snapshot), process.get("pid_namespace"), process.get("pid"), *started)


def _name_boot(snapshot: Snapshot) -> tuple[Fact, ...]:
    return snapshot.capture.host.get("id"), snapshot.capture.host.get("boot_id")
