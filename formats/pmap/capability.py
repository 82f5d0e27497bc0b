"""What a listing of pmap does not tell, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from mmpscope.formats.model import Capability
from mmpscope.formats.pmap.listing import Listing

__all__ = ["list_capability"]

_EMPTY = "no region was listed: no address space (a kernel thread or zombie), or no permission to read it"
_SMAPS = {
    "": ("unavailable", "pmap without -x, -X or -XX prints no counters"),
    "-d": ("unavailable", "pmap -d prints no counters"),
    "-x": ("partial", "pmap -x prints Rss and Dirty, the sum of Shared_Dirty and Private_Dirty"),
    "-X": ("partial", "pmap -X leaves out the shared and private counters; -XX prints them"),
    "-XX": ("ok", None),
}
_MAP_ITEMS = {"offset": "Offset", "device": "Device", "inode": "Inode"}
_PROCESS_ITEMS = (
    "status", "smaps_rollup", "limits", "stat", "auxv", "cgroup", "personality", "threads", "modules",
    "heaps", "processes",
)  # fmt: skip


def list_capability(listing: Listing) -> Iterator[Capability]:
    """Yield what a listing has only in part or not at all."""
    if listing.starts:
        state, reason = _SMAPS[listing.option]
        yield Capability("smaps", state, None, reason)
    else:
        yield Capability("smaps", "unavailable", None, _EMPTY)
    if listing.missing is not None:
        yield Capability("regions", "partial", None, listing.missing)
    if listing.starts:
        yield from _judge_map_line(listing)
    for item in _PROCESS_ITEMS:
        yield Capability(item, "unavailable", None, "pmap prints only regions")
    yield Capability("cmdline", "unavailable", None, "pmap prints the arguments as one text: it is `command`")


def _judge_map_line(listing: Listing) -> Iterator[Capability]:
    words = () if listing.columns is None else listing.columns.words
    for item, word in _MAP_ITEMS.items():
        if word not in words:
            yield Capability(
                f"regions.{item}",
                "unavailable",
                None,
                f"pmap {listing.option}".rstrip() + " does not print it",
            )
    reasons = []
    if not any(path.startswith(b"/") for path in listing.paths if path is not None):
        reasons.append("pmap without -p cuts paths to the name of the file")
    if not listing.is_detailed:
        reasons.append("without -X it shows odd bytes as ? and calls memory without a file [ anon ]")
    if reasons:
        yield Capability("regions.path", "partial", None, "; ".join(reasons))
