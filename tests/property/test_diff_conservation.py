"""What a diff must keep whatever it is grouped by, turned round, taken in steps, or given other names."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from mmpscope.analysis import DiffResult, diff, summarize
from mmpscope.analysis.diffs.choice import Choice, choose_changes
from mmpscope.analysis.diffs.groups import GROUPINGS, group_changes
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.diffs.series import read_series
from support.effort import scale
from support.slow_units import Process, draw_process, rename_process
from support.snapshots import PAGE, make_snapshot

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

SEEDS = range(scale(4))
MODES = ("same", "different")
OPPOSITE = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown"}
NAMES = (
    *("unit", "details_a", "details_b", "path", "name_a", "name_b"),
    *("taken_by", "given_back_by", "between_a", "between_b"),
)
"""Columns of names, and of texts that hold some."""
Row = dict[str, Any]


def draw_whole(random: Random) -> Process:
    """Draw a process of which every figure is known, so that every sum is."""
    process = draw_process(random)
    for row in process.regions:
        row |= {name: row[name] or 0 for name in METRICS}
        row["swap"] = random.randrange(3) * PAGE
    return process


def make(process: Process, page_table: int) -> LoadedSnapshot:
    """Make a snapshot of a drawn process."""
    return make_snapshot(
        process.regions,
        modules=process.modules,
        threads=process.threads,
        process={"status": {"VmPTE": page_table * PAGE}},
    )


@cache
def draw_processes(seed: int) -> tuple[Process, ...]:
    """Draw four processes, each of which has threads and modules."""
    random, found = Random(seed), list[Process]()
    while len(found) < 4:
        process = draw_whole(random)
        if process.modules and process.threads:
            found.append(process)
    return tuple(found)


@cache
def load(seed: int) -> tuple[LoadedSnapshot, ...]:
    """Make snapshots of these."""
    return tuple(make(process, number + 1) for number, process in enumerate(draw_processes(seed)))


def add_up(table: pa.Table, column: str) -> int:
    """Add up a column, of which nothing is unknown."""
    return sum(table[column].to_pylist())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_of_each_type_add_up_to_that_type(seed: int, mode: str, by: str) -> None:
    """For every figure, and with all but one row folded: of one type, and of all together."""
    a, b = load(seed)[:2]
    result = diff(a, b, mode)
    for row in result.types.to_pylist():
        if row["type"] == "Free":
            continue
        types = () if row["type"] == "Total" else (row["type"],)
        groups = group_changes((a, b), result, by, types)
        for least in (0, 5 * PAGE):
            folded = choose_changes(result, types, Choice(1, least, groups)).movers
            assert folded.num_rows <= 2
            for name in METRICS:
                expected = row[f"{name}_delta"]
                sums = [add_up(table, f"{name}_delta") for table in (groups, folded)]
                assert sums == [expected, expected], (row["type"], name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", MODES)
def test_folded_rows_add_up_to_the_totals(seed: int, mode: str) -> None:
    """However few are shown, for every figure and whatever ranks them."""
    a, b = load(seed)[:2]
    for metric in ("size", "private", "swap", "pss"):
        for limit in (0, 1, 2, 7):
            result = diff(a, b, mode, metric=metric, limit=limit)
            for row in result.totals.to_pylist():
                assert add_up(result.movers, f"{row['metric']}_delta") == row["delta"]
            assert add_up(result.movers, "rows") == add_up(result.components, "rows")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_turned_round_turn_every_sign(seed: int, by: str) -> None:
    """The same groups, both sides and words swapped; against itself there is none."""
    a, b = load(seed)[:2]
    for mode in MODES:
        forth = group_changes((a, b), diff(a, b, mode), by).to_pylist()
        back = group_changes((b, a), diff(b, a, mode), by).to_pylist()
        assert sorted(map(_show, map(_turn, forth))) == sorted(map(_show, back))
        assert group_changes((a, a), diff(a, a, mode), by).num_rows == 0


def _show(row: Row) -> str:
    return repr({name: value for name, value in sorted(row.items()) if name != "note"})


def _turn(row: Row) -> Row:
    turned: Row = {}
    for name, value in row.items():
        if name.endswith("_delta"):
            turned[name] = None if value is None else -value
        elif name.endswith(("_a", "_b")):
            turned[name[:-1] + ("b" if name.endswith("a") else "a")] = value
        else:
            turned[name] = OPPOSITE.get(value, value) if name == "word" else value
    return turned


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", MODES)
def test_steps_add_up_to_the_whole_way(seed: int, mode: str) -> None:
    """Of several: each column is the summary, and the changes from each to the next add up to the last."""
    snapshots = [*load(seed)]
    series = read_series([*snapshots], "private", as_given=True)
    totals = [summarize(each).to_pylist()[0] for each in snapshots]
    assert [step.totals for step in series.steps] == [{name: t[name] for name in METRICS} for t in totals]
    steps = [diff(*pair, mode) for pair in pairwise(snapshots)]
    whole = diff(series.first, series.last, mode)
    for name, key in (("totals", "delta"), *(("types", f"{metric}_delta") for metric in METRICS)):
        parts = [step.to_tables()[name][key].to_pylist() for step in steps]
        assert [sum(each) for each in zip(*parts, strict=True)] == whole.to_tables()[name][key].to_pylist()


def redact(name: str) -> str:
    """Give a name another one: every word of it, but for extension, version and what the kernel says."""
    if name == "[heap]":
        return name
    prefix, kept = re.match(r"(\[anon:|/memfd:|)(.*)", name).groups()  # type: ignore[union-attr]  # matches all
    return prefix + "/".join(re.sub(r"^[a-z]+", _hash, part) for part in kept.split("/"))


def _hash(found: re.Match[str]) -> str:
    digest = hashlib.sha256(found[0].encode()).hexdigest()[:12]
    return digest.translate(str.maketrans("0123456789", "ghijklmnop"))


def _strip(result: DiffResult, groups: list[pa.Table]) -> list[list[str]]:
    """Return every row of every table without names, in an order that no name decides."""
    tables = [*result.to_tables().values(), *groups]
    rows = [table.drop_columns([n for n in NAMES if n in table.column_names]).to_pylist() for table in tables]
    return [sorted(map(repr, each)) for each in rows]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("mode", MODES)
def test_other_names_change_names_only(seed: int, mode: str) -> None:
    """Files, memory and threads renamed alike on both sides: rows, figures, words, matches stay."""
    plain = draw_processes(seed)[:2]
    other = [rename_process(process, redact) for process in plain]
    answers = []
    for pair in (plain, other):
        a, b = (make(process, number) for number, process in enumerate(pair))
        result = diff(a, b, mode, limit=3)
        answers.append(_strip(result, [group_changes((a, b), result, by) for by in GROUPINGS]))
    assert answers[0] == answers[1]


def test_redaction_here_is_one() -> None:
    """The names of the test above do change, and keep what matching goes by."""
    assert redact("/usr/lib/libz.so.1.2").endswith(".so.1.2")
    assert redact("/var/data-1 (deleted)").endswith("-1 (deleted)")
    assert redact("[anon:cache]").startswith("[anon:")
    for name in ("/usr/lib/libz.so.1.2", "/var/data-1", "/memfd:frames (deleted)", "worker"):
        assert redact(name) != name
        assert redact(name) == redact(name)
