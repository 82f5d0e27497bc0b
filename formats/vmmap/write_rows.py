"""What the writers of VMMap's formats are given: plain rows, one for each line that VMMap would show."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ListRow"]


class ListRow(NamedTuple):
    """An allocation, a part of the one before it, or a hole; in the order of addresses, sizes in bytes.

    ``kind`` is a type as VMMap's list shows it, ``protection`` a PAGE_* number, 0 for a reservation. None is
    what is not known. ``use_type``, ``storage`` and ``id`` stand in XML only, and the number for a type
    follows from its name where it is not given.
    """

    address: int
    size: int
    kind: str
    is_part: bool = False
    committed: int | None = 0
    private: int | None = 0
    total_ws: int | None = 0
    private_ws: int | None = 0
    shareable_ws: int | None = 0
    shared_ws: int | None = 0
    locked_ws: int | None = 0
    blocks: int | None = 0
    protection: int | None = 0
    details: str | None = None
    use_type: int | None = None
    storage: int | None = 0
    id: int | None = 0
