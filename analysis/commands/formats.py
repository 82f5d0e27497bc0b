"""List the formats that can be read, and what each can and cannot tell.

Content decides, never the name of a file. Any of them may be packed with gzip, xz or bzip2, lie in a tar or
zip archive, or come through a pipe.

\b
Example:
  mmp formats -v
"""

from __future__ import annotations

from mmpscope.analysis.options import Manner, Writing

__all__ = ["run"]


def run(writing: Writing, manner: Manner) -> int:
    """List every format."""
    from mmpscope.analysis.reporters.formats_report import report_formats
    from mmpscope.analysis.reporters.report import deliver
    from mmpscope.formats.registry import list_formats

    deliver([report_formats(list(list_formats()))], writing, manner)
    return 0
