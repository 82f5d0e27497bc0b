"""A comparison of two snapshots as text: totals, types, what changed most, ranges, modules, threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.diffs.matching import summarize_matching
from mmpscope.analysis.diffs.schema import CHANGED, DIFF_TABLES, OTHERS
from mmpscope.analysis.diffs.snapshots import SAME_MODE
from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.extent import ALL, NOTHING, SOME
from mmpscope.analysis.identity import UNPROVEN
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_address, show_count, show_kib
from mmpscope.analysis.reporters.diff_parts import draw_free, draw_modules, draw_threads, pick_side, show_both
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_heads
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["TITLES", "report_diff"]

Row = dict[str, Any]

TITLES = {
    "size": "Size",
    "committed": "Committed",
    "private": "Private",
    "total_ws": "Total\nWS",
    "private_ws": "Private\nWS",
    "shareable_ws": "Shareable\nWS",
    "shared_ws": "Shared\nWS",
    "locked_ws": "Locked\nWS",
    "swap": "Swap",
    "lazyfree": "Lazy\nFree",
    "thp": "Huge\nPages",
    "pss": "PSS",
    "uss": "USS",
    "cow_shared": "Shared\nafter fork",
    "commit_charge": "Commit\ncharge",
}
"""Every figure in the order in which it appears."""
_ALWAYS = ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "shared_ws", "locked_ws")
"""VMMap's figures."""
_WHERE_CHANGED = ("swap", "lazyfree", "thp")
"""They explain a change of the others; what is in neither list appears in verbose."""
_FACTS = ("type", "state", "protection")
"""What a range has, besides its backing."""
_NO_REGIONS = ("Page Table", "Unusable")
_WORTH = {
    "size": KEEP,
    "private": 35,
    "total_ws": 30,
    "committed": 25,
    "private_ws": 20,
    "shareable_ws": 18,
}
_MAY_HIDE = ("size", "total_ws")
"""Figures of which a large change is told even if another one ranks."""
_BY_MORE_THAN_RIGHTS = ("file+size", "size", "name", "role")
"""Ways to match units by which rights may differ between the two sides."""
_NARROW = 24
_AT_LEAST = "+"
"""Behind a total of what is known, as in a summary."""
_KNOWN = "*"
"""Behind a change of what is known, as of several snapshots."""
_NAMED = 3
"""Units that a note names; the others are counted."""
_REASONS = 6
"""Lines of reasons that stand below an answer; all of them in verbose."""


def report_diff(
    pair: tuple[LoadedSnapshot, LoadedSnapshot],
    result: DiffResult,
    said: Sequence[str],
    limit: int,
    *,
    with_totals: bool = True,
) -> Report:
    """Make the answer of `mmp diff`; ``said`` are sentences that stand before it.

    Lists of modules and threads show at most ``limit`` rows as text, too; 0 shows all. Text is without totals
    where these stand elsewhere.
    """
    facts = _list_facts(pair, result)
    tables = {name: describe_columns(table, DIFF_TABLES[name]) for name, table in result.to_tables().items()}
    facts |= {
        name: iterate_rows(table) for name, table in tables.items() if name not in ("movers", "components")
    }

    def draw(screen: Screen) -> list[str]:
        heads = draw_heads(pair, screen, ("a: ", "b: "))
        matched = summarize_matching(result.matching)
        said_too = [matched] if matched else []
        sentences = [*said, f"mode {result.mode}: {result.identity.verdict}{_advise(result)}", *said_too]
        lines = [line for sentence in sentences for line in screen.wrap(show_name(sentence))]
        return [
            *heads,
            *lines,
            "",
            *_draw(result, limit, screen, with_totals),
            "",
            *_draw_reasons(result, screen),
        ]

    return Report("diff", draw, facts, lambda: result.components, iterate_rows(tables["movers"]))


def _list_facts(pair: tuple[LoadedSnapshot, LoadedSnapshot], result: DiffResult) -> dict[str, object]:
    """List for JSON what the answer is about and rests on."""
    a, b = pair
    return {
        "a": {"snapshot": describe_snapshot(a), "capability": describe_capability(a)},
        "b": {"snapshot": describe_snapshot(b), "capability": describe_capability(b)},
        "mode": result.mode,
        "mode_reason": result.mode_reason,
        "identity": {"verdict": result.identity.verdict, "reason": result.identity.reason},
        "metric": result.metric,
        "mappings": {
            side: {"count": count.count, "limit": count.limit}
            for side, count in zip("ab", result.map_count, strict=True)
        },
    }


def _advise(result: DiffResult) -> str:
    """Only the user knows what two snapshots are that do not tell; asked for, a mode needs no advice."""
    if result.identity.verdict != UNPROVEN or "asked" in result.mode_reason:
        return ""
    is_same = result.mode == SAME_MODE
    return f"; if they are {'two processes, --other' if is_same else 'one, --same'}"


def _draw(result: DiffResult, limit: int, screen: Screen, with_totals: bool) -> list[str]:
    is_matched_in_part = result.mode != SAME_MODE and {result.scope.regions, result.scope.totals} == {SOME}
    shown = (result.scope.totals, *(extent.shown for extent in result.scope.extents))
    if NOTHING in shown or is_matched_in_part:
        return ["what changed is not known"]
    if not _is_told(result):
        is_whole = result.scope.regions == ALL and not result.components.num_rows
        return ["nothing changed" if is_whole else "nothing changed of what both tell"]
    metric, ranges = result.metric, result.ranges.to_pylist()
    told = screen.wrap(_count_words(result)) if ranges else []
    parts = [
        _draw_totals(result, screen) if with_totals else [],
        _draw_types(result, screen),
        _draw_movers(result.movers.to_pylist(), metric, screen),
        draw_free(result, screen),
        _draw_rows("Ranges that changed", ranges, metric, screen) if screen.verbose else told,
        *draw_modules(result, limit, screen),
        draw_threads(result, limit, screen),
    ]
    return [line for part in parts if part for line in ("", *part)][1:]


def _is_told(result: DiffResult) -> bool:
    """Tell if there are totals to show: something changed, or may have; sums of a part do not tell."""
    rows = result.totals.to_pylist() if result.scope.totals != SOME else ()
    is_unlike = any(row["a"] != row["b"] and row["delta"] is None for row in rows)
    return is_unlike or not result.is_empty


def _draw_totals(result: DiffResult, screen: Screen) -> list[str]:
    rows = _choose_totals(result, screen)
    before, after = (side.count for side in result.map_count)
    more = None if before is None or after is None else after - before
    is_counted = any(side.applies for side in result.map_count)
    counts = [show_count(s.count) if s.applies else NOT_APPLICABLE for s in result.map_count]
    mappings = ["Mappings", *counts, show_count(more, sign=True)] * is_counted
    columns = [
        TextColumn("Total", [*(_name(row) for row in rows), *mappings[:1]]),
        TextColumn("Before", [*(_show_side(row, "a") for row in rows), *mappings[1:2]], True),
        TextColumn("After", [*(_show_side(row, "b") for row in rows), *mappings[2:3]], True),
        TextColumn("Change", [*(show_kib(row["delta"], sign=True) for row in rows), *mappings[3:]], True),
        TextColumn("", [*[""] * len(rows), *[_describe_limit(result)] * is_counted]),
    ]
    has_part = any(row["partial"] for row in rows)
    note = f"sizes in KiB; {_AT_LEAST} at least: the rest is not known" if has_part else "sizes in KiB"
    return render_table(columns, screen, explain_marks(columns, note))


def _choose_totals(result: DiffResult, screen: Screen) -> list[Row]:
    told = {*_ALWAYS, result.metric, *(TITLES if screen.verbose else ())}
    totals: list[Row] = result.totals.to_pylist()
    return [r for r in totals if r["metric"] in told or (r["metric"] in _WHERE_CHANGED and r["delta"])]


def _name(row: Row) -> str:
    return TITLES[row["metric"]].replace("\n", " ")


def _show_side(row: Row, side: str) -> str:
    return show_kib(row[side]) + (_AT_LEAST if row[f"partial_{side}"] else "")


def _draw_reasons(result: DiffResult, screen: Screen) -> list[str]:
    """Write why it was compared so, and every note once, with the figures that it is about.

    Reasons are prose, as long as what they tell of; those that do not fit in a few lines take -v.
    """
    about: dict[str, list[str]] = {}
    has_notes = _is_told(result) or result.components.num_rows
    for row in _choose_totals(result, screen) if has_notes else ():
        about.setdefault(show_name(row["note"] or ""), []).append(_name(row))
    verdict, why = result.identity.verdict, result.identity.reason
    rest = result.mode_reason.removeprefix(f"{verdict} ({why})")  # the verdict stands above
    reasons = [f"why {result.mode}: {show_name(why + rest)}"]
    reasons += [f"{', '.join(figures)}: {note}" for note, figures in about.items() if note]
    lines = [part for line in reasons for part in screen.wrap(line, "    ")]
    if screen.verbose or len(lines) <= _REASONS:
        return lines
    return [*lines[: _REASONS - 1], "    ... (-v tells all reasons)"]


def _describe_limit(result: DiffResult) -> str:
    limit = result.map_count[1].limit
    return "" if limit is None else f"of at most {limit:,}"


def _draw_types(result: DiffResult, screen: Screen) -> list[str]:
    """Write the types of which anything changed that is shown; Total is said already."""
    told = {*_ALWAYS, *_WHERE_CHANGED, result.metric, *(TITLES if screen.verbose else ()), "blocks"}
    parts = [row for row in result.types.to_pylist() if row["type"] != "Total"]
    changed = [row for row in parts if any(row[f"{name}_delta"] for name in told)]
    blocks = [
        NOT_APPLICABLE if row["type"] in _NO_REGIONS else show_count(row["blocks_delta"], sign=True)
        for row in changed
    ]
    columns = [
        TextColumn("Change by type", [row["type"] for row in changed]),
        *_show_deltas(changed, result.metric, screen),
        TextColumn("Blocks", blocks, True, 15),
    ]
    return render_table(columns, screen) if changed else []


def _draw_movers(rows: Sequence[Row], metric: str, screen: Screen) -> list[str]:
    """List what changed most; rows of which nothing would be seen are counted."""
    told = {*_ALWAYS, *_WHERE_CHANGED, metric}
    is_seen = [screen.verbose or not _is_blank(row, told) for row in rows]
    shown, hidden = (
        [row for row, seen in zip(rows, is_seen, strict=True) if seen is it] for it in (True, False)
    )
    what = "" if all(any(row[f"{name}_delta"] for name in TITLES) for row in hidden) else "backing or in "
    more = f"{len(hidden):,} more changed only in {what}figures that -v shows"
    return [
        *_draw_rows(f"What changed most, by {metric}", shown, metric, screen),
        *([more] if hidden else []),
        *(line for told in _name_hidden(rows, metric) for line in screen.wrap(told)),
    ]


def _name_hidden(rows: Sequence[Row], metric: str) -> list[str]:
    """Say of which figures that do not rank the folded row has the largest change: it may be the finding."""
    if not rows or rows[-1]["word"] != OTHERS:
        return []
    told = []
    for name in _MAY_HIDE:
        *listed, folded = (row[f"{name}_delta"] for row in rows)
        if name != metric and folded and abs(folded) > max((abs(delta or 0) for delta in listed), default=0):
            figure, change = TITLES[name].replace("\n", " "), show_kib(folded, sign=True)
            told.append(f"others have the largest change of {figure} ({change}): --metric {name} lists it")
    return told


def _is_blank(row: Row, told: Iterable[str]) -> bool:
    facts = ("type", "protection", "details", "state")
    is_seen = any(row.get(f"{name}_a") != row.get(f"{name}_b") for name in facts)
    return row["word"] == CHANGED and not is_seen and not any(row[f"{name}_delta"] for name in told)


def _draw_rows(title: str, rows: Sequence[Row], metric: str, screen: Screen) -> list[str]:
    if not rows:
        return []
    has_units = any(row["unit"] is not None for row in rows)
    is_grouped = any((row["match"] or "").startswith("by ") for row in rows)
    place = [] if has_units else [TextColumn("Address", [_show_place(row) for row in rows], True)]
    kinds = TextColumn("Type", [show_both(row, "type") for row in rows], least=_NARROW)
    types = [] if is_grouped else [kinds]
    rights = TextColumn("Prot", [show_both(row, "protection") for row in rows], False, 16)
    blocks = TextColumn("Blocks", [_show_blocks(row) for row in rows], True, 28)
    columns = [
        *place,
        TextColumn("", [row["word"] for row in rows]),
        *types,
        *_show_deltas(rows, metric, screen),
        *([] if is_grouped else [blocks if has_units else rights]),
        *_name_rows(rows, has_units=has_units),
    ]
    is_partial = any(cell.endswith(_KNOWN) for column in columns if column.right for cell in column.cells)
    note = f"{_KNOWN} of what is known: of some of the others nothing is" if is_partial else ""
    return [title, *render_table(columns, screen, note), *_note_units(rows, screen)]


def _show_deltas(rows: Sequence[Row], metric: str, screen: Screen) -> list[TextColumn]:
    """Write Size, the figure that ranks the changes, and every other one that changed somewhere."""
    told = {*_ALWAYS, *_WHERE_CHANGED, *(TITLES if screen.verbose else ())}
    columns = []
    for name, title in TITLES.items():
        deltas = [row[f"{name}_delta"] for row in rows]
        if name in ("size", metric) or (name in told and any(deltas)):
            cells = [_show_delta(row, name) for row in rows]
            columns.append(TextColumn(title, cells, True, KEEP if name == metric else _WORTH.get(name, 5)))
    return columns


def _show_delta(row: Row, name: str) -> str:
    """Write a change, with a mark where it leaves out what no side tells."""
    delta = row[f"{name}_delta"]
    is_partial = delta is not None and name in (row.get("partial") or "").split(", ")
    return show_kib(delta, sign=True) + _KNOWN * is_partial


def _show_place(row: Row) -> str:
    if row["word"] == OTHERS:
        return f"({row['rows']:,} more)"
    address = pick_side(row, "address")
    return "" if address is None else show_address(address)


def _describe(row: Row) -> str:
    """Name a row and what its growth consists of; what a LazyFree is, the totals and JSON tell."""
    note = (row["note"] or "").partition(" (")[0]
    return "; ".join(filter(None, [show_both(row, "details"), show_name(note)]))


def _name_rows(rows: Sequence[Row], *, has_units: bool) -> list[TextColumn]:
    """Name rows; what is said of units stands below, since a name alone may be as long as the line."""
    if not has_units:
        return [TextColumn("Details", [_describe(row) for row in rows], False, KEEP, _NARROW)]
    names = [_show_place(row) if row["word"] == OTHERS else show_name(_name_unit(row)) for row in rows]
    return [TextColumn("What", names, False, KEEP, _NARROW)]


def _note_units(rows: Sequence[Row], screen: Screen) -> list[str]:
    """Say once what the growth of some units consists of, and of which."""
    about: dict[str, list[str]] = {}
    for row in rows:
        if row["note"] and row["unit"] is not None:
            about.setdefault(row["note"].partition(" (")[0], []).append(_name_unit(row))
    lines = []
    for note, units in about.items():
        more = f" and {len(units) - _NAMED:,} more" if len(units) > _NAMED else ""
        lines += screen.wrap(show_name(f"{note}: {', '.join(units[:_NAMED])}{more}"), "    ")
    return lines


def _name_unit(row: Row) -> str:
    """Name a unit, with the rights that it had and has where these are what changed."""
    unit, before, after = row["unit"] or "", row["protection_a"], row["protection_b"]
    if row["match"] not in _BY_MORE_THAN_RIGHTS or None in (before, after) or before == after:
        return unit
    return f"{unit} -> {after}" if unit.endswith(f" {before}") else f"{unit} {before} -> {after}"


def _show_blocks(row: Row) -> str:
    """Write how many blocks there were and are, as in 2 -> 5."""
    before, after = row["blocks_a"], row["blocks_b"]
    if before is None or after is None or row["word"] == OTHERS:
        return ""
    return show_count(before) if before == after else f"{show_count(before)} -> {show_count(after)}"


def _count_words(result: DiffResult) -> str:
    ranges: list[Row] = result.ranges.to_pylist()
    words = [_name_change(row) if result.scope.types else row["word"] for row in ranges]
    counts = ", ".join(f"{words.count(word):,} {word}" for word in dict.fromkeys(words))
    return f"{len(words):,} range{'' if len(words) == 1 else 's'} of addresses: {counts} (-v lists them)"


def _name_change(row: Row) -> str:
    """Say what changed of a range: facts that the row shows, or else what is behind the memory."""
    if row["word"] != CHANGED:
        return str(row["word"])
    facts = [name for name in _FACTS if row[f"{name}_a"] != row[f"{name}_b"]]
    return f"{CHANGED} in {' and '.join(facts or ['backing'])}"
