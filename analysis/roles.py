"""The role of a process on its machine: what program it is, with which arguments, and whose child.

Nothing here compares memory, or tells one instance of a process from the next (identity.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmpscope.analysis.facts import get_list, get_map, get_number, show_fact
from mmpscope.formats.model import Facts

__all__ = ["Role", "compare_roles", "find_parent", "leave_out_numbers", "read_role"]

_DELETED = " (deleted)"
"""Behind the path of a program whose file was replaced as it ran (proc_pid_exe(5)): an update does that."""
_INTERPRETER = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|java|sh|bash|dash|zsh|ksh)[\d.]*(?:\.exe)?", re.IGNORECASE
)
_WITH_VALUE = frozenset(("-cp", "-classpath", "--class-path", "-m", "-W", "-X", "-I", "-r", "--require"))
"""Options of interpreters whose value is the next word."""
_NAMES_PROGRAM = frozenset(("-m", "-jar", "-c", "-e", "--eval"))
"""Options whose value is what is run."""
_NUMBERS = re.compile(r"\d+")


class Role(NamedTuple):
    """What a process does, as far as its snapshot tells; None for what is not known.

    ``executable`` is the path of its program, or the first word of its command line; ``program`` what an
    interpreter runs, or the title that the process gave itself ("nginx: worker process"); ``parent`` the name
    of its parent.
    """

    name: str | None = None
    executable: str | None = None
    program: str | None = None
    arguments: tuple[str, ...] | None = None
    parent: str | None = None


def read_role(process: Facts, parent: str | None = None) -> Role:
    """Read the role of a process from its facts; ``parent`` is what its parent is called."""
    path = show_fact(process.get("exe"))
    words = tuple(show_fact(word) or "" for word in get_list(process, "cmdline"))
    executable = path.removesuffix(_DELETED) if path else words[0] if len(words) > 1 else None
    return Role(
        name=show_fact(process.get("name")),
        executable=executable,
        program=_find_program(executable, words),
        arguments=words[1:] if len(words) > 1 else words or None,
        parent=parent,
    )


def compare_roles(one: Role, two: Role) -> int:
    """Tell how alike two processes are in what they do: 0 for two programs, 3 for the same arguments.

    1 is the same program, or nothing that says otherwise, 2 arguments that differ in their numbers alone.
    """
    for left, right in ((one.name, two.name), (one.program, two.program)):
        if left is not None and right is not None and left != right:
            return 0
    if one.arguments is None or two.arguments is None:
        return 1
    if one.arguments == two.arguments:
        return 3
    return 2 if leave_out_numbers(one.arguments) == leave_out_numbers(two.arguments) else 1


def find_parent(process: Facts) -> int | None:
    """Return the pid of the parent of a process; None where its snapshot does not say."""
    found = get_number(get_map(process, "stat"), "ppid")
    return get_number(get_map(process, "status"), "PPid") if found is None else found


def leave_out_numbers(words: Sequence[str]) -> tuple[str, ...]:
    """Leave out the numbers of arguments: ports, ids of children, names of temporary files."""
    return tuple(_NUMBERS.sub("", word) for word in words)


def _find_program(executable: str | None, words: Sequence[str]) -> str | None:
    if executable is None or not words:
        return None
    if _INTERPRETER.fullmatch(re.split(r"[/\\]", executable)[-1]):
        return _find_script(words[1:])
    is_title = len(words) == 1 and ": " in words[0]
    return " ".join(leave_out_numbers(words)) if is_title else None


def _find_script(words: Sequence[str]) -> str | None:
    """Return what an interpreter runs: a script, a module, a class or a text of commands."""
    is_value = False
    for word in words:
        if not is_value and word.startswith("-") and word != "-":
            if word in _NAMES_PROGRAM:
                rest = words[words.index(word) + 1 :]
                return rest[0] if rest else None
            is_value = word in _WITH_VALUE
        elif is_value:
            is_value = False
        else:
            return word
    return None
