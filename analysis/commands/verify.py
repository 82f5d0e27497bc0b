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
    from mmpscope.formats.source import Fault

__all__ = ["run"]


def run(inputs: Inputs, writing: Writing, manner: Manner) -> int:
    """Verify each file; 1 where one of them is damaged."""
    from mmpscope.analysis.reporters.report import deliver

    reports = list(_verify_each(inputs))
    deliver(reports, writing, manner)
    return 1 if any(report.rows for report in reports) else 0


def _verify_each(inputs: Sequence[str]) -> Iterator[Report]:
    from mmpscope.analysis.loading import expand_input

    for path in (path for text in inputs for path in expand_input(text)):
        faults = _find_faults(path)
        yield _report(path, faults)


def _report(path: str, faults: Sequence[Fault]) -> Report:
    from mmpscope.analysis.reporters.info_report import describe_fault
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.analysis.reporters.report import Report

    said = [describe_fault(fault) for fault in faults] or ["ok"]
    lines = [show_name(f"{path}: {sentence}") for sentence in said]
    rows = [asdict(fault) for fault in faults]
    return Report("verify", lambda _: lines, {"file": path, "ok": not faults}, rows=rows)


def _find_faults(path: str) -> Sequence[Fault]:
    from mmpscope.formats.mmp.header import is_mmp
    from mmpscope.formats.mmp.verify import verify
    from mmpscope.formats.registry import open_bytes, open_source

    with open_bytes(path) as stream:
        if is_mmp(stream.peek()):
            return verify(stream)
    with closing(open_source(path, partial=True)) as source:  # another format: its reader meets every fault
        for entry in source.entries:
            source.read(entry.index)
        return source.faults
