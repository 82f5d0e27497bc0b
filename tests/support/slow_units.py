"""A diff of two instances in plain Python, slow and obviously right, and pairs of processes to try it on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from support.snapshots import PAGE, Row, region

__all__ = ["Process", "Unit", "choose_word", "draw_process", "find_units", "match_slowly", "rename_process"]

Key = tuple[Any, ...]
_FIGURES = ("committed", "private", "total_ws", "pss")
_LIKE = ("type", "subtype", "protection", "state", "path")
_PLACES = ("address", "end", "allocation", "stack")
_SINGLE = ("Stack", "Image", "Mapped File")


@dataclass
class Process:
    """The rows of a process: regions, modules, threads; to be given to `make_snapshot`."""

    regions: list[Row] = field(default_factory=list)
    modules: list[Row] = field(default_factory=list)
    threads: list[Row] = field(default_factory=list)


@dataclass
class Unit:
    """What a process has of one key: blocks, bytes, and each figure, None where a region does not know it.

    ``largest`` is size and rights of its largest region, of equals the first.
    """

    blocks: set[int] = field(default_factory=set)
    size: int = 0
    largest: tuple[int, str | None] = (0, None)
    figures: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(_FIGURES, 0))


_LIBRARIES = (
    ("/usr/lib/libz.so.1.2", "aa"),
    ("/usr/lib/libz.so.1.3", "bb"),
    ("/opt/lib/libz.so.1.2", "aa"),
    ("/usr/lib/libplain.so", "cc"),
    ("/usr/lib/libplain.so", "dd"),
    ("/srv/plugin.so", None),
)
_FILES = ("/var/data-1", "/var/data-2", "/var/data-1 (deleted)")
_NAMES = ("[anon:cache]", "[heap]", "/memfd:frames (deleted)")


def draw_process(random: Random) -> Process:
    """Draw a process with some of everything that a unit is made of, at places that mean nothing."""
    process = Process()
    makers = (_add_library, _add_file, _add_named, _add_stack, _add_arena, _add_blocks, _add_blocks)
    at = random.randrange(1, 1 << 16) << 20
    for _ in range(random.randrange(1, 12)):
        at = random.choice(makers)(process, random, at) + random.randrange(1, 4) * PAGE
    process.regions[0]["pss"] = 0  # what a side does not know at all is told once, and not unit by unit
    return process


def _draw(random: Random, at: int, pages: int, type_: str, **columns: Any) -> Row:
    size = pages * PAGE
    figures = {
        "private": random.randrange(2) * size,
        "total_ws": random.randrange(2) * PAGE,
        "pss": random.choice((None, 0, 7)),
    }
    return region(at, size, type_, **{**figures, **columns})


def _add(process: Process, *rows: Row) -> int:
    process.regions += rows
    return int(rows[-1]["end"])


def _add_library(process: Process, random: Random, at: int) -> int:
    path, build = random.choice(_LIBRARIES)
    more = {"allocation": at, "path": path}
    code = _draw(random, at, 2, "Image", protection="r-xp", **more)
    data = _draw(random, code["end"], 1, "Image", protection="rw-p", **more)
    bss = _draw(random, data["end"], random.randrange(1, 3), "Image", subtype=".bss", allocation=at)
    process.modules.append({"path": path, "address": at, "build_id": build, "end": bss["end"]})
    return _add(process, code, data, bss)


def _add_file(process: Process, random: Random, at: int) -> int:
    rights = random.choice(("r--s", "rw-s"))
    path = random.choice(_FILES)
    more = {"protection": rights, "path": path}
    return _add(process, _draw(random, at, random.randrange(1, 5), "Mapped File", **more))


def _add_named(process: Process, random: Random, at: int) -> int:
    rights = random.choice(("rw-p", "r--p"))
    path = random.choice(_NAMES)
    type_ = "Shareable" if "memfd" in path else "Heap"
    return _add(process, _draw(random, at, random.randrange(1, 5), type_, protection=rights, path=path))


def _add_stack(process: Process, random: Random, at: int) -> int:
    guard = _draw(random, at, 1, "Stack", subtype="guard", protection="---p", allocation=at)
    stack = _draw(random, guard["end"], 16, "Stack", subtype="thread stack", allocation=at)
    if name := random.choice(("worker", "main", None)):
        process.threads.append({"tid": len(process.threads), "name": name, "stack": at})
    return _add(process, guard, stack)


def _add_arena(process: Process, random: Random, at: int) -> int:
    used = random.randrange(1, 15)
    own = {"allocation": at, "subtype": "glibc arena"}
    heap = _draw(random, at, used, "Heap", **own)
    tail = _draw(random, heap["end"], 16 - used, "Heap", protection="---p", state="reserved", **own)
    return _add(process, heap, tail)


def _add_blocks(process: Process, random: Random, at: int) -> int:
    """Add neighbours that the kernel has merged or not."""
    for _ in range(random.randrange(1, 4)):
        rights = random.choice(("rw-p", "rw-p", "r--p"))
        pages = random.choice((1, 2, 3, 4, 5, 16, 17))
        at = _add(process, _draw(random, at, pages, "Private Data", protection=rights))
    return at


def rename_process(
    process: Process, rename: Callable[[str], str], *, shift: int = 0, mark: str = ""
) -> Process:
    """Rename every file, memory and thread alike, and move all by some bytes.

    With ``mark``, builds and subtypes have it, too, so that nothing is like anything of another mark.
    """

    def change(row: Row) -> Row:
        places = {name: row[name] + shift for name in _PLACES if row.get(name) is not None}
        names = {name: rename(row[name]) for name in ("path", "name", "details") if row.get(name)}
        subtype = row.get("subtype")
        if mark and "type" in row and subtype not in ("guard", ".bss"):
            names["subtype"] = f"{subtype or ''} {mark}"
        if mark and row.get("build_id"):
            names["build_id"] = row["build_id"] + mark
        return row | places | names

    tables = (process.regions, process.modules, process.threads)
    return Process(*([change(row) for row in table] for table in tables))


def find_units(process: Process) -> dict[Key, Unit]:
    """Sort the regions of a process into units, one by one; the key of a file has its path and build."""
    units: dict[Key, Unit] = defaultdict(Unit)
    islands = [at for at in range(len(process.regions)) if _is_island(process.regions, at)]
    for block in _find_blocks(process.regions, islands):
        size = sum(process.regions[at]["size"] for at in block)
        speaks = next((at for at in block if process.regions[at].get("subtype") != "guard"), block[0])
        for at in block:
            row, spoken = process.regions[at], process.regions[at if at in islands else speaks]
            unit = units[_find_key(process, row, spoken, size)]
            if at == block[0]:
                unit.blocks.add(at)
            unit.size += row["size"]
            unit.largest = max(unit.largest, (row["size"], row["protection"]), key=lambda each: each[0])
            for name in _FIGURES:
                before, more = unit.figures[name], row[name]
                unit.figures[name] = None if before is None or more is None else before + more
    return dict(units)


def _find_blocks(rows: list[Row], islands: list[int]) -> Iterator[list[int]]:
    block: list[int] = []
    for at, row in enumerate(rows):
        if block and not (_goes_on(rows[at - 1], row) or at in islands or at - 1 in islands):
            yield block
            block = []
        block.append(at)
    if block:
        yield block


def _is_island(rows: list[Row], at: int) -> bool:
    """Tell if a region with access is nameless, and lies between two larger ones that are alike."""
    if not 0 < at < len(rows) - 1 or rows[at]["protection"].startswith("---") or rows[at].get("path"):
        return False
    before, row, after = rows[at - 1 : at + 2]
    is_like = all(before.get(name) == after.get(name) for name in _LIKE)
    is_part = all(before.get(name) == row.get(name) for name in ("type", "subtype", "state"))
    touches = before["end"] == row["address"] and row["end"] == after["address"]
    is_small = row["size"] < min(before["size"], after["size"])
    return is_like and is_part and touches and is_small and row["type"] not in _SINGLE


def _goes_on(row: Row, after: Row) -> bool:
    if row["allocation"] == after["allocation"]:
        return True
    is_like = row["end"] == after["address"] and all(row.get(name) == after.get(name) for name in _LIKE)
    return is_like and row["type"] not in _SINGLE


def _find_key(process: Process, row: Row, speaks: Row, size: int) -> Key:
    threads = {thread["stack"]: thread["name"] for thread in process.threads}
    modules = {module["address"]: module for module in process.modules}
    path, type_ = str(row.get("path") or ""), row["type"]
    if type_ == "Image":
        module = modules[row["allocation"]]
        part = ".bss" if row.get("subtype") == ".bss" else row["protection"]
        return ("file", module["path"], module["build_id"], type_, part)
    if type_ == "Mapped File":
        return ("file", path.removesuffix(" (deleted)"), None, type_, row["protection"])
    if type_ == "Stack" and row["allocation"] in threads:
        return ("thread", type_, threads[row["allocation"]])
    if path:
        return ("name", type_, path.removesuffix(" (deleted)"))
    facts = (speaks.get("subtype"), speaks["protection"], speaks["state"])
    return ("cohort", type_, *facts, size.bit_length())


def match_slowly(a: dict[Key, Unit], b: dict[Key, Unit]) -> list[tuple[str, Unit | None, Unit | None]]:
    """Pair the units of two processes; files by the surest way in which both are the only ones."""
    files = [sorted({(*key[1:3], key[3]) for key in side if key[0] == "file"}, key=str) for side in (a, b)]
    found = _match_files(*files)
    pairs: dict[Key, list[Any]] = {}
    for place, side in enumerate((a, b)):
        for key, unit in side.items():
            word = key[0]
            if word == "file":
                word, number = found[place][key[1:4]]
                key = ("file", number, *key[3:])
            pairs.setdefault(key, [word, None, None])[place + 1] = unit
    _join_rights(pairs)
    return [(word, one, two) for word, one, two in pairs.values()]


def _join_rights(pairs: dict[Key, list[Any]]) -> None:
    """Make one of a unit that only a has and one that only b has, if only their rights tell them apart."""
    alike: dict[Key, tuple[list[Key], list[Key]]] = defaultdict(lambda: ([], []))
    for key, (_, one, two) in pairs.items():
        unit = one or two
        if not (one and two) and key[0] == "file" and key[-1] != ".bss":
            alike[*key[:3], unit.size][0 if one else 1].append(key)
        elif not (one and two) and key[0] == "cohort" and unit.size >= 64 << 10:
            alike[*key[:3], unit.size, len(unit.blocks)][0 if one else 1].append(key)
    for ours, theirs in alike.values():
        if len(ours) == len(theirs) == 1:
            pairs[ours[0]][0] = "file+size" if ours[0][0] == "file" else "size"
            pairs[ours[0]][2] = pairs.pop(theirs[0])[2]


def choose_word(match: str, one: Unit | None, two: Unit | None) -> str:
    """Choose the word of a unit of both sides."""
    if one is None or two is None:
        return "new" if one is None else "gone"
    if one.size != two.size:
        return "grown" if one.size < two.size else "shrunk"
    pairs = zip(one.figures.values(), two.figures.values(), strict=True)
    if match in ("file+size", "size"):
        return "changed"
    if any(before != after for before, after in pairs if before is not None and after is not None):
        return "changed"
    if match in ("thread", "cohort") and len(one.blocks) != len(two.blocks):
        return "changed"
    return "changed" if match == "name" and one.largest[1] != two.largest[1] else "same"


def _match_files(a: list[Key], b: list[Key]) -> list[dict[Key, tuple[str, int]]]:
    def strip(text: str) -> str:
        return text.rstrip("0123456789.")

    ways: tuple[tuple[str, Any], ...] = (
        ("path+build id", lambda f: f if f[1] else None),
        ("path", lambda f: f),
        ("build id", lambda f: (f[0].split("/")[-1], f[1]) if f[1] else None),
        ("path", lambda f: (f[0], f[2])),
        ("path without version", lambda f: strip(f[0]) if f[2] == "Image" else None),
        ("file name", lambda f: (f[0].split("/")[-1], f[2])),
        ("file name without version", lambda f: strip(f[0].split("/")[-1]) if f[2] == "Image" else None),
    )
    answers: list[dict[Key, tuple[str, int]]] = [{}, {}]
    left, number = [list(a), list(b)], 0
    for word, key in ways:
        for one in list(left[0]):
            mine = [f for f in left[0] if key(f) == key(one) is not None]
            theirs = [f for f in left[1] if key(f) == key(one) is not None]
            if len(mine) == len(theirs) == 1:
                number += 1
                answers[0][one] = answers[1][theirs[0]] = (word, number)
                left[0].remove(one)
                left[1].remove(theirs[0])
    for side, rest in zip(answers, left, strict=True):
        for file in rest:
            number += 1
            side[file] = ("path+build id" if file[1] else "path", number)
    return answers
