"""Which processes of a baseline are of the role that is checked: by what they run, not by name alone."""

from __future__ import annotations

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


def _choose(*files: Sequence[Proc]) -> tuple[list[object], list[str]]:
    """Return the pids that count, and what is said."""
    [new], said = _load("new.mmp", [CHECKED], 900), list[str]()
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
