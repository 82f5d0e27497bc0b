"""The one tree of errors that this project raises, each built from fields and worded what, where, what now.

Nothing here prints: only the entry points turn an error into a line on stderr and an exit code.
"""

from __future__ import annotations

__all__ = [
    "CorruptError",
    "FormatError",
    "InputError",
    "LimitError",
    "MmpError",
    "NotASnapshotError",
    "OutputExistsError",
    "OutputError",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedVersionError",
]


class MmpError(Exception):
    """Anything that we refuse or cannot do; ``exit_code`` is what the command line returns for it."""

    exit_code = 3


class InputError(MmpError):
    """The input is not there, or the system does not let us read it."""


class FormatError(MmpError):
    """A file that cannot be read as it stands.

    The message reads ``<path>: <what>, at byte <offset>, in <field>. <now>``, less what is unknown.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        field: str | None = None,
        now: str | None = None,
    ) -> None:
        self.what = what
        self.path = path
        self.offset = offset
        self.field = field
        self.now = now
        super().__init__(what)

    def __str__(self) -> str:
        text = f"{self.path}: {self.what}" if self.path else self.what
        if self.offset is not None:
            text += f", at byte {self.offset:,}"
        if self.field is not None:
            text += f", in {self.field}"
        return f"{text}. {self.now}" if self.now else text


class NotASnapshotError(FormatError):
    """The content holds no snapshot."""


class UnknownFormatError(NotASnapshotError):
    """The content is of no format that we know."""


class UnsupportedVersionError(FormatError):
    """The file was made by a newer major version, or needs a feature that we do not have."""


class TruncatedError(FormatError):
    """The file ends inside something that it announced."""


class CorruptError(FormatError):
    """Bytes contradict each other: a checksum, a length, a type."""


class LimitError(FormatError):
    """Something is larger than the limit set for it; nothing was allocated."""


class OutputError(MmpError):
    """The output cannot be written (no permission, disk full); what was there before is untouched."""


class OutputExistsError(OutputError):
    """The output exists and ``--force`` was not given."""

    exit_code = 2
