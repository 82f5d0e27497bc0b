"""What tests/compat/v1.0.mmp holds, written down by hand: each frame kind, encoding and oddity of 1.0.

The file is frozen: it was made by `build` once, and every later reader has to agree with v1.0.json.
"""

from __future__ import annotations

import struct
from typing import Any

from support.mmp_builder import MmpBuilder, bitmap, column, numbers, table, texts

__all__ = ["build"]

_TOP = (1 << 64) - 1
_SECOND = 1_000_000_000
_START = 1_700_000_000 * _SECOND


def _coded(codes: list[int], values: list[bytes | None], text: str) -> dict[str, Any]:
    return column("text", "dict", width=1, data=numbers(codes, 1), values=texts(values), text=text)


def _uint(values: list[int], width: int, **keys: Any) -> dict[str, Any]:
    return column("uint", "plain", width=width, data=numbers(values, width), **keys)


def _make_regions() -> dict[str, Any]:
    """Make five regions up to the last page of the address space, in all encodings of docs/format.md."""
    gaps = [0x400, 0, 1, 0x7FFFF000, -0x10 - 0x400 - 6 - 0x7FFFF000]
    floats = [int.from_bytes(struct.pack("<d", value), "little") for value in (0.5, -1.25, 0.0, 1e300, 3.0)]
    columns = {
        "start": column("uint", "chain", of="size", width=8, scale=4096, data=numbers(gaps, 8)),
        "size": _uint([2, 1, 1, 1, 16], 1, scale=4096),
        "perms": column("text", "dict", of="VmFlags", values=texts([b"r-xp", b"rw-p"]), text="utf-8"),
        "offset": _uint([0, 300, 0, 0, 1], 2, scale=4096, by="path"),
        "inode": _uint([_TOP, 7, 7, 0, 0], 8, valid=bitmap([True, True, True, False, False])),
        "path": _coded([0, 0, 2, 1, 3], [b"/usr/bin/demo", None, b"[heap]", b"/tmp/caf\xe9 \xff"], "bytes"),
        "Rss": _uint([2, 1, 1, 0, 16], 1, scale=4096),
        "Pss": column(
            "uint", "diff", of="Rss", width=1, scale=1024, data=numbers([-3, 0, 0, 0, -1], 1), by="path"
        ),
        "Size": column("uint", "same", of="size"),
        "KernelPageSize": column("uint", "const", value=4096),
        "Locked": column("uint", "const", value=0, valid=bitmap([True, False, True, False, True])),
        "Swap": column("uint", "null"),
        "VmFlags": _coded([0, 1, 1, 0, 0], [b"rd ex mr mw me", b"rd wr mr mw me ac"], "utf-8"),
        "order": column("int", "delta", width=1, scale=3, data=numbers([-1, 1, 1, 1, 1], 1)),
        "lowest": column("int", "const", value=-(1 << 63)),
        "load": column("float", "plain", width=8, data=numbers(floats, 8)),
        "touched": column(
            "bool",
            "plain",
            width=1,
            data=numbers([1, 0, 0, 1, 1], 1),
            valid=bitmap([True, True, False, True, True]),
        ),
        "future": column("uint", "runs", runs=b"\x05\x01", width="wide", **{"new key": [1, {"a": None}]}),
        "kept": column("uint", "const", value=1, **{"new key": "stays"}),
    }
    return table(columns, 5)


def _add_first(builder: MmpBuilder) -> None:
    """Add a capture and a snapshot with tables, both with parts that version 1.0 does not know."""
    host = {"id": "ab" * 32, "hostname": "demo", "page_size": 4096, "clk_tck": 100}
    pids = column("uint", "delta", width=2, data=numbers([1, 299], 2))
    processes = table({"pid": pids, "name": _coded([0, 1], [b"init", b"demo"], "utf-8")}, 2)
    content = {"host": host, "system": {"max_map_count": 65530}, "moment": {"time_ns": _START}}
    content.update({"tables": {"processes": processes}, "new part": [1, 2]})
    capture = builder.add_capture(content, time_ns=_START)
    capability = [["smaps", "ok", None, None], ["threads.sp", "unavailable", 13, "Permission denied", "new"]]
    unknown = table({"x": column("uint", "const", value=1)}, 1, note="kept")
    moment = {"time_ns": _START + 1, "mono_ns": 5, "map_moved": False}
    first = {
        "process": {"pid": 300, "name": "demo", "cmdline": ["demo", b"\xff"], "status": {"VmSize": _TOP}},
        "moment": moment,
        "capability": capability,
        "tables": {"regions": _make_regions(), "new table": unknown},
        "new part": {"a": b"\x00"},
    }
    info = {"capture": capture, "pid": 300, "name": "demo", "time_ns": _START + 1, "mono_ns": 5, "new key": 1}
    builder.add_snapshot(first, **info)


def build() -> bytes:
    """Return the bytes of v1.0.mmp."""
    builder = MmpBuilder(bytes(range(16)))
    builder.add_header({"optional": ["something nice"], "new key": {"a": 1}})
    _add_first(builder)
    builder.add("weather", b"\x00\xff", sky="grey")
    builder.add("note", "a note: \N{GREEK SMALL LETTER MU}".encode())
    builder.close()
    builder.add_header({"version": [1, 3], "producer": "a newer one"})
    capture = builder.add_capture({"moment": {"time_ns": _START + 9 * _SECOND}})
    builder.add_snapshot({"process": {"pid": 301, "name": b"\xfe"}}, capture=capture, pid=301, name=b"\xfe")
    builder.add_snapshot({"process": {"pid": 302}}, pid=302)
    builder.close()
    return builder.data
