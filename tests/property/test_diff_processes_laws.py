"""Laws of a diff of several processes, for sets drawn at random: sums, against itself, turned round."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from mmpscope.analysis.diffs.process_schema import METRICS
from mmpscope.analysis.diffs.processes import ProcessesDiff, choose_roles, diff_processes
from support.effort import scale
from support.process_sets import Proc, load_set

SEEDS = range(scale(14))
OPPOSITE = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown"}
PROGRAMS = (
    ("/usr/bin/server", ("--port", "80")),
    ("/usr/bin/server", ("--port", "81")),
    ("/usr/bin/python3", ("job.py",)),
    ("/usr/bin/python3", ("-m", "shop")),
    ("/opt/1/worker", ()),
    ("/opt/2/worker", ()),
)


def _draw(random: Random) -> Proc:
    exe, args = random.choice(PROGRAMS)
    return Proc(
        random.randrange(2, 40),
        exe,
        args,
        pss=random.choice([None, *[random.randrange(500)] * 5]),
        rss=random.randrange(900),
        swap=random.randrange(3),
        parent=random.choice([1, 2]),
        start=random.randrange(3),
        is_read=random.random() < 0.9,
    )


def _draw_set(random: Random, like: list[Proc]) -> list[Proc]:
    """Draw a set of which a part ran all the time, with other figures."""
    went_on = [replace(each, pss=random.choice([None, 7, 300])) for each in like if random.random() < 0.6]
    drawn = {each.pid: each for each in [_draw(random) for _ in range(random.randrange(1, 12))]}
    return [*({**drawn, **{each.pid: each for each in went_on}}).values()]


def _draw_pair(seed: int) -> tuple[list[Proc], list[Proc]]:
    random = Random(seed)
    before = _draw_set(random, [])
    return before, _draw_set(random, before)


def _diff(a: list[Proc], b: list[Proc]) -> ProcessesDiff:
    return diff_processes(load_set(a), load_set(b, at=60), metric="pss")


def _rows(result: ProcessesDiff) -> list[dict[str, Any]]:
    return list(result.roles.to_pylist())


@pytest.mark.parametrize("seed", SEEDS)
def test_every_process_that_was_read_is_in_one_row(seed: int) -> None:
    """Instances add up to the snapshots of each side, and to what the other side has of them unread."""
    a, b = _draw_pair(seed)
    rows, read = _rows(_diff(a, b)), {side: sum(p.is_read for p in ps) for side, ps in (("a", a), ("b", b))}
    for side, others in (("a", a), ("b", b)):
        count = sum(row[f"instances_{side}"] for row in rows)
        assert read[side] <= count <= len(others) + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_add_up_to_the_total_folded_or_not(seed: int) -> None:
    """Before, after and change of every figure are those of the total, for every number of listed rows."""
    result = _diff(*_draw_pair(seed))
    [total] = result.total.to_pylist()
    for limit in (0, 1, 3):
        rows = choose_roles(result, limit).to_pylist()
        for name in METRICS:
            known = [row for row in rows if row[f"{name}_delta"] is not None]
            for part in ("a", "b", "delta"):
                assert sum(row[f"{name}_{part}"] for row in known) == (total[f"{name}_{part}"] or 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_total_is_what_processes_that_both_tell_cost(seed: int) -> None:
    """Where all is known, the total is the plain sum over the snapshots of each side."""
    a, b = ([replace(p, pss=p.pss or 0, is_read=True) for p in ps] for ps in _draw_pair(seed))
    [total] = _diff(a, b).total.to_pylist()
    assert (total["pss_a"], total["pss_b"]) == tuple(sum(p.pss or 0 for p in ps) * 1024 for ps in (a, b))
    assert (total["unknown"], total["note"]) == (None, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_set_against_itself_has_no_change(seed: int) -> None:
    """diff(a, a): every role is the same, or told by neither side."""
    a, _ = _draw_pair(seed)
    result = _diff(a, a)
    assert result.is_empty
    assert not result.total.to_pylist()[0]["pss_delta"]


@pytest.mark.parametrize("seed", SEEDS)
def test_turned_round_every_change_is_its_opposite(seed: int) -> None:
    """diff(b, a) = -diff(a, b), row by row, with the words turned round."""
    a, b = load_set((pair := _draw_pair(seed))[0]), load_set(pair[1])
    there, back = (diff_processes(*sides, metric="pss") for sides in ((a, b), (b, a)))

    def tell(row: dict[str, Any], first: str, second: str, sign: int) -> str:
        word = row["word"] if sign > 0 else OPPOSITE.get(row["word"], row["word"])
        deltas = [None if row[f"{n}_delta"] is None else sign * row[f"{n}_delta"] for n in METRICS]
        sides = [row[f"{n}_{side}"] for side in (first, second) for n in ("instances", "pid", "pss")]
        return repr((word, row["match"], deltas, sides, row["unknown"]))

    assert sorted(tell(row, "a", "b", 1) for row in _rows(there)) == sorted(
        tell(row, "b", "a", -1) for row in _rows(back)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_in_which_processes_are_given_changes_nothing(seed: int) -> None:
    """What is matched with what does not depend on the order of snapshots in a file."""
    a, b = _draw_pair(seed)
    mixed = [Random(seed + 1).sample(side, len(side)) for side in (a, b)]
    told = [
        sorted(
            repr((r["word"], r["match"], r["pss_delta"], r["pid_a"], r["pid_b"]))
            for r in _rows(_diff(*sides))
        )
        for sides in ((a, b), (mixed[0], mixed[1]))
    ]
    assert told[0] == told[1]
