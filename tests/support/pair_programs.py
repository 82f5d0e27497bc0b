"""Programs of which a test takes two snapshots: one in C that does what it is told, a JVM, and node."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot
from support.collecting import collect

__all__ = [
    "BLOCK",
    "MORE",
    "PLUGIN",
    "TABLE",
    "WORKERS",
    "compile_program",
    "look",
    "rebuild_library",
    "run",
    "run_java",
    "run_node",
    "tell",
]

MIB = 1 << 20
WORKERS = 4
TABLE, PLUGIN, BLOCK = MIB, MIB // 2, 16 * MIB
"""Bytes of the table of the library, of that of the plugin, and of the one block of anonymous memory."""
MORE = 16 * MIB
"""Bytes that a JVM or node takes more when it is told so, outside of the heap that it manages."""

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
    char *block = mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(block, 1, 16 << 20);
    mprotect(block, 4096, PROT_READ), mprotect(block + (16 << 20) - 4096, 4096, PROT_READ);
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
        } else if (!strcmp(line, "protect")) {
            said = mprotect(block + (8 << 20), 4096, PROT_READ);
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
_JAVA = """
public class Shop {
    static final java.util.List<Object> kept = new java.util.ArrayList<>();
    public static void main(String[] words) throws Exception {
        do {
            System.out.println(kept.size());
            if (System.in.read() < 0) return;
            while (System.in.read() != '\\n') ;
            kept.add(java.nio.ByteBuffer.allocateDirect(16 << 20));
        } while (true);
    }
}
"""
_NODE = """
const kept = [];
const say = () => console.log(kept.length);
process.stdin.on("data", () => { kept.push(Buffer.alloc(16 << 20, 1)); say(); });
say();
"""


def _compile(folder: Path, name: str, source: str, *options: str) -> None:
    (folder / f"{name}.c").write_text(source)
    command = ["gcc", "-o", str(folder / name), str(folder / f"{name}.c"), "-Wl,--build-id", *options]
    subprocess.run(command, check=True, timeout=60)


def compile_program(folder: Path) -> None:
    """Compile the program in C, its library, and a plugin; skips the test where there is no gcc."""
    if shutil.which("gcc") is None:
        pytest.skip("the programs are compiled here, and there is no gcc")
    _compile(folder, "libshop.so", _LIBRARY, "-shared", "-fPIC")
    _compile(folder, "plugin.so", _PLUGIN, "-shared", "-fPIC")
    path = ["-L", str(folder), "-l:libshop.so", f"-Wl,-rpath,{folder}"]
    _compile(folder, "program", _PROGRAM, "-pthread", *path, "-ldl")


def rebuild_library(folder: Path) -> None:
    """Put another build of the library in its place."""
    _compile(folder, "libshop.so", _REBUILT, "-shared", "-fPIC")


@contextmanager
def _run(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a program until it waits for commands, and end it afterwards."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


@contextmanager
def run(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the program in C; it knows threads, plugin, protect and fork."""
    with _run([str(folder / "program"), str(WORKERS), str(folder / "plugin.so")]) as process:
        yield process


@contextmanager
def run_java(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a JVM with a heap of 64 MiB; whatever it is told, it takes MORE outside of that."""
    if shutil.which("java") is None:
        pytest.skip("there is no java")
    (folder / "Shop.java").write_text(_JAVA)
    with _run(["java", "-Xms64m", "-Xmx64m", str(folder / "Shop.java")]) as process:
        yield process


@contextmanager
def run_node(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run node; whatever it is told, it takes MORE in a buffer."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    (folder / "shop.js").write_text(_NODE)
    with _run(["node", str(folder / "shop.js")]) as process:
        yield process


def tell(process: subprocess.Popen[str], command: str) -> int:
    """Have a program do something, and return what it says."""
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
