"""Read every byte of a file and name each damage.

Exit code 0: every frame, table and column is whole. Exit code 1: there is damage; --partial of the other
commands reads what is whole.

\b
Example:
  mmp verify run.mmp
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from mmpscope.analysis.options import Inputs, Manner, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.source import Fault, Source

__all__ = ["run"]


def run(inputs: Inputs, writing: Writing, manner: Manner) -> int:
    """Verify each file; 1 where one of them is damaged."""
    from mmpscope.analysis.reporters.report import deliver

    reports = list(_verify_each(inputs))
    deliver(reports, writing, manner)
    return 1 if any(report.rows for report in reports) else 0


def _verify_each(inputs: Sequence[str]) -> Iterator[Report]:
    from mmpscope.analysis.loading import expand_input
    from mmpscope.analysis.reporters.info_report import describe_fault
    from mmpscope.analysis.reporters.report import Report

    for path in (path for text in inputs for path in expand_input(text)):
        faults = _find_faults(path)
        lines = [f"{path}: {describe_fault(fault)}" for fault in faults] or [f"{path}: ok"]
        rows = [asdict(fault) for fault in faults]
        yield Report("verify", lambda _, lines=lines: lines, {"file": path, "ok": not faults}, rows=rows)


def _find_faults(path: str) -> Sequence[Fault]:
    """Read everything; the reader of another format than ours finds what it finds while it reads."""
    from mmpscope.formats.errors import NotASnapshotError
    from mmpscope.formats.mmp.verify import verify
    from mmpscope.formats.registry import open_source

    if path == "-":
        return verify(sys.stdin.buffer)
    try:
        with _open(path) as stream:
            return verify(stream)
    except NotASnapshotError:
        with closing(open_source(path, partial=True)) as source:
            return [fault for entry in source.entries for fault in _read(source, entry.index)]
