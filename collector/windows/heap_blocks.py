"""The blocks of heaps, added up by heap, kind and size class, within a budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Callable, NamedTuple

from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Block, Heap

__all__ = ["BlockSums", "BlockWalk", "Budget", "sum_blocks"]

Walk = Callable[[int], Iterable[Block]]


class Budget(NamedTuple):
    """How much of a walk to bear, over all heaps of a process."""

    blocks: int
    seconds: float


class BlockSums(NamedTuple):
    """Blocks of one heap with the same flags, of ``size_class`` bytes or more, and less than twice that."""

    heap: int
    flags: int
    size_class: int
    blocks: int
    bytes: int


@dataclass
class BlockWalk:
    """What was found; ``truncated`` says that the budget was too small, ``refused`` which heaps said no."""

    rows: list[BlockSums] = field(default_factory=list)
    seen: int = 0
    truncated: str | None = None
    refused: list[str] = field(default_factory=list)


def sum_blocks(
    walk: Walk, heaps: Sequence[Heap], budget: Budget, clock: Callable[[], float] = time.monotonic
) -> BlockWalk:
    """Walk heap after heap until all is seen or the budget is spent (F42)."""
    found, until = BlockWalk(), clock() + budget.seconds
    for heap in heaps:
        if found.truncated is not None:
            break
        blocks: Counter[tuple[int, int]] = Counter()
        sizes: Counter[tuple[int, int]] = Counter()
        try:
            for block in walk(heap.id):
                if found.seen >= budget.blocks or clock() >= until:
                    found.truncated = f"truncated after {found.seen} blocks"
                    break
                found.seen += 1
                key = (block.flags, 1 << block.size.bit_length() - 1 if block.size else 0)
                blocks[key] += 1
                sizes[key] += block.size
        except Win32Error as error:
            found.refused.append(f"heap 0x{heap.id:x}: {error}")
        found.rows += [BlockSums(heap.id, *key, blocks[key], sizes[key]) for key in sorted(blocks)]
    return found
