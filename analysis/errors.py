"""What an analysis or its command line refuses, besides what a format refuses; nothing here prints."""

from __future__ import annotations

from mmpscope.formats.errors import MmpError

__all__ = ["AnalysisError", "CannotTellError", "UsageError"]


class AnalysisError(MmpError):
    """A question that these snapshots cannot be asked."""


class UsageError(AnalysisError):
    """A word of the command line that means nothing here; the message lists what would."""

    exit_code = 2


class CannotTellError(AnalysisError):
    """The facts for an answer are missing from the snapshot; the message names them."""

    exit_code = 4
