"""docs/metrics.md has the tables of the schema and of the rules, as they are now."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from mmpscope.analysis.schema import TABLES
from mmpscope.analysis.user_rules import read_rules

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics.md").read_text()


def test_the_generated_tables_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m docs.generate` would change nothing."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from docs.columns import write_columns

    assert write_columns(TEXT) == TEXT


@pytest.mark.parametrize("name", [name for name in TABLES if name != "free"])
def test_every_table_is_in_the_document(name: str) -> None:
    """A table without a description is one that nobody can use."""
    assert f"<!-- columns: {name} -->\n| column |" in TEXT


def test_the_example_of_own_rules_is_accepted(tmp_path: Path) -> None:
    """What the document shows works as it stands."""
    example = TEXT[TEXT.index("```toml\n") + 8 :].split("```", 1)[0]
    path = tmp_path / "own.toml"
    path.write_text(example)
    [rule] = read_rules(path)
    assert rule.id == "user:pool"
    assert len(tomllib.loads(example)["rule"][0]) == 9


def test_the_rules_of_every_family_are_in_the_document() -> None:
    """Nobody has to read code to learn why a region has its type."""
    marks = re.findall(r"<!-- rules: (\w+) -->\n\| rule \|", TEXT)
    assert marks == ["linux", "windows", "vmmap", "macos", "totals"]
