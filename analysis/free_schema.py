"""The columns of the answers about free space: histogram, windows, requests, splitters, fit.

As in schema.py, nothing is computed here.
"""

from __future__ import annotations

from mmpscope.analysis.schema import Field

__all__ = ["FIT", "FREE_TABLES", "HISTOGRAM", "REQUESTS", "SPLITTERS", "WINDOWS"]

HISTOGRAM = (
    Field(
        "from_size",
        "uint64",
        "bytes",
        "smallest hole of the class, a power of two; the class ends at twice that",
    ),
    Field("holes", "uint64", "", "free holes of the class"),
    Field("free", "uint64", "bytes", "their sizes added up"),
)
"""One row a power of two, from the smallest hole to the largest; classes without a hole are rows too."""

WINDOWS = (
    Field(
        "window", "string", "", "name of the window: whole range, below 4 GiB, near the program, asked for"
    ),
    Field("low", "uint64", "address", "first byte"),
    Field("high", "uint64", "address", "first byte after it"),
    Field("size", "uint64", "bytes", "high - low"),
    Field("mapped", "uint64", "bytes", "covered by regions"),
    Field("unusable", "uint64", "bytes", "lost to the allocation granularity"),
    Field("free", "uint64", "bytes", "F: the free holes added up"),
    Field("holes", "uint64", "", "B: number of free holes"),
    Field("largest", "uint64", "bytes", "L: the largest free hole"),
    Field("external", "float64", "", "external fragmentation 1 - L/F; null where nothing is free"),
    Field("note", "string", "", "what keeps the figures from telling something; else null"),
)
"""One row a window of the usable range; size = mapped + unusable + free."""

REQUESTS = (
    Field("window", "string", "", "name of the window, as in windows"),
    Field("request", "uint64", "bytes", "S: size of the request"),
    Field("holes", "uint64", "", "free holes that can hold one"),
    Field("places", "uint64", "", "how many such requests fit one after the other: sum of floor(a / S)"),
    Field(
        "unusable_index",
        "float64",
        "",
        "U(S): part of the free space that cannot serve such requests; 1 where nothing is free",
    ),
    Field(
        "fragmentation_index",
        "float64",
        "",
        "FI(S): near 0 the request fails for lack, near 1 for fragmentation; null where a hole holds it",
    ),
)
"""One row a window and a request of 64 KiB to 1 GiB, by powers of four."""

SPLITTERS = (
    Field("address", "uint64", "address", "first byte of what lies between two free holes"),
    Field("size", "uint64", "bytes", "its size, from hole to hole"),
    Field("end", "uint64", "address", "first byte after it"),
    Field("regions", "uint64", "", "regions in it"),
    Field("type", "string", "", "type that most of these bytes are of"),
    Field("details", "string", "", "details of the largest of these regions that is of that type"),
    Field("below", "uint64", "bytes", "size of the hole below"),
    Field("above", "uint64", "bytes", "size of the hole above"),
    Field(
        "merged",
        "uint64",
        "bytes",
        "size of the one hole that would be there without it: below + size + above",
    ),
    Field(
        "gain",
        "uint64",
        "bytes",
        "what the larger hole would gain besides the splitter itself: the smaller hole",
    ),
)
"""One row a stretch of regions between two free holes, the largest gain first."""

FIT = (
    Field("check", "string", "", "what was weighed: address space, mapping count, a limit"),
    Field("outcome", "string", "", "fits, does not fit, cannot tell"),
    Field(
        "available",
        "uint64",
        "bytes",
        "the largest request that would pass this check; null where unlimited or unknown",
    ),
    Field("reason", "string", "", "the facts behind it, or which are missing"),
)
"""One row a check of a request, in the order in which the system makes them."""

FREE_TABLES: dict[str, tuple[Field, ...]] = {
    "histogram": HISTOGRAM,
    "windows": WINDOWS,
    "requests": REQUESTS,
    "splitters": SPLITTERS,
    "fit": FIT,
}
