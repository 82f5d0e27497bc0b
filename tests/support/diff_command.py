"""What `mmp diff` answers: as JSON, and drawn within a width."""

from __future__ import annotations

import json
from typing import Any

from support.mmp_command import run_mmp

__all__ = ["ask", "draw"]


def ask(*words: object) -> dict[str, Any]:
    """Ask for JSON, of which nothing goes to stderr."""
    answer = run_mmp("diff", *words, "--json")
    assert (answer.code, answer.err) == (0, "")
    return dict(json.loads(answer.out))


def draw(*words: object, columns: int = 80) -> str:
    """Have it drawn, and check that no line is wider.

    The path of an input stands alone on its line and is never cut, so that it can be copied; that of a test's
    folder may be long.
    """
    answer = run_mmp("diff", *words, columns=columns)
    assert (answer.code, answer.err) == (0, "")
    assert max(len(line) for line in answer.out.splitlines() if " " in line.strip()) <= columns
    return answer.out
