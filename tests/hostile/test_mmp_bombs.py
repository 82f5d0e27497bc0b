"""Files that ask for far more than they are: refused with our own errors, before anything is allocated."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.errors import CorruptError, FormatError, LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp import decode_table, open_file, verify
from support.mmp_builder import MmpBuilder, column, frame, numbers, pack, table, texts

_MAX_MEMORY = 512 << 20


def _with_payload(payload: bytes) -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    builder.add("snapshot", payload, pid=1)
    return builder.data


def _with_table(stored: dict[str, Any]) -> bytes:
    return _with_payload(pack({"process": {}, "tables": {"regions": stored}}))


def _with_column(rows: int, **described: Any) -> bytes:
    return _with_table(table({"x": column("uint", **described)}, rows))


def _with_info(info: bytes) -> bytes:
    """Return a file whose second frame has these bytes for its info."""
    builder = MmpBuilder()
    builder.add_header()
    body = b"\x95" + pack("snapshot") + b"\xc4\x10" + builder.sync + info + pack(b"")
    return builder.data + body + b"\xce" + struct.pack(">I", zlib.crc32(body))


def _compress(piece: bytes, times: int) -> bytes:
    stream = zlib.compressobj()
    return b"".join(stream.compress(piece) for _ in range(times)) + stream.flush()


def _describe_text(rows: int, **more: Any) -> dict[str, Any]:
    return table({"x": column("text", "plain", data=b"ab", **more)}, rows)


def _inflate_to(size: int, states: int) -> bytes:
    packed = _compress(bytes(1 << 20), size >> 20)
    return _with_table({"rows": 1, "raw": states, "zlib": packed})


_ONE = column("uint", "const", value=1, rows=1)
_TEXT = column("text", "const", value=b"t")

_BOMBS: dict[str, Callable[[], bytes]] = {
    "a map of four thousand million pairs": lambda: _with_payload(b"\xdf\xff\xff\xff\xff"),
    "a list of four thousand million": lambda: _with_payload(b"\x81\xa1x\xdd\xff\xff\xff\xff"),
    "lists that each hold as many items as there are bytes": lambda: _with_payload(
        b"\x81\xa1x" + b"".join(b"\xdd" + struct.pack(">I", 90_000) for _ in range(15)) + bytes(100_000)
    ),
    "text of four gigabytes": lambda: _with_payload(b"\x81\xa1x\xdb\xff\xff\xff\xff"),
    "a million small values": lambda: _with_payload(
        b"\x81\xa1x\xdd" + struct.pack(">I", 1 << 20) + bytes(1 << 20)
    ),
    "lists a thousand levels deep": lambda: _with_payload(b"\x81\xa1x" + b"\x91" * 1000 + b"\x00"),
    "lists a hundred thousand levels deep": lambda: _with_payload(b"\x81\xa1x" + b"\x91" * 100_000 + b"\x00"),
    "the same key twice": lambda: _with_payload(b"\x82\xa1x\x01\xa1x\x02"),
    "the same table twice": lambda: _with_payload(b"\x81\xa6tables\x82\xa1x\x80\xa1x\x80"),
    "a key that is a number": lambda: _with_payload(b"\x81\x01\x02"),
    "a key that is bytes": lambda: _with_payload(b"\x81\xc4\x01a\x02"),
    "an ext value": lambda: _with_payload(b"\x81\xa1x\xd4\x05\x00"),
    "a timestamp": lambda: _with_payload(b"\x81\xa1x\xd6\xff\x00\x00\x00\x00"),
    "a long ext value": lambda: _with_payload(b"\x81\xa1x\xc9\xff\xff\xff\xff\x05"),
    "the byte that msgpack never uses": lambda: _with_payload(b"\x81\xa1x\xc1"),
    "text that is no UTF-8": lambda: _with_payload(b"\x81\xa1x\xa2\xff\xff"),
    "bytes after the payload's map": lambda: _with_payload(b"\x80\x00"),
    "a payload that is a number": lambda: _with_payload(b"\x07"),
    "an empty payload": lambda: _with_payload(b""),
    "tables that are a list": lambda: _with_payload(pack({"tables": [1]})),
    "a table that is a number": lambda: _with_payload(pack({"tables": {"regions": 1}})),
    "a capability that is a map": lambda: _with_payload(pack({"capability": {"a": 1}})),
    "a capability row of three": lambda: _with_payload(pack({"capability": [["smaps", "ok", None]]})),
    "a table that states too much": lambda: _with_table({"rows": 1, "raw": 1 << 40, "zlib": b"x"}),
    "a table that states a negative size": lambda: _with_table({"rows": 1, "raw": -1, "zlib": b"x"}),
    "a table that is larger than it states": lambda: _inflate_to(640 << 20, 1000),
    "a table that is smaller than it states": lambda: _inflate_to(1 << 20, 1 << 29),
    "a table that is no zlib stream": lambda: _with_table({"rows": 1, "raw": 9, "zlib": b"no stream"}),
    "a table that is cut": lambda: _with_table({"rows": 0, "raw": 1, "zlib": zlib.compress(b"\x80")[:-1]}),
    "a table with bytes after its stream": lambda: _with_table(
        {"rows": 0, "raw": 1, "zlib": zlib.compress(b"\x80") + b"x"}
    ),
    "a table without rows": lambda: _with_table({"raw": 1, "zlib": zlib.compress(b"\x80")}),
    "a table of true rows": lambda: _with_table({"rows": True, "raw": 1, "zlib": zlib.compress(b"\x80")}),
    "more equal rows than any process has": lambda: _with_column((1 << 20) + 1, enc="const", value=1),
    "constants of a trillion rows": lambda: _with_column(1 << 40, enc="const", value=1),
    "very many constants of very many rows": lambda: _with_table(
        table({f"c{at}": column("uint", "const", value=1) for at in range(4000)}, 1 << 20)
    ),
    "too many columns": lambda: _with_table(
        table({f"c{at}": column("uint", "const", value=1) for at in range(5000)}, 1)
    ),
    "a dictionary of a trillion constants": lambda: _with_column(
        1, enc="dict", width=1, data=b"\0", values=column("uint", "const", value=1, rows=1 << 40)
    ),
    "a column that is a number": lambda: _with_table(table({"x": 7}, 1)),
    "a column without encoding": lambda: _with_table(table({"x": {"type": "uint"}}, 1)),
    "data of the wrong type": lambda: _with_column(1, enc="plain", width=1, data="0"),
    "a width of three": lambda: _with_column(1, enc="plain", width=3, data=bytes(3)),
    "a negative width": lambda: _with_column(1, enc="plain", width=-1, data=b""),
    "too few numbers": lambda: _with_column(3, enc="plain", width=2, data=bytes(4)),
    "too many numbers": lambda: _with_column(1, enc="plain", width=1, data=bytes(4)),
    "a bitmap too short": lambda: _with_column(9, enc="plain", width=1, data=bytes(9), valid=b"\xff"),
    "a negative constant": lambda: _with_column(1, enc="const", value=-1),
    "a constant of another type": lambda: _with_column(1, enc="const", value="1"),
    "a column that is the same as itself": lambda: _with_column(1, enc="same", of="x"),
    "a column that is the same as none": lambda: _with_column(1, enc="same", of="y"),
    "a column that is chained to itself": lambda: _with_column(1, enc="chain", of="x", width=1, data=b"\0"),
    "two columns that are the same as each other": lambda: _with_table(
        table({"x": column("uint", "same", of="y"), "y": column("uint", "same", of="x")}, 1)
    ),
    "seventeen references in a row": lambda: _with_table(
        table(
            {
                "c0": column("uint", "const", value=1),
                **{f"c{at}": column("uint", "same", of=f"c{at - 1}") for at in range(1, 18)},
            },
            1,
        )
    ),
    "the same as text": lambda: _with_table(table({"x": column("uint", "same", of="y"), "y": _TEXT}, 1)),
    "a difference from text": lambda: _with_table(
        table({"x": column("uint", "diff", of="y", width=1, data=b"\0"), "y": _TEXT}, 1)
    ),
    "a code beyond its dictionary": lambda: _with_column(1, enc="dict", width=1, data=b"\x05", values=_ONE),
    "a dictionary without values": lambda: _with_column(1, enc="dict", width=1, data=b"\0"),
    "a dictionary inside a dictionary": lambda: _with_column(
        1,
        enc="dict",
        width=1,
        data=b"\0",
        values=column("uint", "dict", rows=1, width=1, data=b"\0", values=_ONE),
    ),
    "codes borrowed from numbers": lambda: _with_table(
        table(
            {
                "x": column("text", "dict", of="y", values=texts([b"a"])),
                "y": column("uint", "plain", width=1, data=b"\0"),
            },
            1,
        )
    ),
    "an order by a column that is not there": lambda: _with_column(
        1, enc="plain", width=1, data=b"\0", by="y"
    ),
    "text that ends beyond its data": lambda: _with_table(
        _describe_text(1, ends=column("uint", "const", value=9))
    ),
    "text that ends before it begins": lambda: _with_table(
        _describe_text(2, ends=column("uint", "plain", width=1, data=numbers([2, 1], 1)))
    ),
}

_BAD_INFOS = {
    "an info with the same key twice": b"\x82\xa1x\x01\xa1x\x02",
    "an info with a number for a key": b"\x81\x01\x02",
    "an info nine levels deep": b"\x81\xa1x" + b"\x91" * 8 + b"\x00",
    "an info that is a list": b"\x90",
    "an info of a hundred thousand bytes": b"\x81\xa1x" + pack(bytes(100_000)),
    "an info of five thousand values": b"\x81\xa1x\xdc\x13\x88" + bytes(5000),
    "an info with an ext value": b"\x81\xa1x\xd4\x05\x00",
    "an info with text that is no UTF-8": b"\x81\xa1x\xa1\xff",
}


def _read_everything(data: bytes) -> None:
    with open_file(io.BytesIO(data)) as file:
        for entry in file.entries:
            for stored in file.read(entry.index).tables.values():
                decode_table(stored)


@pytest.mark.parametrize("name", _BOMBS)
def test_a_payload_that_is_too_much_is_refused(name: str) -> None:
    """Reading ends in CorruptError, TruncatedError or LimitError, and `verify` lists a fault."""
    data = _BOMBS[name]()
    with pytest.raises(FormatError) as error:
        _read_everything(data)
    assert str(error.value)
    assert verify(io.BytesIO(data))


@pytest.mark.parametrize("name", _BAD_INFOS)
def test_an_info_that_is_too_much_is_damage(name: str) -> None:
    """The frame is refused, the one before it is not lost."""
    data = _with_info(_BAD_INFOS[name])
    with pytest.raises(FormatError):
        open_file(io.BytesIO(data))
    file = open_file(io.BytesIO(data), partial=True)
    assert (file.entries, len(file.faults)) == ([], 1)


def test_an_info_eight_levels_deep_is_read() -> None:
    """The limits are limits, not one less."""
    assert open_file(
        io.BytesIO(_with_info(b"\x82\xa3seq\x01\xa1x" + b"\x91" * 7 + b"\x00")), partial=True
    ).entries


_SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from mmpscope.formats.errors import FormatError
from mmpscope.formats.mmp import decode_table, open_file
for name in sys.argv[1:]:
    try:
        with open_file(name) as file:
            for entry in file.entries:
                for table in file.read(entry.index).tables.values():
                    decode_table(table)
    except FormatError:
        continue
    print(name, "was read")
"""


@pytest.mark.parametrize("pure", ["", "1"], ids=["fast msgpack", "pure msgpack"])
def test_no_bomb_takes_more_than_512_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pure: str) -> None:
    """All of them are refused by a process that may have 512 MiB of address space, with either msgpack."""
    monkeypatch.setenv("MSGPACK_PUREPYTHON", pure)
    paths = []
    for number, make in enumerate(
        [*_BOMBS.values(), *(lambda info=info: _with_info(info) for info in _BAD_INFOS.values())]
    ):
        paths.append(tmp_path / f"{number}.mmp")
        paths[-1].write_bytes(make())
    command = [sys.executable, "-c", _SCRIPT.format(limit=_MAX_MEMORY), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_kind_may_be_longer_than_a_byte_can_say() -> None:
    """A kind of 32 bytes is no kind: marks are looked for at most 33 bytes behind a frame's beginning."""
    builder = MmpBuilder()
    builder.add_header()
    builder.add("k" * 31)
    assert open_file(io.BytesIO(builder.data)).faults == []
    builder.add("k" * 32)
    with pytest.raises(CorruptError, match="no frame begins"):
        open_file(io.BytesIO(builder.data))


def test_more_frames_than_the_limit_are_refused() -> None:
    """The number of frames is bounded as their sizes are."""
    builder = MmpBuilder()
    builder.add_header()
    for _ in range(5):
        builder.add("note")
    with pytest.raises(LimitError, match="more than 3 frames"):
        open_file(io.BytesIO(builder.data), limits=replace(DEFAULT_LIMITS, frames=3))


def test_a_payload_beyond_the_limit_is_refused_unread() -> None:
    """A payload that is there but too large is named as such."""
    data = _with_payload(pack({"process": {"x": bytes(5000)}}))
    limits = replace(DEFAULT_LIMITS, payload_bytes=1000)
    with pytest.raises(LimitError, match="larger than the limit"):
        open_file(io.BytesIO(data), limits=limits)
    assert open_file(io.BytesIO(data), limits=limits, partial=True).entries == []


def test_marks_by_the_thousand_do_not_make_the_search_slow() -> None:
    """The search for the next whole frame reads a bounded multiple of the file, whatever the file says."""
    builder = MmpBuilder()
    builder.add_header()
    size = 1 << 20
    head = b"\x95\xa1x\xc4\x10" + builder.sync + b"\x80\xc6"
    claims = b"".join(head + struct.pack(">I", size - at - 60) for at in range(0, size - 2000, 31))
    file = open_file(io.BytesIO(builder.data + claims + bytes(100)), partial=True)
    assert len(file.faults) == 1


def test_a_frame_of_every_kind_of_number() -> None:
    """A number that is no number, or none at all, is named and costs nothing else."""
    for seq in (None, -1, True, "1", 1.0):
        builder = MmpBuilder()
        builder.add_header()
        data = builder.data + frame("note", {} if seq is None else {"seq": seq}, b"", builder.sync)
        file = open_file(io.BytesIO(data), partial=True)
        assert "a note frame has no number" in file.faults[0].what
