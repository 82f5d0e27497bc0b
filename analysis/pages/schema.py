"""What a report page holds: the contract between Python, which makes it, and JavaScript, which shows it.

A page is one HTML file with blocks of JSON in it, compressed, each in a script element that no browser runs
and whose id is the name of the block: ``page``, and ``snapshot-ID`` for each snapshot whose lists are kept,
which is decoded when it is looked at. Every number is that of the command which has the same table (`mmp
summary --json` and so on). Nothing is computed here.

Exact numbers: an integer beyond 2^53 - 1 is a string, hex with 0x for an address and decimal else, so that
``BigInt(value)`` is exact for every integer of a page, and ``Number(value)`` good enough to draw. Null means
unknown, never zero. Text is safe to show as text: what acts instead of being seen is written as its escape
(``\\x1b``, ``\\u202e``); it is never markup.
"""

from __future__ import annotations

from typing import Any, TypedDict

from mmpscope.analysis.schema import Field

__all__ = [
    "LEFT_OUT",
    "LIMITS",
    "PAGE_VERSION",
    "ROOM",
    "Column",
    "Diff",
    "Head",
    "Lists",
    "Page",
    "ProcessRoom",
    "Roles",
    "Snapshot",
    "Table",
    "Timeline",
    "Trend",
]

PAGE_VERSION = 1


class Column(TypedDict):
    """A column: ``unit`` is bytes, address, count, text, bool, number, ns, ticks, bits, row, s, h or an hour.

    ``title`` is short, for the head of a table; the meaning is in ``definitions`` under table and name.
    """

    name: str
    title: str
    unit: str


class Table(TypedDict):
    """A table by columns; ``name`` is that of its definitions, as in regions, diff-modules or trend.

    ``data`` has a column as one of: a list of values; ``{"same": value}`` for a value that all rows have;
    ``{"steps": [first, then differences]}`` for rising addresses; ``{"like": name}`` for one that equals an
    earlier column of the same kind. Values of text are numbers of ``texts`` of
    the same block. Where ``end`` is address + size in all rows, it is left out. data.js undoes all
    of this: ``table.column("end")`` is a plain list of values, text of text.
    """

    name: str
    rows: int
    columns: list[Column]
    data: dict[str, Any]


class Head(TypedDict):
    """Which process, when and where: `describe_snapshot` of docs/json.md, in short.

    ``facts`` are more of them, name and value, for a person; ``missing`` is what is not known, and why.
    ``time_ns`` is decimal text, since 1970.
    """

    process: str | None
    pid: int | None
    exe: str | None
    host: str | None
    os: str | None
    time: str
    time_ns: str | None
    source: str
    facts: list[list[str]]
    notes: list[str]
    missing: list[dict[str, str | None]]


class Snapshot(TypedDict):
    """A snapshot: what every one keeps. ``id`` is its place in ``snapshots``, as a number.

    ``label`` is file and number, as in run.mmp#3. ``says`` is the sentence that stands out. ``totals`` are
    the figures of Total by name. ``limits`` has the columns of LIMITS. ``usable`` is start, end (hex text),
    who says so. ``has_lists`` tells if there is a block ``snapshot-ID`` (Lists).
    """

    id: int
    label: str
    head: Head
    says: str
    totals: dict[str, int | str | None]
    summary: Table
    limits: Table
    mappings: dict[str, int | bool | None]
    usable: list[str]
    page_size: int
    granularity: int
    has_lists: bool


class Lists(TypedDict):
    """The lists of one snapshot; null where the source does not tell, for the reason in ``why[name]``.

    ``allocations`` and ``regions`` are by address; the column ``parent`` of a region is the row of its
    allocation (null for none), ``first`` of an allocation the row of its first region. ``free`` are all holes
    (type Free or Unusable). ``left_out`` are the stretches whose regions are not listed; null for none
    (columns LEFT_OUT). ``windows``, ``requests`` (U(S) and FI(S)), ``histogram`` and ``splitters`` are
    those of `mmp free`. ``room`` is what `mmp free --fits` answers to requests of all sizes (columns ROOM),
    ``says_room`` that in a sentence. ``folded`` says in sentences what was left out of these lists.
    """

    texts: list[str]
    allocations: Table | None
    regions: Table | None
    free: Table | None
    left_out: Table | None
    windows: Table | None
    requests: Table | None
    histogram: Table | None
    splitters: Table | None
    room: Table | None
    says_room: str
    threads: Table | None
    modules: Table | None
    heaps: Table | None
    processes: Table | None
    why: dict[str, str]
    folded: list[str]


class Diff(TypedDict):
    """`mmp diff` of two snapshots, ``a`` before ``b``, by their ids; ``says`` is the answer in a sentence.

    ``changed`` names every figure and type that changed by a share that matters, ``moved`` what changed most.

    Tables: totals, types, movers (the rest in a row of the word others), ranges, modules, threads, matching,
    largest_free. ``mappings`` are the counts before and after.
    """

    a: int
    b: int
    says: str
    changed: str
    moved: str
    mode: str
    mode_reason: str
    identity: dict[str, str]
    metric: str
    mappings: list[dict[str, int | bool | None]]
    tables: dict[str, Table]
    folded: list[str]


class Roles(TypedDict):
    """`mmp diff` of two captures of several processes; ``says`` is the answer in a sentence.

    ``sides`` name the two, ``rows`` has a role each, the largest change of ``metric`` first, then others, and
    the total last.
    """

    says: str
    sides: list[str]
    metric: str
    rows: Table


class ProcessRoom(TypedDict):
    """What `mmp free --fits` answers for one of several processes, by the id of its latest snapshot.

    ``room`` has the columns ROOM; null where it cannot be told.
    """

    snapshot: int
    room: Table | None


class Timeline(TypedDict):
    """Snapshots of one process in the order of time, two or more; series of a page come by their first.

    ``seconds`` are counted from the first by ``clock`` (monotonic, wall); both null where it is not told.
    """

    title: str
    snapshots: list[int]
    seconds: list[float] | None
    clock: str | None
    notes: list[str]


class Trend(TypedDict):
    """`mmp trend` of one timeline, by its place; ``rows`` has the columns of `mmp trend --json`.

    ``sentence`` is the verdict of the total.
    """

    timeline: int
    metric: str
    verdict: str
    sentence: str
    rows: Table


class Page(TypedDict):
    """The block ``page``.

    ``shown`` is the id of the snapshot to show first: the last of the timeline that grows fastest, else of
    the process that grew most, else of that which is nearest a limit.

    Of several processes, ``near`` says which of them is near a limit (null: none), ``rooms`` has the room in
    the latest snapshot of each, ``says_rooms`` that of a usual request in a sentence, and ``pairs`` which
    snapshots are before and after of one process or role. Of one process they are null and empty.

    ``roles`` compares the processes of two captures; null unless there are two, of several processes.
    ``says`` is the one sentence that stands out. ``definitions`` is the meaning of each column, by table and
    name. ``folded`` says in sentences what was left out of this page to keep it small, ``notes`` what else a
    reader should know.
    """

    version: int
    made: dict[str, str]
    title: str
    says: str
    shown: int
    texts: list[str]
    types: list[str]
    snapshots: list[Snapshot]
    near: str | None
    rooms: list[ProcessRoom]
    says_rooms: str | None
    pairs: list[list[int]]
    roles: Roles | None
    diffs: list[Diff]
    timelines: list[Timeline]
    trends: list[Trend]
    definitions: dict[str, dict[str, str]]
    notes: list[str]
    folded: list[str]


LIMITS = (
    Field("limit", "string", "", "what can be run into: a limit of system or process, the address space"),
    Field("used", "uint64", "", "what counts against it now; null where that is not known"),
    Field("maximum", "uint64", "", "the limit; null where there is none, or where it is not known"),
    Field("headroom", "uint64", "", "maximum - used, 0 where it is passed; null where one is unknown"),
    Field("unit", "string", "", "bytes, or what is counted"),
    Field("reason", "string", "", "where the limit is from, or why it is not known"),
)
"""One row a limit."""

LEFT_OUT = (
    Field("address", "uint64", "address", "first byte of regions that follow each other and are not listed"),
    Field("end", "uint64", "address", "first byte after the last of them"),
    Field("size", "uint64", "bytes", "end - address; small holes between them count"),
    Field("regions", "uint64", "", "how many they are"),
    Field("mapped", "uint64", "bytes", "their sizes added up"),
)
"""One row a stretch of the address space whose regions a page leaves out."""

ROOM = (
    Field("upto", "uint64", "bytes", "largest request that is answered so, in whole pages"),
    Field("outcome", "string", "", "fits, does not fit, cannot tell"),
    Field("check", "string", "", "what decides it, or comes nearest: address space, mapping count, a limit"),
    Field("available", "uint64", "bytes", "the largest request that would pass it; null where unlimited"),
    Field("reason", "string", "", "the facts behind it, or which are missing"),
)
"""One row a stretch of sizes of requests that `mmp free --fits` answers alike, the smallest first."""
