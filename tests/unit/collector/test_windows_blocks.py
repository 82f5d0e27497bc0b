"""Environment blocks of threads and processes, of both bitnesses, and security identifiers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.collector.windows.blocks import (
    HeapList,
    Stack,
    read_command_line,
    read_heaps,
    read_image_base,
    read_peb_address,
    read_stack,
)
from mmpscope.collector.windows.sids import format_sid, read_last_part
from support.windows_blocks import make_peb, make_teb

AT = 0x2C_1000
STACK = (0x10_0000, 0x1F_0000, 0x20_0000)
Read = Callable[[int, int], bytes]


def _reader(base: int, data: bytes) -> Read:
    def read(address: int, size: int) -> bytes:
        if not base <= address <= address + size <= base + len(data):
            raise ValueError(f"nothing is at 0x{address:x}")
        return data[address - base : address - base + size]

    return read


@pytest.mark.parametrize("bits", [64, 32])
def test_the_block_of_a_thread_tells_its_stack(bits: int) -> None:
    """DeallocationStack, StackLimit and StackBase from both layouts, and the block of the process."""
    read = _reader(AT, make_teb(bits, AT, stack=STACK, peb=0x2C_0000))
    assert read_stack(read, AT, bits) == Stack(*STACK)
    assert read_peb_address(read, AT, bits) == 0x2C_0000


@pytest.mark.parametrize("bits", [64, 32])
def test_f44_a_block_that_does_not_name_itself_is_none(bits: int) -> None:
    """Layouts may move with a build of Windows: then a stack is unknown, never a wrong one."""
    read = _reader(AT, make_teb(bits, AT + 8, stack=STACK, peb=0x2C_0000))
    with pytest.raises(ValueError, match="no thread environment block at 0x2c1000"):
        read_stack(read, AT, bits)
    with pytest.raises(ValueError, match="no thread environment block"):
        read_peb_address(read, AT, bits)


@pytest.mark.parametrize("stack", [(0, 1, 2), (3, 2, 4), (2, 5, 4)])
def test_f44_a_stack_that_makes_no_sense_is_none(stack: tuple[int, int, int]) -> None:
    """The lowest address reserved, the lowest committed and the end come in this order."""
    with pytest.raises(ValueError, match="makes no sense"):
        read_stack(_reader(AT, make_teb(64, AT, stack=stack, peb=1)), AT, 64)


@pytest.mark.parametrize("bits", [64, 32])
def test_the_block_of_a_process_tells_image_heaps_and_command_line(bits: int) -> None:
    """Both layouts; the default heap comes first and once."""
    block = make_peb(bits, AT, image=0x40_0000, heaps=[0x50_0000, 0x60_0000, 0x50_0000], command_line="a é")
    read = _reader(AT, block)
    assert read_image_base(read, AT, bits) == 0x40_0000
    assert read_heaps(read, AT, bits) == HeapList([0x50_0000, 0x60_0000], is_whole=True)
    assert read_command_line(read, AT, bits) == "a é".encode()


def test_a_lone_surrogate_in_a_command_line_survives() -> None:
    """Windows lets them be; WTF-8 keeps them."""
    read = _reader(AT, make_peb(64, AT, image=1, heaps=[], command_line="x\ud800"))
    assert read_command_line(read, AT, 64) == b"x\xed\xa0\x80"


def test_no_list_of_heaps_is_told_from_an_empty_one() -> None:
    """RECORDED under Wine 8.0: NumberOfHeaps is 0, and yet there is a default heap."""
    block = bytearray(make_peb(64, AT, image=1, heaps=[0x50_0000], command_line=None))
    block[0xE8:0xEC] = bytes(4)
    read = _reader(AT, bytes(block))
    assert read_heaps(read, AT, 64) == HeapList([0x50_0000], is_whole=False)
    assert read_command_line(read, AT, 64) is None


PATCHES = st.lists(st.tuples(st.integers(0, 0x90), st.binary(min_size=1, max_size=8)), max_size=12)


@given(PATCHES, st.integers(0, 0x1000), st.sampled_from([32, 64]))
def test_any_bytes_for_a_block_give_a_value_error_at_most(
    patches: list[tuple[int, bytes]], cut: int, bits: int
) -> None:
    """The memory of a stranger: what makes no sense is refused, or read as it stands."""
    block = bytearray(make_peb(bits, AT, image=1, heaps=[2, 3], command_line="abc"))
    for at, change in patches:
        block[at : at + len(change)] = change
    read = _reader(AT, bytes(block[:cut]))
    for ask in (read_heaps, read_command_line, read_stack, read_image_base, read_peb_address):
        try:
            ask(read, AT, bits)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("sid", "text"),
    [
        ("0101000000000005 12000000", "S-1-5-18"),
        ("0105000000000005 15000000 01000000 02000000 03000000 e9030000", "S-1-5-21-1-2-3-1001"),
        ("0101010203040506 00000000", "S-1-0x010203040506-0"),
    ],
)
def test_a_sid_is_written_as_windows_does(sid: str, text: str) -> None:
    """Authorities above 32 bits are in hexadecimal digits, the rest in decimal ones (MS-DTYP)."""
    assert format_sid(bytes.fromhex(sid)) == text


def test_the_last_part_of_a_level_is_the_level() -> None:
    """S-1-16-8192 is medium; bytes that are no SID are refused."""
    assert read_last_part(bytes.fromhex("010100000000001000200000")) == 0x2000
    for odd in (b"", b"\x01\x05" + bytes(10), b"\x01\x00" + bytes(6)):
        with pytest.raises(ValueError, match="security identifier"):
            read_last_part(odd)
