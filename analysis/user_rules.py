"""A user's own classification rules, from a TOML file; they go before ours and look like ours.

    [[rule]]
    id = "pool"
    type = "Heap"
    subtype = "game pool"
    name = '\\[anon:pool-.*\\]'
    perms = "rw.p"
    where = {VmFlags = ".*ht.*"}
    min_size = 4096

docs/metrics.md describes every key. Regular expressions are trusted, as they are the user's own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmpscope.analysis.rules import Rule
from mmpscope.analysis.schema import TYPES
from mmpscope.formats.errors import FormatError

__all__ = ["read_rules"]

_NOT_REGIONS = ("Page Table", "Unusable", "Free")
_TYPES = tuple(name for name in TYPES if name not in _NOT_REGIONS)
_CONFIDENCES = ("high", "medium", "low")
_CONDITIONS = {"name": str, "perms": str, "where": dict, "min_size": int, "max_size": int}
_KEYS = {"id": str, "type": str, "subtype": str, "confidence": str, "because": str, **_CONDITIONS}


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Read the rules of a file in their order; FormatError, in one sentence, where it is not as described."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise FormatError(f"the rules cannot be read ({error.strerror})", path=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"the rules are no TOML ({error})", path=str(path)) from error
    tables = content.get("rule", [])
    if set(content) - {"rule"} or not isinstance(tables, list) or not tables:
        raise FormatError("the file holds something else than [[rule]] tables", path=str(path))
    return tuple(_read_rule(table, f"rule {number}", path) for number, table in enumerate(tables, 1))


def _read_rule(table: object, place: str, path: Path) -> Rule:
    def refuse(what: str, key: str | None = None) -> FormatError:
        return FormatError(what, path=str(path), field=place if key is None else f"{place}, {key}")

    if not isinstance(table, Mapping):
        raise refuse("it is no table")
    for key, value in table.items():
        if key not in _KEYS:
            raise refuse(f"there is no key {key!r}, only {', '.join(_KEYS)}", key)
        if type(value) is not _KEYS[key]:
            raise refuse(f"{key} must be of type {_KEYS[key].__name__}", key)
    if not table.get("id") or table.get("type") not in _TYPES:
        raise refuse(f"it needs an id, and a type out of {', '.join(_TYPES)}")
    if not set(table) & set(_CONDITIONS):
        raise refuse(f"it has no condition: one of {', '.join(_CONDITIONS)}")
    if table.get("confidence", "high") not in _CONFIDENCES:
        raise refuse(f"confidence is one of {', '.join(_CONFIDENCES)}", "confidence")
    for key, pattern in (("name", table.get("name", "")), *_list_columns(table)):
        if type(pattern) is not str:
            raise refuse("a column is compared with a regular expression, which is text", key)
        try:
            re.compile(pattern)
        except re.error as error:
            raise refuse(f"it is no regular expression ({error})", key) from error
    return Rule(
        f"user:{table['id']}",
        table["type"],
        table.get("subtype"),
        table.get("confidence", "high"),
        table.get("because", f"the user's rule in {path.name}"),
        name=table.get("name"),
        where=_list_columns(table),
        min_size=table.get("min_size"),
        max_size=table.get("max_size"),
    )


def _list_columns(table: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the columns to look at, with their patterns: ``perms`` is short for one of them."""
    perms = {"perms": table["perms"]} if "perms" in table else {}
    return tuple({**perms, **table.get("where", {})}.items())
