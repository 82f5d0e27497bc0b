"""Ask the rules in order; each claims what no rule before it has claimed. Then say what belongs together.

Everything is a mask over all regions; names are matched once per distinct name. What only one family of
columns knows (its rules, their searches, what an allocation is) is in a class of its own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text, Uints
from mmpscope.analysis.layout import Layout, Rows
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.stacks import find_by_pointer
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.images import Images

__all__ = ["Classes", "Classifier", "Search", "Surroundings"]

_KEPT_NAMES, _KEPT_LENGTH = 8192, 512

Search = Callable[[Any], Bools]
"""What a rule with ``find`` looks for: a function of the classifier that returns a mask over all regions."""


@dataclass(frozen=True)
class Surroundings:
    """What the snapshot knows besides its regions: raw tables, and facts about the process.

    ``thread_count``, ``stack_limit`` and ``peb`` (address of the process environment block of Windows) are
    None where unknown; ``bits`` is 32 or 64.
    """

    threads: RawColumns
    modules: RawColumns
    segments: RawColumns
    allocations: RawColumns
    heaps: RawColumns
    sections: RawColumns
    page: int
    bits: int
    thread_count: int | None = None
    stack_limit: int | None = None
    peb: int | None = None


@dataclass(frozen=True)
class Classes:
    """What each region is: ``rule`` counts in ``rules``, ``type`` in schema.TYPES; and where it belongs.

    ``parts`` are regions of programs and libraries that have a file behind them, ``module`` their rows in the
    raw modules table (-1: none). ``thread_rows`` is the region of each thread's stack pointer (-1: none).
    ``images`` is None where the source tells images without a look at their files.
    """

    rules: Sequence[Rule]
    rule: NDArray[np.int64]
    type: NDArray[np.int64]
    subtype: Text
    allocation: Uints
    parts: Bools
    module: Rows
    thread_rows: Rows
    images: Images | None = None


class _Names:
    """The names that rules ask for; what fits a name is kept, as most snapshots have the same names.

    Kept are a few thousand names at most, and no long ones: a few megabytes, whatever the files.
    """

    def __init__(self, patterns: Sequence[str | None]) -> None:
        self._patterns = [
            (number, re.compile(pattern, re.DOTALL))
            for number, pattern in enumerate(patterns)
            if pattern is not None
        ]
        self._find_kept = lru_cache(_KEPT_NAMES)(self._find)

    def find_fitting(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the patterns that the whole of a name fits."""
        return self._find_kept(name) if len(name) <= _KEPT_LENGTH else self._find(name)

    def _find(self, name: str) -> tuple[int, ...]:
        return tuple(number for number, pattern in self._patterns if pattern.fullmatch(name))


@lru_cache(8)
def _make_names(patterns: tuple[str | None, ...]) -> _Names:
    return _Names(patterns)


class Classifier(ABC):
    """One pass over the rules; ``rule`` and ``type`` are -1 where nothing has claimed a region yet.

    ``first`` are rules of a family that go even before the user's, ``own`` the others; ``searches`` has what
    stands behind each rule with ``find``.
    """

    first: ClassVar[tuple[Rule, ...]] = ()
    own: ClassVar[tuple[Rule, ...]]
    searches: ClassVar[Mapping[str, Search]]

    def __init__(self, layout: Layout, surroundings: Surroundings, user_rules: Sequence[Rule] = ()) -> None:
        self.layout = layout
        self.around = surroundings
        self.rules = (*self.first, *user_rules, *self.own)
        self.rule = np.full(layout.rows, -1, np.int64)
        self.type = np.full(layout.rows, -1, np.int64)

    def run(self) -> Classes:
        """Classify every region."""
        named = self._find_named()
        for number, rule in enumerate(self.rules):
            if rule.name is not None and number not in named:
                continue  # nothing here has such a name, as is so for most rules
            claimed = self._match(rule, named.get(number, [])) & (self.rule < 0)
            self.rule[claimed] = number
            if rule.type is None:
                self.type[claimed] = self.find_type_of_neighbour(claimed)
            else:
                self.type[claimed] = TYPES.index(rule.type)
        return self.finish()

    @abstractmethod
    def finish(self) -> Classes:
        """Say what belongs together, when every region has its type."""

    def find_type_of_neighbour(self, claimed: Bools) -> NDArray[np.int64]:
        """Return the types of claimed regions whose rule leaves that to their neighbours.

        TypeError in a family that has no such rule.
        """
        raise TypeError(f"no rule of {type(self).__name__} takes the type of a neighbour")

    def _find_named(self) -> dict[int, list[int]]:
        """Return for each rule that asks for a name the codes of the names here that fit; most fit none."""
        names = _make_names(tuple(rule.name for rule in self.rules))
        found: dict[int, list[int]] = {}
        for code, name in enumerate(self.layout.path.values):
            for number in () if name is None else names.find_fitting(name):
                found.setdefault(number, []).append(code)
        return found

    def _match(self, rule: Rule, names: Sequence[int]) -> Bools:
        layout, mask = self.layout, np.ones(self.layout.rows, np.bool_)
        if rule.find is not None:
            mask &= self.searches[rule.find](self)
        if rule.name is not None:
            fits = np.zeros(len(layout.path.values), np.bool_)
            fits[names] = True
            mask &= fits[layout.path.codes]
        for column, pattern in rule.where:
            mask &= layout.raw.text(column).match(re.compile(pattern, re.DOTALL).fullmatch)
        if rule.pseudo:
            mask &= layout.is_pseudo
        if rule.min_size is not None:
            mask &= layout.size >= rule.min_size
        if rule.max_size is not None:
            mask &= layout.size <= rule.max_size
        return mask

    @cached_property
    def thread_rows(self) -> Rows:
        """Row of the region that each thread's stack lies in, -1 where unknown."""
        return find_by_pointer(self.layout, self.around.threads)

    def is_type(self, *names: str) -> Bools:
        """Regions that have one of these types by now."""
        return np.array([*(name in names for name in TYPES), False])[self.type]

    def is_by(self, *ids: str) -> Bools:
        """Regions that one of these rules has claimed."""
        return np.array([*(rule.id in ids for rule in self.rules), False])[self.rule]

    def name_subtypes(self) -> Text:
        """Return the subtype of each region, by its rule."""
        names = [*dict.fromkeys(rule.subtype for rule in self.rules if rule.subtype is not None), None]
        code_of_rule = np.array([names.index(rule.subtype) for rule in self.rules], np.int32)
        return Text(code_of_rule[self.rule], tuple(names))
