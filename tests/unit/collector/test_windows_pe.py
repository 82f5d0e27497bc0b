"""Headers of PE images in memory: what they say, and that hostile ones do no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.collector.windows.pe import Image, parse_image
from support.pe_image import BUILD_ID, make_image


class _UnreadableError(OSError):
    """What a read outside of the image raises."""


def _parse(data: bytes) -> Image:
    def read(at: int, size: int) -> bytes:
        if not 0 <= at <= at + size <= len(data):
            raise _UnreadableError(299, "only part of it is there")
        return data[at : at + size]

    return parse_image(read)


@pytest.mark.parametrize(("bits", "machine"), [(64, 0x8664), (32, 0x014C)])
def test_headers_of_both_kinds_say_what_was_built(bits: int, machine: int) -> None:
    """PE32 and PE32+ differ in where their directories lie; both give sections, PDB and version."""
    image = _parse(make_image(bits=bits, flags=0x20))
    assert (image.machine, image.timestamp, image.checksum, image.size) == (
        machine,
        0x5F000001,
        0xABCDEF,
        0x5000,
    )
    assert [(section.name, section.address) for section in image.sections] == [
        (b".text", 0x1000),
        (b".data", 0x4000),
    ]
    assert (image.pdb, image.build_id, image.file_version) == (b"demo.pdb", BUILD_ID, "10.2.3.4")
    assert image.large_address_aware


def test_what_an_image_lacks_is_none() -> None:
    """Without a version the rest stands; the flag of large addresses is not guessed."""
    image = _parse(make_image(version=None))
    assert (image.file_version, image.large_address_aware, len(image.sections)) == (None, False, 2)


def test_unreadable_resources_and_debug_data_cost_only_themselves() -> None:
    """Only the first page is there: version and PDB are None, the headers whole."""
    image = _parse(make_image()[:0x1000])
    assert (image.file_version, image.pdb, image.build_id, len(image.sections)) == (None, None, None, 2)


@pytest.mark.parametrize(
    ("at", "data"),
    [(0, b"ZM"), (0x3C, b"\xff\xff\xff\xff"), (0x3C, bytes(4)), (0x80, b"NE"), (0x3C, b"\xf0\x0f\0\0")],
)
def test_what_is_no_image_is_refused(at: int, data: bytes) -> None:
    """No MZ, a PE header out of reach, none at all: ValueError, which becomes a null with a reason."""
    image = bytearray(make_image())
    image[at : at + len(data)] = data
    with pytest.raises(ValueError, match=r"it|headers"):
        _parse(bytes(image))


def test_a_directory_that_leads_back_to_itself_ends() -> None:
    """The second level of the resources is the first once more: three levels, and then no version."""
    image = bytearray(make_image())
    image[0x3030 + 20 : 0x3030 + 24] = (0x80000000).to_bytes(4, "little")
    assert _parse(bytes(image)).file_version is None


IMAGES = st.tuples(
    st.sampled_from([make_image(bits=64), make_image(bits=32)]),
    st.lists(st.tuples(st.integers(0, 0x1FF), st.binary(min_size=1, max_size=8)), max_size=6),
    st.lists(st.tuples(st.integers(0x2000, 0x3160), st.binary(min_size=1, max_size=8)), max_size=6),
    st.one_of(st.none(), st.integers(0, 0x5000)),
)


@given(IMAGES)
def test_damaged_headers_give_an_image_or_a_refusal(
    case: tuple[bytes, list[tuple[int, bytes]], list[tuple[int, bytes]], int | None],
) -> None:
    """Any damage to headers, debug data and resources, and any cut: ValueError or OSError, nothing else."""
    data, heads, bodies, cut = case
    image = bytearray(data)
    for at, change in (*heads, *bodies):
        image[at : at + len(change)] = change
    try:
        found = _parse(bytes(image[:cut]))
    except (ValueError, OSError):
        return
    assert len(found.sections) <= 96


@given(st.binary(max_size=0x600))
def test_any_bytes_give_an_image_or_a_refusal(data: bytes) -> None:
    """Bytes of any kind behind MZ and PE signatures: ValueError or OSError at most."""
    start = b"MZ".ljust(0x3C, b"\0") + (0x40).to_bytes(4, "little") + b"PE\0\0"
    try:
        _parse((start + data).ljust(0x1000, b"\0"))
    except (ValueError, OSError):
        return
