"""Families of raw columns: Linux, Windows, VMMap, macOS; each knows its figures, rights, rules and words.

A family is recognised by a column that only it has, never by the name of a format or of an operating system,
and its modules are imported when a snapshot has that column.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.columns import Numbers, RawColumns, Text
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.schema import TYPES

if TYPE_CHECKING:
    from mmpscope.analysis.classify import Classes, Classifier, Surroundings
    from mmpscope.analysis.figures import Needs
    from mmpscope.analysis.layout import Layout, Names

__all__ = ["Family", "find_family"]


def _add_nothing(told: Text, _: Layout, __: Classes, ___: Surroundings) -> Text:
    return told


@dataclass(frozen=True)
class Family:
    """What a family of columns does in its own way.

    ``compute_figures`` takes raw columns, sizes, page size and rights, and notes faults. ``needs`` tells why
    a figure is null, ``judge_estimates`` which ones (and which types) are known and yet not exact; where it
    ``judges_types`` it takes classified regions, else raw columns will do.
    ``estimated_types`` are those rows of a summary whose ``committed`` and ``private`` may be estimates.
    ``describe_parts`` adds to the details what tells the parts of one allocation from each other.
    """

    read_rights: Callable[[RawColumns], Rights]
    describe_state: Callable[[RawColumns, Rights], Text]
    describe_protection: Callable[[RawColumns], Text]
    compute_figures: Callable[[RawColumns, Numbers, int, Rights, Faults], Mapping[str, Numbers]]
    read_names: Callable[[RawColumns, Surroundings], Names]
    classifier: type[Classifier]
    describe_regions: Callable[[Layout, Classes, Surroundings], Text]
    needs: Needs
    judge_estimates: Callable[[RawColumns], Mapping[str, str]]
    describe_parts: Callable[[Text, Layout, Classes, Surroundings], Text] = _add_nothing
    estimated_types: tuple[str, ...] = ("Total", *TYPES)
    judges_types: bool = False


_HOMES = {
    "VmmapType": "family_vmmap",
    "RegionType": "family_macos",
    "perms": "family_linux",
    "State": "family_windows",
}
"""The column that marks a family, and its module. Without any of them nothing but names is left to look at,
which the rules for Linux do.
"""


def find_family(raw: RawColumns) -> Family:
    """Return the family that the raw columns of the regions belong to."""
    home = next((home for marker, home in _HOMES.items() if marker in raw), _HOMES["perms"])
    family: Family = importlib.import_module(f"mmpscope.analysis.{home}").FAMILY
    return family
