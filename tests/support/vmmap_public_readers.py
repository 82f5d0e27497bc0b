"""Three readers of VMMap's `.mmp` in the way of those that the public has, from a description of them.

What they get wrong with VMMap's own files (snapshots added up, blocks of 10 left out) they get wrong here.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from xml.dom import minidom
from xml.etree import ElementTree

__all__ = ["USE_TYPES", "Node", "read_lines", "read_leaves", "read_tree"]

USE_TYPES = {
    0: "Heap", 1: "Stack", 2: "Image", 3: "Mapped File", 4: "Private Data", 5: "Shareable", 6: "Free",
    8: "Managed Heap", 9: "Page Table", 10: "Unusable",
}  # fmt: skip
_KIB = 1024


@dataclass
class Node:
    """A region of the tree, with what lies inside of it; sizes in bytes."""

    address: int
    end: int
    numbers: dict[str, int]
    type: str
    details: str
    parts: list[Node] = field(default_factory=list)


def read_tree(data: bytes) -> list[Node]:
    """Read as PerfView does: by names, anew at each snapshot, a region below the last one around it."""
    names = ("Blocks", "ShareableWS", "SharedWS", "Size", "Commit", "PrivateBytes", "PrivateWS", "Id")
    nodes: list[Node] = []
    roots: list[Node] = []
    for _, element in ElementTree.iterparse(io.BytesIO(data), ("start",)):
        if element.tag == "Snapshot":
            nodes, roots = [], []
        if element.tag != "Region":
            continue
        numbers = {name: _parse(element.get(name)) for name in (*names, "Protection", "Storage", "UseType")}
        address = _parse(element.get("Address"))
        node = Node(
            address, address + numbers["Size"], numbers, element.get("Type", ""), element.get("Details", "")
        )
        around = [n for n in reversed(nodes) if n.address <= address and node.end <= n.end]
        (around[0].parts if around else roots).append(node)
        nodes.append(node)
    return roots


def _parse(text: str | None) -> int:
    """Parse as ulong.TryParse does: decimal, and 0 for all else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0


def read_leaves(data: bytes) -> Counter[str]:
    """Read as VMMapReader does: K of all regions with nothing inside, wherever they are, by UseType."""
    found: Counter[str] = Counter()
    for region in minidom.parseString(data).getElementsByTagName("Region"):
        if not region.childNodes:
            kind = USE_TYPES[int(region.getAttribute("UseType"))]
            found[kind] += int(region.getAttribute("Size")) // _KIB
    return found


def read_lines(data: bytes) -> dict[str, int]:
    """Read as MemoryAnalyzer does: lines cut at blanks, numbers by their place; bytes, and ticks."""
    found = dict.fromkeys(("ticks", "total", "committed", "total_ws", "private_ws"), 0)
    for line in data.decode().splitlines():
        words = line.split(" ")
        if words[0] == "<Snapshot":
            found["ticks"] = _number(words[1])
            for name in ("total", "committed", "total_ws", "private_ws"):
                found[name] += _number(words[2])
        elif words[0] == "<Region" and "0" not in words[2]:
            found["total"] += _number(words[5])
            found["committed"] += _number(words[6])
            found["total_ws"] += _number(words[3]) + _number(words[8])
            found["private_ws"] += _number(words[8])
    return found


def _number(word: str) -> int:
    return int(word.split('"')[1])
