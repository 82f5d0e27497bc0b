"""The regions of a snapshot by name and by cohort: what a series follows over all of its snapshots.

The units are those by which two instances are compared (analysis/diffs/units.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, Text
from mmpscope.analysis.diffs.sides import read_side
from mmpscope.analysis.diffs.units import COHORT, FILE, KINDS, ROLE, STACK, Units, describe_units
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.measures.schema import (
    COHORTS,
    FIGURES,
    FILE_KIND,
    MODULE_KIND,
    NAME_KIND,
    NAMES,
    STACK_KIND,
)
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described

__all__ = ["list_cohorts", "list_names", "read_units"]

_MAIN_STACK = "main stack"
_CLASSES = np.int64(64)
_COHORT_FIGURES = ("size", "committed", "private", "private_ws", "total_ws")


def read_units(snapshot: Described) -> Units:
    """Tell of each region that counts which unit it is a part of."""
    return describe_units(snapshot, read_side(snapshot.regions))


def list_names(units: Units, slot: Rows) -> tuple[pa.Table, Rows]:
    """List what has a name (schema.NAMES, without id), by snapshot, kind and name; and the slot of each row.

    ``slot`` is the number of the snapshot of each region of the side. A figure is null where a region of the
    row does not know it.
    """
    rows = np.flatnonzero(units.kind != COHORT)
    distinct, places = _name_rows(units, rows)
    groups = group_by(slot[rows] * np.int64(len(distinct) + 1) + places)
    first, shown = rows[groups.first], [distinct[place] for place in places[groups.first].tolist()]
    columns: dict[str, object] = {
        "kind": [kind for kind, _ in shown],
        "name": [name for _, name in shown],
        **_sum_figures(units, rows, groups, FIGURES),
        "blocks": Numbers(groups.count.astype(np.uint64)),
    }
    return build_table(NAMES[1:], columns, len(first)), slot[first]


def _name_rows(units: Units, rows: Rows) -> tuple[list[tuple[str, str]], Rows]:
    """Return kinds and names, sorted, and the place of that of each of these rows; each is made once."""
    kinds, codes, files = units.kind[rows], units.name.codes[rows], units.file[rows]
    is_file = kinds == FILE
    keys = np.where(is_file, files, codes) * np.int64(len(KINDS)) + kinds
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    told = zip(kinds[first].tolist(), codes[first].tolist(), files[first].tolist(), strict=True)
    made = [_name(units, kind, code, file) for kind, code, file in told]
    distinct = sorted(set(made))
    numbers = {name: number for number, name in enumerate(distinct)}
    return distinct, np.array([numbers[name] for name in made], np.int64)[inverse]


def _name(units: Units, kind: int, code: int, file: int) -> tuple[str, str]:
    if kind == FILE:
        backing = units.files[file]
        return (MODULE_KIND if backing.is_image else FILE_KIND), backing.path
    name = units.name.values[code] or ""
    is_stack = kind == STACK or (kind == ROLE and name == _MAIN_STACK)
    return (STACK_KIND if is_stack else NAME_KIND), name


def list_cohorts(units: Units, slot: Rows) -> tuple[pa.Table, Rows]:
    """List the cohorts (schema.COHORTS, without id), by snapshot and what tells them apart.

    ``slot``, the slot of each row and nulls are as in `list_names`.
    """
    rows = np.flatnonzero(units.kind == COHORT)
    texts = [_rank(text.take(rows)) for text in (units.type, units.name, units.part, units.state)]
    keys = slot[rows]
    for text in texts:
        keys = keys * np.int64(len(text.values)) + (text.codes + 1) % len(text.values)  # null is first
    classes = units.size_class[rows]
    groups = group_by(keys * _CLASSES + classes)
    first = groups.first
    columns: dict[str, object] = {
        name: text.take(first)
        for name, text in zip(("type", "subtype", "protection", "state"), texts, strict=True)
    }
    columns["size_class"] = np.uint64(1) << classes[first].astype(np.uint64)
    columns["blocks"] = groups.sum(Numbers(units.begins[rows].astype(np.uint64))).numbers
    columns |= _sum_figures(units, rows, groups, _COHORT_FIGURES)
    return build_table(COHORTS[1:], columns, len(first)), slot[rows[first]]


def _rank(text: Text) -> Text:
    """Return the same text with codes in the order of the texts; only those that occur."""
    used, inverse = np.unique(text.codes, return_inverse=True)
    told = [text.values[code] for code in used.tolist()]
    distinct = sorted({value for value in told if value is not None})
    places = {value: place for place, value in enumerate((*distinct, None))}
    return Text(np.array([places[value] for value in told], np.int32)[inverse], (*distinct, None))


def _sum_figures(units: Units, rows: Rows, groups: Groups, names: tuple[str, ...]) -> dict[str, object]:
    columns: dict[str, object] = {}
    for name in names:
        sums = groups.sum(units.side.numbers(name).take(rows))
        columns[name] = sums.numbers.only(~sums.partial)
    return columns
