"""The generated tables of docs/metrics.md: columns from the schema, rules from the rule table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mmpscope.analysis.rules import GATES, RULES
from mmpscope.analysis.schema import TABLES

__all__ = ["write_columns"]

_BLOCK = re.compile(r"(?P<mark><!-- (?P<what>columns|rules)(?:: (?P<name>\w+))? -->\n)(?:\|[^\n]*\n)*")


def write_columns(text: str) -> str:
    """Write the table after each mark anew: `<!-- columns: summary -->` or `<!-- rules -->`."""
    return _BLOCK.sub(lambda block: block["mark"] + _describe(block["what"], block["name"]), text)


def _describe(what: str, name: str) -> str:
    if what == "rules":
        head = ("rule", "type", "subtype", "confidence", "claims")
        rules = (*GATES, *RULES)
        return _write(
            head,
            (
                (
                    f"`{r.id}`",
                    r.type or "that of its neighbour",
                    r.subtype or "",
                    r.confidence,
                    _name(r.name, r.because),
                )
                for r in rules
            ),
        )
    rows = ((f"`{f.name}`", f.type, f.unit, f.meaning) for f in TABLES[name])
    return _write(("column", "type", "unit", "meaning"), rows)


def _name(pattern: str | None, because: str) -> str:
    """Show the pattern of a name as people write it, then the reason."""
    if pattern is None:
        return because
    return f"`{pattern.replace('|', chr(92) + '|')}`: {because.replace('|', chr(92) + '|')}"


def _write(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
