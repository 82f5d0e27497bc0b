"""A report as Markdown for the text of an issue: at most 60 lines, and nothing in it that Markdown obeys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.diffs.schema import OTHERS
from mmpscope.analysis.diffs.snapshots import SAME_MODE
from mmpscope.analysis.identity import UNPROVEN
from mmpscope.analysis.pages.cells import show_bytes, show_summary_figure
from mmpscope.analysis.pages.processes import name_process, say_of_pair
from mmpscope.analysis.pages.says import find_near_limit, say_of_limits
from mmpscope.analysis.pages.tables import list_rows, make_title
from mmpscope.analysis.reporters.amounts import show_address, show_count, show_size, show_time
from mmpscope.analysis.reporters.names import shorten_middle

if TYPE_CHECKING:
    from mmpscope.analysis.pages.page_data import PageData
    from mmpscope.analysis.pages.schema import Diff, Page, Snapshot

__all__ = ["MOST_LINES", "render_markdown"]

MOST_LINES = 60
_FIGURES = ("size", "committed", "private", "total_ws", "private_ws")
_MOVED = ("size", "committed", "private", "total_ws")
_ROLE_FIGURES = ("pss", "uss", "private")
_MOVERS = 5
_LARGEST = 5
_LIMITS = 3
_NOTES = 2
_MISSING = 3
_NAME = 70
"""Characters of a name: a table in an issue is about as wide as 100 columns."""
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&@#$]|:(?=[/\w])|(?<=www)\.")
"""What Markdown or an issue tracker may obey within a line (CommonMark 0.31; GitHub's autolinks, mentions and
emoji). Names stand in code spans, where nothing is obeyed."""
_SHARE = 0.01
"""A limit of which less than this share is used is not worth a line."""

Row = dict[str, Any]


def render_markdown(data: PageData) -> str:
    """Write head, what stands out, changes, sums, the largest allocations and the room that is left."""
    page = data.page
    snapshot = page["snapshots"][page["shown"]]
    parts = [
        _write_head(page, snapshot, data.shown["says_room"]),
        _write_roles(page),
        *([_write_diff(page, page["diffs"][0])] if page["diffs"] and page["roles"] is None else []),
        _write_summary(page, snapshot),
        _write_largest(data),
        _write_limits(snapshot, page),
    ]
    lines = [line for part in parts if part for line in ("", *part)][1:]
    assert len(lines) <= MOST_LINES, "every part has a bound"
    return "\n".join(lines) + "\n"


def _write_head(page: Page, snapshot: Snapshot, room: str) -> list[str]:
    """Write which process and when, the sentence that stands out, and the other facts as a list."""
    head = snapshot["head"]
    facts = [head["time"], _prose(head["os"] or "system unknown"), f"mmpscope {page['made']['version']}"]
    if len(page["snapshots"]) > 1:
        facts.append(f"{len(page['snapshots']):,} snapshots")
    lines = [f"### Memory of {_name(page['title'])}", "", ", ".join(facts), ""]
    lines += [f"**{_prose(page['says'])}**", ""]
    lines += [f"- {_prose(said)}" for said in _list_facts(page, room)]
    lines += [f"- {_prose(note)}" for note in [*head["notes"], *page["notes"]][:_NOTES]]
    missing = [f"{fact['item']}" for fact in head["missing"] if fact["state"] in ("partial", "unavailable")]
    if missing:
        more = f", and {len(missing) - _MISSING} more" if len(missing) > _MISSING else ""
        lines.append(f"- not known: {_prose(', '.join(missing[:_MISSING]))}{more}")
    return lines


def _list_facts(page: Page, room: str) -> Iterator[str]:
    """Yield what changed and the room that is left, but for what the sentence above says already.

    Of several processes, every line about one of them names it.
    """
    whose = f"{name_process(page['snapshots'][page['shown']])}: " if page["rooms"] else ""
    if page["roles"] is not None and page["roles"]["says"] != page["says"]:
        yield page["roles"]["says"]
    if page["diffs"]:
        yield f"changed: {say_of_pair(page)}"
    if page["says_rooms"] is not None:
        yield f"room: {page['says_rooms']}"
    if whose + room != page["says"]:
        yield f"room: {whose}{room}"
    if page["rooms"]:
        told = f"{page['title']}, one of {len(page['rooms']):,} processes"
        yield f"{'below the first table' if page['roles'] else 'the tables below'}: {told}"


def _write_summary(page: Page, snapshot: Snapshot) -> list[str]:
    """Write the types that there are; sums of a part have a sign before them."""
    rows = [row for row in list_rows(snapshot["summary"], page["texts"]) if row["size"]]
    names = (*_FIGURES, "blocks")
    cells = [[row["type"], *(show_summary_figure(row, name) for name in names)] for row in rows]
    return _write_table(["Type", *map(make_title, names)], cells, texts=1)


def _write_diff(page: Page, diff: Diff) -> list[str]:
    """Write the types that changed, and the movers of both directions; the rest is one row, so sums hold."""
    types = [row for row in list_rows(diff["tables"]["types"], page["texts"]) if _has_moved(row)]
    movers = _fold(list_rows(diff["tables"]["movers"], page["texts"]))
    cells = [[row["type"], "", *map(_change, _deltas(row))] for row in types]
    cells += [[row["word"], _name(_describe(row)), *map(_change, _deltas(row))] for row in movers]
    a, b = (page["snapshots"][diff[side]] for side in ("a", "b"))
    times = [each["head"]["time"] for each in (a, b)]
    if times[0] == times[1]:
        times = [_show_moment(each) for each in (a, b)]
    told = f"From {_name(a['label'])} ({times[0]}) to {_name(b['label'])} ({times[1]})"
    head = ["Change", "What", *map(make_title, _MOVED)]
    return [f"{told}, {_tell_mode(diff)}:", "", *_write_table(head, cells, texts=2)]


def _show_moment(snapshot: Snapshot) -> str:
    """Write when a snapshot was taken to the millisecond: another one is of the same second."""
    told = snapshot["head"]["time_ns"]
    return show_time(None if told is None else int(told), fraction=True)


def _write_roles(page: Page) -> list[str]:
    """Write how several processes changed, the roles that changed most and the total."""
    roles = page["roles"]
    if roles is None:
        return []
    *rows, total = list_rows(roles["rows"], page["texts"])
    listed = [row for row in rows if row["word"] != OTHERS][:_MOVERS]
    rest = [row for row in rows if row not in listed]
    cells = [_write_role(row) for row in [*listed, total]]
    if rest:
        sums = [_change(_add(row[f"{name}_delta"] for row in rest)) for name in _ROLE_FIGURES]
        cells.insert(-1, [OTHERS, f"{len(rest):,} more row{'' if len(rest) == 1 else 's'}", "", *sums])
    told = f"From {_name(roles['sides'][0])} to {_name(roles['sides'][1])}, by role:"
    return [
        told,
        "",
        *_write_table(["Change", "Process", "Count", *map(make_title, _ROLE_FIGURES)], cells, texts=2),
    ]


def _write_role(row: Row) -> list[str]:
    counts = " \u2192 ".join(show_count(row[f"instances_{side}"]) for side in "ab")
    changes = [_change(row[f"{name}_delta"]) for name in _ROLE_FIGURES]
    side = "b" if row["instances_b"] else "a"
    is_one = row[f"instances_{side}"] == 1 and row[f"pid_{side}"] is not None
    name = f"{row['name'] or 'unknown process'} (pid {row[f'pid_{side}']})" if is_one else row["name"] or ""
    return [row["word"], _name(name), counts, *changes]


def _tell_mode(diff: Diff) -> str:
    """Say what the two are to each other, and whether that is known."""
    same, is_proven = diff["mode"] == SAME_MODE, diff["identity"]["verdict"] != UNPROVEN
    if is_proven:
        return "same process" if same else "different processes"
    return f"taken for {'one process' if same else 'two processes'}, which they do not tell"


def _has_moved(row: Row) -> bool:
    return row["type"] == "Total" or any(_deltas(row))


def _deltas(row: Row) -> list[int | None]:
    return [row[f"{name}_delta"] for name in _MOVED]


def _fold(rows: Sequence[Row]) -> list[Row]:
    """Keep the first movers of which something shows; add up all others, those that the page folded too."""
    moved = [row for row in rows if any(_deltas(row)) and row["word"] != OTHERS][:_MOVERS]
    rest = [row for row in rows if row not in moved]
    sums: Row = {f"{name}_delta": _add(row[f"{name}_delta"] for row in rest) for name in _MOVED}
    if not any(value != 0 for value in sums.values()):
        return moved
    return [*moved, {"word": OTHERS, "unit": f"{sum(row['rows'] for row in rest):,} more", **sums}]


def _add(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(value or 0 for value in known)


def _describe(row: Row) -> str:
    if row.get("unit"):
        return str(row["unit"])
    sides = [row.get(f"{name}_{side}") for side in "ba" for name in ("details", "type")]
    return next((str(text) for text in sides if text), "")


def _write_largest(data: PageData) -> list[str]:
    table = data.shown["allocations"]
    if table is None:
        return []
    rows = list_rows(table, data.shown["texts"])
    rows = sorted(rows, key=lambda row: (-(row["committed"] or 0), -row["size"]))[:_LARGEST]
    cells = [
        [f"`{show_address(row['address'])}`", row["type"] or "", _name(row["details"] or "")]
        + [show_bytes(row[name]) for name in _MOVED]
        for row in rows
    ]
    return _write_table(["Largest allocations", "Type", "What", *map(make_title, _MOVED)], cells, texts=3)


def _write_limits(snapshot: Snapshot, page: Page) -> list[str]:
    """Write the limits that are in sight, the nearest first, but for one that the sentence on top is about.

    How much room is left, the head says.
    """
    rows = list_rows(snapshot["limits"], page["texts"])
    told = find_near_limit(rows) if say_of_limits(rows) == page["says"] else None
    shares = [
        (row["used"] / row["maximum"], row)
        for row in rows
        if row["maximum"] and row["used"] is not None and row is not told
    ]
    shares.sort(key=lambda pair: -pair[0])
    near = [row for share, row in shares if share >= _SHARE][:_LIMITS]
    return [f"- {_prose(row['limit'])}: {_show(row, 'used')} of {_show(row, 'maximum')}" for row in near]


def _show(row: Row, name: str) -> str:
    return (show_size if row["unit"] == "bytes" else show_count)(row[name])


def _write_table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Write a table whose first ``texts`` columns are names, the others numbers."""
    rule = ["---"] * texts + ["--:"] * (len(heads) - texts)
    return [f"| {' | '.join(line)} |" for line in ([*heads], rule, *rows)]


def _name(text: str) -> str:
    """Write a name as a code span, so that nothing in it is obeyed, and not longer than a table is wide.

    A bar ends a cell even in a code span (GitHub Flavored Markdown, 4.10), so it is escaped.
    """
    if not text:
        return ""
    shown = shorten_middle(text, _NAME).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence, gap = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


def _prose(text: str) -> str:
    return _MARKUP.sub(lambda hit: "\\" + hit[0], text)


def _change(value: int | None) -> str:
    return show_bytes(value, sign=True)
