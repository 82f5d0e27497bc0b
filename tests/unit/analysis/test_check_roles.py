"""Which processes of a baseline are of the role that is checked: by what they run, not by name alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.checks.baseline import choose_baseline
from mmpscope.analysis.errors import CannotTellError
from support.process_sets import Proc, load_one, make_set

CHECKED = Proc(70, "/usr/bin/python3", ("job.py", "--shard", "7"))
ALIKE = Proc(71, "/usr/bin/python3", ("job.py", "--shard", "8"))
OTHER_ARGUMENTS = Proc(72, "/usr/bin/python3", ("job.py", "--report"))
OTHER_SCRIPT = Proc(73, "/usr/bin/python3", ("web.py",))


def _load(path: str, processes: Sequence[Proc], at: int = 0) -> list[LoadedSnapshot]:
    return [load_one(f"{path}#{n}", found) for n, found in enumerate(make_set(processes, at=at))]


def _choose(*files: Sequence[Proc], checked: Proc = CHECKED) -> tuple[list[object], list[str]]:
    """Return the pids that count, and what is said."""
    [new], said = _load("new.mmp", [checked], 900), list[str]()
    found = [each for number, file in enumerate(files) for each in _load(f"{number}.mmp", file, number)]
    return [each.process["pid"] for each in choose_baseline(new, found, said)], said


def test_another_script_of_one_interpreter_is_another_program() -> None:
    """All are called python3: what it runs tells them apart, and the answer says who was left out."""
    pids, said = _choose([ALIKE, OTHER_SCRIPT])
    assert pids == [71]
    assert "other programs (python3 web.py)" in said[0]


def test_of_one_file_the_process_with_the_most_alike_arguments_counts() -> None:
    """Beside a worker of another shard, the same script with other options is another role."""
    pids, said = _choose([OTHER_ARGUMENTS, ALIKE])
    assert pids == [71]
    assert said == ["1 of the baseline run the same program with other arguments, and do not count"]


def test_workers_that_nothing_tells_apart_all_count() -> None:
    """Four workers of one role are four samples of it."""
    workers = [Proc(pid, CHECKED.exe, CHECKED.args) for pid in range(80, 84)]
    assert _choose([*workers, OTHER_ARGUMENTS])[0] == [80, 81, 82, 83]


def test_from_file_to_file_arguments_decide_nothing() -> None:
    """Runs of their own may have other arguments each: all of them are the baseline."""
    assert _choose([ALIKE], [OTHER_ARGUMENTS]) == ([71, 72], [])


def test_only_other_scripts_are_no_baseline() -> None:
    """Where nothing of the role is there, nothing can be told."""
    with pytest.raises(CannotTellError, match="no snapshot of the baseline"):
        _choose([OTHER_SCRIPT, Proc(74, "/usr/bin/python3", ("mail.py",))])


def _run(pid: int, code: str) -> Proc:
    return Proc(pid, "/usr/bin/python3", ("-c", code))


def test_commands_that_differ_in_numbers_are_one_program() -> None:
    """Runs of `python3 -c` are a baseline as runs of a script are; a copy of the new one takes none away."""
    files = [[_run(pid, f"x = bytearray({pid}); wait()")] for pid in range(71, 74)]
    checked = _run(70, "x = bytearray(70); wait()")
    assert _choose(*files, checked=checked) == ([71, 72, 73], [])
    [new] = _load("new.mmp", [checked], 900)
    said: list[str] = []
    found = [each for number, file in enumerate(files) for each in _load(f"{number}.mmp", file, number)]
    kept = choose_baseline(new, [*_load("copy.mmp", [checked], 900), *found], said)
    assert [each.process["pid"] for each in kept] == [71, 72, 73]
    assert said == ["copy.mmp#0 of the baseline is the snapshot that is checked, and does not count"]


def test_other_commands_count_where_there_are_none_alike() -> None:
    """They are arguments more than a name: alone they are the baseline, with a word, and a script is not."""
    files = [[_run(71, "run('a')")], [_run(72, "run('b')")], [OTHER_SCRIPT]]
    pids, said = _choose(*files, checked=_run(70, "run('c')"))
    assert pids == [71, 72]
    assert said == [
        "2 of the baseline count though they run other commands (python3 run('a'), python3 run('b')) than "
        "the new snapshot (python3 run('c')): none runs the same",
        "1 of the baseline are of other programs (python3 web.py), and do not count",
    ]
    pids, said = _choose(*files, [_run(73, "run('c')")], checked=_run(70, "run('c')"))
    assert pids == [73]
    assert "other programs (python3 run('a'), python3 run('b'), python3 web.py)" in said[0]


def test_a_baseline_that_is_refused_is_named_apart_from_what_is_checked() -> None:
    """No sentence says that there is nothing of a program, only of that program."""
    master = Proc(90, "nginx: master process", (), called="nginx")
    titles = [Proc(pid, "nginx: worker process", (), called="nginx") for pid in (80, 81)]
    told = "is of nginx: master process, only of nginx: worker process. Name"
    with pytest.raises(CannotTellError, match=re.escape(told)):
        _choose(titles, checked=master)
    assert "is of python3 web.py, the new snapshot of python3 job.py" in _choose([OTHER_SCRIPT])[1][0]


def test_a_copy_of_what_is_checked_hides_no_other_program() -> None:
    """Where nothing is left, both are named: the copy, and who else was there."""
    [new], said = _load("new.mmp", [CHECKED], 900), list[str]()
    copy = _load("copy.mmp", [CHECKED], 900)
    assert [*choose_baseline(new, [*copy, *_load("web.mmp", [OTHER_SCRIPT])], said)] == []
    assert said == [
        "1 of the baseline are of other programs (python3 web.py), and do not count",
        "the baseline is the snapshot that is checked, and nothing grows beside itself: no baseline",
    ]
