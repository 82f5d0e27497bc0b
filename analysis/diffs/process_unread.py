"""Why a process that ran has no snapshot, as far as the collector told: who refused, and who just ended.

A collector names those that refused when it looked at all of them, before the first snapshot; what ended
between that and its own turn is named by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["count_unread", "explain_unread"]

_UNREAD = "it ran, and there is no snapshot of it"
_ENDED = "it may have ended before its turn"
_REFUSED = re.compile(r"(?P<why>.+): (?P<pids>\d+(?:, \d+)*)(?: and (?P<more>\d+) more)?")
"""One reason of the collector, with the first pids that it is of."""


class _Refusal(NamedTuple):
    why: str
    pids: list[int]
    more: int


def explain_unread(told: str | None, pids: Sequence[int | None]) -> list[str]:
    """Say of each process without a snapshot why, by what the collector told of all of them.

    Of many it names the first few: who else refused is known only where the rest of them all did.
    """
    refusals = _read_refusals(told)
    if told is None or refusals is None:
        return [f"{_UNREAD} ({told})" if told else _UNREAD] * len(pids)
    named = {pid: refusal.why for refusal in refusals for pid in refusal.pids}
    unnamed = [refusal for refusal in refusals if refusal.more]
    rest = f"{_UNREAD}; {_ENDED}"
    if unnamed:
        why = " or ".join(refusal.why for refusal in unnamed)
        is_sure = sum(refusal.more for refusal in unnamed) >= sum(pid not in named for pid in pids)
        rest = f"{_UNREAD} ({why})" if is_sure else f"{_UNREAD} ({why}, or it ended before its turn)"
    return [f"{_UNREAD} ({named[pid]})" if pid in named else rest for pid in pids]


def count_unread(told: str | None, count: int) -> str | None:
    """Say how many processes of a side have no snapshot, and why; None where nobody told anything."""
    refusals = _read_refusals(told)
    if told is None or refusals is None:
        return told
    reasons = [told.partition(": ")[2]]
    ended = count - sum(len(refusal.pids) + refusal.more for refusal in refusals)
    if ended > 0:
        reasons.append(f"{ended:,} may have ended before {'its' if ended == 1 else 'their'} turn")
    return f"{max(count, count - ended):,} more ran: {'; '.join(reasons)}"


def _read_refusals(told: str | None) -> list[_Refusal] | None:
    """Read `2 of 40 processes are not in it: permission denied (13): 1, 7`; None of another text."""
    found = [_REFUSED.fullmatch(part) for part in (told or "").partition(": ")[2].split("; ")]
    if not all(found):
        return None
    return [
        _Refusal(each["why"], [int(pid) for pid in each["pids"].split(", ")], int(each["more"] or 0))
        for each in found
        if each
    ]
