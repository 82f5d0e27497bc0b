"""What regions of macOS are, as vmmap(1) names them; an image is all segments of one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from mmpscope.analysis import rules_macos
from mmpscope.analysis.classify import Classes, Classifier, Search
from mmpscope.analysis.columns import Bools, Uints
from mmpscope.analysis.layout import Rows, first_of, spread
from mmpscope.analysis.rules import Rule

__all__ = ["MacClassifier"]


class MacClassifier(Classifier):
    """Regions with a RegionType; an allocation is an image, a stack with its guard, or a region."""

    own: ClassVar[tuple[Rule, ...]] = rules_macos.RULES
    searches: ClassVar[Mapping[str, Search]] = {}

    def finish(self) -> Classes:
        """Join segments of images, and stacks with their guards; vmmap lists no modules besides."""
        parts = self.is_type("Image") & ~self.layout.is_pseudo
        base = np.where(parts, first_of(self._number_loads(parts), self.layout.start), self.layout.start)
        unknown = np.full(self.layout.rows, -1, np.int64)
        return Classes(
            self.rules,
            self.rule,
            self.type,
            self.name_subtypes(),
            self._join_guards(base),
            parts,
            unknown,
            self.thread_rows,
        )

    def _number_loads(self, parts: Bools) -> Rows:
        """Number the loads of files: each __TEXT begins another one, unless it goes on where one ends.

        In the shared cache segments of one library are far apart, so that nothing but the path joins them.
        """
        layout = self.layout
        is_text = layout.raw.text(rules_macos.TYPE_COLUMN).equals("__TEXT")
        file = np.where(parts, layout.file, -1)
        order = np.argsort(file, kind="stable")
        new_file = np.ones(layout.rows, np.bool_)
        new_file[1:] = file[order[1:]] != file[order[:-1]]
        begins = (is_text & ~layout.touches_below)[order]
        texts = np.cumsum(begins)
        before = np.maximum.accumulate(np.where(new_file, texts - begins, 0))
        again = begins & (texts - before > 1)
        loads = np.empty(layout.rows, np.int64)
        loads[order] = np.cumsum(new_file | again)
        return loads

    def _join_guards(self, base: Uints) -> Uints:
        """Join a stack with the guard below it."""
        layout, guards = self.layout, self.is_by("mac-stack-guard")
        guarded = np.zeros(layout.rows, np.bool_)
        guarded[1:] = guards[:-1] & layout.touches_below[1:]
        return spread(layout, base, guarded & self.is_by("mac-stack"))
