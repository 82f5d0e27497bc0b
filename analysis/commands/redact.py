"""Write what any readable files hold into .mmp files without names, to give away.

Users, hosts, paths, command lines, names of processes, threads and memory become tokens; libraries and
folders of the system, extensions and versions stay, and so do all figures and addresses; --rebase moves
addresses by secret distances, and keeps sizes, order and what is near. One key makes one token of one name,
in any number of files: files that were redacted under it diff like the originals. Without --key it is a
random one of this run. Whatever no rule knows is left out, and listed. docs/privacy.md tells what can still
be inferred. Where the output is a folder, each input gets a file of its own in it, whose name
is a token as well.

\b
Examples:
  mmp redact night.mmp -o night-redacted.mmp
  mmp redact a.mmp b.mmp -o to-vendor/ --key our.key --rebase
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.options import Inputs, Manner, Opening, Writing
from mmpscope.formats.errors import FormatError, OutputError

if TYPE_CHECKING:
    from mmpscope.analysis.loading import OpenedInput
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.formats.mmp.writer import SnapshotWriter
    from mmpscope.formats.redaction import Redactor

__all__ = ["run"]

_THROWN_AWAY = "tokens are of a key that is thrown away now: another run makes others (--key FILE keeps one)"


@dataclass(frozen=True)
class Target:
    """Where the redacted files go, and under which key."""

    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="The .mmp file to write, or a folder of them."),
    ] = None
    force: Annotated[bool, typer.Option("-f", "--force", help="Replace files that exist.")] = False
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="FILE", help="The key of the tokens; made if it is not there."),
    ] = None
    keep_notes: Annotated[
        bool, typer.Option("--keep-notes", help="Keep notes, word for word; they may hold names.")
    ] = False
    rebase: Annotated[
        bool, typer.Option("--rebase", help="Move addresses, so that they do not tell where ASLR put things.")
    ] = False
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False


def run(inputs: Inputs, target: Target, opening: Opening, manner: Manner) -> int:
    """Redact every snapshot of the inputs."""
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.progress import follow
    from mmpscope.analysis.reporters.report import deliver
    from mmpscope.formats.redaction import Redactor

    if target.output is None or target.output == STDOUT:
        raise UsageError("which file shall be written? Name it, as in -o redacted.mmp, or a folder")
    if not _is_folder(target.output):
        check_output(target.output, force=target.force)
    key, told = _choose_key(target.key, target.output)
    redactor = Redactor(key, rebase=target.rebase)
    rows: list[dict[str, Any]] = []
    for _ in follow(_redact_each(inputs, redactor, target, (opening, manner), rows), manner, target.output):
        pass
    if told and not manner.quiet:
        print(f"mmp: {told}", file=sys.stderr)
    deliver([_report(rows, redactor)], Writing(json=target.json), manner)
    return 0


def _choose_key(path: str | None, output: str) -> tuple[bytes, str]:
    """Return the key, and what there is to be said of it."""
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.formats.redaction import KEEP_IT, keep_apart, load_key, make_key

    if path is None:
        return make_key(), _THROWN_AWAY
    keep_apart(path, output)
    key, is_new = load_key(path)
    told = f"{show_name(path)} is a new key: {KEEP_IT}"
    return key, told if is_new else ""


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(output).is_dir()


def _redact_each(
    inputs: Sequence[str],
    redactor: Redactor,
    target: Target,
    how: tuple[Opening, Manner],
    rows: list[dict[str, Any]],
) -> Iterator[None]:
    """Redact one input after the other, all into one file or each into its own; yield for each snapshot."""
    from mmpscope.analysis.commands import open_each

    output = target.output or ""
    is_folder = _is_folder(output)
    if is_folder:
        _make_folder(output)
    # One file appears whole or not at all: where nothing was written, it is none.
    with nullcontext() if is_folder else _create(output, target) as whole:
        for opened in open_each(inputs, *how):
            if is_folder and not opened.chosen:
                opened.source.close()
                continue
            path = _choose_path(output, opened, redactor, rows) if is_folder else output
            row: dict[str, Any] = {"file": opened.path, "output": path, "snapshots": 0, "notes": 0}
            rows.append(row)
            with closing(opened.source), nullcontext(whole) if whole else _create(path, target) as writer:
                yield from _redact_file(opened, writer, redactor, (target, how), row)
        if not sum(row["snapshots"] for row in rows):
            raise CannotTellError(f"there is no snapshot in {', '.join(inputs)}, and nothing is written")


def _create(path: str, target: Target) -> SnapshotWriter:
    from mmpscope.formats.mmp.writer import SnapshotWriter

    return SnapshotWriter.create(path, force=target.force)


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: the folder cannot be made ({error.strerror}). Name another.") from error


def _choose_path(folder: str, opened: OpenedInput, redactor: Redactor, rows: list[dict[str, Any]]) -> str:
    """Name the file of one input by a token: what it is called may tell what it is of."""
    name = redactor.redact_file_name(Path(opened.path).name)
    path = str(Path(folder) / f"{name}.mmp")
    if any(row["output"] == path for row in rows):
        raise UsageError(f"two inputs are called {Path(opened.path).name}. Redact them into two folders")
    return path


def _redact_file(
    opened: OpenedInput,
    writer: SnapshotWriter,
    redactor: Redactor,
    how: tuple[Target, tuple[Opening, Manner]],
    row: dict[str, Any],
) -> Iterator[None]:
    from mmpscope.analysis.commands import warn, warn_of_faults
    from mmpscope.analysis.commands.convert import name_source
    from mmpscope.analysis.density import COPIED, bound_rows
    from mmpscope.formats.mmp.reader import MmpFile

    (target, (_, manner)), source = how, opened.source
    opened = bound_rows(opened, COPIED)
    try:
        for index in opened.chosen:
            snapshot = opened.read(index)
            is_ours = isinstance(source, MmpFile)
            whole = snapshot if is_ours else name_source(snapshot, source.format)
            writer.write_snapshot(redactor.redact(whole))
            row["snapshots"] += 1
            yield
        if isinstance(source, MmpFile):
            redactor.leave_out_frames(source.count_kinds())
            notes = source.read_notes()
            row["notes"] = 0 if target.keep_notes else len(notes)
            for note in notes if target.keep_notes else ():
                writer.write_note(note)
    except FormatError as error:
        if opened.is_named:
            raise
        warn(f"left out: {error}", manner)
    warn_of_faults(opened.path, source.faults, manner)


def _report(rows: Sequence[dict[str, Any]], redactor: Redactor) -> Report:
    from mmpscope.analysis.reporters.amounts import show_count
    from mmpscope.analysis.reporters.names import show_name
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.reporters.screen import Screen

    left_out, unmoved = sorted(redactor.dropped), dict(sorted(redactor.unmoved.items()))

    def draw(screen: Screen) -> list[str]:
        lines = []
        for row in rows:
            count = f"{show_count(row['snapshots'])} snapshot{'' if row['snapshots'] == 1 else 's'}"
            notes = (
                f"{row['notes']:,} note{'' if row['notes'] == 1 else 's'} left out (--keep-notes keeps them)"
            )
            lines.append(
                f"{row['output']}: {count} of {row['file']}, redacted{'; ' + notes if row['notes'] else ''}"
            )
        lines += [
            f"{show_count(count)} snapshot{'' if count == 1 else 's'}: {reason}"
            for reason, count in unmoved.items()
        ]
        if left_out:
            lines.append(f"left out: {', '.join(left_out)}")
        return [part for line in lines for part in screen.wrap(show_name(line), "    ")]

    return Report("redact", draw, {"left_out": left_out, "unmoved": unmoved}, rows=list(rows))
