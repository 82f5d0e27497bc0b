"""What WinDbg and SOS print, written from their published layouts and not with the code under test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = [
    "Region",
    "print_list",
    "print_maddress",
    "print_maddress_totals",
    "print_old_list",
    "print_row",
    "print_summary",
    "fill",
]

_TYPES = {0x20000: "MEM_PRIVATE", 0x40000: "MEM_MAPPED", 0x1000000: "MEM_IMAGE", 0: ""}
_STATES = {0x1000: "MEM_COMMIT", 0x2000: "MEM_RESERVE", 0x10000: "MEM_FREE", 0: ""}
_PROTECTIONS = {
    0: "", 1: "PAGE_NOACCESS", 2: "PAGE_READONLY", 4: "PAGE_READWRITE", 8: "PAGE_WRITECOPY",
    0x20: "PAGE_EXECUTE_READ", 0x40: "PAGE_EXECUTE_READWRITE", 0x104: "PAGE_READWRITE | PAGE_GUARD",
}  # fmt: skip
HEAD_64 = (
    "        BaseAddress      EndAddress+1        RegionSize     Type       State                 "
    "Protect             Usage"
)
HEAD_32 = "  BaseAddr EndAddr+1 RgnSize     Type       State                 Protect             Usage"


class Region(NamedTuple):
    """One range; free where ``state`` is 0x10000, and a gap of a Linux dump where it is 0."""

    start: int
    size: int
    usage: str = "<unknown>"
    details: str = ""
    state: int = 0x1000
    protect: int = 4
    type: int = 0x20000
    allocation: int | None = None


def fill(regions: Iterable[Region], end: int, *, state: int = 0x10000) -> list[Region]:
    """Put free ranges between regions, from 0 to ``end``."""
    filled, at = [], 0
    for region in regions:
        if region.start > at:
            filled.append(_hole(at, region.start, state))
        filled.append(region)
        at = region.start + region.size
    return [*filled, _hole(at, end, state)] if end > at else filled


def _hole(start: int, end: int, state: int) -> Region:
    usage = "Free" if state else "<unknown>"
    return Region(start, end - start, usage, "", state, 1 if state else 0, 0)


def _hex(value: int, bits: int) -> str:
    return f"{value >> 32:x}`{value & 0xFFFFFFFF:08x}" if bits == 64 else f"{value:x}"


def print_row(region: Region, bits: int = 64, *, marks: bool = True) -> str:
    """Print a row of the new form."""
    width = 18 if bits == 64 else 9
    starts = region.allocation in (None, region.start)
    numbers = [_hex(n, bits) for n in (region.start, region.start + region.size, region.size)]
    row = ("+" if starts and marks else " ") + "".join(f"{number:>{width}}" for number in numbers)
    row += f" {_TYPES[region.type]:<11} {_STATES[region.state]:<11} {_PROTECTIONS[region.protect]:<34} "
    return f"{row}{region.usage:<10} {region.details}"


def print_list(regions: Sequence[Region], bits: int = 64, *, marks: bool = True, head: bool = True) -> str:
    """Print a list of the new form."""
    heads = [HEAD_64 if bits == 64 else HEAD_32, "-" * 122] if head else []
    return "\n".join([*heads, *(print_row(region, bits, marks=marks) for region in regions)]) + "\n"


def print_old_list(regions: Sequence[Region], dash: str = "-") -> str:
    """Print a list of the old form, the allocation base only where it is a new one."""
    lines, base = [], -1
    for region in regions:
        allocation = region.start if region.allocation is None else region.allocation
        first = f"    {allocation:08x} : " if allocation != base else " " * 15
        base = allocation
        protect = _PROTECTIONS[region.protect].replace(" | ", "|")
        lines += [
            f"{first}{region.start:08x} {dash} {region.size:08x}",
            f"                    Type     {region.type:08x} {_TYPES[region.type]}",
            f"                    Protect  {region.protect:08x} {protect}",
            f"                    State    {region.state:08x} {_STATES[region.state]}",
            f"                    Usage    RegionUsage{region.usage}",
        ]
        if region.details:
            lines.append(f"                    {region.details}")
    return "\n".join(lines) + "\n"


def print_summary(rows: Sequence[tuple[str, int, int]], bits: int = 64) -> str:
    """Print a summary of (usage, regions, size); what stands in brackets is wrong on purpose."""
    lines = [
        "",
        "--- Usage Summary ---------------- RgnCount ----------- Total Size -------- %ofBusy %ofTotal",
    ]
    for name, count, size in rows:
        lines.append(f"{name:<32} {count:>10} {_hex(size, bits):>17} (   9.999 MB)  10.00%   10.00%")
    lines += [
        "",
        "--- Type Summary (for busy) ------ RgnCount ----------- Total Size -------- %ofBusy %ofTotal",
    ]
    lines.append(f"{'MEM_PRIVATE':<32} {3:>10} {_hex(0x3000, bits):>17} (  12.000 kB) 100.00%    0.01%")
    return "\n".join(lines) + "\n"


def print_maddress(regions: Sequence[Region], *, borders: bool = True) -> str:
    """Print the list of !maddress; the rounded size has a comma, as that of half of the world."""
    rows = [["Memory Kind", "StartAddr", "EndAddr-1", "Size", "Type", "State", "Protect", "Image"]]
    for region in regions:
        protect = _PROTECTIONS[region.protect].replace(" | ", ", ")
        end = region.start + region.size
        cells = [region.usage, f"{region.start:x}", f"{end:x}", "1,00kb", _TYPES[region.type]]
        rows.append([*cells, _STATES[region.state], protect, region.details])
    return _print_table(rows, borders=borders)


def print_maddress_totals(
    sums: Sequence[tuple[str, int, int]],
    head: str = "Memory Type",
    separator: str = ",",
    *,
    borders: bool = True,
) -> str:
    """Print a table of sums of !maddress, numbers grouped in thousands."""
    rows = [[head, "Count", "Size", "Size (bytes)"]]
    for name, count, size in [*sums, ("[TOTAL]", sum(s[1] for s in sums), sum(s[2] for s in sums))]:
        grouped = [f"{number:,}".replace(",", separator) for number in (count, size)]
        rows.append([name, grouped[0], "1.00kb", grouped[1]])
    return _print_table(rows, borders=borders)


def _print_table(rows: Sequence[Sequence[str]], *, borders: bool) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    if not borders:
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + "\n"
    rule = " +-" + "-" * len(lines[0]) + "-+ "
    framed = [f" | {line} | " for line in lines]
    return "\n".join([rule, framed[0], rule, *framed[1:], rule]) + "\n"
