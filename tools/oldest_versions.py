"""Prints the oldest versions that pyproject.toml allows, as a constraints file for pip.

`python tools/oldest_versions.py > oldest.txt; pip install -c oldest.txt mmpscope[stats]` is the environment
of somebody whose distribution is old; everything else is tested with the newest.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_FLOOR = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)$")
_USERS = ("cluster", "plot", "sql", "stats")
"""The extras of users; those for tests and development are always the newest."""


def list_floors(project: dict[str, object]) -> Iterator[str]:
    """List `name==version` of every dependency; ValueError where one has no plain lower bound."""
    table = project["project"]
    assert isinstance(table, dict)
    extras = (wanted for name in _USERS for wanted in table["optional-dependencies"][name])
    for wanted in (*table["dependencies"], *extras):
        if not (match := _FLOOR.match(wanted)):
            raise ValueError(f"{wanted}: a dependency is written as name>=version")
        yield f"{match['name']}=={match['version']}"


def main() -> None:
    """Print them, a line each."""
    with PROJECT.open("rb") as file:
        sys.stdout.write("\n".join(list_floors(tomllib.load(file))) + "\n")


if __name__ == "__main__":
    main()
