"""Structures lie in memory as the headers of Windows say, in a 64-bit and in a 32-bit Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.wine import BITS, compile_program
from support.wine_collecting import WineCollector

pytestmark = pytest.mark.real
each_width = pytest.mark.parametrize("bits", BITS)

HEADERS = ("windows.h", "winternl.h", "tlhelp32.h", "psapi.h", "stddef.h", "stdio.h")
NOT_IN_HEADERS = {
    "MEMORY_BASIC_INFORMATION.PartitionId",  # newer than the headers of MinGW; it lies in what was padding
    "MEMORY_REGION_INFORMATION",
    "THREAD_BASIC_INFORMATION",
}
NO_SUCH_NAMES = {"JOBOBJECT_EXTENDED_LIMIT_INFORMATION"}
"""Of these the fields are ours: a structure within it is laid out flat."""
UNDOCUMENTED = {64: {"THREAD_BASIC_INFORMATION": 48}, 32: {"THREAD_BASIC_INFORMATION": 28}}

Layout = dict[str, dict[str, int]]


def _write_source(layout: Layout) -> str:
    lines = ["#define _WIN32_WINNT 0x0A00", *(f"#include <{name}>" for name in HEADERS)]
    lines += ["int wmain(void)", "{", *_write_questions(layout), "return 0;", "}"]
    return "\n".join(lines)


def _write_questions(layout: Layout) -> Iterator[str]:
    for name, fields in layout.items():
        if name in NOT_IN_HEADERS:
            continue
        yield f'printf("{name} %u\\n", (unsigned)sizeof({name}));'
        for field in fields:
            if field and name not in NO_SUCH_NAMES and f"{name}.{field}" not in NOT_IN_HEADERS:
                yield f'printf("{name}.{field} %u\\n", (unsigned)offsetof({name}, {field}));'


@pytest.fixture(scope="module")
def layouts(collectors: dict[int, WineCollector]) -> dict[int, Layout]:
    """The size (under an empty name) and the offsets of each structure, as both Pythons have them."""
    return {
        bits: json.loads(collector.run_program("structures_program.py").stdout)
        for bits, collector in collectors.items()
    }


@each_width
def test_layouts_are_those_of_the_windows_headers(
    bits: int, layouts: dict[int, Layout], collectors: dict[int, WineCollector], tmp_path: Path
) -> None:
    """Sizes and offsets are what a C compiler for Windows makes of the system's own headers."""
    source, program = tmp_path / "layout.c", tmp_path / "layout.exe"
    source.write_text(_write_source(layouts[bits]))
    compile_program(source, program, bits)
    said = dict(line.split() for line in collectors[bits].python.run(program=program).stdout.splitlines())
    ours = {
        f"{name}.{field}".rstrip("."): str(offset)
        for name, fields in layouts[bits].items()
        for field, offset in fields.items()
    }
    assert {name: ours[name] for name in said} == said
    assert {name for name in ours if "." not in name} - set(said) <= NOT_IN_HEADERS


@each_width
def test_f37_memory_basic_information_is_the_callers_own(bits: int, layouts: dict[int, Layout]) -> None:
    """It has 48 bytes in a 64-bit program and 28 in a 32-bit one, which has no PartitionId and no padding."""
    layout = layouts[bits]["MEMORY_BASIC_INFORMATION"]
    assert layout[""] == {64: 48, 32: 28}[bits]
    assert ("PartitionId" in layout) == (bits == 64)
    assert layout["RegionSize"] == {64: 24, 32: 12}[bits]


@each_width
def test_undocumented_structures_have_their_known_sizes(bits: int, layouts: dict[int, Layout]) -> None:
    """What no header declares has the size that the system asks for: it refuses any other."""
    assert {name: layouts[bits][name][""] for name in UNDOCUMENTED[bits]} == UNDOCUMENTED[bits]
