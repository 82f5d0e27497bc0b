"""A process that has little room left: no limit is near, and a request of a usual size fails all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mmpscope.formats.mmp.writer import write_file
from support.shop import make_shop

__all__ = ["SAID", "write_tight"]

_LIMITS = {"Max address space": [28 << 20, None, "bytes"], "Max data size": [None, None, "bytes"]}
SAID = "one request of up to 20 MiB fits, a larger one does not (RLIMIT"
"""How the sentence on the room that is left begins."""


def write_tight(path: Path) -> Path:
    """Write its snapshot: 8 MiB of 28 are used."""
    base, _ = make_shop()
    status = {**base.process["status"], "VmSize": 8 << 20}
    facts = {"status": status, "limits": _LIMITS, "cgroup": {"version": 2, "levels": []}}
    write_file(path, [replace(base, process={**base.process, **facts})])
    return path
