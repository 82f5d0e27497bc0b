"""What the regions of a process are, wherever they lie: units that another instance can have as well.

A unit is a part of a file, the stacks of the threads of one name, memory of one name, the main heap, or a
cohort: all blocks without a name of one type, right, state and size. A block is an allocation with its
guards, or like neighbours, which the kernel may merge or not, with the islands of other rights inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text, Uints
from mmpscope.analysis.diffs.files import BackingFile, normalize_path
from mmpscope.analysis.diffs.sides import Side
from mmpscope.analysis.grouping import look_up
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.modules import find_loads
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described

__all__ = [
    "BSS",
    "COHORT",
    "FILE",
    "KINDS",
    "NAME",
    "ROLE",
    "STACK",
    "Units",
    "describe_units",
    "find_size_class",
    "name_size_class",
]

FILE, NAME, ROLE, STACK, COHORT = range(5)
KINDS = ((None, None), ("name", "high"), ("role", "high"), ("thread", "high"), ("cohort", "low"))
"""Word and confidence of a match, by kind; that of a file is its own."""

_ROLES = ("main heap", "main stack")
_GUARD, BSS = "guard", ".bss"
_SINGLE = ("Stack", "Image", "Mapped File")
_FILE = re.compile(r"(/|[A-Za-z]:\\|\\)(?!dev/zero|zero \(deleted\)|memfd:|SYSV[0-9a-f]{8}|anon_hugepage)")
_NO_NAME = re.compile(r"(/dev)?/zero( \(deleted\))?|/anon_hugepage.*|/?SYSV0{8}.*")
_DELETED = " (deleted)"
_NUMBER = re.compile(r"(?<=:)\d+(?=\]$)")
"""An id behind a name, as in [anon:stack_and_tls:4711] of Android, is another in every run."""


@dataclass(frozen=True)
class Units:
    """What tells the unit of each region of a side, in the order of its ranges.

    ``name`` is a name, a thread, a role or a subtype, ``part`` and ``state`` are rights and state where they
    tell units apart, ``size_class`` is the power of two of the size of a block in a cohort. ``files`` are
    distinct files and ``file`` the place of each region's in them, -1 for none. ``begins`` marks the first
    region of each block. ``names``, ``threads`` and ``block_class`` tell of every region the name that is no
    file, the thread, and the class of the size of its block, whatever its kind.
    """

    side: Side
    kind: NDArray[np.int64]
    type: Text
    name: Text
    part: Text
    state: Text
    size_class: NDArray[np.int64]
    files: list[BackingFile]
    file: Rows
    begins: Bools
    names: Text
    threads: Text
    block_class: NDArray[np.int64]


def find_size_class(sizes: Uints) -> NDArray[np.int64]:
    """Return the power of two that each size is at least: 12 for 4 KiB up to 8 KiB, 0 for nothing."""
    powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
    found: NDArray[np.int64] = np.maximum(np.searchsorted(powers, sizes, side="right") - 1, 0)
    return found


def name_size_class(power: int) -> str:
    """Write a class of sizes, as in 64K to 128K."""
    return f"{_show_size(power)} to {_show_size(power + 1)}"


def _show_size(power: int) -> str:
    return f"{1 << power % 10}{('', 'K', 'M', 'G', 'T', 'P', 'E')[power // 10]}"


def describe_units(snapshot: Described, side: Side) -> Units:
    """Tell of each region of a side (read_side of the regions of the snapshot) which unit it is a part of."""
    texts = {n: side.columns.text(n).take(side.rows) for n in ("type", "subtype", "protection", "state")}
    path = _read_paths(side)
    islands = _find_islands(side, texts, path)
    begins, of = _find_blocks(side, texts, path, islands)
    speaks = np.where(islands, np.arange(len(of)), _choose_speaking(texts["subtype"], begins, of))
    files, file = _find_files(snapshot, side, path, texts["type"])
    subtype = texts["subtype"].take(speaks)
    is_stack = texts["type"].equals("Stack")
    threads = _name_stacks(snapshot, side)
    names = _read_names(path)
    kind = np.full(len(side.rows), COHORT, np.int64)
    kind[~names.is_null] = NAME
    kind[file >= 0] = FILE
    kind[is_stack & ~threads.is_null] = STACK
    kind[subtype.equals(*_ROLES)] = ROLE
    is_cohort, is_file = kind == COHORT, kind == FILE
    name = _choose(kind, {NAME: names, ROLE: subtype, STACK: threads, COHORT: subtype})
    own = texts["subtype"].only(texts["subtype"].equals(BSS)).fill(texts["protection"])
    sizes = side.numbers("size").values
    sizes = np.add.reduceat(sizes, np.flatnonzero(begins))[of] if len(of) else sizes
    classes = find_size_class(sizes)
    return Units(
        side,
        kind,
        texts["type"],
        name,
        _choose(kind, {FILE: own, COHORT: texts["protection"].take(speaks)}),
        texts["state"].take(speaks).only(is_cohort),
        classes * is_cohort,
        files,
        np.where(is_file, file, -1),
        begins,
        names,
        threads,
        classes,
    )


def _choose(kind: NDArray[np.int64], texts: dict[int, Text]) -> Text:
    """Take for each kind another text; null for kinds that have none."""
    chosen = Text(np.zeros(len(kind), np.int32), (None,))
    for number, text in texts.items():
        chosen = chosen.fill(text.only(kind == number))
    return chosen


def _read_paths(side: Side) -> Text:
    """Return the file or name behind each region; VMMap writes it among its details."""
    if "path" in side.columns:
        return side.columns.text("path").take(side.rows)
    is_file = side.columns.text("type").equals("Image", "Mapped File")
    return side.columns.text("details").only(is_file).take(side.rows)


def _read_names(path: Text) -> Text:
    """Return names that mean the same in every run; null for memory that has none."""
    texts = Text(path.codes, tuple(value and _shorten(value) for value in path.values))
    return texts.only(path.match(_shorten))


def _shorten(name: str) -> str | None:
    if _NO_NAME.fullmatch(name):
        return None
    return _NUMBER.sub("", name.removesuffix(_DELETED))


def _find_islands(side: Side, texts: dict[str, Text], path: Text) -> Bools:
    """Return which regions are a part of a block that has other rights, as mprotect in its middle leaves it.

    Nameless memory between two larger regions that are like each other. Where it has no access it is a guard,
    which sets blocks apart.
    """
    sizes = side.numbers("size").values
    found = np.zeros(len(sizes), np.bool_)
    if len(sizes) < 3:
        return found
    touches = side.starts[1:] == side.ends[:-1]
    inside = touches[:-1] & touches[1:] & path.is_null[1:-1]
    inside &= sizes[1:-1] < np.minimum(sizes[:-2], sizes[2:])
    for text in (*texts.values(), path):
        inside &= text.codes[:-2] == text.codes[2:]
    for name in ("type", "subtype", "state"):
        inside &= texts[name].codes[1:-1] == texts[name].codes[:-2]
    is_guard = texts["protection"].match(lambda rights: rights.startswith("---"))
    found[1:-1] = inside & ~(texts["type"].equals(*_SINGLE) | is_guard)[1:-1]
    return found


def _find_blocks(side: Side, texts: dict[str, Text], path: Text, islands: Bools) -> tuple[Bools, Rows]:
    """Return where a block begins, by address, and the number of the block of each region.

    A block goes on within an allocation, where like memory without a file touches, and round islands.
    """
    begins = np.ones(len(side.rows), np.bool_)
    allocation = side.numbers("allocation")
    like = side.starts[1:] == side.ends[:-1]
    for text in (*texts.values(), path):
        like &= text.codes[1:] == text.codes[:-1]
    like &= ~texts["type"].equals(*_SINGLE)[1:]
    like |= islands[1:] | islands[:-1]
    one = (allocation.values[1:] == allocation.values[:-1]) & (allocation.is_known[1:])
    begins[1:] = ~(like | one)
    return begins, np.cumsum(begins) - 1


def _choose_speaking(subtype: Text, begins: Bools, of: Rows) -> Rows:
    """Return for each region that of its block that says what it is: the first that is no guard."""
    if not len(of):
        return of
    rows = np.arange(len(of))
    firsts = np.flatnonzero(begins)
    found = np.minimum.reduceat(np.where(subtype.equals(_GUARD), len(of), rows), firsts)
    speaks: Rows = np.where(found < len(of), found, firsts)[of]
    return speaks


def _name_stacks(snapshot: Described, side: Side) -> Text:
    """Return the name of the thread whose stack each region is a part of; null where that is not known."""
    threads = RawColumns(snapshot.threads)
    stacks, names = threads.numbers("stack"), threads.text("name")
    known = np.flatnonzero(stacks.is_known & ~names.is_null)
    places = look_up(side.numbers("allocation").values, stacks.values[known])
    codes = np.append(names.codes[known], np.int32(len(names.values) - 1))
    return Text(codes[places], names.values)


def _find_files(snapshot: Described, side: Side, path: Text, types: Text) -> tuple[list[BackingFile], Rows]:
    """List the distinct files, each of a build, and the place of each region's file among them.

    What belongs to a module goes by the path and build of that, its .bss too, which has no file of its own.
    """
    modules = RawColumns(snapshot.modules)
    allocations = side.numbers("allocation").values
    loads = find_loads(RawColumns(snapshot.regions), allocations)
    rows = look_up(loads, modules.numbers("address").values)
    rows = np.where(types.equals("Image"), rows, -1)
    images = types.equals("Image")
    # Files without a module have codes of their own behind those of modules; two codes each, data and image.
    codes = np.where(rows >= 0, rows, modules.rows + path.codes * np.int64(2) + images)
    distinct, places = np.unique(codes, return_inverse=True)
    made = [_make_file(modules, path, code) for code in distinct.tolist()]
    files = list(dict.fromkeys(file for file in made if file is not None))
    numbers = {file: number for number, file in enumerate(files)}
    table = np.array([-1 if file is None else numbers[file] for file in made], np.int64)
    return files, table[places] if len(places) else places


def _make_file(modules: RawColumns, path: Text, code: int) -> BackingFile | None:
    if code < modules.rows:
        paths = modules.text("path")
        name = paths.values[int(paths.codes[code])]
        return None if name is None else BackingFile(normalize_path(name), _read_build(modules, code), True)
    place, is_image = divmod(code - modules.rows, 2)
    name = path.values[place]
    return BackingFile(normalize_path(name), None, bool(is_image)) if name and _FILE.match(name) else None


def _read_build(modules: RawColumns, row: int) -> str | None:
    """Read the build id, else time stamp and size of a PE file."""
    builds = modules.text("build_id")
    if (build := builds.values[int(builds.codes[row])]) is not None:
        return build
    stamp, size = modules.numbers("timestamp"), modules.numbers("file_size")
    if not stamp.is_known[row]:
        return None
    return f"{stamp.values[row]:x}-{size.values[row]:x}"
