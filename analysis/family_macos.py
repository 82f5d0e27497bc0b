"""The family of vmmap(1) of macOS: types, protections and sizes as it prints them."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.classify_macos import MacClassifier
from mmpscope.analysis.columns import RawColumns, Text
from mmpscope.analysis.details import Words, count_views
from mmpscope.analysis.families import Family
from mmpscope.analysis.figures_macos import NEEDS, SHARED_MODES, compute_figures, judge_estimates
from mmpscope.analysis.layout import Layout, Names
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.rules_macos import TYPE_COLUMN

__all__ = ["FAMILY"]

_RESERVED = "(reserved)"


def _read_rights(raw: RawColumns) -> Rights:
    protection = raw.text("PRT")
    return Rights.without_flags(
        ~raw.text("SHRMOD").equals(*SHARED_MODES),
        protection.match(lambda text: text != "---"),
        protection.match(lambda text: text[1:2] == "w"),
        protection.match(lambda text: text[2:3] == "x"),
    )


def _describe_state(raw: RawColumns, _: Rights) -> Text:
    """Tell reservations by their type, as in ``VM_ALLOCATE (reserved)``."""
    codes = raw.text(TYPE_COLUMN).match(lambda kind: kind.endswith(_RESERVED))
    return Text(codes.astype(np.int32), ("committed", "reserved", None))


def _describe_protection(raw: RawColumns) -> Text:
    return raw.text("PRT")


def _read_names(raw: RawColumns, _: Surroundings) -> Names:
    """Read what stands in REGION DETAIL; it is a file only where it is a path."""
    path = raw.text("path")
    return Names(path, ~path.match(lambda path: path.startswith("/")))


def _describe_regions(layout: Layout, classes: Classes, _: Surroundings) -> Text:
    words = Words(layout.path)
    count_views(words, layout, classes)
    return words.finish()


FAMILY = Family(
    _read_rights,
    _describe_state,
    _describe_protection,
    compute_figures,
    _read_names,
    MacClassifier,
    _describe_regions,
    NEEDS,
    judge_estimates,
)
