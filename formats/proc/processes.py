"""The table `processes` of a capture: what ran beside a snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Fact, Table

__all__ = ["COLUMNS", "encode_processes"]

COLUMNS = (
    "pid", "ppid", "user", "uid", "name", "threads", "rss", "private", "starttime", "elf_class", "cmdline",
)  # fmt: skip
_TEXTS = {"user": "utf-8", "name": "bytes", "cmdline": "bytes"}


def encode_processes(known: Mapping[str, Sequence[Fact]], rows: int) -> Table:
    """Encode the columns of a list of processes; one that is not known is null.

    Columns: pid, ppid, user, uid, name, threads, rss and private (bytes), starttime (clock ticks after
    boot), elf_class, cmdline. Texts are given as bytes.
    """
    columns = {
        name: Plain("text" if name in _TEXTS else "uint", known.get(name) or [None] * rows, _TEXTS.get(name))
        for name in COLUMNS
    }
    return encode_table(columns, rows)
