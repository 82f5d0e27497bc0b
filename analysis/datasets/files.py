"""Files into a batch: what each is worth, or why it is worth nothing. Pure, so that it runs anywhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.bulk.files import hash_again, open_hashed
from mmpscope.analysis.bulk.measuring import name_snapshot
from mmpscope.analysis.datasets.batches import Batch, FileRow, Gathering
from mmpscope.analysis.datasets.layout import OWN_RULES
from mmpscope.analysis.density import MEASURED, bound_rows
from mmpscope.analysis.loading import InputFile, OpenedInput, load_chosen, load_rules
from mmpscope.analysis.remote import is_uri
from mmpscope.analysis.rules import RULES_VERSION
from mmpscope.formats.errors import FormatError, InputError, TruncatedError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["State", "Reading", "find_state", "read_batch"]

_SETTLED_NS = 2_000_000_000
"""A file that changed later than this before it was read may change again within one tick of its clock."""

_MOST_SNAPSHOTS, _MOST_REGIONS = 64, 1 << 15
"""So many are classified together at most: more gain nothing, and take memory."""

_APPENDED_TO = "mmp "
"""The format of files that grow while they are whole up to their last frame: what was read of them stays."""

State = tuple[int | None, int | None]
"""Size and time of the last change (ns since 1970) of a local file; None of any other."""


@dataclass(frozen=True)
class Reading:
    """How files are read: ``partial`` as of `load`, ``rules`` the path of the user's own."""

    partial: bool = False
    rules: str | None = None

    @property
    def rules_version(self) -> str:
        """The version of the classification rules, with a plus for the user's own."""
        return RULES_VERSION if self.rules is None else RULES_VERSION + OWN_RULES


def find_state(path: str) -> State:
    """Look at a file without reading it; whoever opens it tells what is wrong with it."""
    try:
        if is_uri(path) or not Path(path).is_file():
            return None, None
        found = Path(path).stat()
    except OSError:
        return None, None
    return found.st_size, found.st_mtime_ns


def _has_grown(before: State, after: State) -> bool:
    return before[0] is not None and after[0] is not None and before[0] < after[0]


def read_batch(how: Reading, files: Sequence[InputFile]) -> Batch:
    """Read files into one batch; one that cannot be read is a row that says why."""
    reader = _Reader(how)
    for file in files:
        reader.read(file)
    return reader.finish()


class _Reader:
    """Reads files one after the other, and classifies their snapshots some at a time, which costs less."""

    def __init__(self, how: Reading) -> None:
        self._how = how
        self._rules = load_rules(None if how.rules is None else Path(how.rules))
        self._gathering = Gathering()
        self._files: list[FileRow] = []
        self._failed: dict[str, str] = {}
        self._contents: set[str] = set()
        self._waiting: list[tuple[LoadedSnapshot, str]] = []
        self._regions = 0

    def read(self, file: InputFile) -> None:
        """Read one file; its snapshots wait until there are enough to go on with."""
        location = file.locate(file.path)
        began, before = time.time_ns(), find_state(location)
        row = FileRow(None, file.path, *before, rules=self._how.rules_version)
        if before[1] is None or began - before[1] < _SETTLED_NS:
            row = replace(row, mtime_ns=None)
        content: str | None = None
        is_appended_to = False
        try:
            with ExitStack() as stack:
                opened, content = self._open(file, before, stack)
                is_appended_to = opened.source.format.startswith(_APPENDED_TO)
                if content not in self._contents:
                    self._contents.add(content)
                    self._read_snapshots(opened, content)
            row = replace(row, content=content)
        except FormatError as error:
            row = replace(row, content=content or hash_again(location), error=str(error))
        except (InputError, OSError) as error:  # may be another time, and then without a change of the file
            row = replace(row, error=str(error), mtime_ns=None)
        after = find_state(location)
        if is_appended_to and row.error is None and _has_grown(before, after):
            row = replace(row, mtime_ns=None)  # the next build adds the rest
        elif after != before:
            told = f"{file.path} changed while it was read. Build once more"
            row = replace(row, content=None, error=told, mtime_ns=None)
        if row.error is not None and content is not None:
            self._failed[content] = row.error
        self._files.append(row)

    def _open(self, file: InputFile, before: State, stack: ExitStack) -> tuple[OpenedInput, str]:
        """Open a file until the end of ``stack``; the torn end of one that is being written is no damage."""
        try:
            return stack.enter_context(open_hashed(file, partial=self._how.partial))
        except TruncatedError:
            if not _has_grown(before, find_state(file.locate(file.path))):
                raise
        return stack.enter_context(open_hashed(file, partial=True))

    def _read_snapshots(self, opened: OpenedInput, content: str) -> None:
        loaded = load_chosen(bound_rows(opened, MEASURED), self._rules)
        for number, snapshot in zip(opened.chosen, loaded, strict=True):
            regions = snapshot.raw.tables.get("regions")
            self._waiting.append((snapshot, name_snapshot(content, opened.source.entries[number].index)))
            self._regions += regions.rows if regions is not None else 0
            if self._regions >= _MOST_REGIONS or len(self._waiting) >= _MOST_SNAPSHOTS:
                self._take_waiting()

    def _take_waiting(self) -> None:
        for place, error in self._gathering.add_all(self._waiting).items():
            self._failed.setdefault(self._waiting[place][1].partition(":")[0], str(error))
        self._waiting, self._regions = [], 0

    def finish(self) -> Batch:
        """Make the batch; of a file that failed nothing is in it but its row."""
        self._take_waiting()
        for row in self._files:
            error = self._failed.get(row.content or "")
            self._gathering.add_file(row if error is None else replace(row, error=error))
        return self._gathering.build()
