"""Answers to requests of all sizes: where they turn, each is that of `check_fit`."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import check_fit, load
from mmpscope.analysis.fit_steps import find_fit_steps
from mmpscope.analysis.snapshot import LoadedSnapshot

SAMPLES = Path(__file__).parents[3] / "samples"
NAMES = ("linux-arenas-v1.0.mmp", "linux-fragmented-v1.0.mmp", "windows-wow64-v1.0.mmp")
GIB = 1 << 30


def _limit(snapshot: LoadedSnapshot, limits: dict[str, Any], levels: list[dict[str, Any]]) -> LoadedSnapshot:
    """Put limits of resources and of cgroups into a snapshot."""
    process = {**snapshot.process, "limits": {**snapshot.process["limits"], **limits}}
    process["cgroup"] = {"version": 2, "levels": levels}
    return snapshot.with_raw(dataclasses.replace(snapshot.unread().raw, process=process))


def _list_cases() -> Iterator[LoadedSnapshot]:
    for name in NAMES:
        yield from load(SAMPLES / name)
    [plain] = load(SAMPLES / NAMES[0])
    own = {"path": "/own", "limit": 4 * GIB, "usage": GIB}
    above = {"path": "/", "limit": 9 * GIB, "usage": 7 * GIB}
    yield _limit(plain, {"Max address space": [3 * GIB, None]}, [own])
    yield _limit(plain, {"Max data size": [2 * GIB, None]}, [{**own, "limit": None}, above])
    yield _limit(plain, {"Max address space": [8 * GIB, None]}, [{"path": "/own", "limit": None}, above])


@pytest.mark.parametrize("snapshot", list(_list_cases()))
def test_every_size_has_the_answer_of_its_step(snapshot: LoadedSnapshot) -> None:
    """Requests of all magnitudes, and those beside each turn, are answered as the step they fall into."""
    steps, unit, draw = find_fit_steps(snapshot), snapshot.page_size, random.Random(5)
    sizes = [int(2 ** draw.uniform(0, 63)) for _ in range(60)]
    sizes += [size for step in steps for size in (step.upto, step.upto + 1, step.upto - unit)]
    for size in sizes:
        if not 0 < size <= 1 << 63:
            continue
        step = next(each for each in steps if each.upto >= -(-size // unit) * unit)
        answer = check_fit(snapshot, size)
        assert (answer.outcome, answer.binding.name) == (step.answer.outcome, step.answer.binding.name)
        assert answer.binding.available == step.answer.binding.available
    assert steps[-1].upto == 1 << 63


def test_a_turn_that_no_check_tells_is_found() -> None:
    """Below a cgroup whose usage may be given up, the answer turns at its limit, which no check leaves."""
    *_, snapshot = _list_cases()
    steps = find_fit_steps(snapshot)
    assert [(step.answer.outcome, step.answer.binding.name) for step in steps] == [
        ("fits", "cgroup"),
        ("cannot tell", "cgroup"),
        ("does not fit", "RLIMIT_AS"),
        ("does not fit", "cgroup"),
    ]
    assert (steps[0].upto, steps[2].upto) == (2 * GIB, 9 * GIB)
