"""The family of MEMORY_BASIC_INFORMATION: minidumps, WinDbg, and whatever else asks VirtualQueryEx."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.classify_windows import WindowsClassifier, find_modules
from mmpscope.analysis.columns import RawColumns, Text
from mmpscope.analysis.details_windows import describe_sections, describe_windows
from mmpscope.analysis.families import Family
from mmpscope.analysis.figures_windows import (
    MEM_COMMIT,
    MEM_PRIVATE,
    MEM_RESERVE,
    NEEDS,
    compute_figures,
    is_image,
    judge_estimates,
)
from mmpscope.analysis.layout import Layout, Names
from mmpscope.analysis.page_protection import has_bits, is_accessible, name_protections
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.rules_windows import USAGE_COLUMN
from mmpscope.formats.vmmap.protection import COPY_ON_WRITE, EXECUTABLE, WRITABLE

__all__ = ["FAMILY"]

_TOLD_BY_TYPE = ("<unknown>", "<unclassified>", "Image", "Heap", "Stack", "Other", "MappedFile")
"""Usages that say no more than the type of a region does."""


def _read_rights(raw: RawColumns) -> Rights:
    protection = raw.numbers("Protect")
    return Rights.without_flags(
        raw.numbers("Type").values == MEM_PRIVATE,
        is_accessible(protection),
        has_bits(protection, WRITABLE | COPY_ON_WRITE),
        has_bits(protection, EXECUTABLE),
    )


def _describe_state(raw: RawColumns, _: Rights) -> Text:
    state = raw.numbers("State").values
    codes = np.select([state == MEM_COMMIT, state == MEM_RESERVE], [0, 1], 2)
    return Text(codes.astype(np.int32), ("committed", "reserved", None))


def _describe_protection(raw: RawColumns) -> Text:
    """Write protections in VMMap's words; that of a reservation means nothing and may not be stated."""
    is_reserved = raw.numbers("State").values == MEM_RESERVE
    return Text.repeat("Reserved", raw.rows).only(is_reserved).fill(name_protections(raw.numbers("Protect")))


def _read_names(raw: RawColumns, surroundings: Surroundings) -> Names:
    """Read paths; that of an image is the path of the module at its address where the region has none."""
    modules = surroundings.modules
    module = find_modules(raw.numbers("start").values, modules)
    paths = modules.text("path")
    known = (module >= 0) & is_image(raw)
    nothing = Text(np.zeros(raw.rows, np.int32), (None,))
    loaded = paths.take(np.maximum(module, 0)).only(known) if modules.rows else nothing
    path = raw.text("path").fill(loaded)
    return Names(path, path.is_null)


def _describe_regions(layout: Layout, classes: Classes, surroundings: Surroundings) -> Text:
    usage = layout.raw.text(USAGE_COLUMN)
    told = layout.raw.text("Details").fill(usage.only(~usage.equals(*_TOLD_BY_TYPE)))
    return describe_windows(layout.path.fill(told), layout, classes, surroundings)


FAMILY = Family(
    _read_rights,
    _describe_state,
    _describe_protection,
    compute_figures,
    _read_names,
    WindowsClassifier,
    _describe_regions,
    NEEDS,
    judge_estimates,
    describe_sections,
    ("Image", "Mapped File", "Shareable"),
    judges_types=True,
)
