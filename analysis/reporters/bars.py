"""Three bars, as VMMap draws them: what Committed, Private and Working Set consist of, type by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmpscope.analysis.reporters.screen import Screen

__all__ = ["draw_bars"]

_MARKS = {
    "Image": ("I", "45"),
    "Mapped File": ("F", "44"),
    "Shareable": ("S", "46"),
    "Heap": ("H", "48;5;208;30"),
    "Managed Heap": ("M", "42;30"),
    "Stack": ("K", "48;5;173;30"),
    "Private Data": ("P", "43;30"),
    "Page Table": ("T", "100"),
}
"""A letter for each type, because a bug report has no colours; on a terminal also a colour near VMMap's."""

_WIDEST = 100
_LEAST = 20


def draw_bars(
    figures: Mapping[str, Sequence[tuple[str, int | None]]], numbers: Mapping[str, str], screen: Screen
) -> list[str]:
    """Draw one bar for each named list of (type, bytes); all bars have one scale, so that they compare.

    ``numbers`` are the words behind the bars: those of the table above, whatever the parts add up to.
    Unknown figures (null) take no room in a bar; a bar without any known figure says so. A type too small
    for a letter of its own leaves none.
    """
    totals = {name: sum(size or 0 for _, size in parts) for name, parts in figures.items()}
    scale = max(totals.values(), default=0)
    names = max(map(len, figures))
    room = min(_WIDEST, (screen.width or 80) - names - max(map(len, numbers.values())) - 4)
    if scale == 0 or room < _LEAST:
        return []
    lines, used = [], set()
    for name, parts in figures.items():
        if all(size is None for _, size in parts):
            lines.append(f"{name:{names}}  unknown")
            continue
        cells = _share_cells(parts, room, scale)
        used |= {kind for kind, count in cells if count}
        bar = "".join(
            screen.paint(_MARKS[kind][0] * count, _MARKS[kind][1]) for kind, count in cells if count
        )
        blank = " " * (room - sum(count for _, count in cells))
        lines.append(f"{name:{names}}  {bar}{blank}  {numbers[name]:>{max(map(len, numbers.values()))}}")
    return lines + _explain(used, screen)


def _share_cells(parts: Sequence[tuple[str, int | None]], room: int, scale: int) -> list[tuple[str, int]]:
    """Give each type its cells: the bar is as long as its total says, and no type has more than a larger one.

    What whole cells leave over goes to the largest remainders: rounding where each part ends would give a
    small type a cell, and a larger one beside it none.
    """
    sizes = [size or 0 for _, size in parts]
    cells = [size * room // scale for size in sizes]
    spare = (2 * sum(sizes) * room + scale) // (2 * scale) - sum(cells)
    for at in sorted(range(len(sizes)), key=lambda at: (-(sizes[at] * room % scale), -sizes[at]))[:spare]:
        cells[at] += 1
    return [(kind, count) for (kind, _), count in zip(parts, cells, strict=True)]


def _explain(used: set[str], screen: Screen) -> list[str]:
    words = [f"{letter}={kind}".replace(" ", "\0") for kind, (letter, _) in _MARKS.items() if kind in used]
    return [line.replace("\0", " ") for line in screen.wrap("  ".join(words))]
