"""The table `processes` of a capture: what ran beside a snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Fact, Table

__all__ = ["encode_processes"]

_COLUMNS = (
    "pid", "ppid", "user", "uid", "name", "threads", "rss", "private", "starttime", "elf_class", "cmdline",
)  # fmt: skip
_TEXTS = {"user": "utf-8", "name": "bytes", "cmdline": "bytes"}


def encode_processes(rows: Sequence[Mapping[str, Fact]]) -> Table:
    """Encode rows of processes; what a row lacks is null.

    Columns: pid, ppid, user, uid, name, threads, rss and private (bytes), starttime (clock ticks after
    boot), elf_class, cmdline. Texts are given as bytes.
    """
    columns = {
        name: Plain("text" if name in _TEXTS else "uint", [row.get(name) for row in rows], _TEXTS.get(name))
        for name in _COLUMNS
    }
    return encode_table(columns, len(rows))
