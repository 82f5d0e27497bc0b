"""A diff in plain Python over single pages, slow and obviously right, and pairs of maps to try it on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from mmpscope.analysis.schema import COUNTERS
from support.snapshots import PAGE, Row, region

__all__ = ["Facts", "Map", "diff_components_slowly", "diff_ranges_slowly", "draw_pair", "to_rows"]


class Facts(NamedTuple):
    """What a page is: type, rights, and the file behind it with the page where that would start."""

    type: str
    rights: str
    inode: int
    base: int
    name: str | None = None


@dataclass
class Part:
    """One region: pages [low, high), its facts and counters."""

    low: int
    high: int
    facts: Facts
    counters: dict[str, int | None] = field(default_factory=dict)


Map = list[Part]
Answer = dict[str, Any]


def to_rows(parts: Map) -> list[Row]:
    """Write a map as rows of the regions table."""
    return [
        region(
            part.low * PAGE,
            (part.high - part.low) * PAGE,
            part.facts.type,
            protection=part.facts.rights,
            inode=part.facts.inode,
            dev_major=8 if part.facts.inode else 0,
            offset=(part.low - part.facts.base) * PAGE if part.facts.inode else 0,
            path=part.facts.name,
            **part.counters,
        )
        for part in parts
    ]


def _list_pages(parts: Map) -> dict[int, Facts]:
    return {page: part.facts for part in parts for page in range(part.low, part.high)}


def _identify(facts: Facts | None) -> tuple[Any, ...] | None:
    """Tell what is compared of facts: a file is known by its inode, everything else by its name."""
    return facts and (*facts[:4], None if facts.inode else facts.name)


def diff_ranges_slowly(a: Map, b: Map) -> list[tuple[str, int, int]]:
    """Compare page by page, and join neighbours that changed alike; word, first page, page after."""
    before, after = _list_pages(a), _list_pages(b)
    found: list[tuple[str, int, int, Any]] = []
    for page in sorted(before.keys() | after.keys()):
        change = _identify(before.get(page)), _identify(after.get(page))
        if change[0] == change[1]:
            continue
        word = "new" if change[0] is None else "gone" if change[1] is None else "changed"
        if found and found[-1][2] == page and found[-1][3] == change:
            found[-1] = (word, found[-1][1], page + 1, change)
        else:
            found.append((word, page, page + 1, change))
    return [row[:3] for row in found]


def diff_components_slowly(a: Map, b: Map, metrics: Iterable[str]) -> list[Answer]:
    """Group the regions that overlap, add up what each group has, and leave out what is the same."""
    answers = [_compare(*group, tuple(metrics)) for group in _join_moves([*_find_groups(a, b)])]
    kept = [answer for answer in answers if answer["word"] != "same" or answer["unknown"]]
    return sorted(
        kept, key=lambda answer: min(x for x in (answer["low_a"], answer["low_b"]) if x is not None)
    )


def _find_groups(a: Map, b: Map) -> Iterator[tuple[Map, Map]]:
    left = [*a, *b]
    of_a = {id(part) for part in a}
    while left:
        group = [left.pop(0)]
        while touched := [p for p in left if any(_overlaps(p, member) for member in group)]:
            group += touched
            left = [part for part in left if part not in touched]
        yield [part for part in group if id(part) in of_a], [part for part in group if id(part) not in of_a]


def _overlaps(one: Part, two: Part) -> bool:
    return max(one.low, two.low) < min(one.high, two.high)


def _join_moves(groups: list[tuple[Map, Map]]) -> list[tuple[Map, Map]]:
    """Pair the one region of a file that is gone with the only one that is new and equal to it."""

    def find_key(parts: Map) -> Any:
        facts = parts[0].facts
        return (parts[0].high - parts[0].low, facts[:3], parts[0].low - facts.base)

    gone = [g for g in groups if len(g[0]) == 1 and not g[1] and g[0][0].facts.inode]
    new = [g for g in groups if len(g[1]) == 1 and not g[0] and g[1][0].facts.inode]
    count_gone, count_new = Counter(find_key(g[0]) for g in gone), Counter(find_key(g[1]) for g in new)
    moves = []
    for one in gone:
        for two in new:
            key = find_key(one[0])
            if key == find_key(two[1]) and count_gone[key] == count_new[key] == 1:
                moves.append((one, two))
    moved = {id(group) for pair in moves for group in pair}
    return [g for g in groups if id(g) not in moved] + [(one[0], two[1]) for one, two in moves]


def _add_up(parts: Map, metric: str) -> int | None:
    if metric == "size":
        return sum((part.high - part.low) * PAGE for part in parts)
    values = [row[metric] for row in to_rows(parts)]
    total = None if None in values else sum(values)
    return total if total is None or total < 2**64 else None


def _compare(a: Map, b: Map, metrics: tuple[str, ...]) -> Answer:
    sums = {name: (_add_up(a, name), _add_up(b, name)) for name in ("size", *COUNTERS)}
    deltas = {name: _subtract(*pair) for name, pair in sums.items()}
    return {
        "word": _choose_word(a, b, deltas),
        "low_a": min((part.low for part in a), default=None),
        "low_b": min((part.low for part in b), default=None),
        "high_a": max((part.high for part in a), default=None),
        "high_b": max((part.high for part in b), default=None),
        "regions": (len(a), len(b)),
        "sums": sums,
        "deltas": {name: d if d is None or abs(d) < 2**63 else None for name, d in deltas.items()},
        "unknown": [name for name in metrics if _is_unknown(*sums[name])],
    }


def _subtract(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else two - one


def _is_unknown(one: int | None, two: int | None) -> bool:
    if one is None or two is None:
        return one is not two
    return abs(two - one) >= 2**63


def _choose_word(a: Map, b: Map, deltas: dict[str, int | None]) -> str:
    if not a or not b:
        return "gone" if a else "new"
    before, after = _list_pages(a), _list_pages(b)
    if not before.keys() & after.keys():
        return "moved"
    if deltas["size"]:
        return "grown" if deltas["size"] > 0 else "shrunk"
    same = before.keys() == after.keys() and all(
        _identify(before[page]) == _identify(after[page]) for page in before
    )
    return "same" if same and not any(deltas.values()) else "changed"


_KINDS = (
    Facts("Private Data", "rw-p", 0, 0),
    Facts("Private Data", "r--p", 0, 0),
    Facts("Heap", "rw-p", 0, 0, "[heap]"),
    Facts("Mapped File", "r--s", 11, 0, "/f"),
    Facts("Mapped File", "r--s", 11, 0, "/f (deleted)"),
    Facts("Mapped File", "rw-s", 11, -2, "/f"),
    Facts("Image", "r-xp", 12, 0, "/lib"),
)


def draw_pair(draw: Callable[[int], int], pages: int, first: int) -> tuple[Map, Map]:
    """Draw a map and what became of it: `draw(n)` gives numbers below n.

    Pages change their facts in runs, regions are cut at other places on each side, counters change or are
    unknown. `first` is the first page, at least 2.
    """
    facts = [_KINDS[draw(len(_KINDS))] if draw(3) else None for _ in range(pages)]
    facts = [facts[page - 1] if page and draw(3) else facts[page] for page in range(pages)]
    later = list(facts)
    for _ in range(draw(4)):
        low = draw(pages)
        kind = _KINDS[draw(len(_KINDS))] if draw(3) else None
        later[low : low + 1 + draw(4)] = [kind] * min(1 + draw(4), pages - low)
    later = (later + [None] * pages)[:pages]
    if not draw(3):
        _move_file(later)
    before = _cut(facts, draw, first)
    known = {(part.low, part.high): part.counters for part in before}
    after = _cut(later, draw, first)
    for part in after:
        if draw(2):
            part.counters = dict(known.get((part.low, part.high), part.counters))
    return before, after


def _move_file(facts: list[Facts | None]) -> None:
    """Take the first stretch of a file away and put it behind everything else."""
    low = next((page for page, fact in enumerate(facts) if fact and fact.inode), None)
    if low is None:
        return
    fact = facts[low]
    assert fact
    high = next((page for page in range(low, len(facts)) if facts[page] != fact), len(facts))
    shift = len(facts) + 1 - low
    facts[low:high] = [None] * (high - low)
    facts += [None, *[fact._replace(base=fact.base + shift)] * (high - low)]


def _cut(facts: list[Facts | None], draw: Callable[[int], int], first: int) -> Map:
    parts: Map = []
    for page, fact in enumerate(facts):
        if fact is None:
            continue
        # Files of each stretch are others, so that what moves is a matter of that stretch alone.
        own = fact._replace(inode=fact.inode + first * 100, base=fact.base + first) if fact.inode else fact
        if parts and parts[-1].high == first + page and parts[-1].facts == own and draw(4):
            parts[-1].high += 1
        else:
            parts.append(Part(first + page, first + page + 1, own, _draw_counters(draw)))
    return parts


def _draw_counters(draw: Callable[[int], int]) -> dict[str, int | None]:
    values = {"committed": draw(3) * PAGE, "private": draw(2) * PAGE, "total_ws": draw(3) * PAGE}
    return {**values, "pss": (None, 0, 7, 2**63)[draw(4)], "swap": (None, 0)[draw(8) > 0], "thp": None}


def make_drawing(random: Random) -> Callable[[int], int]:
    """Draw from a seeded generator."""
    return random.randrange
