"""Which requests for memory succeed, from one page to all there is: the sizes at which the answer turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.fit import LARGEST_REQUEST, FitAnswer, check_fit

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["FitStep", "find_fit_steps"]


class FitStep(NamedTuple):
    """Requests above those of the step before, up to ``upto`` bytes; ``answer`` is that to the largest."""

    upto: int
    answer: FitAnswer


def find_fit_steps(snapshot: LoadedSnapshot) -> list[FitStep]:
    """Return the answers of `check_fit` to requests of every size, smallest first.

    Within a step outcome, binding check and what that leaves are the same; the last ends at the largest
    request that can be asked for. Sizes are in whole pages.
    """
    unit = snapshot.page_size
    steps: list[FitStep] = []
    size = unit
    while size <= LARGEST_REQUEST:
        answer = check_fit(snapshot, size)
        step = _follow(lambda pages: check_fit(snapshot, pages * unit), answer, unit)
        if steps and _key(steps[-1].answer) == _key(step.answer):
            steps[-1] = step
        else:
            steps.append(step)
        size = step.upto + unit
    return steps


def _key(answer: FitAnswer) -> tuple[str, str, int | None]:
    return answer.outcome, answer.binding.name, answer.binding.available


def _follow(ask: Callable[[int], FitAnswer], answer: FitAnswer, unit: int) -> FitStep:
    """Find the largest request that is answered as one is.

    An answer turns where the request passes what a check leaves. A check that has open questions may turn
    elsewhere (the limit of a cgroup above the process's own): that is searched by halves.
    """
    left = (check.available for check in answer.checks if check.available is not None)
    turns = [available // unit for available in left if available >= answer.size]
    low, high = answer.size // unit, min([*turns, LARGEST_REQUEST // unit])
    last = ask(high)
    if _key(last) == _key(answer):
        return FitStep(high * unit, last)
    while high - low > 1:
        middle = (low + high) // 2
        if _key(ask(middle)) == _key(answer):
            low = middle
        else:
            high = middle
    return FitStep(low * unit, ask(low))
