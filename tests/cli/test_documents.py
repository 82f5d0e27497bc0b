"""The documents say what the program prints: generated parts are fresh, and no command is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mmpscope.analysis.cli import COMMANDS
from mmpscope.analysis.reporters.report import FIELDS

from docs import generate

ROOT = Path(__file__).parents[2]


def test_generated_parts_are_fresh(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/cli.md, docs/api.md and every block of output are what the commands print now."""
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    code = generate.main()
    assert (code, capsys.readouterr().out) == (0, "")


def test_every_command_is_documented_with_an_example() -> None:
    """Each command has its chapter in docs/cli.md, with at least one example of itself."""
    chapters = dict(
        re.findall(r"^## mmp (\w+)\n(.*?)(?=^## |\Z)", (ROOT / "docs" / "cli.md").read_text(), re.M | re.S)
    )
    assert list(chapters) == list(COMMANDS)
    assert [name for name, text in chapters.items() if f"  mmp {name} " not in text] == []


def test_every_kind_of_json_is_documented() -> None:
    """docs/json.md names each schema that an answer may carry; exports have none."""
    text = (ROOT / "docs" / "json.md").read_text()
    kinds = {*FIELDS, "convert", "fit", "formats", "info", "redact", "verify"} - {"allocations", "capability"}
    assert [kind for kind in sorted(kinds) if f"`{kind}/1`" not in text] == []
