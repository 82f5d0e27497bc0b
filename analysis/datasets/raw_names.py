"""Columns of the regions of a dataset: ours under their names, those of the source under others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.datasets.schema import RAW_PREFIX
from mmpscope.analysis.schema import REGIONS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["name_columns"]

_OURS = len(REGIONS)
_CLASH = "raw."
"""What `LoadedSnapshot.regions` puts before a raw column that has the very name of one of ours."""


def name_columns(table: pa.Table) -> list[str]:
    """Return the names of the columns of a regions table in a dataset: raw ones get ``raw_`` before theirs.

    SQL tells no case apart. Of raw columns that differ only in case, the later ones get ``_2``, ``_3`` ...
    """
    names: list[str] = table.column_names[:_OURS]
    taken = {name.lower() for name in names}
    for name in table.column_names[_OURS:]:
        plain = name.removeprefix(_CLASH) if name.removeprefix(_CLASH) in names[:_OURS] else name
        shown, count = f"{RAW_PREFIX}{plain}", 1
        while shown.lower() in taken:
            count += 1
            shown = f"{RAW_PREFIX}{plain}_{count}"
        taken.add(shown.lower())
        names.append(shown)
    return names
