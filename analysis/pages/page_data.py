"""Snapshots into the data of a page: what every one keeps, the lists of some, and how they differ.

Snapshots are read one after the other; of each only what the page keeps stays in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
from mmpscope.analysis.diffs.schema import DIFF_TABLES
from mmpscope.analysis.identity import is_later
from mmpscope.analysis.pages.diffs import compare_pair, encode_diff
from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.folding import MOST_BYTES, order_by_worth
from mmpscope.analysis.pages.keeping import KeptLists, keep_lists
from mmpscope.analysis.pages.processes import (
    choose_first,
    encode_room,
    find_new,
    find_pairs,
    name_process,
    say_of_near_limits,
    say_of_rooms,
)
from mmpscope.analysis.pages.roles import compare_roles
from mmpscope.analysis.pages.says import is_tight, say_of_limits
from mmpscope.analysis.pages.schema import PAGE_VERSION, Lists, Page, ProcessRoom, Snapshot, Trend
from mmpscope.analysis.pages.snapshots import PAGE_TABLES, encode_snapshot
from mmpscope.analysis.pages.tables import Texts, list_rows
from mmpscope.analysis.pages.trends import PAGE_TREND, describe_timelines, encode_trends, judge
from mmpscope.analysis.reporters.names import shorten_middle
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.trends.judgement import Verdict
from mmpscope.analysis.trends.series import Series, split_series
from mmpscope.formats._version import __version__

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.process_choice import ProcessSets
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.trends.answer import SeriesTrend
    from mmpscope.analysis.trends.moments import Moment

__all__ = ["SHELL_BYTES", "Budget", "PageData", "build_page"]

Read = Callable[[str], "LoadedSnapshot"]
Advance = Callable[[Iterable["LoadedSnapshot"]], Iterable["LoadedSnapshot"]]

SHELL_BYTES = 400 << 10
"""What a page may take without its data: script, style, libraries, plain tables."""
_PAIR = 2
_NAME = 60
"""Characters of a name in the title."""
_FIGURES = ("private", "private_ws", "total_ws", "committed", "size")


@dataclass(frozen=True)
class Budget:
    """How large a page may become; of how many snapshots it may have the lists (None: as many as fit).

    ``kept`` are the ids of snapshots whose lists go before those of others.
    """

    most_bytes: int = MOST_BYTES
    most_lists: int | None = None
    kept: tuple[int, ...] = ()


@dataclass(frozen=True)
class PageData:
    """The data of a page: the block ``page``, and the packed lists of snapshots by id.

    ``shown`` are the lists of the snapshot that is shown first.
    """

    page: Page
    lists: dict[int, str]
    shown: Lists


def build_page(
    moments: Sequence[Moment],
    read: Read,
    advance: Advance = iter,
    budget: Budget | None = None,
    sets: ProcessSets | None = None,
) -> PageData:
    """Build the data of a page of some snapshots, one or more; ``read`` returns one by its label.

    ``advance`` sees the snapshots pass, as a display of progress does. ``sets`` are two captures of several
    processes, where the snapshots are that.
    """
    sets = None if sets is None else sets.put_in_order() or sets
    looked = _look(moments, read, advance, sets)
    roles = None if sets is None else compare_roles(sets, looked.texts)
    texts = looked.texts.list_all()
    pairs = [[each[0], each[-1]] for each in looked.numbers if len(each) > 1]
    if looked.rooms:
        pairs += [each for each in find_pairs(roles, looked.snapshots, texts) if each not in pairs]
    new = find_new(roles, looked.snapshots, texts)
    shown = _choose_shown(looked, pairs, texts, new)
    pair: Sequence[int] | None = next((each for each in pairs if each[1] == shown), None)
    if pair is None and not looked.rooms:
        pair = _order_two(looked, read)
    page = _assemble(looked, pair, shown, read)
    page |= {"roles": roles, "pairs": pairs if looked.rooms else [], "texts": looked.texts.list_all()}
    if looked.rooms:
        latest = [each["snapshot"] for each in looked.rooms]
        page |= {"near": say_of_near_limits(looked.snapshots, latest, page["texts"])}
        page |= {"says_rooms": say_of_rooms(page)}
    page["notes"] += _tell_twins(moments, looked)
    if roles is None:
        page["notes"] += _tell_processes(page, len(looked.series))
    lists = _keep(looked, page, read, budget or Budget())
    _add_lists(lists, page)
    return PageData(page, lists.packed, lists.first)


def _list_latest(moments: Sequence[Moment], series: Sequence[Series], sets: ProcessSets | None) -> set[str]:
    """List the labels of the latest snapshots of several processes; none where the page is about one.

    Two files of one process each are compared, whether or not it is one instance.
    """
    if sets is not None:
        return {each.label for each in sets.b}
    files = {moment.label.rpartition("#")[0] for moment in moments}
    if len(series) == 1 or len(moments) == len(files) == _PAIR:
        return set()
    return {each.last.label for each in series}


@dataclass(frozen=True)
class _Looked:
    """What is left of all snapshots after they were read once: labels and figures by id, series and verdicts.

    ``numbers`` are the ids of the snapshots of each series: they are numbered through, in the order of time.
    """

    series: Sequence[Series]
    numbers: Sequence[list[int]]
    labels: Sequence[str]
    snapshots: list[Snapshot]
    trends: Sequence[SeriesTrend]
    notes: list[str]
    texts: Texts
    rooms: list[ProcessRoom]


def _look(moments: Sequence[Moment], read: Read, advance: Advance, sets: ProcessSets | None) -> _Looked:
    series, texts = split_series(moments), Texts()
    latest = _list_latest(moments, series, sets)
    snapshots: list[Snapshot] = []
    rooms: list[ProcessRoom] = []

    def see(passing: Iterable[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
        snapshots.clear()  # all pass once more where there can be no verdict
        for snapshot in advance(passing):
            if snapshot.label in latest:
                rooms.append(encode_room(snapshot, len(snapshots), texts))
            snapshots.append(encode_snapshot(snapshot, len(snapshots), texts))
            yield snapshot

    trends, notes = judge(moments, series, read, see)
    starts = accumulate((len(each.rows) for each in series), initial=0)
    numbers = [list(range(at, at + len(each.rows))) for at, each in zip(starts, series, strict=False)]
    labels = [moments[row].label for each in series for row in each.rows]
    return _Looked(series, numbers, labels, snapshots, trends, notes, texts, rooms)


def _assemble(looked: _Looked, pair: Sequence[int] | None, shown: int | None, read: Read) -> Page:
    """Make the block of a page, without what its lists add to it."""
    if shown is None:
        shown = pair[1] if pair else len(looked.labels) - 1
    diffs = []
    if pair is not None:
        a, b = pair
        diffs.append(compare_pair((a, b), (read(looked.labels[a]), read(looked.labels[b]))))
    page: Page = {
        "version": PAGE_VERSION,
        "made": {"tool": "mmpscope", "version": __version__},
        "title": _write_title(looked.snapshots[shown]),
        "says": "",
        "shown": shown,
        "texts": [],
        "types": list(TYPES),
        "snapshots": looked.snapshots,
        "near": None,
        "rooms": looked.rooms,
        "says_rooms": None,
        "pairs": [],
        "roles": None,
        "diffs": [encode_diff(each, looked.texts) for each in diffs],
        "timelines": describe_timelines(looked.series, looked.numbers),
        "trends": encode_trends(looked.trends, looked.series, looked.texts),
        "definitions": _define(),
        "notes": looked.notes,
        "folded": [],
    }
    return page


def _keep(looked: _Looked, page: Page, read: Read, budget: Budget) -> KeptLists:
    """Pack the lists of as many snapshots as there is room for, those that matter most first."""
    needed = [page["shown"], *(diff["a"] for diff in page["diffs"]), *budget.kept]
    totals = [[_find_figure(looked.snapshots[number]) for number in each] for each in looked.numbers]
    wanted = order_by_worth(totals, [number for number in needed if number < len(looked.labels)])
    room = budget.most_bytes - SHELL_BYTES - len(pack(page))
    return keep_lists(wanted[: budget.most_lists], lambda number: read(looked.labels[number]), room)


def _add_lists(lists: KeptLists, page: Page) -> None:
    """Say on the page which snapshots have their lists, and with those of the first one what stands out."""
    page["says"] = _choose_sentence(page, lists.first)
    for number in lists.packed:
        page["snapshots"][number]["has_lists"] = True
    kept, count = len(lists.packed), len(page["snapshots"])
    if kept < count:
        page["folded"].append(_tell_kept(kept, count))


def _choose_shown(
    looked: _Looked, pairs: Sequence[Sequence[int]], texts: Sequence[str], new: set[int]
) -> int | None:
    """Choose the snapshot to open on: of the series that grows fastest, else of the process that grew most.

    None where there is one process without a series.
    """
    ends = {series.rows: ids[-1] for series, ids in zip(looked.series, looked.numbers, strict=True)}
    growing = (each for each in looked.trends if each.total["verdict"] == Verdict.GROWING)
    fastest = next((ends[each.series.rows] for each in growing if each.series.rows in ends), None)
    if fastest is not None:
        return fastest
    if looked.rooms:
        latest = [each["snapshot"] for each in looked.rooms]
        return choose_first(looked.snapshots, latest, pairs, texts, new)
    return pairs[0][1] if pairs else None


def _order_two(looked: _Looked, read: Read) -> Sequence[int] | None:
    """Return two snapshots that are all there are, the earlier one first where they tell."""
    if len(looked.labels) != 2:
        return None
    return (1, 0) if is_later(*map(read, looked.labels)) else (0, 1)


def _tell_processes(page: Page, processes: int) -> Iterator[str]:
    """Say where the snapshots are of several processes, of which the page opens on one."""
    count = len(page["snapshots"])
    if processes == 1 or (count == _PAIR and page["diffs"]):
        return
    told = f"{count:,} snapshots of {processes:,} processes; shown first: {page['title']}"
    yield told if page["diffs"] else f"{told}. None are compared here: mmp compare lists them"


def _tell_twins(moments: Sequence[Moment], looked: _Looked) -> Iterator[str]:
    """Say in one line that some snapshots were given twice, as `mmp trend` does."""
    twins = len(moments) - len({(moment.identity, moment.mono_ns, moment.time_ns) for moment in moments})
    if twins and len(moments) > len(looked.snapshots):
        yield f"{twins:,} {'snapshot' if twins == 1 else 'snapshots'} given twice: each counts once"


def _find_figure(snapshot: Snapshot) -> int | None:
    """Return the figure by which changes of level are found: the first that is known."""
    known = (snapshot["totals"].get(name) for name in _FIGURES)
    return next((int(value) for value in known if value is not None), None)


def _tell_kept(kept: int, count: int) -> str:
    return (
        f"{kept:,} of {count:,} snapshots have their lists on this page: the first, the last, those at the "
        "largest changes, and as many between as there is room for; the others keep their sums, and their "
        "place in the timeline"
    )


def _choose_sentence(page: Page, lists: Lists) -> str:
    """Choose what stands out: what fails or is near to it, else what changed, else what there is."""
    snapshot = page["snapshots"][page["shown"]]
    near = say_of_limits(list_rows(snapshot["limits"], page["texts"]))
    if page["rooms"]:
        near = page["near"]
    if near is not None:
        return near
    whose = f"{name_process(snapshot)}: " if page["rooms"] else ""
    if lists["room"] is not None and is_tight(list_rows(lists["room"], lists["texts"])):
        return whose + lists["says_room"]
    if page["roles"] is not None:
        return page["roles"]["says"]
    return whose + _say_of_shown(page, snapshot)


def _say_of_shown(page: Page, snapshot: Snapshot) -> str:
    trend = next((each for each in page["trends"] if _is_shown(page, each)), None)
    if trend is not None and trend["verdict"] != Verdict.CANNOT_TELL:
        return trend["sentence"]
    return next((diff["says"] for diff in page["diffs"]), snapshot["says"])


def _is_shown(page: Page, trend: Trend) -> bool:
    """Tell if a trend is that of the process which is shown first."""
    return page["shown"] in page["timelines"][trend["timeline"]]["snapshots"]


def _write_title(snapshot: Snapshot) -> str:
    host = snapshot["head"]["host"]
    return name_process(snapshot) + (f" on {shorten_middle(host, _NAME)}" if host else "")


def _define() -> dict[str, dict[str, str]]:
    """Return the meaning of every column of every table of a page, as docs/metrics.md has it."""
    diffs = {f"diff-{name}": fields for name, fields in DIFF_TABLES.items() if name != "components"}
    tables = {**PAGE_TABLES, **diffs, "roles": DIFF_PROCESSES, "trend": PAGE_TREND}
    return {name: {f.name: f.meaning for f in fields} for name, fields in tables.items()}
