"""Regions of two instances compared by what they are: an address means nothing from one to the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Numbers, Text
from mmpscope.analysis.diffs.files import FILE_MATCHES, match_files
from mmpscope.analysis.diffs.keyed import Keyed, combine_codes, compare_keyed, join_sides, number_keys
from mmpscope.analysis.diffs.matching import describe_matching
from mmpscope.analysis.diffs.rights import RIGHTS_MATCHES, join_rights
from mmpscope.analysis.diffs.rows import WORDS, Figures, build_rows, choose_words, find_unknown, name_masks
from mmpscope.analysis.diffs.schema import SAME
from mmpscope.analysis.diffs.units import COHORT, FILE, KINDS, NAME, ROLE, STACK, Units, name_size_class
from mmpscope.analysis.intervals import Rows
from numpy.typing import NDArray

__all__ = ["Matched", "diff_instances"]

_RIGHTS = len(FILE_MATCHES) + len(KINDS) - 1
_MATCHES = (*FILE_MATCHES, *KINDS[FILE + 1 :], *RIGHTS_MATCHES)
"""Word and confidence of every way to match, by number: those of files, of other kinds, of other rights."""


class Matched(NamedTuple):
    """``rows`` has the columns of diffs.schema.DIFF_ROWS, ``matching`` those of DIFF_MATCHING."""

    rows: pa.Table
    matching: pa.Table


def diff_instances(a: Units, b: Units, metrics: tuple[str, ...]) -> Matched:
    """Compare two sides unit by unit, the largest change of size first.

    Every region is in one unit, and a unit is of one type: rows add up to totals and types. Units that are
    the same are left out, unless one side does not know one of `metrics` where the other does.
    """
    keys, how = _number_units(a, b)
    count, split = number_keys(keys), len(a.kind)
    one, two, figures = compare_keyed(
        (a.side, keys[:split], a.begins), (b.side, keys[split:], b.begins), count
    )
    seen = _find_first(keys, count)
    kinds = np.concatenate([a.kind, b.kind])[seen]
    altered = _find_altered(one, two, kinds) | (how[seen] >= _RIGHTS)
    unknown = name_masks(find_unknown(figures, metrics))
    words = choose_words(one.half.exists, two.half.exists, figures, altered)
    changed = np.flatnonzero((words != WORDS.index(SAME)) | ~unknown.is_null)
    rows = _sort(figures, changed, seen)
    told = {
        "word": Text(words[rows], WORDS),
        **{name: text.take(rows) for name, text in _tell_matches(how[seen]).items()},
        "unknown": unknown.take(rows),
        "unit": _name_units(a, b, seen[rows]),
        "blocks_a": _count_blocks(one, kinds, rows),
        "blocks_b": _count_blocks(two, kinds, rows),
    }
    listed = build_rows(
        (one.side, one.half.take(rows)), (two.side, two.half.take(rows)), figures.take(rows), told
    )
    return Matched(listed, describe_matching(figures, (one.half, two.half), _tell_matches(how[seen])))


def _number_units(a: Units, b: Units) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the units of both sides, one behind the other, and tell how each region was matched."""
    matches = match_files(a.files, b.files)
    numbers = [np.array([*of, -1], np.int64) for of in (matches.of_a, matches.of_b)]
    file = np.concatenate([numbers[0][a.file], numbers[1][b.file]])
    kind = np.concatenate([a.kind, b.kind])
    keys = combine_codes(
        kind,
        join_sides(a.type, b.type),
        join_sides(a.name, b.name),
        join_sides(a.part, b.part),
        join_sides(a.state, b.state),
        np.concatenate([a.size_class, b.size_class]),
        file + 1,
    )
    of_file = np.array([*matches.how, 0], np.int64)[file]
    how = np.where(kind == FILE, of_file, len(FILE_MATCHES) - 1 + kind)
    keys, joined = join_rights(keys, file, a, b)
    return keys, np.where(joined, _RIGHTS + (kind != FILE), how)


def _find_first(keys: NDArray[np.int64], count: int) -> Rows:
    """Return the first region of each key, of a where it has one."""
    seen = np.zeros(count, np.int64)
    seen[keys[::-1]] = np.arange(len(keys))[::-1]
    return seen


def _find_altered(one: Keyed, two: Keyed, kinds: NDArray[np.int64]) -> Bools:
    """Return the units that have other blocks, or, of memory with a name, other rights."""
    counted: Bools = np.isin(kinds, (COHORT, STACK)) & (one.blocks != two.blocks)
    both = one.half.exists & two.half.exists & np.isin(kinds, (NAME, ROLE))
    rights = [side.side.columns.text("protection").take(side.side.rows) for side in (one, two)]
    codes = join_sides(*rights)
    before, after = codes[: len(one.order)], codes[len(one.order) :]
    rows = np.flatnonzero(both)
    counted[rows] |= before[one.half.shown[rows]] != after[two.half.shown[rows]]
    return counted


def _count_blocks(side: Keyed, kinds: NDArray[np.int64], rows: Rows) -> Numbers:
    """Return how many blocks a unit has; the parts of a file are none."""
    return Numbers(side.blocks[rows]).only(kinds[rows] != FILE)


def _sort(figures: Figures, rows: Rows, seen: Rows) -> Rows:
    """Sort by the change of size; of equals what comes first in a, then in b."""
    deltas = figures.deltas["size"].values[rows]
    return rows[np.lexsort([seen[rows], -np.abs(deltas)])]


def _tell_matches(how: NDArray[np.int64]) -> dict[str, Text]:
    words, sure = zip(*_MATCHES, strict=True)
    codes = how.astype(np.int32)
    return {"match": Text(codes, (*words, None)), "confidence": Text(codes, (*sure, None))}


def _name_units(a: Units, b: Units, rows: Rows) -> Text:
    """Name units for a person to read: a file and its rights, a thread, a name, blocks of a size."""
    split = len(a.kind)
    names = [_name_unit(*((a, row) if row < split else (b, row - split))) for row in rows.tolist()]
    texts = list(dict.fromkeys(names))
    places = {text: place for place, text in enumerate(texts)}
    return Text(np.array([places[name] for name in names], np.int32), (*texts, None))


def _name_unit(units: Units, row: int) -> str:
    kind = int(units.kind[row])
    name, part = (text.values[int(text.codes[row])] for text in (units.name, units.part))
    if kind == FILE:
        return " ".join(filter(None, [units.files[int(units.file[row])].path, part]))
    if kind == STACK:
        return f"stacks of {name}"
    if kind in (NAME, ROLE):
        return name or ""
    return f"{name or 'blocks'} of {name_size_class(int(units.size_class[row]))}"
