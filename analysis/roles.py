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


class _Interpreter(NamedTuple):
    """A program that runs others: its name, and its options before a text of commands, before the name of
    what it runs, and before a value of their own. Short options may stand together, as in ``-euo``.
    """

    name: re.Pattern[str]
    code: re.Pattern[str]
    program: re.Pattern[str]
    value: re.Pattern[str]


_NONE = "(?!)"
_INTERPRETERS = tuple(
    _Interpreter(re.compile(rf"(?:{name})[\d.]*(?:\.exe)?", re.IGNORECASE), *map(re.compile, options))
    for name, *options in (
        ("python|pypy", "-[A-Za-z]*c", "-[A-Za-z]*m", "-[WX]"),
        ("sh|bash|dash|zsh|ksh", "-[A-Za-z]*c", _NONE, "-[A-Za-z]*o"),
        ("perl|ruby", r"-(?![IMr].)[A-Za-z\d]*[eE]", _NONE, "-[Ir]"),
        ("node|nodejs", "-p?e|-p|--eval|--print", _NONE, "-r|--require"),
        ("java", _NONE, "-jar|-m|--module", "-cp|-classpath|--class-path|-p|--module-path"),
        ("php", "-r", _NONE, "-[cd]"),
        ("lua", "-e", _NONE, "-l"),
    )
)
"""By the pages of each: python(1), bash(1), perlrun(1), ruby(1), node(1), java(1), php(1), lua(1)."""
_NUMBERS = re.compile(r"0[xX][\da-fA-F]+|(?:\d[\d_]*)?\.?\d+(?:[eE][-+]?\d+)?")
"""Of any base, with marks between digits, a point and an exponent, as programs write them."""


class Role(NamedTuple):
    """What a process does, as far as its snapshot tells; None for what is not known.

    ``executable`` is the path of its program, or the first word of its command line; ``program`` what an
    interpreter runs, or the title that the process gave itself ("nginx: worker process"); ``parent`` the name
    of its parent. ``is_code``: what the interpreter runs is a text of commands, and has no name.
    """

    name: str | None = None
    executable: str | None = None
    program: str | None = None
    arguments: tuple[str, ...] | None = None
    parent: str | None = None
    is_code: bool = False


def read_role(process: Facts, parent: str | None = None) -> Role:
    """Read the role of a process from its facts; ``parent`` is what its parent is called."""
    path = show_fact(process.get("exe"))
    words = tuple(show_fact(word) or "" for word in get_list(process, "cmdline"))
    executable = path.removesuffix(_DELETED) if path else words[0] if len(words) > 1 else None
    program, is_code = _find_program(executable, words)
    return Role(
        name=show_fact(process.get("name")),
        executable=executable,
        program=program,
        arguments=words[1:] if len(words) > 1 else words or None,
        parent=parent,
        is_code=is_code,
    )


def compare_roles(one: Role, two: Role) -> int:
    """Tell how alike two processes are in what they do: 0 for two programs, 3 for the same arguments.

    1 is the same program, or nothing that says otherwise, 2 arguments that differ in their numbers alone.
    Texts of commands are one program where they differ in their numbers alone.
    """
    for left, right in ((one.name, two.name), (_name_program(one), _name_program(two))):
        if left is not None and right is not None and left != right:
            return 0
    if one.arguments is None or two.arguments is None:
        return 1
    if one.arguments == two.arguments:
        return 3
    return 2 if leave_out_numbers(one.arguments) == leave_out_numbers(two.arguments) else 1


def _name_program(role: Role) -> tuple[object, bool] | None:
    if role.program is None:
        return None
    return (leave_out_numbers((role.program,)) if role.is_code else role.program), role.is_code


def find_parent(process: Facts) -> int | None:
    """Return the pid of the parent of a process; None where its snapshot does not say."""
    found = get_number(get_map(process, "stat"), "ppid")
    return get_number(get_map(process, "status"), "PPid") if found is None else found


def leave_out_numbers(words: Sequence[str]) -> tuple[str, ...]:
    """Leave out the numbers of arguments: ports, ids of children, names of temporary files."""
    return tuple(_NUMBERS.sub("", word) for word in words)


def _find_program(executable: str | None, words: Sequence[str]) -> tuple[str | None, bool]:
    """Return what a process runs beside its executable, and whether that is a text of commands."""
    if executable is None or not words:
        return None, False
    name = re.split(r"[/\\]", executable)[-1]
    for interpreter in _INTERPRETERS:
        if interpreter.name.fullmatch(name):
            return _find_script(interpreter, words[1:])
    is_title = len(words) == 1 and ": " in words[0]
    return " ".join(leave_out_numbers(words)) if is_title else None, False


def _find_script(interpreter: _Interpreter, words: Sequence[str]) -> tuple[str | None, bool]:
    """Return the script, module, class or text of commands that an interpreter runs."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            return word, False
        if interpreter.code.fullmatch(word):
            code = next(rest, None)
            return code, code is not None
        if interpreter.program.fullmatch(word):
            return next(rest, None), False
        if interpreter.value.fullmatch(word):
            next(rest, None)
    return None, False
