"""Where an address space ends, by machine, width, personality and page size."""

from __future__ import annotations

import pytest
from mmpscope.formats.proc.space import ADDR_LIMIT_3GB, infer_end, task_size


@pytest.mark.parametrize(
    ("elf_class", "machine", "end"),
    [
        (64, "x86_64", 0x7FFF_FFFF_F000),
        (32, "x86_64", 0xFFFF_E000),
        (32, "i686", 0xC000_0000),
        (64, "aarch64", 1 << 48),
        (32, "armv7l", 0xBF00_0000),
        (64, "riscv64", 1 << 47),
        (64, "ppc64le", 1 << 47),
        (64, "s390x", 1 << 42),
        (32, "s390x", 1 << 31),
    ],
)
def test_each_machine_has_its_end(elf_class: int, machine: str, end: int) -> None:
    """The usual configuration of each kernel, with the rule named."""
    found = task_size(elf_class, machine)
    assert found is not None
    assert found.end == end
    assert "asm/" in found.source


def test_a_32_bit_program_may_be_kept_to_three_gigabytes() -> None:
    """`setarch -3` gives a 32-bit program on a 64-bit kernel what a 32-bit kernel would."""
    found = task_size(32, "x86_64", ADDR_LIMIT_3GB)
    assert found is not None
    assert found.end == 0xC000_0000
    assert "ADDR_LIMIT_3GB" in found.source


def test_the_flag_means_nothing_to_a_64_bit_program() -> None:
    """Only a 32-bit program is kept to three gigabytes."""
    found = task_size(64, "x86_64", ADDR_LIMIT_3GB)
    assert found is not None
    assert found.end == 0x7FFF_FFFF_F000


@pytest.mark.parametrize(("page_size", "end"), [(4096, 0xFFFF_F000), (16384, 0xFFFF_C000), (65536, 1 << 32)])
def test_f24_the_page_size_decides_on_arm64(page_size: int, end: int) -> None:
    """A 32-bit program on arm64 has 4 GiB less a page, and with pages of 64 KiB all of it."""
    found = task_size(32, "aarch64", page_size=page_size)
    assert found is not None
    assert found.end == end


@pytest.mark.parametrize(
    ("machine", "highest", "end"),
    [
        ("aarch64", 0x7F_FFFF_F000, 1 << 39),
        ("aarch64", 0xFFFF_B5ED_1000, 1 << 48),
        ("x86_64", 0x7FFD_9175_5000, 0x7FFF_FFFF_F000),
        ("x86_64", 0x8000_0000_0000, (1 << 56) - 4096),
        ("riscv64", 0x3F_FFFF_F000, 1 << 38),
    ],
)
def test_the_stack_shows_how_many_address_bits_a_kernel_has(machine: str, highest: int, end: int) -> None:
    """Android's arm64 has 39 bits, servers 48; the highest region tells which."""
    found = task_size(64, machine, highest=highest)
    assert found is not None
    assert found.end == end


def test_an_unknown_machine_is_not_guessed() -> None:
    """No rule, no answer: the map has to tell."""
    assert task_size(64, "mips64") is None
    assert task_size(64, "i686") is None


@pytest.mark.parametrize(
    ("highest", "end"),
    [
        (0xBECC_E000, 0xBF00_0000),
        (0xBFFF_F000, 0xC000_0000),
        (0xFFFF_D000, 0xFFFF_E000),
        (0x7FFD_9175_5000, 0x7FFF_FFFF_F000),
        (0xFFFF_B5ED_1000, 1 << 48),
        (1 << 64, (1 << 64) - 1),
        (0, 0xBF00_0000),
    ],
)
def test_a_map_alone_gives_a_guess_that_says_so(highest: int, end: int) -> None:
    """The smallest usual end at or above the highest region, marked as inferred."""
    found = infer_end(highest)
    assert found.end == end
    assert found.source.startswith("inferred")
