"""What VMMap saves, as the registry knows it."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source
from mmpscope.formats.vmmap.sniff import is_csv, is_text, is_xml

__all__ = ["FORMATS"]

_GIVES = (
    "regions",
    "allocations",
    "threads without names",
    "modules without builds",
    "committed",
    "private",
    "working sets",
    "usable range",
)
_LACKS = ("PSS", "swap", "commit charge")


def _open_xml(given: Input) -> Source:
    from mmpscope.formats.vmmap.xml_source import open_xml

    return open_xml(given)


def _open_list(given: Input) -> Source:
    from mmpscope.formats.vmmap.list_source import open_list

    return open_list(given)


FORMATS = (
    Format(
        name="vmmap-xml",
        title="snapshots of Sysinternals VMMap (its own .mmp)",
        sniff=is_xml,
        open=_open_xml,
        tools="VMMap 3.x, as its files are described by public readers of them",
        gives=(*_GIVES, "page tables"),
        lacks=(*_LACKS, "process", "locked pages"),
        known_by="XML with elements Snapshot and Region",
    ),
    Format(
        name="vmmap-csv",
        title="CSV of Sysinternals VMMap",
        sniff=is_csv,
        open=_open_list,
        tools="VMMap 3.x, also saved again by a spreadsheet",
        gives=(*_GIVES, "process", "locked pages", "page tables"),
        lacks=(*_LACKS, "time"),
        known_by="the heading of its list: Address, Type, Size, Committed ...",
    ),
    Format(
        name="vmmap-text",
        title="text of Sysinternals VMMap",
        sniff=is_text,
        open=_open_list,
        tools="VMMap 3.x",
        gives=(*_GIVES, "locked pages"),
        lacks=(*_LACKS, "time"),
        known_by="the heading of its list, in columns of fixed width",
    ),
)
