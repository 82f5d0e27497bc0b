"""The details of Windows regions: a path or the source's own words, and whose stack or TEB it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Numbers, Text
from mmpscope.analysis.details import Words, count_views, find_stacks, group_threads
from mmpscope.analysis.layout import Layout, find_rows
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.sections import name_sections

__all__ = ["describe_sections", "describe_windows", "join_words"]

_STACK = TYPES.index("Stack")


def describe_windows(told: Text, layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Return what is told of each region, how often a file is mapped, and which threads it belongs to."""
    words = Words(told)
    count_views(words, layout, classes)
    threads = surroundings.threads
    _name_stacks(words, classes, group_threads(find_stacks(classes), surroundings))
    beside = find_rows(layout, threads.numbers("stack64_start"))
    _name_stacks(words, classes, _say("64-bit stack of", group_threads(beside, surroundings)))
    blocks = group_threads(find_rows(layout, threads.numbers("teb")), surroundings)
    for row, words_of_row in (*_find_peb(layout, surroundings), *_say("TEB of", blocks)):
        words.append(row, words_of_row)
    return words.finish()


def _say(what: str, people: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return ((row, f"{what} {threads}") for row, threads in people)


def _name_stacks(words: Words, classes: Classes, people: Iterable[tuple[int, str]]) -> None:
    """Name the threads in all parts of a stack: what is committed, its guard, and its reserve."""
    parts = np.flatnonzero(classes.type == _STACK)
    bases = classes.allocation[parts]
    for stack, threads in people:
        for row in parts[bases == classes.allocation[stack]].tolist():
            words.append(row, threads)


def _find_peb(layout: Layout, surroundings: Surroundings) -> list[tuple[int, str]]:
    pointer = Numbers(np.array([surroundings.peb or 0], np.uint64))
    return [(row, "PEB") for row in find_rows(layout, pointer).tolist() if row >= 0]


def describe_sections(told: Text, layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    """Add the sections that a region of an image covers, as in ``C:\\x.dll, .text``."""
    return join_words(told, name_sections(layout, classes.parts, surroundings))


def join_words(whole: Text, part: Text) -> Text:
    """Write what is told of the allocation, and then of the block in it, as in ``x.dll, .text``."""
    pairs = whole.codes.astype(np.int64) * len(part.values) + part.codes
    distinct, codes = np.unique(pairs, return_inverse=True)
    texts: list[str | None] = []
    for pair in distinct.tolist():  # distinct pairs, not regions
        words = dict.fromkeys((whole.values[pair // len(part.values)], part.values[pair % len(part.values)]))
        texts.append(", ".join(word for word in words if word) or None)
    names = [text for text in dict.fromkeys(texts) if text is not None]
    places = {text: place for place, text in enumerate((*names, None))}
    return Text(np.array([places[text] for text in texts], np.int32)[codes], (*names, None))
