"""Which files a process executes, where they are loaded, and that only the mapped file is read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from mmpscope.collector.linux.mapped_file import MappedFileError, open_mapped
from mmpscope.collector.linux.modules import find_executables, read_modules
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.proc.elf import Segment
from mmpscope.formats.proc.modules import FileKey, MappedPart, place_image, tabulate
from mmpscope.formats.proc.smaps import parse_smaps
from support.elf_builder import BUILD_ID, ElfFile, make_note
from support.fakeproc import FakeProc, FakeProcess

PAGE = 4096
LIBRARY = ElfFile(
    loads=[(0, 0, 0x1800, 0x1800, 5), (0x1800, 0x2800, 0x100, 0x900, 6)],
    notes=make_note(b"GNU\0", 3, BUILD_ID),
)


def _part(start: int, pages: int, offset: int, perms: bytes = b"r--p") -> MappedPart:
    return MappedPart(start, start + pages * PAGE, perms, offset)


def test_only_files_with_an_executable_part_count_with_all_their_parts() -> None:
    """Data files, memory without a file, [vdso] and anon_inode are left out; names keep their blanks."""
    maps = b"""\
1000-2000 r--p 00000000 08:02 11 /opt/my lib.so (deleted)
2000-3000 r-xp 00001000 08:02 11 /opt/my lib.so (deleted)
3000-4000 r--p 00000000 08:02 12 /opt/data
4000-5000 rwxp 00000000 00:00 0
5000-6000 r-xp 00000000 00:00 0 [vdso]
6000-7000 r-xs 00000000 00:0e 77 anon_inode:[perf_event]
7000-8000 r-xp 00000000 08:02 13 /opt/my lib.so (deleted)
"""
    found = find_executables(parse_smaps(maps).columns)
    path = b"/opt/my lib.so (deleted)"
    assert found == {FileKey(8, 2, 11, path): [0, 1], FileKey(8, 2, 13, path): [6]}


def test_bias_comes_from_the_segment_that_a_mapping_shows() -> None:
    """Text, relro and data of one load share a bias, though data begins in the page that text ends in."""
    segments = [Segment(0, 0x400000, 0x1800, 0x1800, 5), Segment(0x1800, 0x402800, 0x100, 0x900, 6)]
    parts = [_part(0x7F0000400000, 2, 0), _part(0x7F0000402000, 1, 0x1000, b"rw-p")]
    assert place_image(segments, parts, PAGE) == [(0x7F0000000000, parts)]


def test_a_fixed_program_has_bias_zero() -> None:
    """A program linked to its address is loaded there: the bias is 0 and not missing."""
    parts = [_part(0x400000, 2, 0, b"r-xp")]
    assert place_image([Segment(0, 0x400000, 0x1800, 0x1800, 5)], parts, PAGE) == [(0, parts)]


def test_a_prelinked_library_below_its_address_has_a_bias_that_wraps() -> None:
    """A load below p_vaddr gives a bias modulo 2^64."""
    parts = [_part(0x1000, 1, 0, b"r-xp")]
    assert place_image([Segment(0, 0x3000, 0x800, 0x800, 5)], parts, PAGE) == [((1 << 64) - 0x2000, parts)]


def test_a_hole_aligned_to_2_mib_belongs_to_its_load_whatever_its_offset() -> None:
    """The linker's no-access rest of the first mapping shows another segment's offset (seen: libquadmath)."""
    segments = [Segment(0, 0, 0x3A4CC, 0x3A4CC, 5), Segment(0x3ADA0, 0x23ADA0, 0x6E0, 0x6F0, 6)]
    base = 0x7FD7FDA00000
    parts = [
        _part(base, 59, 0, b"r-xp"),
        _part(base + 59 * PAGE, 511, 0x3B000, b"---p"),
        _part(base + 0x23A000, 2, 0x3A000, b"rw-p"),
    ]
    assert place_image(segments, parts, PAGE) == [(base, parts)]


def test_one_file_loaded_twice_is_two_loads() -> None:
    """A file that dlmopen loaded again, or that a debugger mapped as data, has a row for each place."""
    segments = [Segment(0, 0, 0x1800, 0x1800, 5)]
    parts = [_part(0x10000, 2, 0), _part(0x90000, 2, 0)]
    assert place_image(segments, parts, PAGE) == [(0x10000, parts[:1]), (0x90000, parts[1:])]


def test_an_offset_of_no_segment_has_no_bias() -> None:
    """Debug data mapped on its own is kept, without a base that would be invented."""
    parts = [_part(0x10000, 1, 0x70000)]
    assert place_image([Segment(0, 0, 0x1800, 0x1800, 5)], parts, PAGE) == [(None, parts)]


class _Mapped:
    """A fake process that maps the file of the fake disk."""

    def __init__(self, folder: Path) -> None:
        self.proc = FakeProc(folder)
        self.directory = self.proc.add(FakeProcess())
        status = self.proc.write_executable(LIBRARY.build())
        self.device = (os.major(status.st_dev), os.minor(status.st_dev))
        self.inode = status.st_ino
        self.file = folder / "disk/usr/bin/demo"

    def key(
        self, path: bytes = b"/usr/bin/demo", inode: int | None = None, device: tuple[int, int] | None = None
    ) -> FileKey:
        return FileKey(*(device or self.device), self.inode if inode is None else inode, path)

    def read(self, key: FileKey) -> dict[str, list[object]]:
        major, minor, inode, path = key
        line = f"400000-402000 r-xp 00000000 {major:x}:{minor:x} {inode} {path.decode()}\n".encode()
        columns = parse_smaps(line).columns
        modules = read_modules(columns, lambda file, part: open_mapped(self.directory, file, part), PAGE)
        return decode_table(tabulate(modules)["modules"])


@pytest.fixture
def mapped(tmp_path: Path) -> _Mapped:
    """Give a process whose executable is a real file below its root."""
    return _Mapped(tmp_path)


def test_a_module_row_holds_file_and_load(mapped: _Mapped) -> None:
    """Identity, bias, extent, build id and class of the mapped file are in one row, without a doubt."""
    row = {name: values[0] for name, values in mapped.read(mapped.key()).items()}
    status = mapped.file.stat()
    assert row == {
        "path": b"/usr/bin/demo",
        "dev_major": mapped.device[0],
        "dev_minor": mapped.device[1],
        "inode": mapped.inode,
        "base": 0x400000,
        "low": 0x400000,
        "high": 0x402000,
        "build_id": BUILD_ID.hex().encode(),
        "file_size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "elf_class": 64,
        "machine": 62,
        "type": 3,
        "reason": None,
    }


def _reason(mapped: _Mapped, key: FileKey) -> bytes:
    columns = mapped.read(key)
    assert columns["base"] == columns["build_id"] == columns["file_size"] == [None]
    [reason] = columns["reason"]
    assert isinstance(reason, bytes)
    return reason


def test_a_replaced_file_is_not_read(mapped: _Mapped) -> None:
    """Another inode at the path is another file: the row says so and takes nothing of it."""
    assert (
        _reason(mapped, mapped.key(inode=mapped.inode + 1)) == b"the file at this path is not the mapped one"
    )


def test_a_deleted_file_says_so(mapped: _Mapped) -> None:
    """A file that was deleted after it was mapped cannot be read by its path."""
    assert b"deleted" in _reason(mapped, mapped.key(b"/usr/bin/gone (deleted)"))


def test_a_file_whose_name_ends_in_deleted_is_read(mapped: _Mapped) -> None:
    """A file may really be called `x (deleted)`."""
    mapped.file.rename(mapped.file.with_name("x (deleted)"))
    assert mapped.read(mapped.key(b"/usr/bin/x (deleted)"))["reason"] == [None]


def test_a_line_feed_in_a_name_is_undone(mapped: _Mapped) -> None:
    """The kernel writes a line feed as \\012; a backslash it leaves, so both spellings are tried."""
    mapped.file.rename(mapped.file.with_name("a\nb"))
    assert mapped.read(mapped.key(b"/usr/bin/a\\012b"))["reason"] == [None]
    mapped.file.with_name("a\nb").rename(mapped.file.with_name("a\\012b"))
    assert mapped.read(mapped.key(b"/usr/bin/a\\012b"))["reason"] == [None]


def test_another_device_is_read_with_doubt(mapped: _Mapped) -> None:
    """btrfs and overlayfs show another device in maps than in stat: the inode decides, the doubt is kept."""
    columns = mapped.read(mapped.key(device=(0, 31)))
    assert columns["build_id"] == [BUILD_ID.hex().encode()]
    assert columns["reason"] == [b"the device of the file is not the mapping's, as on btrfs and overlayfs"]


def test_links_are_not_followed_out_of_the_root(mapped: _Mapped, tmp_path: Path) -> None:
    """A link on the way, put there later, may point at a file of ours with the very inode: it is not read."""
    outside = tmp_path / "outside"
    mapped.file.parent.rename(outside)
    mapped.file.parent.symlink_to(outside)
    with pytest.raises(MappedFileError):
        open_mapped(mapped.directory, mapped.key(), _part(0x400000, 2, 0))


@pytest.mark.parametrize("kind", ["fifo", "directory", "link"])
def test_what_is_no_regular_file_is_not_opened(mapped: _Mapped, kind: str) -> None:
    """A pipe at the path does not hold us up, nor is a directory or link taken for the file."""
    other = mapped.file.with_name("other")
    if kind == "fifo":
        os.mkfifo(other)
    elif kind == "directory":
        other.mkdir()
    else:
        other.symlink_to(mapped.file)
    inode = other.lstat().st_ino
    start = time.monotonic()
    assert _reason(mapped, mapped.key(b"/usr/bin/other", inode)) == b"what is mapped is not a regular file"
    assert time.monotonic() - start < 2


def test_map_files_comes_before_the_path(mapped: _Mapped) -> None:
    """Where map_files may be read it names the mapped file, whatever is at the path by now."""
    links = Path(mapped.directory.path) / "map_files"
    links.mkdir()
    (links / "400000-402000").symlink_to(mapped.file)
    assert mapped.read(mapped.key(b"/usr/bin/gone (deleted)", inode=1))["build_id"] == [
        BUILD_ID.hex().encode()
    ]


def test_own_libraries_are_all_read() -> None:
    """Of this very process every executed file is read, and its first mapping is at base + first p_vaddr."""
    with ProcDir("/proc/self") as directory:
        columns = parse_smaps(directory.read("maps")).columns
        modules = read_modules(
            columns, lambda file, part: open_mapped(directory, file, part), os.sysconf("SC_PAGE_SIZE")
        )
    assert modules
    for module in modules:
        assert module.image is not None, module.reason
        first = module.image.segments[0]
        assert module.load.base is not None
        assert module.load.mappings[0].start == module.load.base + first.vaddr - first.offset
