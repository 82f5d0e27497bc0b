"""The sections of images: which of them each region covers, as the headers in the modules' memory tell."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Surroundings
from mmpscope.analysis.columns import Bools, Codes, Text, Uints
from mmpscope.analysis.layout import Layout, Rows, align_up

__all__ = ["name_sections"]

HEADER = "Header"
"""What VMMap calls the headers, which lie before the first section of an image."""
_SHOWN = 8


def name_sections(layout: Layout, images: Bools, surroundings: Surroundings) -> Text:
    """Name the sections that each image region covers, as in ``.rdata .data``; null elsewhere.

    A region is what has one protection: it may cover several sections, and a section several regions. Pages
    of one section begin where the loader put it, and end with the last page of it.
    """
    rows = np.flatnonzero(images)
    start, end, names = _list_sections(surroundings)
    if not len(start):
        return Text(np.zeros(layout.rows, np.int32), (None,))
    first = np.searchsorted(np.maximum.accumulate(end), layout.start[rows], side="right")
    after = np.searchsorted(start, layout.end[rows], side="left")
    texts, codes = _join_names(first, after, names)
    all_codes = np.full(layout.rows, len(texts), np.int32)
    all_codes[rows] = codes
    return Text(all_codes, (*texts, None))


def _list_sections(surroundings: Surroundings) -> tuple[Uints, Uints, Text]:
    """List where sections begin and end, by address, with the headers of the modules among them."""
    raw, modules = surroundings.sections, surroundings.modules
    begin, module = raw.numbers("start").values, raw.numbers("module").values
    if not raw.rows or (module >= modules.rows).any():
        return begin[:0], begin[:0], raw.text("name")
    size = np.maximum(raw.numbers("size").values, np.uint64(1))
    end = np.maximum(align_up(begin + size, surroundings.page), begin)
    owners = np.unique(module).astype(np.int64)
    low = modules.numbers("low").values[owners]
    lowest = np.full(modules.rows, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(lowest, module.astype(np.int64), begin)
    name = raw.text("name")
    headers = Text.repeat(HEADER, len(owners))
    begin, end = np.append(begin, low), np.append(end, np.maximum(lowest[owners], low))
    order = np.argsort(begin, kind="stable")
    return begin[order], end[order], _stack(name, headers).take(order)


def _stack(above: Text, below: Text) -> Text:
    codes = np.append(above.codes, below.codes + np.int32(len(above.values)))
    values = (*above.values, *below.values, None)
    return Text(codes.astype(np.int32), values)


def _join_names(first: Rows, after: Rows, names: Text) -> tuple[tuple[str, ...], Codes]:
    """Join the names of each run of sections, one question per distinct run."""
    pairs = np.stack([first, after], axis=1)
    distinct, codes = np.unique(pairs, axis=0, return_inverse=True)
    texts: list[str | None] = []
    for begin, end in distinct.tolist():  # distinct runs of sections, not regions
        words = [names.values[code] for code in names.codes[begin : min(end, begin + _SHOWN)].tolist()]
        more = f"and {end - begin - _SHOWN} more" if end - begin > _SHOWN else None
        texts.append(" ".join(word for word in dict.fromkeys((*words, more)) if word) or None)
    known = list(dict.fromkeys(text for text in texts if text is not None))
    places = {text: place for place, text in enumerate((*known, None))}
    table = np.array([places[text] for text in texts], np.int32)
    return tuple(known), table[codes.reshape(-1)]
