"""The changes grouped by a fact of the regions: type, module, path, directory, name, thread, size, rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Text
from mmpscope.analysis.diffs.evidence import level_evidence
from mmpscope.analysis.diffs.keyed import combine_codes, compare_keyed, join_sides, number_keys
from mmpscope.analysis.diffs.rows import WORDS, build_rows, choose_words, find_unknown, name_masks
from mmpscope.analysis.diffs.schema import DIFF_ROWS, SAME
from mmpscope.analysis.diffs.sides import list_compared, read_sides
from mmpscope.analysis.diffs.units import Units, describe_units, name_size_class
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.extent import ALL
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["GROUPINGS", "group_changes"]

_BY_TYPE = ("type", "rule")
_NO_REGION = "(no region)"
_SEPARATOR = re.compile(r"[/\\]")


def group_changes(
    pair: tuple[LoadedSnapshot, LoadedSnapshot], result: DiffResult, by: str, types: Sequence[str] = ()
) -> pa.Table:
    """Compare two snapshots group by group (columns of diffs.schema.DIFF_ROWS), in both modes alike.

    ``by`` is one of GROUPINGS; ``unit`` names the group, as in (no module) what has no such fact, and (no
    region) what the total has besides: page tables, Unusable. ``types`` of memory alone are grouped; none
    stands for all. Every region is in one group, so that figures add up to those of the total, or of these
    types. Groups that are the same are left out. Nothing is listed where a side does not list all its
    regions. Raises UsageError for another word, CannotTellError for types and rules that rest on other facts
    on either side.
    """
    if by not in GROUPINGS:
        raise UsageError(f"{by} is nothing to group by. Choose one of {', '.join(GROUPINGS)}")
    if by in _BY_TYPE and not result.scope.types:
        raise CannotTellError(f"types rest on other facts in a than in b, so no change can be told by {by}")
    if result.scope.regions != ALL:
        return build_table(DIFF_ROWS, {}, 0)
    outside = result.outside
    if types:
        kinds = outside["type_a"].cast(pa.string())
        outside = outside.filter(pc.is_in(kinds, pa.array(types, pa.string())))
    names = Text.repeat(_NO_REGION, len(outside)).to_arrow()
    outside = outside.set_column(outside.column_names.index("unit"), "unit", names)
    return pa.concat_tables([_group(pair, by, types), outside]).combine_chunks()


def _group(pair: tuple[LoadedSnapshot, LoadedSnapshot], by: str, types: Sequence[str]) -> pa.Table:
    a, b = level_evidence(*pair)
    before, after = read_sides(a, b)
    metrics = list_compared(before, after)
    one, two = describe_units(a, before), describe_units(b, after)
    names = [GROUPINGS[by](each).fill(Text.repeat(f"(no {by})", len(each.kind))) for each in (one, two)]
    keys, split = combine_codes(join_sides(*names)), len(one.kind)
    sides = []
    for each, own in ((one, keys[:split]), (two, keys[split:])):
        kept = np.flatnonzero(each.type.equals(*types)) if types else np.arange(len(own))
        sides.append((each.side.take(kept), own[kept], each.begins[kept]))
    left, right, figures = compare_keyed(sides[0], sides[1], number_keys(keys))
    exists = left.half.exists | right.half.exists
    words = choose_words(left.half.exists, right.half.exists, figures, np.zeros(len(exists), np.bool_))
    unknown = name_masks(find_unknown(figures, metrics))
    rows = np.flatnonzero(exists & ((words != WORDS.index(SAME)) | ~unknown.is_null))
    told = {
        "word": Text(words[rows], WORDS),
        "match": Text.repeat(f"by {by}", len(rows)),
        "confidence": Text.repeat("high", len(rows)),
        "unit": _name_keys(names, keys).take(rows),
        "unknown": unknown.take(rows),
    }
    halves = ((left.side, left.half.take(rows)), (right.side, right.half.take(rows)))
    return build_rows(*halves, figures.take(rows), told)


def _name_keys(names: list[Text], keys: np.ndarray) -> Text:
    """Return the name of each key, by number."""
    texts: dict[int, str | None] = {}
    for text, own in zip(names, np.split(keys, [len(names[0].codes)]), strict=True):
        _, first = np.unique(own, return_index=True)
        texts |= {int(own[row]): text.values[int(text.codes[row])] for row in first.tolist()}
    return Text(np.arange(len(texts), dtype=np.int32), (*(texts[key] for key in range(len(texts))), None))


def _name_files(units: Units, name: Callable[[str], str], *, images_only: bool = False) -> Text:
    """Return something of the file of each region; null where there is none."""
    values = [name(file.path) if file.is_image or not images_only else None for file in units.files]
    codes = np.where(units.file < 0, len(values), units.file).astype(np.int32)
    texts = list(dict.fromkeys(value for value in values if value is not None))
    places = {text: place for place, text in enumerate(texts)}
    table = np.array([*(len(texts) if v is None else places[v] for v in values), len(texts)], np.int32)
    return Text(table[codes], (*texts, None))


def _name_parents(path: str) -> str:
    return path[: len(path) - len(_SEPARATOR.split(path)[-1])] or "(no directory)"


def _name_lasts(path: str) -> str:
    return _SEPARATOR.split(path)[-1]


def _name_sizes(units: Units) -> Text:
    """Return the class of the size of the block of each region."""
    texts = tuple(name_size_class(power) for power in range(64))
    return Text(units.block_class.astype(np.int32), (*texts, None))


GROUPINGS: dict[str, Callable[[Units], Text]] = {
    "type": lambda units: units.type,
    "module": lambda units: _name_files(units, str, images_only=True),
    "path": lambda units: _name_files(units, str).fill(units.names),
    "directory": lambda units: _name_files(units, _name_parents),
    "name": lambda units: _name_files(units, _name_lasts).fill(units.names),
    "thread": lambda units: units.threads,
    "size-class": _name_sizes,
    "rule": lambda units: units.side.columns.text("rule").take(units.side.rows),
}
"""What changes can be grouped by: the text of each region that decides."""
