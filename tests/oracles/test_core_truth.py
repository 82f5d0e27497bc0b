"""Cores against binutils, elfutils, and the memory map of the process that was dumped."""

from __future__ import annotations

import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mmpscope.formats.elfcore.reader import open_core
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot
from support.corpus import find_corpus_file

CORES = ("linux-x86_64.core", "linux-i386.core", "linux-arm64.core", "linux-ppc64-big-endian.core")
_LOAD = re.compile(r"^  LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) (0x\w+) ([R ][W ][E ])", re.MULTILINE | re.ASCII)
_FILE = re.compile(r"^ +([0-9a-f]+)-([0-9a-f]+) ([0-9a-f]+) (\d+) +(\S.*)$", re.MULTILINE)
_AUXV = re.compile(r"^    ([A-Z]\w+): (0x[0-9a-f]+|\d+)$", re.MULTILINE)
_POINTERS = {
    "x86_64": ("rsp", "rip"),
    "i386": ("esp", "eip"),
    "aarch64": ("sp", "pc"),
    "ppc64": ("r1", "nip"),
}
_MAP_LINE = re.compile(rb"^(\w+)-(\w+) (....) \S+ \S+ \d+ *(.*)$", re.MULTILINE)

Place = tuple[Fact, Fact]


def _read(path: Path) -> Snapshot:
    with path.open("rb") as stream:
        return open_core(stream, str(path), partial=False).read(0)


def _rows(snapshot: Snapshot, table: str, *names: str) -> list[tuple[Fact, ...]]:
    columns = decode_table(snapshot.tables[table])
    return list(zip(*(columns[name] for name in names), strict=True))


def _run(*words: str | Path) -> str:
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run([*map(str, words)], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def _list_loads(path: Path) -> list[tuple[int, int, bytes, int]]:
    """List start, size, rights and dumped bytes of each PT_LOAD as binutils reads them."""
    return [
        (
            int(vaddr, 16),
            int(memsz, 16),
            bytes((char.lower() if char != " " else "-").replace("e", "x").encode()[0] for char in flags)
            + b"?",
            int(filesz, 16),
        )
        for _, vaddr, filesz, memsz, flags in _LOAD.findall(_run("readelf", "-lW", path))
    ]


@pytest.mark.real
@pytest.mark.parametrize("name", CORES)
def test_regions_are_those_of_readelf(name: str) -> None:
    """Binutils lists the same ranges, rights and dumped bytes as we do, in the same order."""
    path = find_corpus_file(f"core/{name}")
    loads = _list_loads(path)
    assert loads
    assert _rows(_read(path), "regions", "start", "size", "perms", "filesz") == loads


@pytest.mark.real
@pytest.mark.parametrize("name", CORES)
def test_notes_are_those_of_eu_readelf(name: str) -> None:
    """Elfutils reads the same files, ids, names, registers and auxiliary vector from the notes."""
    path = find_corpus_file(f"core/{name}")
    text = _run("eu-readelf", "-n", path)
    snapshot = _read(path)
    process, files = snapshot.process, _FILE.findall(text)
    assert files
    assert _rows(snapshot, "files", "start", "size", "offset", "path") == [
        (int(start, 16), int(size), int(offset, 16), name.encode())
        for start, end, offset, size, name in files
    ]
    told = re.search(
        r"uid: (\d+), gid: (\d+), pid: (\d+), ppid: (\d+).*\n +fname: (.*), psargs: (.*)\n", text
    )
    assert told is not None
    info = process["psinfo"]
    keys = ("pr_uid", "pr_gid", "pr_pid", "pr_ppid", "pr_fname", "pr_psargs")
    assert [str(info[key]) for key in keys] == list(told.groups())
    auxv = {f"AT_{key}": int(value, 0) for key, value in _AUXV.findall(text)}
    assert len(auxv) > 10
    assert {key: process["auxv"].get(key) for key in auxv} == auxv
    sp, ip = (
        int(value, 0)
        for key in _POINTERS[process["elf"]["machine"]]
        for value in re.findall(rf"\b{key}: +(0x[0-9a-f]+|\d+)\b", text)[:1]
    )
    tid = int(re.findall(r"cursig.*\n.*\n.*\n    pid: (\d+)", text)[0])
    assert _rows(snapshot, "threads", "tid", "sp", "ip") == [(tid, sp, ip)]


def test_the_header_tells_the_byte_order_and_not_the_name() -> None:
    """The file that is called big-endian holds a little-endian process: only EI_DATA counts."""
    snapshot = _read(find_corpus_file("core/linux-ppc64-big-endian.core"))
    assert snapshot.capture.host["machine"] == "ppc64le"
    assert snapshot.process["elf"] == {"class": 64, "machine": "ppc64", "byte_order": "little"}


_PROGRAM = r"""
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(0, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(0, 1 << 18, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    puts("ready");
    fflush(stdout);
    pause();
}
"""


class _Target(NamedTuple):
    process: subprocess.Popen[bytes]
    folder: Path
    maps: dict[Place, tuple[bytes, bytes]]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[_Target]:
    """Build and start a small program, and read its memory map; it may dump core into its own folder."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "small.c").write_text(_PROGRAM)
    subprocess.run(["gcc", "-o", "small", "small.c"], cwd=tmp_path, check=True)
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    process = subprocess.Popen(
        [tmp_path / "small"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        maps = {
            (int(start, 16), int(end, 16) - int(start, 16)): (perms, path)
            for start, end, perms, path in _MAP_LINE.findall(Path(f"/proc/{process.pid}/maps").read_bytes())
        }
        yield _Target(process, tmp_path, maps)
    finally:
        process.kill()
        process.communicate()


def _name_files(maps: dict[Place, tuple[bytes, bytes]]) -> dict[Place, bytes | None]:
    """Leave of the names in a memory map what a core tells: paths, [vdso] and [vsyscall]."""
    told = (b"[vdso]", b"[vsyscall]")
    return {
        place: path if path.startswith(b"/") or path in told else None for place, (_, path) in maps.items()
    }


def _by_place(snapshot: Snapshot, name: str) -> dict[Place, Fact]:
    return {(start, size): value for start, size, value in _rows(snapshot, "regions", "start", "size", name)}


@pytest.mark.real
def test_a_core_of_the_kernel_is_the_memory_map(target: _Target) -> None:
    """The kernel dumps a PT_LOAD a mapping: ranges, rights and paths are those that /proc showed before."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|") or "/" in pattern:
        pytest.skip(f"cores do not go into the working directory here: {pattern}")
    target.process.send_signal(signal.SIGABRT)
    target.process.wait()
    cores = list(target.folder.glob(f"{pattern.split('%', maxsplit=1)[0].split('.')[0]}*"))
    if not cores:
        pytest.skip("no core was dumped: the limit of core size is 0")
    snapshot = _read(cores[0])
    expected = {place: perms[:3] + b"?" for place, (perms, _) in target.maps.items()}
    assert _by_place(snapshot, "perms") == expected
    assert _by_place(snapshot, "path") == _name_files(target.maps)
    assert "regions" not in {item.item for item in snapshot.capability}
    assert snapshot.process["exe"] == str(target.folder / "small")
    assert {path for (path,) in _rows(snapshot, "modules", "path")} == {
        path for perms, path in target.maps.values() if path.startswith(b"/") and perms[2:3] == b"x"
    }


@pytest.mark.real
def test_a_core_of_gdb_is_a_part_of_the_memory_map_and_says_so(target: _Target) -> None:
    """What gcore dumps is where /proc has it; what it leaves out is not taken for free space."""
    _run("gcore", "-o", target.folder / "by-gdb", str(target.process.pid))
    cores = list(target.folder.glob("by-gdb.*"))
    if not cores:
        pytest.skip("gdb may not trace here")
    snapshot = _read(cores[0])
    named = _name_files(target.maps)
    paths = _by_place(snapshot, "path")
    assert paths
    assert paths == {place: named[place] for place in paths}
    assert len(paths) < len(named)
    reasons = {item.item: item.state for item in snapshot.capability}
    assert reasons["regions"] == "partial"
    assert any(build_id for (build_id,) in _rows(snapshot, "modules", "build_id"))
