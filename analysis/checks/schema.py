"""The columns of a check, and the words that it uses; as in schema.py, nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.schema import MODULES, Field

__all__ = ["CANNOT_TELL", "CHECK", "MODULE_METRICS", "OK", "TOTAL_METRICS", "VIOLATED"]

OK, VIOLATED, CANNOT_TELL = "ok", "violated", "cannot tell"

TOTAL_METRICS = METRICS
"""What may be budgeted of the total and of a type of memory."""
MODULE_METRICS = tuple(field.name for field in MODULES if field.name in METRICS)
"""What may be budgeted of a module."""

CHECK = (
    Field("rule", "string", "", "growth, spread, at most, at least, nothing new"),
    Field("where", "string", "", "total, a type of memory, the pattern of a module, mappings, free space"),
    Field("metric", "string", "", "figure, count, largest, executable and writable, modules"),
    Field("unit", "string", "", "what the next three columns count: bytes, or a kind of thing"),
    Field("limit", "uint64", "", "most that is allowed, of at least the least; null where it is not known"),
    Field("baseline", "uint64", "", "value of the baseline, of several the median; null where not known"),
    Field("value", "uint64", "", "value of the new snapshot; null where it is not known"),
    Field("samples", "uint64", "", "snapshots of the baseline that the verdict rests on"),
    Field("verdict", "string", "", "ok, violated, cannot tell"),
    Field("reason", "string", "", "how the limit came about, or what is missing"),
)
"""One row a budget, in the order of the budget file."""
