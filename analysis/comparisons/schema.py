"""The columns of a comparison of many snapshots, and its words; nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.measures.schema import CAPTURES
from mmpscope.analysis.schema import Field

__all__ = ["CANNOT_TELL", "COMPARE", "COMPARE_TABLES", "GROUPS", "OUTLIER", "OUTLIERS", "USUAL"]

OUTLIER, USUAL, CANNOT_TELL = "outlier", "usual", "cannot tell"

COMPARE = (
    *CAPTURES,
    Field("verdict", "string", "", "outlier, usual, or cannot tell; null for what could not be read"),
    Field(
        "peers",
        "uint64",
        "",
        "others of the same executable and version, in the same inputs, all regions listed",
    ),
    Field("reason", "string", "", "the oddest figures of an outlier, or why it cannot be told"),
    Field("error", "string", "", "why a file could not be read; then all but input is null"),
)
"""One row a snapshot, or a file that could not be read."""

_METRIC = Field(
    "metric", "string", "", "figure of the whole process, as in private, or of a type, as in Heap private"
)
_UNIT = Field("unit", "string", "", "bytes; else a number of things")

OUTLIERS = (
    CAPTURES[0],
    CAPTURES[1],
    _METRIC,
    _UNIT,
    Field("value", "uint64", "", "the figure of this snapshot"),
    Field(
        "median", "uint64", "", "its median over the snapshot and its peers, the lower of two in the middle"
    ),
    Field("excess", "int64", "", "value - median"),
    Field("deviation", "float64", "", "1.4826 times the median absolute deviation (MAD) of all of them"),
    Field("mads", "float64", "", "excess / deviation; null where more than half have the median itself"),
    Field("peers", "uint64", "", "others that know this figure"),
    Field("reason", "string", "", "the same in words"),
)
"""One row a figure by which a snapshot is odd."""

GROUPS = (
    Field("group", "string", "", "what its snapshots have in common, as in java / 9c81348976100179"),
    _METRIC,
    _UNIT,
    Field("snapshots", "uint64", "", "snapshots of the group"),
    Field("known", "uint64", "", "how many of them know the figure"),
    Field("min", "uint64", "", "smallest value; null where none knows it, as in the columns that follow"),
    Field("q1", "uint64", "", "first quartile: the value below or at which a quarter lies (nearest rank)"),
    Field("median", "uint64", "", "second quartile"),
    Field("q3", "uint64", "", "third quartile"),
    Field("p95", "uint64", "", "95th percentile"),
    Field("max", "uint64", "", "largest value"),
)
"""One row a group and figure."""

COMPARE_TABLES = {"compare": COMPARE, "outliers": OUTLIERS, "groups": GROUPS}
