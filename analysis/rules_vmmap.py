"""The rules for VMMap's own regions: its types as it prints them, which need no second opinion."""

from __future__ import annotations

from mmpscope.analysis.rules import Rule

__all__ = ["RULES", "TYPE_COLUMN"]

TYPE_COLUMN = "VmmapType"
_OWN = "VMMap's own type"


def _label(rule: str, kind: str, subtype: str | None, pattern: str, because: str = _OWN) -> Rule:
    return Rule(rule, kind, subtype, "high", because, where=((TYPE_COLUMN, pattern),))


# fmt: off
RULES = (
    _label("vmmap-image", "Image", None, r"Image( \(.*\))?", "VMMap's own type; (ASLR) where it was moved"),
    _label("vmmap-mapped", "Mapped File", None, r"Mapped File"),
    _label("vmmap-shareable", "Shareable", None, r"Shareable"),
    _label("vmmap-heap-shared", "Heap", "shareable", r"Heap \(Shareable\)"),
    _label("vmmap-heap", "Heap", None, r"Heap( \(.*\))?", "VMMap's own type: Heap (Private Data)"),
    _label("vmmap-managed", "Managed Heap", None, r"Managed Heap( \(.*\))?"),
    Rule("vmmap-stack-guard", "Stack", "guard", "high", "VMMap's own type, and PAGE_GUARD",
         where=((TYPE_COLUMN, r"(Thread )?Stack"),), find="page-guard"),
    _label("vmmap-stack", "Stack", "thread stack", r"(Thread )?Stack"),
    _label("vmmap-private", "Private Data", None, r"Private Data"),
    _label("vmmap-page-table", "Page Table", None, r"Page Table"),
    _label("vmmap-unusable", "Unusable", None, r"Unusable"),
    _label("vmmap-free", "Free", None, r"Free"),
    Rule("vmmap-unknown", "Private Data", "unknown label", "low", "unclaimed: no type that VMMap had"),
)
# fmt: on
"""In any order but for the guard, which is before its stack. The last three of VMMap's are never regions of a
snapshot that our readers make; a summary has them, and so may a file that another program wrote.
"""
