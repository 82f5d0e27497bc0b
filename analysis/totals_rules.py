"""What the rows of a table of totals are: sums by name, without addresses, as summaries print them.

The names are the words of one source each: types of VMMap, usages of WinDbg, region types of macOS,
categories of Android's meminfo, or objects as Linux names them. They are asked by the rules of regions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from mmpscope.analysis.columns import Codes, Text
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.schema import TYPES

__all__ = ["NO_TYPE", "TOTALS_RULES", "classify_totals"]

NO_TYPE = -1
"""Type of a row that is a sum over others: the total of a table, or all of smaps_rollup."""

_SUMS = re.compile(r"Total|TOTAL(, .*)?|\[rollup\]")

Words = Sequence[tuple[re.Pattern[str], Rule]]


def _total(rule: str, kind: str, subtype: str | None, pattern: str, because: str, sure: str = "high") -> Rule:
    return Rule(rule, kind, subtype, sure, because, name=pattern)


# fmt: off
_ANDROID = (
    _total("android-native", "Heap", None, r"Native Heap", "dumpsys meminfo: malloc of bionic"),
    _total("android-art", "Managed Heap", "ART", r"Dalvik .*", "dumpsys meminfo: the runtime"),
    _total("android-stack", "Stack", None, r"Stack", "dumpsys meminfo"),
    _total("android-shared", "Shareable", "ashmem", r"Ashmem|Cursor", "dumpsys meminfo"),
    _total("android-graphics", "Shareable", "graphics", r"(EGL|GL|Other) mtrack|Gfx dev",
           "dumpsys meminfo", "medium"),
    _total("android-device", "Mapped File", "device", r"Other dev", "dumpsys meminfo"),
    _total("android-image", "Image", None, r"\.(so|oat) mmap", "dumpsys meminfo: ELF files", "medium"),
    _total("android-file", "Mapped File", None, r".* mmap", "dumpsys meminfo: files, by suffix"),
    _total("android-unknown", "Private Data", None, r"Unknown", "dumpsys meminfo", "low"),
)
_OBJECTS = (
    _total("object-image", "Image", None, r"/.*(\.so(\.[\d.]+)?|\.oat|\.odex|/bin/[^/]*)( \(deleted\))?",
           "named like an ELF file", "low"),
    _total("object-file", "Mapped File", None, r"/.*", "a file is behind it"),
    _total("object-anonymous", "Private Data", None, r".*", "unclaimed: memory without a file", "low"),
)
# fmt: on

TOTALS_RULES = (*_ANDROID, *_OBJECTS)
"""The rules that no region ever meets; the others are those of regions."""


def classify_totals(names: Text) -> tuple[Codes, list[str | None]]:
    """Return each row's type (index in schema.TYPES, or NO_TYPE) and the id of its rule (None: no type).

    All names come from one source, so they are read in the language that knows most of them. A row that has
    lost its name, as <unclassified> does on its way through HTML, is memory that no word claims.
    """
    distinct = [name for name in names.values if name is not None]
    languages = _list_languages()
    words = max(languages, key=lambda words: sum(_find(words, name) is not None for name in distinct))
    found = [_claim((*words, *languages[-1]), name) for name in names.values]
    types = [NO_TYPE if rule is None or rule.type is None else TYPES.index(rule.type) for rule in found]
    ids = [None if rule is None else rule.id for rule in found]
    return np.array(types, np.int32)[names.codes], [ids[code] for code in names.codes.tolist()]


def _claim(words: Words, name: str | None) -> Rule | None:
    if name is None:
        return TOTALS_RULES[-1]
    if _SUMS.fullmatch(name):
        return None
    return _find(words, name) or TOTALS_RULES[-1]


def _find(words: Words, name: str) -> Rule | None:
    return next((rule for pattern, rule in words if pattern.fullmatch(name)), None)


def _by_column(rules: Iterable[Rule], column: str) -> Words:
    """Take the rules that look at nothing else than one column of text."""
    return [
        (re.compile(rule.where[0][1]), rule)
        for rule in rules
        if len(rule.where) == 1 and rule.where[0][0] == column and rule.find is None
    ]


def _by_name(rules: Iterable[Rule]) -> Words:
    """Take the rules that look at nothing else than the name; a total has no inode to ask for."""
    return [
        (re.compile(rule.name, re.DOTALL), rule)
        for rule in rules
        if rule.name is not None and not rule.where and rule.find is None
    ]


@cache
def _list_languages() -> tuple[Words, ...]:
    """Compile the words of each source; those of the kernel, which may stand among any others, come last.

    Tables are imported here: a summary of regions needs the one of its own family alone.
    """
    from mmpscope.analysis import rules_linux, rules_macos, rules_vmmap, rules_windows

    return (
        _by_column(rules_vmmap.RULES, rules_vmmap.TYPE_COLUMN),
        _by_column(rules_windows.RULES, rules_windows.USAGE_COLUMN),
        _by_column(rules_macos.RULES, rules_macos.TYPE_COLUMN),
        _by_name(_ANDROID),
        [*_by_name(rules_linux.RULES), *_by_name(_OBJECTS[:-1])],
    )
