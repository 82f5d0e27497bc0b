"""The generated tables of the documents: columns from the schema, rules from the rule table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mmpscope.analysis import rules_linux, rules_macos, rules_vmmap, rules_windows, totals_rules
from mmpscope.analysis.checks.schema import CHECK
from mmpscope.analysis.comparisons.schema import COMPARE, GROUPS, OUTLIERS
from mmpscope.analysis.datasets.schema import FILES
from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
from mmpscope.analysis.measures.schema import CAPTURES, MEASURES
from mmpscope.analysis.pages.schema import LIMITS as PAGE_LIMITS
from mmpscope.analysis.pages.schema import ROOM
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.schema import TABLES
from mmpscope.analysis.trends.schema import TREND

__all__ = ["write_columns"]

_BLOCK = re.compile(r"(?P<mark><!-- (?P<what>columns|rules): (?P<name>\w+) -->\n)(?:\|[^\n]*\n)*")
_COLUMNS = {
    **TABLES,
    **MEASURES,
    "files": FILES,
    "diff_processes": DIFF_PROCESSES,
    "check": CHECK,
    "trend": TREND,
    "room": ROOM,
    "headroom": PAGE_LIMITS,
    "compare": COMPARE[len(CAPTURES) :],
    "outliers": OUTLIERS,
    "groups": GROUPS,
}
_RULES: dict[str, tuple[Rule, ...]] = {
    "linux": (*rules_linux.GATES, *rules_linux.RULES),
    "windows": rules_windows.RULES,
    "vmmap": rules_vmmap.RULES,
    "macos": rules_macos.RULES,
    "totals": totals_rules.TOTALS_RULES,
}


def write_columns(text: str) -> str:
    """Write the table after each mark anew: `<!-- columns: summary -->` or `<!-- rules: linux -->`."""
    return _BLOCK.sub(lambda block: block["mark"] + _describe(block["what"], block["name"]), text)


def _describe(what: str, name: str) -> str:
    if what == "rules":
        head = ("rule", "type", "subtype", "confidence", "claims")
        return _write(head, (_describe_rule(rule) for rule in _RULES[name]))
    rows = ((f"`{f.name}`", f.type, f.unit, f.meaning) for f in _COLUMNS[name])
    return _write(("column", "type", "unit", "meaning"), rows)


def _describe_rule(rule: Rule) -> tuple[str, ...]:
    """Show the patterns of a name or of a column of text as people write them, then the reason."""
    patterns = [rule.name] if rule.name else []
    patterns += [pattern for column, pattern in rule.where if column != "perms"]
    claims = "".join(f"`{pattern}`: " for pattern in patterns) + rule.because
    words = (rule.type or "that of its neighbour", rule.subtype or "", rule.confidence)
    return (f"`{rule.id}`", *words, claims.replace("|", "\\|"))


def _write(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
