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
from mmpscope.analysis.pages.roles import compare_roles
from mmpscope.analysis.pages.says import is_tight, say_of_limits
from mmpscope.analysis.pages.schema import PAGE_VERSION, Lists, Page, Snapshot, Trend
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
Pair = tuple[int, int]
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
    looked = _look(moments, read, advance)
    roles = None if sets is None else compare_roles(sets, looked.texts)
    page = _assemble(looked, _find_ends(looked) or _order_two(looked, read), read)
    page |= {"roles": roles, "texts": looked.texts.list_all()}
    if roles is None:
        page["notes"] += _tell_processes(page, len(looked.series))
    lists = _keep(looked, page, read, budget or Budget())
    _add_lists(lists, page)
    return PageData(page, lists.packed, lists.first)


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


def _look(moments: Sequence[Moment], read: Read, advance: Advance) -> _Looked:
    series, texts = split_series(moments), Texts()
    snapshots: list[Snapshot] = []

    def see(passing: Iterable[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
        snapshots.clear()  # all pass once more where there can be no verdict
        for snapshot in advance(passing):
            snapshots.append(encode_snapshot(snapshot, len(snapshots), texts))
            yield snapshot

    trends, notes = judge(moments, series, read, see)
    starts = accumulate((len(each.rows) for each in series), initial=0)
    numbers = [list(range(at, at + len(each.rows))) for at, each in zip(starts, series, strict=False)]
    labels = [moments[row].label for each in series for row in each.rows]
    return _Looked(series, numbers, labels, snapshots, trends, notes, texts)


def _assemble(looked: _Looked, pair: Pair | None, read: Read) -> Page:
    """Make the block of a page, without what its lists add to it."""
    shown = pair[1] if pair else len(looked.labels) - 1
    diffs = [compare_pair(pair, (read(looked.labels[pair[0]]), read(looked.labels[pair[1]])))] if pair else []
    page: Page = {
        "version": PAGE_VERSION,
        "made": {"tool": "mmpscope", "version": __version__},
        "title": _write_title(looked.snapshots[shown]),
        "says": "",
        "shown": shown,
        "texts": [],
        "types": list(TYPES),
        "snapshots": looked.snapshots,
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


def _find_ends(looked: _Looked) -> Pair | None:
    """Return the ends of the series of most interest: the first that was judged, else the longest."""
    together = zip(looked.series, looked.numbers, strict=True)
    places = {series.rows: ids for series, ids in together if len(ids) > 1}
    judged = (places[trend.series.rows] for trend in looked.trends if trend.series.rows in places)
    ids = next(judged, max(looked.numbers, key=len))
    return (ids[0], ids[-1]) if len(ids) > 1 else None


def _order_two(looked: _Looked, read: Read) -> Pair | None:
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
    yield told if page["diffs"] else f"{told}. None are compared here: `mmp compare` lists them"


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
    if near is not None:
        return near
    if lists["room"] is not None and is_tight(list_rows(lists["room"], lists["texts"])):
        return lists["says_room"]
    if page["roles"] is not None:
        return page["roles"]["says"]
    trend = next((each for each in page["trends"] if _is_shown(page, each)), None)
    if trend is not None and trend["verdict"] != Verdict.CANNOT_TELL:
        return trend["sentence"]
    return next((diff["says"] for diff in page["diffs"]), snapshot["says"])


def _is_shown(page: Page, trend: Trend) -> bool:
    """Tell if a trend is that of the process which is shown first."""
    return page["shown"] in page["timelines"][trend["timeline"]]["snapshots"]


def _write_title(snapshot: Snapshot) -> str:
    head = snapshot["head"]
    name = shorten_middle(head["process"] or "unknown process", _NAME)
    pid = "" if head["pid"] is None else f" (pid {head['pid']})"
    where = f" on {shorten_middle(head['host'], _NAME)}" if head["host"] else ""
    return f"{name}{pid}{where}"


def _define() -> dict[str, dict[str, str]]:
    """Return the meaning of every column of every table of a page, as docs/metrics.md has it."""
    diffs = {f"diff-{name}": fields for name, fields in DIFF_TABLES.items() if name != "components"}
    tables = {**PAGE_TABLES, **diffs, "roles": DIFF_PROCESSES, "trend": PAGE_TREND}
    return {name: {f.name: f.meaning for f in fields} for name, fields in tables.items()}
