"""What pmap printed of a process against the kernel's own smaps: of the same moment, region by region."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.proc.smaps import parse_smaps
from mmpscope.formats.registry import open_source
from support.corpus import find_corpus_file, read_corpus_file

Columns = dict[str, list[Any]]
LAYOUTS = {
    "": "pmap text",
    "-x": "pmap -x text",
    "-d": "pmap -d text",
    "-X": "pmap -X text",
    "-XX": "pmap -XX text",
}
MAP_LINE = {"": (), "-x": (), "-d": ("offset", "dev_major", "dev_minor")}
DETAILED = ("offset", "dev_major", "dev_minor", "inode")
SHARES = ("Pss", "SwapPss")
"""What moves while others start and end, which map the same libraries ..."""
NEAR = 2048
"""... by this many bytes a region, in the corpus."""
CLEAN = ("Shared_Clean", "Private_Clean")
"""What pmap itself changes while it runs: pages of libraries that it maps as well."""
TRIES = 5


def read_listing(path: Path) -> tuple[str, Columns]:
    """Read the one listing of a file; nothing is wrong with it."""
    source = open_source(path)
    assert len(source.entries) == 1
    assert not source.faults
    return source.format, decode_table(source.read(0).tables["regions"])


def read_smaps(text: bytes) -> Columns:
    """Read the columns of smaps."""
    return decode_table(parse_smaps(text).encode())


def cut_name(path: bytes | None, *, is_detailed: bool) -> bytes | None:
    """Cut a path as pmap does; without -X odd bytes are `?`, and other memory has words of its own."""
    if path is None or is_detailed or path in (b"[stack]", b"[vsyscall]"):
        return None if path is None else path.rpartition(b"/")[2]
    if path.startswith(b"/SYSV"):
        return b"[ shmid=0x0 ]"
    return None if path.startswith(b"[") else re.sub(rb"[^ -~]", b"?", path.rpartition(b"/")[2])


def compare(listing: Columns, smaps: Columns, option: str, *, leave_out: Sequence[str] = ()) -> None:
    """Compare every column that both have, but for some."""
    assert listing["start"] == smaps["start"]
    assert listing["size"] == smaps["size"]
    assert listing["perms"] == [perms[:3] + (b"s" if perms[3:] == b"s" else b"p") for perms in smaps["perms"]]
    for name in MAP_LINE.get(option, DETAILED):
        assert listing[name] == smaps[name]
    if "path" not in leave_out:
        names = [cut_name(path, is_detailed=option in ("-X", "-XX")) for path in smaps["path"]]
        assert listing["path"] == names
    done = {"start", "size", "perms", "path", *DETAILED, *leave_out}
    for name in sorted(set(listing) & set(smaps) - done):
        if name == "VmFlags":
            assert listing[name] == [flags.strip() for flags in smaps[name]]
        elif name in SHARES:
            compare_shares(listing[name], smaps[name], smaps["Shared_Clean"])
        else:
            assert listing[name] == smaps[name], name
    if option == "-x":
        dirty = map(int.__add__, smaps["Private_Dirty"], smaps["Shared_Dirty"])
        assert listing["Dirty"] == list(dirty)


def compare_shares(ours: list[int], theirs: list[int], shared: list[int]) -> None:
    """Compare shares of regions: exact where nothing is shared, near where others may come and go."""
    for mine, other, common in zip(ours, theirs, shared, strict=True):
        assert abs(mine - other) <= (NEAR if common else 0)


@pytest.mark.parametrize("option", LAYOUTS)
def test_listings_of_the_corpus_are_the_smaps_of_that_process(option: str) -> None:
    """Every region, right, name and figure of five layouts, of a process made awkward on purpose."""
    format_name, listing = read_listing(find_corpus_file(f"pmap/torture.pmap{option}"))
    assert format_name == LAYOUTS[option]
    compare(listing, read_smaps(read_corpus_file("smaps/linux-6.18/torture.smaps")), option)


@pytest.fixture
def sleeper() -> Iterator[int]:
    """Start a process that does nothing, and wait until its map is at rest."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"], stdin=-1, stdout=-1
    )
    assert child.stdout is not None
    child.stdout.readline()
    try:
        yield child.pid
    finally:
        child.communicate()


def run_pmap(*arguments: str) -> str:
    """Run the real pmap in a plain locale; skipped where there is none."""
    if shutil.which("pmap") is None:
        pytest.skip("there is no pmap here (apt: procps)")
    done = subprocess.run(["pmap", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.real
@pytest.mark.parametrize("option", LAYOUTS)
@pytest.mark.parametrize("more", [(), ("-p",), ("-q",)], ids=["", "-p", "-q"])
def test_the_real_pmap_and_the_kernel_agree(
    option: str, more: tuple[str, ...], sleeper: int, tmp_path: Path
) -> None:
    """A process that we started: what this machine's pmap prints is what smaps said before and after."""
    smaps = Path(f"/proc/{sleeper}/smaps")
    for _ in range(TRIES):
        before = smaps.read_bytes()
        text = run_pmap(*([option] if option else []), *more, str(sleeper))
        if smaps.read_bytes() == before:
            break
    else:
        pytest.fail("the map of a process that sleeps did not hold still")
    path = tmp_path / "listing"
    path.write_text(text)
    if more == ("-q",) and option in ("-X", "-XX"):
        with pytest.raises(NotASnapshotError, match="without -q"):
            open_source(path)
        return
    format_name, listing = read_listing(path)
    assert format_name == LAYOUTS[option]
    truth = read_smaps(before)
    compare(listing, truth, option, leave_out=(*SHARES, *CLEAN, *(["path"] if more == ("-p",) else [])))
    if option == "-XX":
        clean = [list(map(int.__add__, *(each[name] for name in CLEAN))) for each in (listing, truth)]
        assert clean[0] == clean[1]
    if more == ("-p",):
        files = [[p for p in each["path"] if p and p.startswith(b"/")] for each in (listing, truth)]
        assert files[0] == files[1]


@pytest.mark.real
def test_the_real_pmap_of_two_processes_and_a_kernel_thread(sleeper: int, tmp_path: Path) -> None:
    """Each is a snapshot with its pid; the kernel's own has no address space."""
    path = tmp_path / "listing"
    path.write_text(run_pmap("-x", str(sleeper), "2", str(os.getpid())))
    source = open_source(path)
    pids = [entry.pid for entry in source.entries]
    rows = {pid: source.read(at).tables["regions"].rows for at, pid in enumerate(pids)}
    assert pids[0] == sleeper
    assert rows[sleeper] > 10
    assert rows[os.getpid()] > 10
    if Path("/proc/2/smaps").exists() and Path("/proc/2/cmdline").read_bytes() == b"":
        assert rows[2] == 0
    assert not source.faults
