"""ELF headers of every class and byte order, and headers that lie."""

from __future__ import annotations

import pytest
from mmpscope.formats.proc.elf import (
    MAX_HEADER_BYTES,
    ElfError,
    ElfImage,
    Segment,
    name_machine,
    read_elf,
    read_identity,
)
from support.elf_builder import BUILD_ID, ElfFile, make_note

LOADS = [(0, 0x400000, 0x1800, 0x1800, 5), (0x2000, 0x603000, 0x100, 0x900, 6)]
GNU = b"GNU\0"


class _Counting:
    """A file that counts the bytes that are asked of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked = 0

    def read(self, offset: int, size: int) -> bytes:
        self.asked += size
        return self.data[offset : offset + size]


def _read(data: bytes) -> ElfImage:
    return read_elf(_Counting(data).read)


@pytest.mark.parametrize("elf_class", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_classes_and_byte_orders_give_the_same_facts(elf_class: int, order: str) -> None:
    """Segments, build id, type and machine come out alike from all four layouts."""
    note = make_note(GNU, 3, BUILD_ID, order)
    image = _read(ElfFile(elf_class, order, machine=8, kind=2, loads=LOADS, notes=note).build())
    assert image == ElfImage(elf_class, 8, 2, [Segment(*load) for load in LOADS], BUILD_ID.hex())


def test_build_id_behind_another_note_is_found() -> None:
    """An ABI tag before the build id is stepped over, padding included."""
    notes = make_note(GNU, 1, bytes(16)) + make_note(b"odd\0", 7, b"12345") + make_note(GNU, 3, BUILD_ID)
    assert _read(ElfFile(loads=LOADS, notes=notes).build()).build_id == BUILD_ID.hex()


def test_notes_aligned_to_8_are_padded_to_8() -> None:
    """GNU property notes stand in segments aligned to 8, where contents are padded to 8."""
    notes = make_note(GNU, 5, bytes(12), unit=8) + make_note(GNU, 3, BUILD_ID, unit=8)
    assert _read(ElfFile(loads=LOADS, notes=notes, note_align=8).build()).build_id == BUILD_ID.hex()


@pytest.mark.parametrize(
    "notes",
    [
        make_note(GNU, 3, BUILD_ID)[:-8],
        b"\xff\xff\xff\xff" * 3,
        make_note(b"abc\0", 3, BUILD_ID),
        make_note(GNU, 4, BUILD_ID),
        b"\4\0\0\0\xff\xff\xff\x7f\3\0\0\0GNU\0" + BUILD_ID,
        b"\1",
    ],
    ids=["cut", "huge name", "other owner", "other kind", "content beyond the segment", "no room for a head"],
)
def test_bad_notes_cost_the_build_id_only(notes: bytes) -> None:
    """A note that lies or is another's leaves the segments as they are."""
    image = _read(ElfFile(loads=LOADS, notes=notes).build())
    assert image.build_id is None
    assert len(image.segments) == 2


def test_a_note_segment_of_any_size_is_read_in_part() -> None:
    """A note segment that claims a terabyte costs no more than the bound."""
    file = _Counting(ElfFile(loads=LOADS, notes=make_note(GNU, 3, BUILD_ID), note_filesz=1 << 40).build())
    assert read_elf(file.read).build_id == BUILD_ID.hex()
    assert file.asked <= 2 * MAX_HEADER_BYTES


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (ElfFile(loads=LOADS, phnum=0xFFFF), "65535 program headers"),
        (ElfFile(loads=LOADS, phnum=5000), "5000 program headers"),
        (ElfFile(loads=LOADS, phentsize=8), "too small"),
        (ElfFile(loads=LOADS, phoff=1 << 40), "is cut"),
        (ElfFile(loads=LOADS, phoff=(1 << 64) - 8), "is cut"),
        (ElfFile(loads=LOADS, phnum=3), "is cut"),
    ],
)
def test_program_headers_that_cannot_be_are_refused(file: ElfFile, words: str) -> None:
    """A count, size or offset that does not fit the file is named, and nothing of that size is read."""
    counting = _Counting(file.build())
    with pytest.raises(ElfError, match=words):
        read_elf(counting.read)
    assert counting.asked <= 2 * MAX_HEADER_BYTES


def test_cut_at_every_byte_is_an_elf_error_or_a_shorter_answer() -> None:
    """No cut of a file lets another exception out."""
    data = ElfFile(loads=LOADS, notes=make_note(GNU, 3, BUILD_ID)).build()
    whole = _read(data)
    for size in range(len(data)):
        try:
            image = _read(data[:size])
        except ElfError:
            continue
        assert image.segments == whole.segments
        assert image.build_id is None


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"MZ\x90\0" + bytes(60),
        b"\x7fELF",
        b"\x7fELF\x03\x01" + bytes(60),
        b"\x7fELF\x02\x03" + bytes(60),
    ],
)
def test_what_is_not_elf_says_so(head: bytes) -> None:
    """Other files, cut headers, unknown class and byte order are refused by name."""
    with pytest.raises(ElfError):
        read_identity(head)


def test_machines_have_the_names_of_uname() -> None:
    """A known machine has the kernel's name, an unknown one its number."""
    assert [name_machine(number) for number in (62, 183, 3, 9999)] == ["x86_64", "aarch64", "i386", "9999"]
