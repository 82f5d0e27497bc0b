"""Roles of processes: what their facts tell of program, script, title and arguments."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.roles import Role, compare_roles, find_parent, read_role


def _read(exe: str | None, *words: str, **facts: Any) -> Role:
    return read_role({**({} if exe is None else {"exe": exe}), "cmdline": [*words], **facts})


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (("/usr/bin/python3", "job.py", "-v"), "job.py"),
        (("/usr/bin/python3.12", "-u", "-W", "error", "job.py"), "job.py"),
        (("/usr/bin/python3", "-m", "shop.web"), "shop.web"),
        (("/usr/bin/python3", "-c", "print()"), "print()"),
        (("/usr/bin/java", "-Xmx1g", "-cp", "lib/*", "shop.Main"), "shop.Main"),
        (("/usr/bin/java", "-jar", "shop.jar"), "shop.jar"),
        (("/bin/sh", "run.sh"), "run.sh"),
        (("/bin/bash", "-euo", "pipefail", "run.sh"), "run.sh"),
        (("/usr/bin/java", "-verbose", "shop.Main"), "shop.Main"),
        (("/usr/bin/python3", "-um", "shop.web"), "shop.web"),
        (("/usr/bin/node",), None),
        (("/usr/bin/python3", "-m"), None),
        (("C:\\demo\\python.exe", "job.py"), "job.py"),
    ],
)
def test_an_interpreter_does_what_its_script_says(words: tuple[str, ...], program: str | None) -> None:
    """Its options, and the values of these, are left out."""
    assert _read(words[0], *words).program == program


@pytest.mark.parametrize(
    "words",
    [
        ("/usr/bin/python3", "-c", "run()", "job.py"),
        ("/usr/bin/python3.12", "-Iuc", "run()"),
        ("/bin/bash", "-lc", "run()"),
        ("/bin/bash", "-euo", "pipefail", "-c", "run()"),
        ("/usr/bin/perl", "-MList::Util", "-lne", "run()"),
        ("/usr/bin/perl", "-E", "run()"),
        ("/usr/bin/ruby", "-r", "json", "-e", "run()"),
        ("/usr/bin/node", "--eval", "run()"),
        ("/usr/bin/node", "-p", "run()"),
        ("/usr/bin/php", "-r", "run()"),
    ],
)
def test_commands_of_the_command_line_are_no_script(words: tuple[str, ...]) -> None:
    """A text of commands has no name, however the option before it is written."""
    role = _read(words[0], *words)
    assert (role.program, role.is_code) == ("run()", True)
    assert not _read(words[0], words[0], "run()").is_code


def test_a_title_is_a_program_without_its_numbers() -> None:
    """Servers write over their command line: a master and a worker have one executable and two titles."""
    titles = [_read("/usr/sbin/nginx", f"nginx: {what}").program for what in ("master 1", "worker 7")]
    assert titles == ["nginx: master ", "nginx: worker "]


def test_a_plain_program_has_no_other_within() -> None:
    """Arguments of a program that interprets nothing are arguments."""
    role = _read("/usr/bin/server", "server", "job.py")
    assert (role.program, role.arguments) == (None, ("job.py",))


def test_the_first_word_stands_for_an_executable_that_is_not_told() -> None:
    """A captured /proc has a command line, and no link to the program."""
    assert _read(None, "/usr/bin/server", "-p").executable == "/usr/bin/server"
    assert _read(None).executable is None


def test_bytes_that_are_no_text_are_kept_apart() -> None:
    """Two names that differ in such a byte are two names."""
    names = {read_role({"name": name}).name for name in (b"a\xff", b"a\xfe", "a")}
    assert len(names) == 3


@pytest.mark.parametrize(
    ("facts", "parent"),
    [({"stat": {"ppid": 4}}, 4), ({"status": {"PPid": 5}}, 5), ({"stat": "hostile"}, None), ({}, None)],
)
def test_the_parent_is_that_of_stat_or_status(facts: dict[str, Any], parent: int | None) -> None:
    """Either file of the kernel tells it; what is no number tells nothing."""
    assert find_parent(facts) == parent


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        (Role("a"), Role("b"), 0),
        (Role("python3", program="x.py"), Role("python3", program="y.py"), 0),
        (Role("a", arguments=("-p", "1")), Role("a", arguments=("-p", "1")), 3),
        (Role("a", arguments=("-p", "1")), Role("a", arguments=("-p", "22")), 2),
        (Role("a", arguments=("-p", "1")), Role("a", arguments=("-q",)), 1),
        (Role("a"), Role(None), 1),
        (_read("/bin/sh", "sh", "-c", "run 1"), _read("/bin/sh", "sh", "-c", "run 1"), 3),
        (_read("/bin/sh", "sh", "-c", "run 1"), _read("/bin/sh", "sh", "-c", "run 22"), 2),
        (_read("/bin/sh", "sh", "-c", "run 1"), _read("/bin/sh", "sh", "-c", "run 1", "x"), 1),
        (_read("/bin/sh", "sh", "-c", "x(0x1F, 1e6)"), _read("/bin/sh", "sh", "-c", "x(5_000, .5)"), 2),
        (_read("/bin/sh", "sh", "-c", "run 1"), _read("/bin/sh", "sh", "-c", "stop 1"), 0),
        (_read("/bin/sh", "sh", "-c", "run 1"), _read("/bin/sh", "sh", "run 1"), 0),
    ],
)
def test_roles_are_alike_by_degrees(one: Role, two: Role, alike: int) -> None:
    """0 another program, 1 the same, 2 the same arguments but for numbers, 3 the same arguments."""
    assert (compare_roles(one, two), compare_roles(two, one)) == (alike, alike)
