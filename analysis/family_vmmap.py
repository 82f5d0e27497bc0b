"""The family of VMMap's own columns: its .mmp, CSV and text; types and figures are as it states them."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.classify_windows import VmmapClassifier, find_bases
from mmpscope.analysis.columns import RawColumns, Text
from mmpscope.analysis.details_windows import describe_windows, join_words
from mmpscope.analysis.families import Family
from mmpscope.analysis.figures_vmmap import NEEDS, compute_figures, judge_estimates
from mmpscope.analysis.layout import Layout, Names
from mmpscope.analysis.page_protection import has_bits, is_accessible, name_protections
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.rules_vmmap import TYPE_COLUMN
from mmpscope.formats.vmmap.protection import COPY_ON_WRITE, EXECUTABLE, WRITABLE

__all__ = ["FAMILY"]

_OF_FILES = ("Image", "Mapped File")


def _read_rights(raw: RawColumns) -> Rights:
    protection = raw.numbers("Protection")
    return Rights.without_flags(
        ~raw.text(TYPE_COLUMN).match(lambda kind: kind.startswith(_OF_FILES) or "Shareable" in kind),
        is_accessible(protection),
        has_bits(protection, WRITABLE | COPY_ON_WRITE),
        has_bits(protection, EXECUTABLE),
    )


def _describe_state(raw: RawColumns, _: Rights) -> Text:
    """Tell reservations by their protection, Reserved; without it, by the lack of commit."""
    protection, commit = raw.numbers("Protection"), raw.numbers("Commit")
    decisive = protection.where(protection.is_known, commit)
    codes = np.where(decisive.is_known, decisive.values == 0, 2)
    return Text(codes.astype(np.int32), ("committed", "reserved", None))


def _describe_protection(raw: RawColumns) -> Text:
    return name_protections(raw.numbers("Protection"))


def _read_names(raw: RawColumns, surroundings: Surroundings) -> Names:
    """Read the paths of images and mapped files; it is the allocation that has the path, not its blocks."""
    of_file = raw.text(TYPE_COLUMN).match(lambda kind: kind.startswith(_OF_FILES))
    path = _find_allocation_details(raw, surroundings.allocations).only(of_file)
    return Names(path, path.is_null)


def _find_allocation_details(raw: RawColumns, allocations: RawColumns) -> Text:
    """Return the details of each region's allocation, its own where it is all of that."""
    base, details = find_bases(raw), raw.text("Details")
    own = details.only(base == raw.numbers("start").values)
    if not allocations.rows:
        return own
    address = allocations.numbers("start").values
    order = np.argsort(address, kind="stable")
    at = order[np.minimum(np.searchsorted(address[order], base), len(order) - 1)]
    found = address[at] == base
    return allocations.text("Details").take(at).only(found).fill(own.only(~found))


def _describe_regions(layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    details = layout.raw.text("Details")
    told = join_words(_find_allocation_details(layout.raw, surroundings.allocations), details)
    return describe_windows(told, layout, classes, surroundings)


FAMILY = Family(
    _read_rights,
    _describe_state,
    _describe_protection,
    compute_figures,
    _read_names,
    VmmapClassifier,
    _describe_regions,
    NEEDS,
    judge_estimates,
)
