"""Small files of /proc: every key under the kernel's name, kB as bytes, nothing guessed from its looks."""

from __future__ import annotations

import struct
from typing import Literal

import pytest
from mmpscope.formats.proc.facts import parse_auxv, parse_counters, parse_limits, parse_status, to_fact

STATUS = (
    b"Name:\ta b) (c \nUmask:\t0022\nState:\tS (sleeping)\nPid:\t42\nUid:\t1000\t0\t0\t1000\nGroups:\t4 24 \n"
    b"VmSize:\t    2920 kB\nVmSwap:\t       0 kB\nThreads:\t1\nSigQ:\t1/96364\nSigCgt:\t7000000180014001\n"
    b"CapPrm:\t000001fffeffffff\nCpus_allowed:\t3\nuntag_mask:\t0xffffffffffffffff\nNew_key:\tsome words\n"
)


def test_status_values_have_their_kind() -> None:
    """Sizes in bytes, ids as lists, counts as numbers; masks and lists of CPUs stay text."""
    facts = parse_status(STATUS)
    assert facts == {
        "Name": "a b) (c ",
        "Umask": "0022",
        "State": "S (sleeping)",
        "Pid": 42,
        "Uid": [1000, 0, 0, 1000],
        "Groups": [4, 24],
        "VmSize": 2920 * 1024,
        "VmSwap": 0,
        "Threads": 1,
        "SigQ": "1/96364",
        "SigCgt": "7000000180014001",
        "CapPrm": "000001fffeffffff",
        "Cpus_allowed": "3",
        "untag_mask": "0xffffffffffffffff",
        "New_key": "some words",
    }


def test_a_process_called_like_a_number_keeps_its_name() -> None:
    """`Name:` is text whatever it says."""
    assert parse_status(b"Name:\t7\n") == {"Name": "7"}


def test_a_name_that_is_no_utf8_stays_bytes() -> None:
    """Nothing is lost or replaced."""
    assert parse_status(b"Name:\t\xff\xfe\n") == {"Name": b"\xff\xfe"}
    assert to_fact("é".encode()) == "é"


def test_f20_a_kernel_thread_has_no_sizes() -> None:
    """What status does not say is absent and not 0."""
    assert "VmSize" not in parse_status(b"Name:\tkthreadd\nKthread:\t1\nThreads:\t1\n")


def test_f18_counts_in_meminfo_are_not_kilobytes() -> None:
    """Lines without a unit stay as they are."""
    text = b"MemTotal:       24683652 kB\nActive(anon):       1568 kB\nHugePages_Total:       7\n"
    assert parse_counters(text) == {
        "MemTotal": 24683652 * 1024,
        "Active(anon)": 1568 * 1024,
        "HugePages_Total": 7,
    }


def test_the_line_of_a_rollup_is_no_counter() -> None:
    """The map line above the totals is left out."""
    text = b"00400000-7ffd00000000 ---p 00000000 00:00 0                          [rollup]\nRss:   4 kB\n"
    assert parse_counters(text) == {"Rss": 4096}


def test_limits_keep_soft_hard_and_unit() -> None:
    """Unlimited is null, a limit without unit has none."""
    text = (
        b"Limit                     Soft Limit           Hard Limit           Units     \n"
        b"Max stack size            8388608              unlimited            bytes     \n"
        b"Max nice priority         0                    0                    \n"
    )
    assert parse_limits(text) == {
        "Max stack size": [8388608, None, "bytes"],
        "Max nice priority": [0, 0, None],
    }


@pytest.mark.parametrize("elf_class", [32, 64])
@pytest.mark.parametrize("order", ["little", "big"])
def test_auxv_in_each_width_and_byte_order(elf_class: int, order: Literal["little", "big"]) -> None:
    """Entries are pairs of the process' words, up to the null entry; unknown types keep their number."""
    pairs = struct.Struct(("<" if order == "little" else ">") + ("QQ" if elf_class == 64 else "II"))
    data = b"".join(pairs.pack(*pair) for pair in ((6, 65536), (3, 0x400040), (99, 5), (0, 0), (17, 100)))
    assert parse_auxv(data, elf_class, order) == {"AT_PAGESZ": 65536, "AT_PHDR": 0x400040, "AT_99": 5}


def test_a_cut_auxv_gives_what_is_whole() -> None:
    """Half an entry at the end is no entry."""
    data = struct.pack("<QQQ", 6, 4096, 3)
    assert parse_auxv(data, 64) == {"AT_PAGESZ": 4096}
