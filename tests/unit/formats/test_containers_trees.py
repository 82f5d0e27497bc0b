"""Trees: what a tar or zip archive and a folder hold, and what of it is left out and told."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.formats.containers import tree as trees
from mmpscope.formats.containers.folder import FolderTree
from mmpscope.formats.containers.tar import TarTree, is_tar
from mmpscope.formats.containers.tree import Archive, Tree
from mmpscope.formats.containers.zip import ZipTree
from mmpscope.formats.errors import CorruptError, InputError, LimitError, TruncatedError
from support.archives import BLOCK, make_pax, make_tar, make_tar_header, make_zip, pad

FILES = {"4711/smaps": b"text\n" * 500, "4711/cmdline": b"", "meminfo": b"x" * BLOCK}
LONG = "deep/" * 30 + "smaps"


def _open_tar(data: bytes, *, partial: bool = False) -> TarTree:
    return TarTree(io.BytesIO(data), "x.tar", partial=partial)


def _open_zip(data: bytes) -> ZipTree:
    return ZipTree(io.BytesIO(data), "x.zip")


def _read_all(tree: Tree) -> dict[str, bytes]:
    return {name: tree.read(name, 1 << 20) for name in tree.names}


def _write_folder(root: Path) -> FolderTree:
    for name, data in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return FolderTree(root)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_archive_of_every_form_is_read(form: int) -> None:
    """Long names are written in three ways; what was packed comes out, in its order."""
    files = {**FILES, LONG: b"deep", "ünïcode/maps": b"u"}
    data = make_tar(files, form=form)
    tree = _open_tar(data)
    assert is_tar(data)
    assert _read_all(tree) == files
    assert list(tree.names) == list(files)
    assert tree.faults == []


def test_a_tar_archive_of_unix_v7_is_read() -> None:
    """Headers without a signature, as busybox writes them: the checksum alone tells."""
    header = bytearray(make_tar_header(b"maps", b"00000000004\0"))
    header[257:265] = bytes(8)
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    assert is_tar(bytes(header))
    assert _read_all(_open_tar(bytes(header) + pad(b"text"))) == {"maps": b"text"}


def test_a_zip_archive_is_read() -> None:
    """Folders in it are no files; names that .NET wrote with backslashes are paths all the same."""
    tree = _open_zip(make_zip({**FILES, "folder/": b"", "back\\slash": b"b"}))
    assert _read_all(tree) == {**FILES, "back/slash": b"b"}
    assert tree.faults == []


def test_a_folder_is_what_an_archive_of_it_would_be(tmp_path: Path) -> None:
    """The same names and bytes, sorted."""
    tree = _write_folder(tmp_path)
    assert _read_all(tree) == FILES
    assert list(tree.names) == sorted(FILES)
    assert (tree.name, tree.faults) == (str(tmp_path), [])


def test_a_folder_does_not_look_into_those_of_a_process(tmp_path: Path) -> None:
    """A live /proc has a folder for every thread of every process, and one for every descriptor."""
    for folder in ("4711/task/4711", "4711/fd", "proc/4711"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "smaps").write_bytes(b"x")
    assert FolderTree(tmp_path).names == ["proc/4711/smaps"]


def test_links_and_pipes_of_a_folder_are_told(tmp_path: Path) -> None:
    """A link may lead anywhere, a pipe may never answer."""
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    tree = FolderTree(tmp_path)
    assert tree.names == ["a"]
    assert [fault.what for fault in tree.faults] == [
        "a symbolic link is left out",
        "a file that is no regular one is left out",
    ]


def test_a_file_that_is_gone_is_said_by_name(tmp_path: Path) -> None:
    """As when a process ends while its /proc is copied."""
    tree = _write_folder(tmp_path)
    (tmp_path / "meminfo").unlink()
    with pytest.raises(InputError, match="meminfo cannot be read: No such file"):
        tree.read("meminfo", 10)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "C:/x", "..", ""])
def test_names_that_lead_out_are_left_out_and_told(name: str) -> None:
    """They are never written anywhere, but a tool that shows them as files of the archive would lie."""
    header = make_tar_header(name.encode(), b"00000000001\0") + pad(b"1")
    tar = _open_tar(header + make_tar({"good": b"2"}))
    zipped = _open_zip(make_zip({name or "/": b"1", "good": b"2"}))
    for tree in (tar, zipped):
        assert list(tree.names) == ["good"]
    assert [fault.what for fault in tar.faults] == ["a name that leads out of the archive is left out"]


def test_a_name_beginning_with_a_dot_folder_is_the_plain_name() -> None:
    """As `tar -C folder .` writes them."""
    assert _open_tar(make_tar({"./4711/smaps": b"x"})).names == ["4711/smaps"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (b"1", "a hard link is left out"),
        (b"2", "a symbolic link is left out"),
        (b"3", "a device is left out"),
        (b"6", "a named pipe is left out"),
        (b"S", "a sparse file is left out"),
        (b"?", "a member of an unknown kind is left out"),
    ],
)
def test_what_is_no_regular_file_is_told_with_its_place(kind: bytes, told: str) -> None:
    """Once for each kind, with the number of them."""
    data = make_tar_header(b"x", kind=kind) * 3 + make_tar({"good": b"2"})
    tree = _open_tar(data)
    assert tree.names == ["good"]
    assert [(fault.what, fault.offset) for fault in tree.faults] == [(f"{told} (3 times, here first)", 0)]


def test_sparse_files_of_pax_are_told() -> None:
    """Their bytes are a map of holes and what lies between, not the file."""
    data = make_pax((b"GNU.sparse.major", b"1")) + make_tar_header(b"x") + make_tar({"good": b"2"})
    tree = _open_tar(data)
    assert (tree.names, [fault.what for fault in tree.faults]) == (["good"], ["a sparse file is left out"])


@pytest.mark.parametrize("pack", [make_tar, make_zip])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_files_with_one_name_the_last_counts(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    """As when they are unpacked: `tar -r` appends what changed."""
    if pack is make_tar:
        tree: Archive = _open_tar(make_tar({"a": b"old"})[: 2 * BLOCK] + make_tar({"b": b"b", "a": b"new"}))
    else:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in (("a", b"old"), ("b", b"b"), ("a", b"new")):
                archive.writestr(name, data)
        tree = _open_zip(out.getvalue())
    assert _read_all(tree) == {"b": b"b", "a": b"new"}


def test_more_than_was_asked_for_is_a_limit(tmp_path: Path) -> None:
    """Whoever reads a file of a tree says how much of it would be sane."""
    for tree in (_open_tar(make_tar(FILES)), _open_zip(make_zip(FILES)), _write_folder(tmp_path)):
        assert len(tree.read("meminfo", BLOCK)) == BLOCK
        with pytest.raises(LimitError, match="meminfo has more than 511 bytes"):
            tree.read("meminfo", BLOCK - 1)


def test_a_tree_has_a_limit_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names alone would fill the memory."""
    tar, zipped = make_tar(FILES), make_zip(FILES)
    for module in ("tar", "zip", "folder"):
        monkeypatch.setattr(f"mmpscope.formats.containers.{module}.MOST_MEMBERS", 2)
    for attempt in (lambda: _open_tar(tar), lambda: _open_zip(zipped), lambda: _write_folder(tmp_path)):
        with pytest.raises(LimitError, match="more than 2 "):
            attempt()
    assert trees.MOST_MEMBERS > 80_000


def test_a_cut_tar_archive_is_read_with_partial() -> None:
    """Members before the cut are whole; of the last one there is what there is."""
    data = make_tar(FILES)[: BLOCK + 1000]
    with pytest.raises(TruncatedError, match="ends inside a member of 2,500 bytes"):
        _open_tar(data)
    tree = _open_tar(data, partial=True)
    assert _read_all(tree) == {"4711/smaps": FILES["4711/smaps"][:1000]}
    assert [(fault.offset, fault.lost) for fault in tree.faults] == [(0, "what follows")]


def test_a_damaged_header_ends_a_tar_archive() -> None:
    """Nothing tells where the next header is; with partial, what comes before is read."""
    data = bytearray(make_tar({"a": b"1", "b": b"2"}))
    data[2 * BLOCK] ^= 1
    with pytest.raises(CorruptError, match="the header of a member is damaged") as caught:
        _open_tar(bytes(data))
    assert caught.value.offset == 2 * BLOCK
    assert _open_tar(bytes(data), partial=True).names == ["a"]


def test_a_tar_archive_may_lack_its_end() -> None:
    """Two blocks of zeros end it; not every writer gets to write them."""
    assert _open_tar(make_tar({"a": b"1"})[: 2 * BLOCK]).names == ["a"]


@pytest.mark.parametrize(
    "size",
    [
        b"-0000000001\0",
        b"\xff" * 12,
        b"00000000009\0",
        b"0_1",
        b"\x80" + b"\xff" * 11,
        b"\x80" + bytes(10) + b"\xff",
    ],
)
def test_sizes_that_lie_end_in_our_own_error(size: bytes) -> None:
    """Negative ones never let other readers come to an end; larger than the archive is cut short."""
    data = make_tar_header(b"x", size) + bytes(BLOCK // 4)
    with pytest.raises((CorruptError, TruncatedError)):
        _open_tar(data)
    assert _open_tar(data, partial=True).faults


@pytest.mark.parametrize("text", [b"-5", b"1e9", b"", b"9" * 30])
def test_a_pax_size_that_lies_ends_in_our_own_error(text: bytes) -> None:
    """It goes before that of the header."""
    data = make_pax((b"size", text)) + make_tar_header(b"x") + bytes(BLOCK)
    with pytest.raises((CorruptError, TruncatedError)):
        _open_tar(data)


def test_a_size_of_8_gib_is_read_as_gnu_writes_it() -> None:
    """Beyond eleven octal digits, tar writes a binary number."""
    header = make_tar_header(b"core", b"\x80" + (8 << 30).to_bytes(11, "big"))
    with pytest.raises(TruncatedError, match="8,589,934,592 bytes"):
        _open_tar(header)


def test_a_name_of_a_gigabyte_is_not_read() -> None:
    """What a header says of the next one is bounded before it is read."""
    data = make_tar_header(b"x", f"{1 << 30:011o}\0".encode(), b"L") + bytes(BLOCK)
    with pytest.raises(CorruptError, match="a name or description of 1,073,741,824 bytes"):
        _open_tar(data)


def test_a_chain_of_headers_is_walked_and_not_recursed() -> None:
    """Ten thousand names before one file: the last counts."""
    data = (make_tar_header(b"x", b"00000000004\0", b"L") + pad(b"name")) * 10_000
    assert _open_tar(data + make_tar({"a": b"1"})).names == ["name"]


@pytest.mark.parametrize("records", [b"", b"99999 path=x\n", b"0 a=b\n", b"x", b"2 path=x\n"])
def test_damaged_records_of_pax_are_no_names(records: bytes) -> None:
    """What cannot be split is left; the header's own name counts."""
    header = make_tar_header(b"pax", f"{len(records):011o}\0".encode(), b"x")
    tree = _open_tar(header + pad(records) + make_tar({"own": b"1"}))
    assert tree.names == ["own"]


def test_encrypted_members_and_rare_methods_are_told() -> None:
    """Without a password there is nothing to read, and bzip2 in a zip unpacks without a bound."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("good", b"1")
        archive.writestr("odd", b"2" * 100, compress_type=zipfile.ZIP_BZIP2)
        link = zipfile.ZipInfo("link")
        link.external_attr, link.create_system = (stat.S_IFLNK | 0o777) << 16, 3
        archive.writestr(link, b"/etc/passwd")
        archive.writestr("secret", b"3")
        archive.getinfo("secret").flag_bits |= 1
    tree = _open_zip(out.getvalue())
    assert tree.names == ["good"]
    assert [fault.what for fault in tree.faults] == [
        "a file is left out that is packed with method 12",
        "a link or device is left out",
        "an encrypted file is left out",
    ]


def test_a_zip_archive_without_its_list_is_cut() -> None:
    """The list is at the end; a copy that was broken off lacks it."""
    with pytest.raises(TruncatedError, match="its list of members, which is at the end, is missing"):
        _open_zip(make_zip(FILES)[:-30])


def test_flipped_bytes_of_a_zip_archive_raise_only_our_errors() -> None:
    """Whatever the standard library makes of it."""
    data = make_zip({"4711/smaps": b"text\n" * 50, "b": b"x"})
    for at in range(len(data)):
        for bit in (1, 0x80):
            damaged = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
            with contextlib.suppress(CorruptError, TruncatedError, LimitError):
                _read_all(_open_zip(damaged))


def test_flipped_and_cut_tar_archives_raise_only_our_errors() -> None:
    """Whatever a header says."""
    data = make_tar({LONG: b"text\n" * 50, "b": b"x"}, form=tarfile.PAX_FORMAT)
    for at in range(0, len(data), 3):
        for damaged in (data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :], data[:at]):
            with contextlib.suppress(CorruptError, TruncatedError, LimitError):
                _read_all(_open_tar(damaged))
            _read_all(_open_tar(damaged, partial=True))


def test_a_zip_archive_that_declares_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a byte of it is unpacked."""
    monkeypatch.setattr("mmpscope.formats.containers.packed._FREE_BYTES", 1 << 16)
    with pytest.raises(LimitError, match="unpacks to more than 200 times its size"):
        _open_zip(make_zip({"a": bytes(1 << 20)}))
