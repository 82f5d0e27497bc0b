"""The columns of a trend; as in analysis/schema.py, nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.schema import Field

__all__ = ["TREND"]

TREND = (
    Field("series", "uint32", "", "number of the series, from 0: one instance of a process"),
    Field("process", "string", "", "name of the process"),
    Field("pid", "uint64", "", "process id"),
    Field(
        "scope",
        "string",
        "",
        "what is followed: total, type, limit, count, module, file, name, stack, cohort (a class of sizes), "
        "kind (memory whose births and deaths are counted)",
    ),
    Field("name", "string", "", "which of them"),
    Field("type", "string", "", "type of the memory, where it has one"),
    Field("metric", "string", "", "figure that is followed; for a limit what counts against it"),
    Field("unit", "string", "", "bytes, or what is counted"),
    Field("verdict", "string", "", "growing, shrinking, flat or cannot tell"),
    Field("slope", "float64", "an hour", "slope of what was fitted; null where there is none"),
    Field("low", "float64", "an hour", "lower end of its 95 % interval"),
    Field("high", "float64", "an hour", "upper end of its 95 % interval"),
    Field("first", "uint64", "", "first known value"),
    Field("last", "uint64", "", "last known value"),
    Field("change", "int64", "", "last level less first level, warm-up and steps included"),
    Field("bound", "float64", "an hour", "flat means: the slope lies between -bound and +bound"),
    Field("detectable", "float64", "an hour", "smallest slope that this series could have shown as growth"),
    Field("method", "string", "", "what was fitted, as in all points, or lower envelope"),
    Field("plateau_s", "float64", "s", "where a warm-up ended, after the first snapshot; null for none"),
    Field(
        "fitted_s", "float64", "s", "where what was fitted begins, after the first snapshot; null for none"
    ),
    Field("jumps", "uint32", "", "changes of level between two snapshots"),
    Field("points", "uint32", "", "snapshots that know the value"),
    Field("used", "uint32", "", "values that were fitted, after plateau and thinning"),
    Field("maximum", "uint64", "", "the limit, as it was last; null where there is none"),
    Field("reached_h", "float64", "h", "from the last snapshot until the limit is reached at this slope"),
    Field("reached_low_h", "float64", "h", "the same at the upper end of the interval: the earliest"),
    Field(
        "reached_high_h",
        "float64",
        "h",
        "the same at the lower end of the interval: the latest; null for never",
    ),
    Field("births", "uint64", "", "ranges of the kind that appeared between two snapshots"),
    Field("deaths", "uint64", "", "ranges of the kind that vanished between two snapshots"),
    Field("born", "uint64", "bytes", "address space that appeared"),
    Field("died", "uint64", "bytes", "address space that vanished"),
    Field("birth_size", "uint64", "bytes", "least size in the class of sizes that most births are of"),
    Field(
        "suspect",
        "bool",
        "",
        "a leak is suspected: births, hardly a death, and it does not stay flat; null but for kinds",
    ),
    Field("reason", "string", "", "the verdict in one sentence"),
)
"""One row a thing that is followed in one series. Slopes, levels and limits are in the row's own unit."""
