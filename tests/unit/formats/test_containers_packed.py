"""Packed content and archives as inputs: unpacked by content, bounded, and each snapshot with its member."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from mmpscope.formats.containers import packed
from mmpscope.formats.errors import (
    CorruptError,
    LimitError,
    NotASnapshotError,
    TruncatedError,
    UnknownFormatError,
)
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.registry import open_source, verify_source
from mmpscope.formats.source import Source
from support.archives import make_tar, make_zip
from support.shop import make_shop
from support.smaps_text import make_text

SMAPS = make_text(40, Rss=8, Pss=4, Anonymous=2, Swap=0)
Pack = Callable[[bytes], bytes]
PACKERS: dict[str, Pack] = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}


class Open(Protocol):
    """Opens content as a file."""

    def __call__(self, content: bytes, *, partial: bool = False) -> Source: ...


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Give a function that opens content as a file, and close what it opened."""
    sources: list[Source] = []

    def open_content(content: bytes, *, partial: bool = False) -> Source:
        path = tmp_path / "x"
        path.write_bytes(content)
        sources.append(open_source(path, partial=partial))
        return sources[-1]

    yield open_content
    for source in sources:
        source.close()


def _count_rows(source: Source) -> list[int]:
    return [source.read(entry.index).tables["regions"].rows for entry in source.entries]


@pytest.mark.parametrize("name", PACKERS)
def test_packed_text_opens_as_it_is(name: str, opened: Open) -> None:
    """Also in several streams one after the other, as `cat a.gz b.gz` makes them, and packed twice."""
    pack, half = PACKERS[name], SMAPS.index(b"\n", len(SMAPS) // 2) + 1
    for content in (pack(SMAPS), pack(SMAPS[:half]) + pack(SMAPS[half:]), gzip.compress(pack(SMAPS))):
        source = opened(content)
        assert (_count_rows(source), source.faults) == ([40], [])
        source.close()


@pytest.mark.parametrize("name", PACKERS)
def test_a_cut_packing_gives_what_there_is_with_partial(name: str, tmp_path: Path, opened: Open) -> None:
    """Without partial it is refused; verify calls it damage."""
    content = PACKERS[name](make_text(4_000))
    cut = content[: len(content) * 3 // 4]
    with pytest.raises(TruncatedError, match=rf"the {name} file ends too early\. Copy it again, or use"):
        opened(cut)
    source = opened(cut, partial=True)
    assert f"the {name} file ends too early" in [fault.what for fault in source.faults]
    if name != "bzip2":  # whose blocks of 900,000 bytes come out whole or not at all
        assert 1000 < _count_rows(source)[0] < 4_000
    assert verify_source(tmp_path / "x")


@pytest.mark.parametrize("name", PACKERS)
def test_damaged_packings_raise_only_our_errors(name: str, opened: Open) -> None:
    """Whatever the unpacker raises."""
    content = PACKERS[name](SMAPS)
    for at in range(0, len(content), max(1, len(content) // 60)):
        damaged = content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]
        with contextlib.suppress(CorruptError, TruncatedError, LimitError, UnknownFormatError):
            opened(damaged).close()


def test_padding_behind_xz_is_no_content(opened: Open) -> None:
    """Zeros in multiples of four may follow a stream (the .xz format, 2.2)."""
    assert _count_rows(opened(lzma.compress(SMAPS) + bytes(70_000))) == [40]


def test_a_file_that_is_packed_for_ever_is_refused(opened: Open) -> None:
    """There are files of gzip that unpack to themselves."""
    content = SMAPS
    for _ in range(4):
        content = gzip.compress(content)
    with pytest.raises(LimitError, match="packed more than 3 times over"):
        opened(content)


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_ends_at_the_ratio(name: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real maps never shrink that far; what a bomb would unpack to does not fill the disk."""
    monkeypatch.setattr(packed, "_FREE_BYTES", 1 << 20)
    with pytest.raises(LimitError, match=r"more than 200 times its size.* unpack it yourself"):
        opened(PACKERS[name](bytes(32 << 20)))


def test_what_does_not_end_is_refused(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe of zeros has no ratio."""
    monkeypatch.setattr(packed, "_MOST_SPOOLED", 1 << 20)
    with pytest.raises(LimitError, match="GiB in it"):
        opened(gzip.compress(make_text(5_000)))


def test_a_dictionary_of_gigabytes_is_refused(opened: Open) -> None:
    """76 bytes of xz may ask for as much memory as they like."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1536 << 20, "preset": 0}]
    content = lzma.compress(b"x" * 1000, format=lzma.FORMAT_XZ, filters=filters)
    with pytest.raises(LimitError, match="cannot be unpacked in 128 MiB of memory"):
        opened(content)


@pytest.mark.parametrize("pack", [make_zip, make_tar, lambda files: gzip.compress(make_tar(files))])
def test_an_archive_is_one_source_of_all_its_maps(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path, opened: Open
) -> None:
    """Each names its member, also where that is packed once more or holds several snapshots."""
    write_file(tmp_path / "shop.mmp", make_shop())
    files = {
        "web/before.smaps": SMAPS,
        "web/after.smaps.xz": lzma.compress(make_text(41)),
        "shop.mmp": (tmp_path / "shop.mmp").read_bytes(),
    }
    source = opened(pack(files))
    members = [entry.info["member"] for entry in source.entries]
    assert members == ["web/before.smaps", "web/after.smaps.xz", "shop.mmp", "shop.mmp"]
    assert [entry.index for entry in source.entries] == [0, 1, 2, 3]
    assert all(
        str(entry.name).startswith(member) for entry, member in zip(source.entries, members, strict=True)
    )
    told = [source.read(index).process["source"]["member"] for index in (3, 0, 2, 1)]
    assert told == ["shop.mmp", "web/before.smaps", "shop.mmp", "web/after.smaps.xz"]
    assert _count_rows(source)[:2] == [40, 41]
    assert source.faults == []
    assert source.format.startswith("smaps text (2), mmp 1.0 in ")
    with pytest.raises(IndexError):
        source.read(4)


def test_members_that_are_no_maps_are_counted_in_one_fault(tmp_path: Path, opened: Open) -> None:
    """Hidden files and those that macOS adds are not even counted."""
    others = dict.fromkeys(("README", "a/photo.jpg", "b.txt", "c.txt", ".hidden", "__MACOSX/._a"), b"hello")
    source = opened(make_zip({"x.smaps": SMAPS, **others}))
    assert [fault.what for fault in source.faults] == [
        "4 members are no snapshots: README, a/photo.jpg, b.txt and 1 more"
    ]
    assert verify_source(tmp_path / "x") == source.faults


def test_a_member_that_cannot_be_read_is_told_and_the_others_are_read(tmp_path: Path, opened: Open) -> None:
    """A cut member, and an archive in the archive."""
    cut = gzip.compress(make_text(2000))[:5000]
    source = opened(make_zip({"a.gz": cut, "in.zip": make_zip({"x": SMAPS}), "x.smaps": SMAPS}))
    assert [(fault.what, fault.lost) for fault in source.faults] == [
        ("a.gz: the gzip file ends too early", "this member"),
        ("in.zip: an archive in an archive is left out", "this member"),
    ]
    assert _count_rows(source) == [40]
    partial = opened((tmp_path / "x").read_bytes(), partial=True)
    assert len(_count_rows(partial)) == 2


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "it is an archive without a file"),
        ({"a.txt": b"hello", "b.txt": b"ho"}, "none of the 2 files in it is a snapshot .* 2 members are"),
        ({"a.zip": make_zip({})}, "the only file in it is no .* a.zip: an archive in an archive"),
    ],
)
def test_an_archive_without_a_map_is_refused_with_the_reason(
    files: dict[str, bytes], told: str, tmp_path: Path, opened: Open
) -> None:
    """Whoever sent the wrong archive wants to know what is in it."""
    with pytest.raises(NotASnapshotError, match=told):
        opened(make_zip(files))
    with pytest.raises(NotASnapshotError, match=told):
        verify_source(tmp_path / "x")


def test_faults_of_members_carry_their_names(opened: Open) -> None:
    """A line number alone would be of no use."""
    damaged = SMAPS[:400] + b"\n!!\n" + SMAPS[400:]
    source = opened(make_zip({"good": SMAPS, "bad": damaged}))
    assert source.faults
    assert all(fault.what.startswith("bad: ") and fault.line for fault in source.faults)


def test_an_archive_has_a_limit_of_maps(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are listed in memory; a folder is read file by file, and has none."""
    monkeypatch.setattr("mmpscope.formats.containers.members._MOST_MAPS", 2)
    with pytest.raises(LimitError, match=r"more than 2 maps\. Unpack it: a folder of them has no limit"):
        opened(make_zip(dict.fromkeys(("a", "b", "c"), SMAPS)))


def test_damage_of_a_member_that_is_met_later_names_archive_and_member(tmp_path: Path, opened: Open) -> None:
    """As where the file changed behind the index of a .mmp."""
    write_file(tmp_path / "shop.mmp", make_shop())
    data = bytearray((tmp_path / "shop.mmp").read_bytes())
    data[len(data) // 2] ^= 0xFF
    source = opened(make_tar({"shop.mmp": bytes(data)}))
    with pytest.raises(CorruptError) as caught:
        _count_rows(source)
    assert caught.value.path == f"{tmp_path / 'x'}/shop.mmp"
    assert verify_source(tmp_path / "x")


def test_a_captured_proc_is_one_capture(tmp_path: Path, opened: Open) -> None:
    """In an archive and in a folder: an entry for each process, and one list of them."""
    files = {"4711/smaps": SMAPS, "4711/cmdline": b"web\0", "12/maps": b"", "12/smaps": b"", "meminfo": b""}
    packed_source = opened(make_tar(files, form=tarfile.USTAR_FORMAT))
    for name, data in files.items():
        (tmp_path / "proc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / name).write_bytes(data)
    for source in (packed_source, open_source(tmp_path / "proc")):
        assert [entry.pid for entry in source.entries] == [12, 4711]
        assert _count_rows(source) == [0, 40]
        source.close()
    assert verify_source(tmp_path / "x") == verify_source(tmp_path / "proc") == []
