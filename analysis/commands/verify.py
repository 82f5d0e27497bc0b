"""Read every byte of a file and name each damage.

Exit code 0: all of it is whole. Exit code 1: there is damage, or what cannot be true, as regions that
overlap, or a file of a folder or archive that is no snapshot; --partial of the other commands reads what is
whole.

\b
Example:
  mmp verify run.mmp
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.options import Inputs, Manner, Writing

if TYPE_CHECKING:
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.source import Fault

__all__ = ["run"]

_EMPTY = "a process without address space, no permission to read it, or a failed copy"


def run(inputs: Inputs, writing: Writing, manner: Manner) -> int:
    """Verify each file; 1 where one of them is damaged."""
    from mmpscope.analysis.reporters.report import deliver

    found: dict[str, Sequence[Fault]] = {}
    try:
        for text in inputs:
            _verify_input(text, found)
    finally:  # what was found before a file that cannot be read at all is said, too
        if found:
            deliver([_report(found)], writing, manner)
    return 1 if any(found.values()) else 0


def _verify_input(text: str, found: dict[str, Sequence[Fault]]) -> None:
    """Verify the files that an input stands for; one of many that cannot be read at all is damage."""
    from mmpscope.analysis.loading import expand_input, refuse_all
    from mmpscope.formats.errors import FormatError, InputError, NotASnapshotError
    from mmpscope.formats.proc.beside import join_files
    from mmpscope.formats.registry import verify_source
    from mmpscope.formats.source import Fault

    paths, count = expand_input(text), 0
    for path, _ in join_files(paths):
        try:
            found[path] = verify_source(path)
        except (FormatError, InputError) as error:
            if paths == [text]:
                raise
            what = error.what if isinstance(error, FormatError) else str(error)
            has_bytes = isinstance(error, FormatError) and not isinstance(error, NotASnapshotError)
            found[path] = [Fault(what, lost="all of it" if has_bytes else None)]
        else:
            count += 1
    if not count:
        raise refuse_all(text, len(paths))


def _say_whole(path: str) -> str:
    """Say that nothing is wrong; an empty file proves little."""
    is_empty = Path(path).is_file() and not Path(path).stat().st_size
    return f"ok, but empty: {_EMPTY}" if is_empty else "ok"


def _report(found: dict[str, Sequence[Fault]]) -> Report:
    from mmpscope.analysis.reporters.info_report import describe_fault
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.analysis.reporters.report import Report

    lines = [
        show_name(f"{path}: {sentence}")
        for path, faults in found.items()
        for sentence in ([describe_fault(fault) for fault in faults] or [_say_whole(path)])
    ]
    rows = [
        {"file": path, "ok": not faults, "faults": [asdict(fault) for fault in faults]}
        for path, faults in found.items()
    ]
    return Report("verify", lambda _: lines, {}, rows=rows)
