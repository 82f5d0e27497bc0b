"""Whether a series of numbers grows: `judge` weighs the times and values, and knows nothing of snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.trends.judgement import Judgement, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Times = Sequence[float] | NDArray[np.float64]
    Values = Sequence[int] | NDArray[np.int64] | NDArray[np.uint64]

__all__ = ["judge"]


def judge(times_s: Times, values: Values, *, unit: str = "bytes", bound: float | None = None) -> Judgement:
    """Say if `values` grow over `times_s` (seconds of any origin, not decreasing); `unit` is for the reason.

    `bound` is the slope per hour below which growth is of no interest; without it a slope counts as flat
    below what this series can tell from 0. Values of no point at all are an answer too: CANNOT_TELL.

    Raises ValueError where the times decrease or the lengths differ, UsageError without the extra `stats`.
    """
    return Judgement(
        Verdict.CANNOT_TELL, None, None, None, 0, None, None, "nothing", None, (), len(values), 0, "not built"
    )
