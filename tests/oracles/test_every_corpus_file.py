"""Every public file that we have through every command: its format, what it answers, what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from mmpscope.analysis import LoadedSnapshot, diff, load, summarize
from mmpscope.formats.registry import PACKAGES
from support.corpus import CORPUS, find_corpus_file
from support.mmp_command import Answer, run_mmp

ALL, SOME, TOTALS, EMPTY = "all regions", "some regions", "totals only", "no address space"
CANNOT_TELL = {
    ALL: (),
    EMPTY: (),
    SOME: ("free",),
    TOTALS: ("regions", "free", "csv", "parquet"),
}
"""The questions that end with exit code 4, by what a file shows."""
COMMANDS = ("summary", "regions", "free")
NOT_OURS = "not a snapshot that I can read"


class File(NamedTuple):
    """A file of the corpus: the reader's package, its format and what it shows; or the words of a refusal."""

    name: str
    package: str
    format: str
    shows: str = ALL


class Refused(NamedTuple):
    """A file of the corpus that is refused with exit code 3, in these words."""

    name: str
    package: str
    words: str


FILES: tuple[File, ...] = (
    File("android/showmap_W-V830_1267.txt", "android", "Android showmap text", TOTALS),
    *(File(f"core/linux-{machine}.core", "elfcore", f"ELF core {kind}") for machine, kind in (
        ("arm64", "64-bit aarch64"),
        ("i386", "32-bit i386"),
        ("ppc64-big-endian", "64-bit ppc64"),
        ("x86_64", "64-bit x86_64"),
    )),
    File("macos/macos14_arm64_fmt2.4_tail_excerpt.txt", "macos", "macOS vmmap text 2.4", SOME),
    File("macos/osx10.9_python_fmt2.2.txt", "macos", "macOS vmmap text 2.2", SOME),
    File("macos/osx10.9_python_fmt2.2_resident.txt", "macos", "macOS vmmap text 2.2", SOME),
    File("maps/anon-hugepage.maps", "proc", "maps text", SOME),
    *(File(f"maps/{name}.maps", "proc", "maps text") for name in (
        "arm-stack-tid", "i386-2.x", "x86_64-glibc-2.29"
    )),
    File("minidump/linux-maps-stream.dmp", "minidump", "minidump with LinuxMaps"),
    File("minidump/win11-x64-memoryinfo.dmp", "minidump", "minidump with MemoryInfoList"),
    File("pmap/torture.pmap", "pmap", "pmap text"),
    *(File(f"pmap/torture.pmap-{key}", "pmap", f"pmap -{key} text") for key in ("X", "XX", "d", "x")),
    *(File(f"smaps/arm-4.1.25/{pid}.maps", "proc", "maps text") for pid in (1, 606)),
    *(File(f"smaps/arm-4.1.25/{pid}.smaps", "proc", "smaps text") for pid in (1, 606)),
    File("smaps/arm-4.1.25/10_kernelthread_EMPTY.smaps", "proc", "smaps text", EMPTY),
    *(File(f"smaps/{name}.smaps", "proc", "smaps text") for name in (
        "arm-tabs", "firefox-4.4", "go-4.14", "vendor-kernel-small", "zsh-3.x",
        "linux-5.5.7/1", "linux-5.5.7/1309", "linux-6.18/java", "linux-6.18/sleep", "linux-6.18/torture",
    )),
    File("smaps/shuffled-keys.smaps", "proc", "smaps text", SOME),
    *(File(f"smaps/{name}.smaps_rollup", "proc", "smaps_rollup text", TOTALS) for name in (
        "go-4.14", "linux-5.5.7/1", "linux-5.5.7/1309",
        "linux-6.18/java", "linux-6.18/sleep", "linux-6.18/torture",
    )),
    *(File(f"smaps/linux-6.18/{name}.maps", "proc", "maps text") for name in ("java", "sleep", "torture")),
    File("smemcap/smem-layout.tar", "containers", "captured /proc"),
    File("vmmap/devenv-x86.csv", "vmmap", "VMMap CSV"),
    File("windbg/address_linuxdump_dotnet_wow.txt", "windbg", "WinDbg !address", SOME),
    File("windbg/address_old_xpstyle_regionusage.txt", "windbg", "WinDbg !address", SOME),
    File("windbg/address_summary_samples.txt", "windbg", "WinDbg !address -summary", TOTALS),
)  # fmt: skip

REFUSED: tuple[Refused, ...] = (
    Refused("core/no-load-no-ntfile.core", "elfcore", "a core without a memory map"),
    Refused("minidump/huge-counts.dmp", "minidump", "streams, which no dump has"),
    Refused("minidump/invalid-range.dmp", "minidump", "beyond the end of the file"),
    Refused("minidump/invalid-record-count.dmp", "minidump", "beyond the end of the file"),
    Refused("minidump/microdump-is-text.dmp", "minidump", NOT_OURS),
    Refused("minidump/windows-no-memoryinfo.dmp", "minidump", "without a map of the address space"),
    Refused("smaps/broken-headers.smaps", "proc", "is not a map line"),
    *(Refused(f"smaps/{name}.status", "proc", NOT_OURS) for name in (
        "arm-4.1.25/1", "arm-4.1.25/606", "linux-5.5.7/1", "linux-5.5.7/1309",
        "linux-6.18/java", "linux-6.18/sleep", "linux-6.18/torture",
    )),
    *(Refused(f"smaps/linux-5.5.7/{pid}.cmdline", "proc", NOT_OURS) for pid in (1, 1309)),
    Refused("vmmap/mmp-xml.md", "vmmap", NOT_OURS),
    Refused("vmmap/not-vmmap.csv", "vmmap", NOT_OURS),
)  # fmt: skip


@pytest.fixture(params=FILES, ids=lambda file: file.name)
def file(request: pytest.FixtureRequest) -> File:
    """One of the files that open."""
    found: File = request.param
    _need(found.package)
    return found


def _need(package: str) -> None:
    if package not in PACKAGES:
        pytest.skip(f"the reader of {package} is not registered")


def _assert_told(answer: Answer) -> None:
    """Every line on stderr is a sentence of ours, and none is a traceback or a fault of ours."""
    assert answer.code != 70, answer.err
    for line in answer.err.splitlines():
        assert re.match(r"mmp: .{10,}", line), line
    assert "Traceback" not in answer.err + answer.out


def test_every_file_of_the_corpus_is_in_the_table() -> None:
    """A file that is added is asked, and one that went away is missed."""
    find_corpus_file("README.md")
    there = {str(path.relative_to(CORPUS)) for path in CORPUS.rglob("*") if path.is_file()} - {"README.md"}
    assert there == {file.name for file in FILES} | {file.name for file in REFUSED}


def test_the_format_is_named_by_content(file: File) -> None:
    """`mmp info` tells what it is, whatever it is called."""
    answer = run_mmp("info", find_corpus_file(file.name), columns=200)
    _assert_told(answer)
    assert answer.code == 0
    assert f": {file.format}" in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_answers_or_says_why_it_cannot(file: File, command: str) -> None:
    """Figures where the file has them; exit code 4 and one sentence where it tells too little."""
    answer = run_mmp(command, find_corpus_file(file.name))
    _assert_told(answer)
    assert answer.code == (4 if command in CANNOT_TELL[file.shows] else 0), answer
    if answer.code:
        assert "cannot tell" in answer.err.splitlines()[-1]
        assert answer.out == ""
    else:
        assert answer.out


@pytest.mark.parametrize("command", ["threads", "modules", "heaps"])
def test_a_list_is_shown_or_said_to_be_unknown(file: File, command: str) -> None:
    """What is listed is an answer; what is not known is refused, and never called none."""
    path = find_corpus_file(file.name)
    answer = run_mmp(command, path)
    _assert_told(answer)
    listed = [getattr(snapshot, command).num_rows for snapshot in load(path)]
    assert answer.code in ((0,) if all(listed) else (0, 4))
    assert (answer.code == 4) == ("cannot tell the" in answer.err)
    assert bool(answer.out) == (answer.code == 0 or any(listed))
    if file.shows == TOTALS:
        assert answer.code == 4


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_regions_are_exported_or_refused(file: File, kind: str, tmp_path: Path) -> None:
    """A table without rows would say that a process has no memory."""
    target = tmp_path / f"regions.{kind}"
    answer = run_mmp("export", find_corpus_file(file.name), "-t", "regions", "-o", target)
    _assert_told(answer)
    refused = kind in CANNOT_TELL[file.shows]
    assert (answer.code, target.exists()) == ((4, False) if refused else (0, True))
    if kind == "parquet" and not refused:
        assert (pq.read_table(target).num_rows > 0) == (file.shows != EMPTY)


def test_what_is_shown_is_said_in_the_head(file: File) -> None:
    """Nobody takes a part, or totals, for the whole."""
    head = " ".join(run_mmp("summary", find_corpus_file(file.name), columns=400).out.splitlines()[:4])
    words = {SOME: "not all regions are known: ", TOTALS: "totals only: ", EMPTY: "no address space: "}
    assert [kind for kind, text in words.items() if text in head] == [file.shows][: file.shows in words]


def test_a_converted_file_tells_the_same(file: File, tmp_path: Path) -> None:
    """`mmp convert` keeps every fact: summaries, regions and reasons are alike, and a diff finds nothing."""
    path, target = find_corpus_file(file.name), tmp_path / "converted.mmp"
    answer = run_mmp("convert", path, "-o", target)
    _assert_told(answer)
    assert answer.code == 0
    before, after = load(path), load(target)
    assert len(before) == len(after) > 0
    for one, two in zip(before, after, strict=True):
        assert _describe(one) == _describe(two)
        result = diff(one, two)
        assert result.is_empty
        assert not any(result.types.column("size_delta").to_pylist())
    said = run_mmp("diff", f"{path}#0", f"{target}#0").out
    assert ("what changed is not known" if file.shows == EMPTY else "nothing changed") in said


def _describe(snapshot: LoadedSnapshot) -> dict[str, object]:
    regions = snapshot.regions.drop_columns(["snapshot"])
    return {
        "regions": regions.to_pylist(),
        "summary": summarize(snapshot).to_pylist(),
        "threads": snapshot.threads.to_pylist(),
        "modules": snapshot.modules.to_pylist(),
        "capability": snapshot.capability.to_pylist(),
    }


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
@pytest.mark.parametrize("command", ["info", "summary", "convert"])
def test_what_is_no_map_is_refused_in_words(file: Refused, command: str, tmp_path: Path) -> None:
    """Exit code 3 and one sentence with the reason; nothing is written."""
    _need(file.package)
    target = tmp_path / "none.mmp"
    more = ("-o", target) if command == "convert" else ()
    answer = run_mmp(command, find_corpus_file(file.name), *more)
    _assert_told(answer)
    assert (answer.code, answer.out) == (3, "")
    assert len(answer.err.splitlines()) == 1
    assert file.words in answer.err
    assert not target.exists()
