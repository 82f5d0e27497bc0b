"""Real pairs of processes, for each the statement that a diff of them has to make, written down before."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis import DiffResult, LoadedSnapshot
from mmpscope.analysis.diffs.matching import UNMATCHED
from support.collecting import collect

pytestmark = pytest.mark.real

MIB = 1 << 20
WORKERS = 4
_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
extern int shop(void);
static volatile int ready;
static void *work(void *ignored) {
    pthread_setname_np(pthread_self(), "worker");
    memset(malloc(65536), 1, 65536);
    __sync_fetch_and_add(&ready, 1);
    for (;;) pause();
}
int main(int count, char **words) {
    (void)count;
    memset(malloc(3 << 20), 1, 3 << 20);
    memset(mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 16 << 20);
    for (int i = 0; i < 1000; i++) memset(malloc(1000), 1, 1000);
    char line[4096];
    printf("%d\n", shop()), fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        int said = 0;
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "threads")) {
            pthread_t thread;
            for (int i = 0; i < atoi(words[1]); i++) pthread_create(&thread, 0, work, 0);
            while (ready < atoi(words[1])) usleep(1000);
        } else if (!strcmp(line, "plugin")) {
            said = dlopen(words[2], RTLD_NOW) != 0;
        } else if (!strcmp(line, "fork")) {
            said = fork();
            if (!said) for (;;) pause();
        }
        printf("%d\n", said), fflush(stdout);
    }
}
"""
_LIBRARY = "static char table[1 << 20] = {1}; int shop(void) { return table[0]; }"
_REBUILT = "static char table[1 << 20] = {1}; int shop(void) { return table[0] + 1; }"
_PLUGIN = "static char table[1 << 19] = {1}; int plugin(void) { return table[0]; }"


def _compile(folder: Path, name: str, source: str, *options: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    output = folder / name
    command = ["gcc", "-o", str(output), str(folder / f"{name}.c"), "-Wl,--build-id", *options]
    subprocess.run(command, check=True, timeout=60)
    return output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the program, its library, and a plugin."""
    if shutil.which("gcc") is None:
        pytest.skip("the programs are compiled here, and there is no gcc")
    made = tmp_path_factory.mktemp("pair")
    _compile(made, "libshop.so", _LIBRARY, "-shared", "-fPIC")
    _compile(made, "plugin.so", _PLUGIN, "-shared", "-fPIC")
    _compile(
        made, "program", _PROGRAM, "-pthread", "-L", str(made), "-l:libshop.so", f"-Wl,-rpath,{made}", "-ldl"
    )
    return made


@contextmanager
def run(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the program until it waits for commands, and end it afterwards."""
    command = [str(folder / "program"), str(WORKERS), str(folder / "plugin.so")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def tell(process: subprocess.Popen[str], command: str) -> int:
    """Have the program do something, and return what it says."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{command}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def look(pid: int, output: Path) -> LoadedSnapshot:
    """Collect a process."""
    done = collect(pid, "-o", output, "--force", "--quiet")
    assert done.returncode == 0, done.stderr
    [snapshot] = analysis.load(output)
    _ = snapshot.regions
    return snapshot


def look_at_one(folder: Path, output: Path, *commands: str) -> LoadedSnapshot:
    """Run the program anew, have it do something, and collect it."""
    with run(folder) as process:
        for command in commands:
            tell(process, command)
        return look(process.pid, output)


def find_delta(result: DiffResult, metric: str) -> int:
    """Return how a total changed."""
    [delta] = [row["delta"] for row in result.totals.to_pylist() if row["metric"] == metric]
    return int(delta)


def measure_matched(result: DiffResult) -> float:
    """Return the share of committed bytes that was matched."""
    rows = result.matching.to_pylist()
    assert {row["figure"] for row in rows} == {"committed"}
    sums = [(row["match"], int(row["a"] + row["b"])) for row in rows]
    return sum(size for word, size in sums if word != UNMATCHED) / sum(size for _, size in sums)


def list_modules(result: DiffResult) -> list[tuple[str, str]]:
    """Return word and name of the modules that are not the same."""
    return [(row["word"], Path(row["path"]).name) for row in result.modules.to_pylist()]


def find_unit(result: DiffResult, text: str) -> dict[str, Any]:
    """Return the row of the unit with some text in its name."""
    [row] = [row for row in result.components.to_pylist() if text in (row["unit"] or "")]
    return dict(row)


def test_two_runs_of_one_program_are_alike(folder: Path, tmp_path: Path) -> None:
    """Matched at least 99 % of committed bytes, no module differs, and Private within 1 MiB."""
    a, b = (look_at_one(folder, tmp_path / f"{name}.mmp") for name in "ab")
    result = analysis.diff(a, b)
    assert result.mode == "different"
    assert measure_matched(result) >= 0.99
    assert list_modules(result) == []
    assert result.threads.num_rows == 0
    assert abs(find_delta(result, "private")) < MIB
    bases = [side.modules.column("address").to_pylist() for side in (a, b)]
    assert bases[0] != bases[1]  # address space layout randomization is on, so that this says something


def test_one_library_rebuilt_is_that_library(folder: Path, tmp_path: Path) -> None:
    """One module differs, called rebuilt; its parts are matched by path, and Private stays within 1 MiB."""
    a = look_at_one(folder, tmp_path / "a.mmp")
    _compile(folder, "libshop.so", _REBUILT, "-shared", "-fPIC")
    b = look_at_one(folder, tmp_path / "b.mmp")
    result = analysis.diff(a, b)
    assert list_modules(result) == [("rebuilt", "libshop.so")]
    assert measure_matched(result) >= 0.99
    by_path = [row["a"] for row in result.matching.to_pylist() if row["match"] == "path"]
    assert sum(by_path) >= MIB  # the table of the library, which nothing else is as large as
    assert abs(find_delta(result, "private")) < MIB


def test_arenas_of_threads_are_births_in_one_cohort(folder: Path, tmp_path: Path) -> None:
    """As many more arenas as there are threads, one row; their stacks another, and the threads by name."""
    a = look_at_one(folder, tmp_path / "a.mmp")
    b = look_at_one(folder, tmp_path / "b.mmp", "threads")
    result = analysis.diff(a, b)
    arenas = find_unit(result, "glibc arena")
    assert (arenas["word"], arenas["match"], arenas["blocks_a"]) == ("new", "cohort", 0)
    assert 1 <= arenas["blocks_b"] <= WORKERS  # glibc opens one a thread, up to 8 a processor
    stacks = find_unit(result, "stacks of worker")
    assert (stacks["word"], stacks["match"], stacks["blocks_b"]) == ("new", "thread", WORKERS)
    assert [row["name_b"] for row in result.threads.to_pylist()] == ["worker"] * WORKERS
    assert list_modules(result) == []


@pytest.mark.parametrize("anew", [False, True])
def test_a_plugin_that_was_loaded_is_one_new_module(folder: Path, tmp_path: Path, anew: bool) -> None:
    """Within one process and between two: the plugin is new and alone, and Private grew by its data."""
    with run(folder) as process:
        a = look(process.pid, tmp_path / "a.mmp")
        tell(process, "plugin")
        b = look(process.pid, tmp_path / "b.mmp")
    if anew:
        b = look_at_one(folder, tmp_path / "b.mmp", "plugin")
    result = analysis.diff(a, b)
    assert result.mode == ("different" if anew else "same")
    assert list_modules(result) == [("new", "plugin.so")]
    assert MIB // 2 <= find_delta(result, "private") < MIB
    assert find_delta(result, "size") > 0


def test_a_forked_child_is_its_parent_over_again(folder: Path, tmp_path: Path) -> None:
    """Two instances that hold the same memory: all but 1 % is matched, no module differs, nothing is gone."""
    with run(folder) as process:
        child = tell(process, "fork")
        try:
            a, b = look(process.pid, tmp_path / "a.mmp"), look(child, tmp_path / "b.mmp")
        finally:
            subprocess.run(["kill", "-9", str(child)], check=True)
    result = analysis.diff(a, b)
    assert result.mode == "different"
    assert measure_matched(result) >= 0.99
    assert list_modules(result) == []
    assert abs(find_delta(result, "private")) < MIB
    assert not [row for row in result.components.to_pylist() if row["word"] in ("new", "gone")]
