"""Real smaps and maps of many kernels: nothing is lost on the way, and the kernel's own totals come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.mmp.reader import open_file
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import parse_counters, parse_status
from mmpscope.formats.proc.reader import snapshot_from_text
from mmpscope.formats.proc.smaps import Regions, parse_smaps, render_smaps
from mmpscope.formats.registry import open_source
from support.corpus import CORPUS, find_corpus_file, read_corpus_file

REGIONS = {
    "maps/anon-hugepage.maps": 5,
    "maps/arm-stack-tid.maps": 3,
    "maps/i386-2.x.maps": 4,
    "maps/x86_64-glibc-2.29.maps": 9,
    "smaps/arm-4.1.25/1.maps": 37,
    "smaps/arm-4.1.25/1.smaps": 37,
    "smaps/arm-4.1.25/10_kernelthread_EMPTY.smaps": 0,
    "smaps/arm-4.1.25/606.maps": 49,
    "smaps/arm-4.1.25/606.smaps": 49,
    "smaps/arm-tabs.smaps": 29,
    "smaps/firefox-4.4.smaps": 1314,
    "smaps/go-4.14.smaps": 12,
    "smaps/linux-5.5.7/1.smaps": 233,
    "smaps/linux-5.5.7/1309.smaps": 222,
    "smaps/linux-6.18/java.maps": 203,
    "smaps/linux-6.18/java.smaps": 203,
    "smaps/linux-6.18/sleep.maps": 37,
    "smaps/linux-6.18/sleep.smaps": 37,
    "smaps/linux-6.18/torture.maps": 57,
    "smaps/linux-6.18/torture.smaps": 57,
    "smaps/shuffled-keys.smaps": 4,
    "smaps/vendor-kernel-small.smaps": 6,
    "smaps/zsh-3.x.smaps": 71,
}
"""Counted by `grep -cE '^[0-9a-f]+-[0-9a-f]+ '`."""
REFUSED = {"smaps/broken-headers.smaps"}
WITH_ROLLUP = (
    "go-4.14", "linux-5.5.7/1", "linux-5.5.7/1309", "linux-6.18/java", "linux-6.18/sleep",
    "linux-6.18/torture",
)  # fmt: skip
WITH_STATUS = (*WITH_ROLLUP[1:], "arm-4.1.25/1", "arm-4.1.25/606")
GATES = (b"[vsyscall]", b"[vectors]")


def column(regions: Regions, name: str) -> list[Any]:
    """Return the values of one column."""
    return list(regions.columns[name].values)


def total(regions: Regions, name: str) -> int:
    """Add up one column without the gates."""
    paths = column(regions, "path")
    return sum(value for value, path in zip(column(regions, name), paths, strict=True) if path not in GATES)


def read_status(stem: str) -> Facts:
    """Read the status of a process of the corpus."""
    return parse_status(read_corpus_file(f"smaps/{stem}.status"))


def test_every_file_of_the_corpus_is_expected() -> None:
    """A file that is added to the corpus is added here."""
    find_corpus_file("smaps")
    found = {
        str(path.relative_to(CORPUS))
        for folder in ("smaps", "maps")
        for kind in ("*.smaps", "*.maps")
        for path in (CORPUS / folder).rglob(kind)
    }
    assert found == set(REGIONS) | REFUSED


@pytest.mark.parametrize("name", REGIONS)
def test_text_is_written_again_byte_for_byte(name: str) -> None:
    """Every region is found, and the text comes out of the columns as it was."""
    text = read_corpus_file(name)
    regions = parse_smaps(text)
    assert regions.rows == REGIONS[name]
    assert render_smaps(regions.encode(), regions.form) == text
    assert set(column(regions, "raw")) <= {None}


@pytest.mark.parametrize("name", REGIONS)
def test_text_comes_out_of_a_snapshot_file_byte_for_byte(name: str, tmp_path: Path) -> None:
    """Stored, read and written again: the very bytes."""
    path = tmp_path / "x.mmp"
    source = open_source(find_corpus_file(name))
    write_file(path, [source.read(0)])
    with open_file(path) as file:
        snapshot = file.read(0)
        text = render_smaps(snapshot.tables["regions"], snapshot.process.get("source_text"))
    assert text == read_corpus_file(name)


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("change", ["crlf", "mark", "utf-16", "cut", "prefix"])
def test_text_that_went_through_other_hands_is_kept_as_well(name: str, change: str) -> None:
    """Other line ends, a byte order mark, no line feed at the end, a line before: nothing is lost."""
    text = read_corpus_file(name)
    if change == "utf-16":
        text = text.decode("latin-1").encode("utf-16")
    else:
        changed = {
            "crlf": text.replace(b"\n", b"\r\n"),
            "mark": b"\xef\xbb\xbf" + text,
            "cut": text[:-1],
            "prefix": b"$ cat smaps\n" + text,
        }
        text = changed[change]
    if not REGIONS[name]:
        return
    regions = parse_smaps(text)
    assert regions.rows == REGIONS[name]
    assert render_smaps(regions.encode(), regions.form) == text


def test_headers_that_are_none_are_refused() -> None:
    """A file whose first line is cut has no region at all."""
    with pytest.raises(NotASnapshotError, match="line 1 is not a map line"):
        parse_smaps(read_corpus_file("smaps/broken-headers.smaps"))


@pytest.mark.parametrize("name", [name for name in REGIONS if REGIONS[name] and name.endswith(".smaps")])
def test_one_kernel_prints_in_one_layout(name: str) -> None:
    """The layout column costs next to nothing: excerpts and shuffled files alone need more than one."""
    layouts = set(column(parse_smaps(read_corpus_file(name)), "layout"))
    assert len(layouts) <= {"smaps/shuffled-keys.smaps": 4}.get(name, 2)


@pytest.mark.parametrize("stem", WITH_ROLLUP)
def test_sums_are_those_of_the_kernels_own_rollup(stem: str) -> None:
    """Every total is exact, but for shares: the kernel cuts Pss and SwapPss to whole kB in every region.

    So their sum lies below the roll-up's by less than 1 KiB a region. `[vsyscall]`, not in the roll-up, is 0.
    """
    regions = parse_smaps(read_corpus_file(f"smaps/{stem}.smaps"))
    rollup = parse_counters(read_corpus_file(f"smaps/{stem}.smaps_rollup"))
    for key, value in rollup.items():
        if key in ("Pss_Anon", "Pss_File", "Pss_Shmem"):  # in the roll-up alone
            continue
        missing = value - sum(column(regions, key))
        limit = 1024 * regions.rows if "Pss" in key else 1
        assert 0 <= missing < limit, key


@pytest.mark.parametrize("stem", WITH_STATUS)
def test_sums_are_those_of_status(stem: str) -> None:
    """VmRSS, VmSwap and VmSize are the sums of Rss, Swap and Size, gates apart, exactly."""
    regions, status = parse_smaps(read_corpus_file(f"smaps/{stem}.smaps")), read_status(stem)
    assert total(regions, "Rss") == status["VmRSS"]
    assert total(regions, "Swap") == status["VmSwap"]
    assert total(regions, "Size") == status["VmSize"]


@pytest.mark.parametrize("stem", WITH_STATUS)
def test_ranges_add_up_to_the_size_but_for_a_hidden_guard(stem: str) -> None:
    """Before 4.12 the guard page below the main stack was part of Size, and not of the range."""
    regions, status = parse_smaps(read_corpus_file(f"smaps/{stem}.smaps")), read_status(stem)
    hidden = 4096 if stem.startswith("arm-4.1.25") else 0
    assert status["VmSize"] - total(regions, "size") == hidden


def test_the_stack_of_an_old_kernel_is_a_page_larger_than_its_range() -> None:
    """zsh-3.x shows the same hidden guard: both figures are kept as they are."""
    regions = parse_smaps(read_corpus_file("smaps/zsh-3.x.smaps"))
    at = column(regions, "path").index(b"[stack]")
    assert column(regions, "Size")[at] - column(regions, "size")[at] == 4096


@pytest.mark.parametrize("stem", ["arm-4.1.25/1", "arm-4.1.25/606"])
def test_maps_and_smaps_of_one_moment_agree(stem: str) -> None:
    """The map lines of both are the same."""
    smaps, maps = (parse_smaps(read_corpus_file(f"smaps/{stem}.{kind}")) for kind in ("smaps", "maps"))
    for name in ("start", "size", "perms", "offset", "dev_major", "dev_minor", "inode", "path"):
        assert column(smaps, name) == column(maps, name)


def test_awkward_names_are_kept_byte_for_byte() -> None:
    """Blanks, a tab, a backslash, `\\012`, bytes that are no UTF-8, names that look like others."""
    regions = parse_smaps(read_corpus_file("smaps/linux-6.18/torture.smaps"))
    names = [
        b"Size:   4 kB",
        b"[heap]",
        b"looks 7f0000000000-7f0000001000 r--p.bin",
        b"gone (deleted) (deleted)",
        b"gone.bin (deleted)",
        b"really (deleted)",
        b"badutf8-\xff\xfe.bin",
        "utf8-é中.bin".encode(),
        b"back\\slash.bin",
        b"tab\tname.bin",
        b"new\\012line.bin",
        b"file with  spaces .bin",
    ]
    found = [path for path in column(regions, "path") if path is not None]
    assert [path for path in found if path.startswith(b"/srv/t/t dir/")] == [
        b"/srv/t/t dir/" + name for name in names
    ]
    assert [p for p in found if p.startswith(b"/memfd")] == [
        b"/memfd: (deleted)",
        b"/memfd:jit cache (deleted)",
    ]
    assert regions.columns["path"].text == "bytes"


def test_tabs_before_a_number_are_no_part_of_it() -> None:
    """`THPeligible:\\t\\t0` of Linux 5 is a number without unit."""
    regions = parse_smaps(read_corpus_file("smaps/arm-tabs.smaps"))
    assert set(column(regions, "THPeligible")) == {0}


def test_keys_that_mainline_never_had_are_columns() -> None:
    """A vendor's counter in kB is in bytes like any other."""
    regions = parse_smaps(read_corpus_file("smaps/vendor-kernel-small.smaps"))
    assert {"ShmemHugePages", "HugePFNMap"} <= set(regions.counters)


def test_shuffled_keys_load_with_nulls() -> None:
    """Counters in any order; what a block lacks is null, and Size is not the range."""
    regions = parse_smaps(read_corpus_file("smaps/shuffled-keys.smaps"))
    assert column(regions, "Rss") == [0, 0, 0, 0]
    assert column(regions, "KernelPageSize") == [4096, None, None, None]
    assert column(regions, "THPeligible") == [None, None, None, 0]
    assert column(regions, "Size") != column(regions, "size")


def test_f20_the_empty_file_is_a_process_without_address_space() -> None:
    """A kernel thread is a snapshot with a reason and no figures."""
    text = read_corpus_file("smaps/arm-4.1.25/10_kernelthread_EMPTY.smaps")
    snapshot = snapshot_from_text(text)
    assert snapshot.tables["regions"].rows == 0
    assert [c.state for c in snapshot.capability if c.item == "smaps"] == ["unavailable"]
