"""The regions of a snapshot by name and by cohort: what a series follows over all of its snapshots.

The units are those by which two instances are compared (analysis/diffs/units.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.columns import Numbers, Text
from mmpscope.analysis.diffs.sides import read_side
from mmpscope.analysis.diffs.units import COHORT, FILE, ROLE, STACK, Units, describe_units
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.measures.schema import (
    COHORTS,
    FIGURES,
    FILE_KIND,
    MODULE_KIND,
    NAME_KIND,
    STACK_KIND,
)
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Columns", "list_cohorts", "list_names", "read_units"]

Columns = dict[str, list[object]]
"""Columns of one length, by name, without the id of the snapshot."""

_MAIN_STACK = "main stack"
_COHORT_FIGURES = ("size", "committed", "private", "private_ws", "total_ws")


def read_units(snapshot: LoadedSnapshot) -> Units:
    """Tell of each region that counts which unit it is a part of."""
    return describe_units(snapshot, read_side(snapshot.regions))


def list_names(units: Units) -> Columns:
    """List what has a name (schema.NAMES), sorted by kind and name.

    A figure is null where a region of the row does not know it.
    """
    rows = np.flatnonzero(units.kind != COHORT)
    names = _name_rows(units, rows)
    distinct = sorted(set(names))
    places = {name: place for place, name in enumerate(distinct)}
    groups = group_by(np.array([places[name] for name in names], np.int64))
    return {
        "kind": [kind for kind, _ in distinct],
        "name": [name for _, name in distinct],
        **_sum_figures(units, rows, groups, FIGURES),
        "blocks": groups.count.tolist(),
    }


def _name_rows(units: Units, rows: NDArray[np.int64]) -> list[tuple[str, str]]:
    """Return kind and name of each of these regions; each distinct one is made once."""
    kinds, codes, files = (each[rows].tolist() for each in (units.kind, units.name.codes, units.file))
    return [_name(units, kind, code, file) for kind, code, file in zip(kinds, codes, files, strict=True)]


def _name(units: Units, kind: int, code: int, file: int) -> tuple[str, str]:
    if kind == FILE:
        backing = units.files[file]
        return (MODULE_KIND if backing.is_image else FILE_KIND), backing.path
    name = units.name.values[code] or ""
    is_stack = kind == STACK or (kind == ROLE and name == _MAIN_STACK)
    return (STACK_KIND if is_stack else NAME_KIND), name


def list_cohorts(units: Units) -> Columns:
    """List the cohorts (schema.COHORTS), sorted by what tells them apart.

    A figure is null where a region of the row does not know it.
    """
    rows = np.flatnonzero(units.kind == COHORT)
    texts = [text.take(rows) for text in (units.type, units.name, units.part, units.state)]
    classes = units.size_class[rows]
    keys = classes.astype(np.int64)
    for text in texts:
        keys = keys * len(text.values) + text.codes
    groups = group_by(keys)
    first = groups.first
    columns: Columns = {
        name: _read(text, first)
        for name, text in zip(("type", "subtype", "protection", "state"), texts, strict=True)
    }
    columns["size_class"] = [1 << power for power in classes[first].tolist()]
    columns["blocks"] = groups.sum(Numbers(units.begins[rows].astype(np.uint64))).numbers.values.tolist()
    columns |= _sum_figures(units, rows, groups, _COHORT_FIGURES)
    return _sort(columns, [field.name for field in COHORTS[1:6]])


def _read(text: Text, rows: NDArray[np.int64]) -> list[object]:
    return [text.values[code] for code in text.codes[rows].tolist()]


def _sum_figures(units: Units, rows: NDArray[np.int64], groups: Groups, names: tuple[str, ...]) -> Columns:
    columns: Columns = {}
    for name in names:
        sums = groups.sum(units.side.numbers(name).take(rows))
        known = sums.numbers.is_known & ~sums.partial
        values = sums.numbers.values.tolist()
        columns[name] = [
            value if is_known else None for value, is_known in zip(values, known.tolist(), strict=True)
        ]
    return columns


def _sort(columns: Columns, by: list[str]) -> Columns:
    keys = [[(value is not None, value) for value in columns[name]] for name in by]
    order = sorted(range(len(keys[0])), key=lambda row: [key[row] for key in keys])
    return {name: [values[row] for row in order] for name, values in columns.items()}
