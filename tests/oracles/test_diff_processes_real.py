"""A real tree of processes, started twice: its diff, against what the kernel says of each process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis.diffs.processes import ProcessesDiff, diff_processes
from support.collecting import collect, wait_until

pytestmark = pytest.mark.real

KIB, MIB = 1 << 10, 1 << 20
HOLD = 12
MORE = 40
_SERVER = "import sys, time; block = bytearray(int(sys.argv[1]) << 20); print(flush=True); time.sleep(600)"


@contextmanager
def _run_tree(folder: Path, workers: int, mib: int) -> Iterator[list[int]]:
    """Run a script that starts workers and a server of so many MiB; yield all pids, its own first."""
    script = folder / "tree.sh"
    lines = ['for n in $(seq "$1"); do sleep 600 & done', f'"{sys.executable}" "$3" "$2" &', "wait"]
    script.write_text("\n".join(lines) + "\n")
    (folder / "server.py").write_text(_SERVER)
    command = ["/bin/sh", str(script), str(workers), str(mib), str(folder / "server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as shell:
        children: list[int] = []
        try:
            assert shell.stdout is not None
            shell.stdout.readline()  # the server has its memory
            wait_until(lambda: len(_list_sleepers(shell.pid)) == workers)
            children = _list_children(shell.pid)
            yield [shell.pid, *children]
        finally:
            for pid in children:
                subprocess.run(["kill", str(pid)], check=False)
            shell.kill()


def _list_children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _list_sleepers(pid: int) -> list[int]:
    """List the children that are `sleep` by now, and asleep: a fork is the shell until its exec."""
    stats = {child: Path(f"/proc/{child}/stat").read_text() for child in _list_children(pid)}
    return [child for child, stat in stats.items() if "(sleep) S" in stat]


def _collect_all(path: Path, pids: Sequence[int]) -> Path:
    for number, pid in enumerate(pids):
        where = ("--append" if number else "-o", path)
        assert collect(pid, *where).returncode == 0
    return path


def _read_pss(snapshots: Sequence[analysis.LoadedSnapshot]) -> int:
    """Add up Pss as the kernel has it in smaps_rollup, in bytes, read in the same moment as the regions.

    Read later it is another: whoever maps libc meanwhile, the collector among them, takes a part of it.
    """
    return sum(snapshot.process["smaps_rollup"]["Pss"] for snapshot in snapshots)


def _row(result: ProcessesDiff, name: str) -> dict[str, Any]:
    [row] = [row for row in result.roles.to_pylist() if row["name"] == name]
    return dict(row)


@pytest.fixture(scope="module")
def started_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[ProcessesDiff, int, int]:
    """Compare a tree of 3 workers and a server with the same tree of 5 and a larger server; and both PSS."""
    folder = tmp_path_factory.mktemp("tree")
    for name, workers, mib in (("a", 3, HOLD), ("b", 5, HOLD + MORE)):
        with _run_tree(folder, workers, mib) as pids:
            _collect_all(folder / f"{name}.mmp", pids)
    a, b = (analysis.load(folder / f"{name}.mmp") for name in "ab")
    return diff_processes(a, b), _read_pss(a), _read_pss(b)


def test_workers_are_a_group_that_grew(started_twice: tuple[ProcessesDiff, int, int]) -> None:
    """Before the run: 3 -> 5 of one role, all restarted, known by program, arguments and parent."""
    row = _row(started_twice[0], "sleep")
    assert (row["word"], row["match"]) == ("restarted", "executable+arguments+parent")
    assert (row["instances_a"], row["instances_b"]) == (3, 5)


def test_the_server_holds_more(started_twice: tuple[ProcessesDiff, int, int]) -> None:
    """Before the run: its argument is another number, and USS grows by the 40 MiB more, give or take 1."""
    server = [
        row for row in started_twice[0].roles.to_pylist() if row["match"] != "executable+arguments+parent"
    ]
    grown = [row for row in server if row["uss_delta"] > MIB]
    assert [row["match"] for row in grown] == ["executable+arguments without numbers"]
    assert abs(grown[0]["uss_delta"] - MORE * MIB) < MIB


def test_nothing_else_is_new_or_gone(started_twice: tuple[ProcessesDiff, int, int]) -> None:
    """Before the run: a script, its workers and its server are three roles, and both trees have them all."""
    words = [row["word"] for row in started_twice[0].roles.to_pylist()]
    assert words == ["restarted"] * 3


def test_the_totals_are_what_the_kernel_says(started_twice: tuple[ProcessesDiff, int, int]) -> None:
    """Each side's total is the sum of Pss in smaps_rollup, within 256 KiB: libc's sharers come and go."""
    [total] = started_twice[0].total.to_pylist()
    for side, said in zip("ab", started_twice[1:], strict=True):
        assert abs(total[f"pss_{side}"] - said) < 256 * KIB


def test_a_tree_that_went_on_is_the_same_instances(tmp_path: Path) -> None:
    """Collected twice, every process is the same instance; USS, which others do not move, within 256 KiB."""
    with _run_tree(tmp_path, 3, HOLD) as pids:
        a, b = (analysis.load(_collect_all(tmp_path / f"{name}.mmp", pids)) for name in "ab")
    result = diff_processes(a, b)
    assert {row["match"] for row in result.roles.to_pylist()} == {"same instance"}
    assert result.roles.num_rows == len(pids)
    assert abs(result.total.to_pylist()[0]["uss_delta"]) < 256 * KIB


def test_a_worker_that_was_not_collected_is_unknown(tmp_path: Path) -> None:
    """One left out before and collected after ran all the time, as the list says: it is not new."""
    with _run_tree(tmp_path, 3, HOLD) as pids:
        a = analysis.load(_collect_all(tmp_path / "a.mmp", pids[:-1]))
        b = analysis.load(_collect_all(tmp_path / "b.mmp", pids))
    unknown = [row for row in diff_processes(a, b).roles.to_pylist() if row["word"] == "unknown"]
    assert [(row["pid_a"], row["pid_b"], row["pss_delta"]) for row in unknown] == [(pids[-1], pids[-1], None)]
