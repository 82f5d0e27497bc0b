"""Which rows of a table are kept: conditions as people type them, such as name=java* or private>1G."""

from __future__ import annotations

import fnmatch
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.listing import suggest
from mmpscope.analysis.reporters.amounts import parse_size
from mmpscope.analysis.schema import Field

__all__ = ["Condition", "keep_rows", "parse_condition"]

_CONDITION = re.compile(r"\s*(?P<column>\w+)\s*(?P<word>!=|<=|>=|=|<|>)\s*(?P<value>.*)", re.DOTALL)
_SECOND = re.compile(r"\s(?:and|or)\s+\w+\s*[!<>=]", re.IGNORECASE)
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BOOLS = {"true": True, "yes": True, "false": False, "no": False}


class Condition(NamedTuple):
    """A column and what a value of it must be; an unknown value meets no condition."""

    column: str
    holds: Callable[[Any], bool]


def parse_condition(text: str, fields: Sequence[Field]) -> Condition:
    """Read COLUMN=PATTERN, COLUMN!=PATTERN for text, and a comparison with a number or size for numbers.

    Patterns are those of a shell, in any case. Raises UsageError for what cannot be meant.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(f"--where {text!r} is no condition. Write it as in name=java* or private>1G")
    known = {field.name: field for field in fields}
    field = known.get(match["column"].lower())
    if field is None:
        now = suggest(match["column"], known) or f"Columns: {', '.join(known)}"
        raise UsageError(f"--where {text!r}: there is no such column. {now}")
    if _SECOND.search(match["value"]):
        raise UsageError(f"--where {text!r} is more than one condition. Give each with a --where of its own")
    return Condition(field.name, _make_test(field, match["word"], match["value"].strip(), text))


def _make_test(field: Field, word: str, value: str, text: str) -> Callable[[Any], bool]:
    compare = _COMPARE[word]
    if field.type in ("string", "bool") and word not in ("=", "!="):
        raise UsageError(f"--where {text!r}: {field.name} is no number. Use = or !=")
    if field.type == "string":
        matches = re.compile(fnmatch.translate(value), re.IGNORECASE).match
        return lambda found: compare(matches(found) is not None, True)
    if field.type == "bool":
        if value.lower() not in _BOOLS:
            raise UsageError(f"--where {text!r}: {field.name} is true or false")
        return lambda found: compare(found, _BOOLS[value.lower()])
    number = _read_number(field, value, text)
    return lambda found: compare(found, number)


def _read_number(field: Field, value: str, text: str) -> float:
    if field.type != "float64" and (field.unit == "bytes" or value.lower().startswith("0x")):
        return parse_size(value, f"--where {text!r}")
    if field.type != "float64" and not value.isdecimal():
        raise UsageError(f"--where {text!r}: {value!r} is no whole number. Write it as in {field.name}>3000")
    if field.type != "float64":
        return int(value)
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"--where {text!r}: {value!r} is no number")
    return number


def keep_rows(table: pa.Table, conditions: Sequence[Condition]) -> pa.Table:
    """Keep the rows that meet all conditions, in order."""
    for condition in conditions:
        values = table[condition.column].to_pylist()
        mask = [value is not None and condition.holds(value) for value in values]
        table = table.filter(pa.array(mask, pa.bool_()))
    return table
