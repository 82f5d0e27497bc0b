"""House rules that no linter knows: the package list, sizes of modules and functions, forbidden calls."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("formats", "analysis", "collector")


def _modules(*folders: str) -> list[Path]:
    return sorted(
        p for folder in folders for p in (ROOT / folder).rglob("*.py") if "__pycache__" not in p.parts
    )


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_every_folder_with_code_is_packaged() -> None:
    """A folder missing from the package list works in an editable install and is absent from the wheel."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {
        "mmpscope." + ".".join(init.parent.relative_to(ROOT).parts)
        for init in _modules(*PACKAGES)
        if init.name == "__init__.py"
    }
    assert listed == found


@pytest.mark.parametrize("path", _modules(*PACKAGES, "benchmarks"), ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    """No module above 400 lines, no function above 40: the file that nobody dares to touch starts there."""
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    long = [f.name for f in _functions(ast.parse(text)) if (f.end_lineno or f.lineno) - f.lineno >= 45]
    assert not long


@pytest.mark.parametrize("path", _modules("tests"), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_test_states_its_promise(path: Path) -> None:
    """Nobody can judge the failure of a test without a sentence; test modules stay below 600 lines."""
    text = path.read_text()
    assert len(text.splitlines()) <= 600
    silent = [
        f.name for f in _functions(ast.parse(text)) if f.name.startswith("test_") and not ast.get_docstring(f)
    ]
    assert not silent


def test_no_code_is_evaluated_and_no_shell_is_run() -> None:
    """Files come from strangers: nothing that we ship unpickles, evaluates or starts a shell."""
    forbidden = re.compile(r"\b(pickle|marshal|shelve)\b|\b(eval|exec)\(|shell=True|os\.system|yaml\.load")
    hits = [
        f"{p.name}:{n}"
        for p in _modules(*PACKAGES)
        for n, line in enumerate(p.read_text().splitlines(), 1)
        if forbidden.search(line)
    ]
    assert not hits


def test_the_linter_forbids_it_everywhere() -> None:
    """Neither what we ship nor a test, a tool or a benchmark may unpickle, evaluate or start a shell."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    forbidden = {"S102", "S301", "S302", "S307", "S506", "S602", "S604", "S605"}
    assert "S" in rules["select"]
    ignored = {*rules["ignore"], *(code for codes in rules["per-file-ignores"].values() for code in codes)}
    assert not [code for code in ignored for rule in forbidden if rule.startswith(code)]
