"""The parts of an address space that are worth measuring on their own.

On a 64-bit system the whole space says nothing: terabytes are always free. What can run out there is the part
that 32-bit pointers or the short jumps of the program reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.facts import show_fact
from mmpscope.analysis.space import has_address_space

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["NamedWindow", "is_64_bit", "list_windows"]

_4_GIB = 1 << 32
_REACH = 1 << 31
"""How far a signed displacement of 32 bits reaches: calls and addresses relative to the program counter on
x86-64 (System V ABI, small code model)."""


@dataclass(frozen=True)
class NamedWindow:
    """The range [low, high) under a name."""

    name: str
    low: int
    high: int


def is_64_bit(snapshot: LoadedSnapshot) -> bool:
    """Tell if a process has more address space than 32-bit pointers can name."""
    return snapshot.usable_range[1] > _4_GIB


def list_windows(snapshot: LoadedSnapshot, window: tuple[int, int] | None = None) -> list[NamedWindow]:
    """List what to measure: the usable range, on 64-bit the parts that matter, and the user's own window.

    Nothing without an address space.
    """
    if not has_address_space(snapshot):
        return []
    low, high, _ = snapshot.usable_range
    windows = [NamedWindow("usable range", low, high)]
    if is_64_bit(snapshot):
        windows.append(NamedWindow("below 4 GiB", low, _4_GIB))
        windows += _find_reach(snapshot)
    if window is not None:
        windows.append(NamedWindow("asked for", max(low, window[0]), min(high, window[1])))
    return windows


def _find_reach(snapshot: LoadedSnapshot) -> list[NamedWindow]:
    """Return what every byte of the main program reaches within 2 GiB; nothing where it is not known."""
    low, high, _ = snapshot.usable_range
    exe = show_fact(snapshot.process.get("exe"))  # as the path column shows bytes that are no UTF-8
    columns = RawColumns(snapshot.regions)
    mapped = columns.text("path").match(lambda path: path == exe)
    if not mapped.any():
        return []
    first = max(low, int(columns.numbers("end").values[mapped].max()) - _REACH)
    last = min(high, int(columns.numbers("address").values[mapped].min()) + _REACH)
    return [NamedWindow("within 2 GiB of the program", first, max(first, last))]
