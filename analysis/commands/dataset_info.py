"""Tell what a dataset holds: tables, rows, columns and their units.

\b
Examples:
  mmp dataset info night/
  mmp dataset info night/ -v
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from mmpscope.analysis.options import Manner, Writing

__all__ = ["run"]


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The dataset.", show_default=False)],
    writing: Writing,
    manner: Manner,
) -> int:
    """Describe the dataset."""
    from mmpscope.analysis.datasets.info import describe_dataset
    from mmpscope.analysis.reporters.dataset_report import report_info
    from mmpscope.analysis.reporters.report import deliver

    deliver([report_info(describe_dataset(Path(folder)))], writing, manner)
    return 0
