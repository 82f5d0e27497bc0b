"""What targets begin with: small good inputs of every format, made by us or from the corpus where it is.

Formats are told by their sniffing, so that whatever is added here reaches its reader. In texts/ are short
ones in the layouts of the tools whose output is read, of made-up processes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypedDict

from mmpscope.formats.interface import Format
from mmpscope.formats.registry import list_formats
from support import macos_reports
from support.core_builder import CoreFile, Region, make_auxv, make_files, make_prstatus, make_psinfo
from support.corpus import CORPUS, ROOT
from support.minidump_builder import (
    AMD64,
    END,
    SMALL,
    DumpBuilder,
    fill_space,
    make_context,
    make_small_dump,
)
from support.small_file import make_small_file
from support.smaps_text import Block, MapLine, make_block
from support.vmmap_builder import CsvStyle, TextStyle, XmlStyle, write_csv, write_text, write_xml
from support.vmmap_process import DEVENV, DEVENV64, GROWN

__all__ = ["list_own_seeds", "list_packed_seeds", "list_seeds"]

_HEAD_BYTES = 64 * 1024
_MOST_BYTES = 100_000
_KEPT_OF_TEXT = 6000
_LINUX_MAPS = 0x4767_0009  # a stream of Breakpad: /proc/PID/maps
_OUR_FOLDERS = (Path(__file__).with_name("texts"), ROOT / "samples", ROOT / "tests" / "compat")


@cache
def list_own_seeds(known: Format) -> list[bytes]:
    """Return the inputs of a format that we made ourselves."""
    return _keep_of(known, [*_build(), *_read_files(*_OUR_FOLDERS)])


@cache
def list_seeds(known: Format) -> list[bytes]:
    """Return all inputs of a format, the shortest first."""
    found = {*list_own_seeds(known), *_keep_of(known, list(_read_files(CORPUS)))}
    return sorted(found, key=lambda seed: (len(seed), seed))


def list_packed_seeds() -> list[bytes]:
    """Return packed inputs and archives, one of them laid out like /proc."""
    smaps, csv = _make_smaps(2), write_csv(DEVENV, CsvStyle(encoding="cp1252", only="Image"))
    files = {
        "4711/smaps": smaps,
        "4711/stat": b"4711 (a b) S 1 2 3",
        "4711/cmdline": b"a\0b\0",
        "meminfo": b"x",
    }
    two = {"one.csv": csv, "folder/two.smaps": smaps, "notes.txt": b"no map"}
    packed = [gzip.compress(smaps, mtime=0), lzma.compress(smaps), bz2.compress(smaps)]
    packed += [_make_tar(files), _make_tar(two), _make_zip(two, 0), _make_zip(files, zipfile.ZIP_DEFLATED)]
    return [*packed, gzip.compress(_make_tar(files), mtime=0)]


def _keep_of(known: Format, inputs: list[bytes]) -> list[bytes]:
    return [data for data in inputs if _tell(data) == known.name]


def _tell(data: bytes) -> str | None:
    return next((known.name for known in list_formats() if known.sniff(data[:_HEAD_BYTES])), None)


def _build() -> Iterator[bytes]:
    yield make_small_file().data
    yield make_small_file(closed=False).data
    yield _make_smaps(3)
    yield b"".join(line + b"\n" for line in _list_map_lines(5))
    yield from _build_vmmap()
    yield from list_packed_seeds()
    yield from _build_dumps()
    yield from _build_cores()
    yield macos_reports.WHOLE.encode()


def _build_vmmap() -> Iterator[bytes]:
    series = [(133_000_000_000_000_000, DEVENV), (133_000_000_010_000_000, GROWN)]
    yield write_xml(series)
    yield write_xml(series[:1], XmlStyle(nested=False, traced=True, pretty=True, holes=False))
    yield write_xml(series[:1], XmlStyle(encoding="utf-16-le", declared=None, bom=True))
    yield write_csv(DEVENV, CsvStyle("\u00a0", "cp1252", holes=True))
    yield write_csv(DEVENV64, CsvStyle(encoding="utf-8"))
    yield write_csv(DEVENV, CsvStyle(only=""))
    yield write_text(DEVENV, TextStyle(encoding="cp1252"))
    yield write_text(DEVENV64, TextStyle(encoding="utf-8", headed=True, right=True))


def _build_dumps() -> Iterator[bytes]:
    """Build minidumps: one of Windows with every stream that is read, and one of Breakpad on Linux."""
    dump = DumpBuilder()
    dump.system()
    dump.misc()
    dump.memory_info(fill_space(SMALL, END))
    dump.modules([(0x7FF6_1234_0000, 0x6000, dump.string("C:\\a b.exe"), b"RSDS" + bytes(20) + b"a.pdb\0")])
    dump.unloaded([(0x10000, 0x1000, dump.string("gone.dll"))])
    dump.threads([(7, 0x21000, 0x20000, 0x1000, make_context(AMD64, 0x20800, 0x7FF6_1234_1000))])
    dump.thread_infos([(7, 133_000_000_000_000_000, 0x7FF6_1234_1000)])
    dump.thread_names([(7, dump.string("worker"))])
    yield dump.finish()
    yield make_small_dump()
    linux = DumpBuilder()
    linux.system(platform=0x8201)
    linux.stream(_LINUX_MAPS, b"".join(line + b"\n" for line in _list_map_lines(4)))
    yield linux.finish()


def _build_cores() -> Iterator[bytes]:
    for elf_class, order in ((64, "<"), (32, "<"), (64, ">")):
        wide: _Layout = {"elf_class": elf_class, "order": order}
        notes = make_prstatus(7, [0x1000 + register for register in range(48)], **wide)
        notes += make_psinfo(7, b"shop", b"./shop --all", **wide) + make_auxv(
            [(3, 0x400040), (6, 4096)], **wide
        )
        notes += make_files([(0x400000, 0x404000, 3, b"/opt/my shop")], **wide)
        regions = [Region(0x400000, 0x4000, 5, b"\x7fELF"), Region(0x500000, 0x8000)]
        yield CoreFile(regions, notes, elf_class, order, 62 if elf_class == 64 else 3).build()


class _Layout(TypedDict):
    elf_class: int
    order: str


_NAMES = (b"/usr/bin/a b", b"[heap]", None, b"/memfd:x (deleted)", b"[stack]")


def _list_map_lines(count: int) -> Iterator[bytes]:
    for row in range(count):
        start = 0x7F00_0000_0000 + row * 0x10000
        inode = 7 * (row % 2)
        yield MapLine(start, start + 0x3000, offset=4096 * row, inode=inode, path=_NAMES[row % 5]).text


def _make_smaps(count: int) -> bytes:
    blocks = []
    for row in range(count):
        line = MapLine(0x1000 * (row + 1), 0x1000 * (row + 2), path=_NAMES[row % 5])
        blocks.append(make_block(Block(line, {"Rss": 4, "Pss": 4, "Private_Dirty": 4, "Anonymous": 4})))
    return b"".join(blocks)


def _read_files(*folders: Path) -> Iterator[bytes]:
    """Read what is small; the beginning of a long text will do."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.suffix == ".py":
                continue
            data = path.read_bytes()
            if b"\0" not in data and len(data) > _KEPT_OF_TEXT:
                data = data[:_KEPT_OF_TEXT].rpartition(b"\n")[0] + b"\n"
            if len(data) <= _MOST_BYTES:
                yield data


def _make_tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _make_zip(files: dict[str, bytes], method: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return packed.getvalue()
