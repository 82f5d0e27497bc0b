"""Files into a batch: what each is worth, or why it is worth nothing. Pure, so that it runs anywhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.bulk.files import open_hashed
from mmpscope.analysis.datasets.batches import Batch, FileRow, Gathering
from mmpscope.analysis.loading import InputFile, load_chosen, load_rules
from mmpscope.analysis.remote import is_uri
from mmpscope.analysis.rules import RULES_VERSION
from mmpscope.formats.errors import FormatError, InputError

if TYPE_CHECKING:
    from mmpscope.analysis.rules import Rule

__all__ = ["State", "Reading", "find_state", "read_batch"]

_SETTLED_NS = 2_000_000_000
"""A file that changed later than this before it was read may change again within one tick of its clock."""

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
        return RULES_VERSION if self.rules is None else f"{RULES_VERSION}+"


def find_state(path: str) -> State:
    """Look at a file without reading it; whoever opens it tells what is wrong with it."""
    try:
        if is_uri(path) or not Path(path).is_file():
            return None, None
        found = Path(path).stat()
    except OSError:
        return None, None
    return found.st_size, found.st_mtime_ns


def read_batch(how: Reading, files: Sequence[InputFile]) -> Batch:
    """Read files into one batch; one that cannot be read is a row that says why."""
    gathering = Gathering()
    rules = load_rules(None if how.rules is None else Path(how.rules))
    for file in files:
        _read_file(file, how, rules, gathering)
    return gathering.build()


def _read_file(file: InputFile, how: Reading, rules: Sequence[Rule], gathering: Gathering) -> None:
    began, before = time.time_ns(), find_state(file.path)
    row = FileRow(None, file.path, *before, rules=how.rules_version)
    content: str | None = None
    try:
        with open_hashed(file, partial=how.partial) as (opened, content):
            if not gathering.has_content(content):
                for number, snapshot in zip(opened.chosen, load_chosen(opened, rules), strict=True):
                    gathering.add(snapshot, f"{content}:{number}")
    except FormatError as error:
        row = replace(row, error=str(error))
    except (InputError, OSError) as error:  # may be another time, and then without a change of the file
        row = replace(row, error=str(error), mtime_ns=None)
    if find_state(file.path) != before:
        row = replace(row, error=f"{file.path} changed while it was read. Build once more", mtime_ns=None)
    elif content is not None:
        row = replace(row, content=content)
    if before[1] is None or began - before[1] < _SETTLED_NS:
        row = replace(row, mtime_ns=None)
    gathering.add_file(row, content)
