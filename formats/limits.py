"""Limits on what a file may ask of its reader; every one is checked before anything is allocated.

They are far above real files (the largest process seen has some 65,530 mappings by default, each below
400 raw bytes) and far below what hurts a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_LIMITS", "Allowance", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Upper bounds for one reader; sizes in bytes."""

    info_bytes: int = 64 * 1024
    """Size of a frame's info map."""
    info_depth: int = 8
    """Nesting of a frame's info map."""
    info_values: int = 4096
    """Values in a frame's info map."""
    payload_bytes: int = 1 << 30
    """Stored size of one frame's payload."""
    payload_depth: int = 16
    """Nesting of a payload's small maps and of a table's column descriptors."""
    payload_values: int = 1 << 20
    """Values in a payload's small maps, and in a table's column descriptors: some 100 MiB once unpacked."""
    table_raw_bytes: int = 1 << 30
    """Decompressed size of one table."""
    table_rows: int = 1 << 26
    """Rows of one table: 67 million, a thousand times the default mapping limit of Linux."""
    equal_rows: int = 1 << 20
    """Rows of one table that is stored in fewer bytes than it has rows: those of a real one differ."""
    equal_bytes: int = 1 << 26
    """Decompressed size of one table that is stored in less than a 64th of it, of which the same is true."""
    columns: int = 4096
    """Columns of one table."""
    table_cells: int = 1 << 27
    """Rows times columns of one table: a gigabyte once decoded, however few bytes it is stored in."""
    frames: int = 1 << 20
    """Frames of one file: six days of a snapshot and a capture every second."""


DEFAULT_LIMITS = Limits()


class Allowance:
    """Cells of tables that are decoded of one input to verify it: 34 million, or 32 for each of its bytes.

    Twenty million take Python a second or two. What was collected has a few for each byte that is stored.
    """

    def __init__(self, size: int) -> None:
        self.left = max(1 << 25, 32 * size)

    def take(self, cells: int) -> bool:
        """Take cells if there are so many left."""
        if cells > self.left:
            return False
        self.left -= cells
        return True
