"""Verdicts on what was measured: within the limit, above it, or not to be told. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from mmpscope.analysis.checks.budget import (
    AT_LEAST,
    LEAST_SAMPLES,
    MAPPINGS,
    MODULES,
    RIGHTS,
    Budget,
    Limit,
    Subject,
)
from mmpscope.analysis.checks.figures import Figure, Pair
from mmpscope.analysis.checks.parts import Named, find_tail, has_folder, matches
from mmpscope.analysis.checks.schema import CANNOT_TELL, OK, VIOLATED
from mmpscope.analysis.reporters.amounts import show_count, show_size

__all__ = ["find_deviation", "find_median", "judge_alone", "judge_growth", "judge_new", "show_amount"]

Row = dict[str, Any]

_MOST = (1 << 64) - 1
_NO_BASELINE = "there is no baseline"
"""None was given, or nothing in it counts: which of the two, standard error tells."""
_NAMES = 3
"""Names in a reason; the rest is counted."""
_FLOORS = {MAPPINGS: 16}
_FLOOR = 1 << 20
"""Growth that is allowed with a spread alone: five equal samples have none, and the sixth may well differ."""


class _Verdict(NamedTuple):
    word: str
    reason: str
    limit: int | None = None
    baseline: int | None = None
    value: int | None = None
    samples: int = 0


def show_amount(value: int | None, unit: str) -> str:
    """Write a value with its unit, in prose."""
    if unit == "bytes":
        return show_size(value)
    return f"{show_count(value)} {unit.removesuffix('s') if value == 1 else unit}"


def _find_unit(subject: Subject) -> str:
    return "mappings" if subject == MAPPINGS else "modules" if subject == MODULES else "bytes"


def _make_row(budget: Budget, verdict: _Verdict) -> Row:
    subject = budget.subject
    return {
        "rule": budget.limit.rule,
        "where": subject.where,
        "metric": subject.metric,
        "unit": _find_unit(subject),
        "limit": verdict.limit,
        "baseline": verdict.baseline,
        "value": verdict.value,
        "samples": verdict.samples,
        "verdict": verdict.word,
        "reason": verdict.reason,
    }


def judge_alone(budget: Budget, figure: Figure) -> Row:
    """Judge a value by itself: at most, or at least, an amount.

    A value that is at least something may be above a limit for sure, and is never below one.
    """
    value, limit, amount = figure.value, budget.limit, budget.limit.amount or 0
    is_least = limit.rule == AT_LEAST
    is_bad = value is not None and (value < amount if is_least else value > amount)
    if figure.lacking is not None and (is_least or not is_bad):
        return _make_row(budget, _Verdict(CANNOT_TELL, figure.lacking, amount, None, value))
    if not figure.is_there:
        return _make_row(budget, _Verdict(CANNOT_TELL, _name_nothing(budget), amount, None, value))
    shown, wanted = _show_apart(value, amount, _find_unit(budget.subject))
    reason = f"{shown}; allowed {limit.rule} {wanted}"
    return _make_row(budget, _Verdict(VIOLATED if is_bad else OK, reason, amount, None, value))


def find_median(values: Sequence[int]) -> int:
    """Return the middle value, of an even number the mean of the two in the middle, rounded down."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) // 2


def find_deviation(values: Sequence[int]) -> int:
    """Return the median absolute deviation: the median of the distances from the median.

    Half of the samples may be odd before it follows them, where a standard deviation follows one. Source:
    F. R. Hampel, "The Influence Curve and its Role in Robust Estimation" (1974).
    """
    middle = find_median(values)
    return find_median([abs(value - middle) for value in values])


def judge_growth(budget: Budget, pairs: Sequence[Pair]) -> Row:
    """Judge a value against those of the baseline, of several against their median."""
    known = [pair for pair in pairs if pair.lacking is None]
    values = {pair.value for pair in known if pair.value is not None}
    before = [pair.baseline for pair in known if pair.baseline is not None]
    lacking = _find_lacking(budget, pairs, known)
    if lacking is None and len(values) > 1:
        lacking = "the snapshots of the baseline do not tell the same parts of it"
    if lacking is not None:
        middle = find_median(before) if before else None
        value = next(iter(values)) if len(values) == 1 else None
        return _make_row(budget, _Verdict(CANNOT_TELL, lacking, None, middle, value, len(known)))
    [value], middle = values, find_median(before)
    allowed, source = _find_allowance(budget, before)
    limit = min(middle + allowed, _MOST)
    reason = _word_growth(value, middle, allowed, _find_unit(budget.subject), source)
    notes = [reason, *dict.fromkeys(pair.note for pair in known if pair.note)]
    if len(known) < len(pairs):
        notes.append(f"{len(pairs) - len(known)} of {len(pairs)} snapshots of the baseline do not tell it")
    word = VIOLATED if value > limit else OK
    return _make_row(budget, _Verdict(word, "; ".join(notes), limit, middle, value, len(known)))


def _find_lacking(budget: Budget, pairs: Sequence[Pair], known: Sequence[Pair]) -> str | None:
    """Say why there is no verdict; None where there is one."""
    reasons = list(dict.fromkeys(pair.lacking for pair in pairs if pair.lacking is not None))
    if not pairs:
        return _NO_BASELINE
    if not known:
        return reasons[0]
    if budget.limit.spread is not None and len(known) < LEAST_SAMPLES:
        more = f"; {reasons[0]}" if reasons else ""
        return f"too few samples: {len(known)}, and a spread takes {LEAST_SAMPLES}{more}"
    if not any(pair.is_there for pair in known):
        return _name_nothing(budget)
    return None


def _name_nothing(budget: Budget) -> str:
    """A pattern that names nothing is a mistake sooner than a module that costs nothing."""
    return f"no module is called {budget.subject.where}"


def _word_growth(value: int, middle: int, allowed: int, unit: str, source: str) -> str:
    growth = value - middle
    if growth <= 0:
        less = f"{show_amount(-growth, unit)} less than" if growth else "the same as"
        return f"{show_amount(value, unit)}, {less} the baseline"
    more, most = _show_apart(growth, allowed, unit)
    beside = f"the baseline's {show_amount(middle, unit)}"
    return f"{show_amount(value, unit)}, {more} more than {beside}; allowed {most} more{source}"


def _show_apart(one: int | None, two: int, unit: str) -> tuple[str, str]:
    """Write two amounts, to the byte where they would read alike and are not."""
    shown = show_amount(one, unit), show_amount(two, unit)
    return (f"{one:,} bytes", f"{two:,} bytes") if shown[0] == shown[1] and one != two else shown


def _find_allowance(budget: Budget, before: Sequence[int]) -> tuple[int, str]:
    """Return how far a value may be above the median, and how that came about, in brackets."""
    limit, unit, middle = budget.limit, _find_unit(budget.subject), find_median(before)
    allowances = dict(_list_allowances(limit, budget.subject, before, middle))
    allowed = max(allowances.values())
    if len(allowances) == 1:
        [words] = allowances
        return allowed, "" if words == show_amount(allowed, unit) else f" ({words})"
    parts = [
        words if words == show_amount(amount, unit) else f"{words} = {show_amount(amount, unit)}"
        for words, amount in allowances.items()
    ]
    which = "larger" if len(parts) == 2 else "largest"
    return allowed, f" (the {which} of {', '.join(parts[:-1])} and {parts[-1]})"


def _list_allowances(
    limit: Limit, subject: Subject, before: Sequence[int], middle: int
) -> list[tuple[str, int]]:
    unit, allowances = _find_unit(subject), []
    amount = limit.amount
    if limit.spread is not None and amount is None and limit.percent is None:
        amount = _FLOORS.get(subject, _FLOOR)
    if amount is not None:
        allowances.append((show_amount(amount, unit), amount))
    if limit.percent is not None:
        allowances.append((f"{_show(limit.percent)} %", int(middle * limit.percent / 100)))
    if limit.spread is not None:
        allowances.append((f"{_show(limit.spread)} MAD", int(find_deviation(before) * limit.spread)))
    return allowances


def _show(number: Fraction) -> str:
    return f"{number.numerator}" if number.denominator == 1 else f"{float(number):g}"


def judge_new(budget: Budget, new: Named, baselines: Sequence[Named]) -> Row:
    """Judge that nothing is there which no snapshot of the baseline has, but what is allowed."""
    if not baselines:
        return _make_row(budget, _Verdict(CANNOT_TELL, _NO_BASELINE))
    known = [each for each in baselines if each.lacking is None]
    find = _find_more if budget.subject == RIGHTS else _find_modules
    found, doubtful = find(budget.limit, new, known)
    before = max((sum(each.amounts.values()) for each in known), default=None)
    value, unit = sum(found.values()), _find_unit(budget.subject)
    lacking = None
    if found and len(known) < len(baselines):
        lacking = next(f"the baseline: {each.lacking}" for each in baselines if each.lacking is not None)
    elif not found and new.lacking is not None:
        lacking = f"the new snapshot: {new.lacking}"
    elif not found and doubtful:
        lacking = f"the source tells no folder, so it may be allowed or not: {_list_names(doubtful)}"
    if lacking is not None:
        return _make_row(budget, _Verdict(CANNOT_TELL, lacking, 0, before, None, len(known)))
    reason = f"{show_amount(value, unit)} new: {_list_names([*found])}" if found else "nothing new"
    return _make_row(budget, _Verdict(VIOLATED if found else OK, reason, 0, before, value, len(known)))


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


def _find_more(_: Limit, new: Named, known: Sequence[Named]) -> tuple[dict[str, int], list[str]]:
    """Find of what there is more than in any snapshot of the baseline, and how much more."""
    most = {name: max((each.amounts.get(name, 0) for each in known), default=0) for name in new.amounts}
    return {name: size - most[name] for name, size in sorted(new.amounts.items()) if size > most[name]}, []


def _find_modules(limit: Limit, new: Named, known: Sequence[Named]) -> tuple[dict[str, int], list[str]]:
    """Find the modules that no snapshot of the baseline has and no pattern allows, and the doubtful ones.

    Paths are compared; where one side tells the last parts alone, these. A source without folders cannot tell
    if a pattern with one is meant.
    """
    paths = {path for each in known for path in each.amounts}
    is_cut = any(not any(map(has_folder, each.amounts)) for each in (new, *known) if each.amounts)
    had = set(map(find_tail, paths)) if is_cut else paths
    fresh = [path for path in sorted(new.amounts) if (find_tail(path) if is_cut else path) not in had]
    outside = [path for path in fresh if not any(matches(path, pattern) for pattern in limit.allowed)]
    tails = {find_tail(pattern) for pattern in limit.allowed if has_folder(pattern)}
    doubtful = [p for p in outside if not has_folder(p) and any(matches(p, tail) for tail in tails)]
    return {path: 1 for path in outside if path not in doubtful}, doubtful
