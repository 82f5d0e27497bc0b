"""What a snapshot may cost: the budgets of `mmp check`, from a TOML file or by default.

    no_new_executable_writable = true
    modules_allowed = ["/usr/lib/*"]

    [total]
    private = "16M"                            # grows by 16 MiB at most
    total_ws = {grow = "16M", percent = 10}    # violated where growth is above both
    size = ["10%", {at_most = "4G"}]           # two budgets, each must hold

    [type.Heap]
    private = {spread = 6, grow = "1M"}        # a baseline of several: median + the larger of 6 MAD and 1 MiB

    [module."libfoo.so*"]
    total_ws = "1M"

    [mappings]
    at_most = 60000

    [free]
    largest_at_least = "256M"
    window = "0-4G"

docs/check.md describes every key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from mmpscope.analysis.checks.budget import (
    AT_LEAST,
    AT_MOST,
    FREE,
    GROWTH,
    MAPPINGS,
    MODULE,
    MODULES,
    NOTHING_NEW,
    RIGHTS,
    SPREAD,
    TOTAL,
    TYPE,
    Budget,
    Limit,
    Subject,
)
from mmpscope.analysis.checks.schema import MODULE_METRICS, TOTAL_METRICS
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.reporters.amounts import parse_size, parse_window
from mmpscope.analysis.schema import TYPES
from mmpscope.formats.errors import FormatError, InputError

__all__ = ["read_budgets"]

_MOST_BYTES = 1 << 20
_MOST_PERCENT = 1_000_000
_DIGITS = 6
"""Digits after the point of a percentage or a factor: enough, and no number that takes long to compute."""
_TYPES = tuple(name for name in TYPES if name != "Free")
_TABLES = ("total", "type", "module", "mappings", "free")
_KEYS = (*_TABLES, "no_new_executable_writable", "modules_allowed")
_GROWTH_KEYS = ("grow", "percent", "spread")
_LIMIT_KEYS = (*_GROWTH_KEYS, "at_most")
_SHORT = 'a size as in "16M", a percentage as in "10%", or a table of '


def read_budgets(path: Path) -> tuple[Budget, ...]:
    """Read the budgets of a file in their order.

    Raises InputError where it cannot be read, FormatError where it is no TOML, and UsageError, with file, key
    and what is allowed there, where it is not as described.
    """
    content = _load(path)
    budgets = tuple(_Reader(str(path)).read(content))
    if not budgets:
        raise UsageError(f"{path}: it sets no budget. Give one of {', '.join(_KEYS)}")
    return budgets


def _load(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: the budgets cannot be read ({error.strerror}). Check the path") from error
    if len(data) > _MOST_BYTES:
        raise FormatError(f"a file of budgets has at most {_MOST_BYTES:,} bytes", path=str(path))
    try:  # a byte order mark is what some editors begin a file with
        return tomllib.loads(data.decode("utf-8-sig"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:  # also no UTF-8, a number of 5,000 digits, a deep nesting
        raise FormatError(f"the budgets are no TOML ({error})", path=str(path)) from error


class _Reader:
    """Turns the tables of one file into budgets, and knows what to call a mistake."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self, content: Mapping[str, Any]) -> Iterator[Budget]:
        """Yield the budgets in the order of the file."""
        self._check_keys(content, _KEYS, "")
        for key, value in content.items():
            yield from getattr(self, f"_read_{key}")(value, key)

    def _refuse(self, key: str, allowed: str) -> UsageError:
        return UsageError(f"{self._path}: {key}: {allowed}")

    def _check_keys(self, table: Mapping[str, Any], allowed: tuple[str, ...], place: str) -> None:
        for key in table:
            if key not in allowed:
                name = f"{place}.{key}" if place else key
                raise self._refuse(name, f"there is no such key, only {', '.join(allowed)}")

    def _require_table(self, value: object, key: str, what: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._refuse(key, f"it must be a table of {what}")
        return value

    def _read_no_new_executable_writable(self, value: object, key: str) -> Iterator[Budget]:
        if not isinstance(value, bool):
            raise self._refuse(key, "it must be true or false")
        if value:
            yield Budget(RIGHTS, Limit(NOTHING_NEW))

    def _read_modules_allowed(self, value: object, key: str) -> Iterator[Budget]:
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self._refuse(key, 'it must be a list of patterns, as in ["/usr/lib/*", "libapp.so*"]')
        yield Budget(MODULES, Limit(NOTHING_NEW, allowed=tuple(value)))

    def _read_total(self, value: object, key: str) -> Iterator[Budget]:
        yield from self._read_metrics(value, key, TOTAL, None)

    def _read_type(self, value: object, key: str) -> Iterator[Budget]:
        table = self._require_table(value, key, "types, as in [type.Heap]")
        for name, metrics in table.items():
            if name not in _TYPES:
                raise self._refuse(f"{key}.{name}", f"there is no such type, only {', '.join(_TYPES)}")
            yield from self._read_metrics(metrics, f"{key}.{name}", TYPE, name)

    def _read_module(self, value: object, key: str) -> Iterator[Budget]:
        table = self._require_table(value, key, 'patterns, as in [module."libfoo.so*"]')
        for name, metrics in table.items():
            if not name:
                raise self._refuse(key, 'a pattern is empty. Write it as in [module."libfoo.so*"]')
            yield from self._read_metrics(metrics, f"{key}.{name}", MODULE, name)

    def _read_metrics(self, value: object, key: str, kind: str, where: str | None) -> Iterator[Budget]:
        metrics = MODULE_METRICS if kind == MODULE else TOTAL_METRICS
        table = self._require_table(value, key, f"figures: {', '.join(metrics)}")
        self._check_keys(table, metrics, key)
        for metric, limits in table.items():
            for limit in self._read_limits(limits, f"{key}.{metric}"):
                yield Budget(Subject(kind, where or kind, metric), limit)

    def _read_mappings(self, value: object, key: str) -> Iterator[Budget]:
        for limit in self._read_limits(value, key, is_count=True):
            yield Budget(MAPPINGS, limit)

    def _read_free(self, value: object, key: str) -> Iterator[Budget]:
        table = self._require_table(value, key, "largest_at_least and window")
        self._check_keys(table, ("largest_at_least", "window"), key)
        if "largest_at_least" not in table:
            raise self._refuse(key, "it needs largest_at_least, a size as in 256M")
        least = self._read_amount(table["largest_at_least"], f"{key}.largest_at_least", is_count=False)
        window = None
        if "window" in table:
            if not isinstance(table["window"], str):
                raise self._refuse(f"{key}.window", 'it must be a range, as in "0-4G"')
            window = parse_window(table["window"], f"{self._path}: {key}.window")
        yield Budget(FREE._replace(window=window), Limit(AT_LEAST, amount=least))

    def _read_limits(self, value: object, key: str, *, is_count: bool = False) -> Iterator[Limit]:
        """Read the limits of one figure: a short form, a table, or a list of these."""
        if isinstance(value, list):
            if not value:
                raise self._refuse(key, "the list is empty, and sets no budget")
            for item in value:
                if isinstance(item, list):
                    raise self._refuse(key, f"a list holds {_SHORT}{', '.join(_LIMIT_KEYS)}")
                yield from self._read_limits(item, key, is_count=is_count)
        elif isinstance(value, dict):
            yield from self._read_limit_table(value, key, is_count=is_count)
        elif isinstance(value, str) and value.strip().endswith("%"):
            yield Limit(GROWTH, percent=self._read_share(value.strip()[:-1], key))
        elif isinstance(value, str | int) and not isinstance(value, bool):
            yield Limit(GROWTH, amount=self._read_amount(value, key, is_count=is_count))
        else:
            raise self._refuse(key, f"it must be {_SHORT}{', '.join(_LIMIT_KEYS)}")

    def _read_limit_table(self, table: Mapping[str, Any], key: str, *, is_count: bool) -> Iterator[Limit]:
        self._check_keys(table, _LIMIT_KEYS, key)
        if not table:
            raise self._refuse(key, f"the table is empty. Give one of {', '.join(_LIMIT_KEYS)}")
        if any(name in table for name in _GROWTH_KEYS):
            grow = table.get("grow")
            percent, spread = table.get("percent"), table.get("spread")
            yield Limit(
                GROWTH if spread is None else SPREAD,
                amount=None if grow is None else self._read_amount(grow, f"{key}.grow", is_count=is_count),
                percent=None if percent is None else self._read_share(percent, f"{key}.percent"),
                spread=None if spread is None else self._read_share(spread, f"{key}.spread"),
            )
        if "at_most" in table:
            most = self._read_amount(table["at_most"], f"{key}.at_most", is_count=is_count)
            yield Limit(AT_MOST, amount=most)

    def _read_amount(self, value: object, key: str, *, is_count: bool) -> int:
        """Read bytes or a count, below 2^63 either."""
        if isinstance(value, str) and not is_count:
            amount = parse_size(value, f"{self._path}: {key}")
        elif isinstance(value, int) and not isinstance(value, bool):
            amount = value
        else:
            what = "a whole number" if is_count else 'a size, as in 4096, "64K" or "1.5G"'
            raise self._refuse(key, f"it must be {what}")
        if not 0 <= amount < 1 << 63:
            raise self._refuse(key, "it must be 0 or more, and less than 8 EiB")
        return amount

    def _read_share(self, value: object, key: str) -> Fraction:
        """Read a percentage or a factor exactly, as it stands in the file."""
        allowed = (
            f"it must be a number from 0 to {_MOST_PERCENT:,} with at most {_DIGITS} digits after the point"
        )
        try:
            number = Decimal(value) if isinstance(value, str | int | Decimal) else None
        except ArithmeticError:
            number = None
        if number is None or isinstance(value, bool) or not number.is_finite():
            raise self._refuse(key, allowed)
        exponent = number.as_tuple().exponent
        if not 0 <= number <= _MOST_PERCENT or not isinstance(exponent, int) or exponent < -_DIGITS:
            raise self._refuse(key, allowed)
        return Fraction(number)
