"""Answer one SELECT over the tables of a dataset.

The tables are captures (a row a snapshot), summaries, names, cohorts, limits, regions, threads, modules,
capability, files and errors; each but the last two has the column month, by which its files are parted.
`mmp dataset info DIR -v` lists their columns. Sizes are bytes; columns of the source begin with raw_. The
dataset is only read, and no other file. Needs DuckDB: pip install 'mmpscope[sql]'.

\b
Examples:
  mmp dataset sql night/ "SELECT hostname, max(private) FROM captures GROUP BY hostname"
  mmp dataset sql night/ "SELECT * FROM regions WHERE protection = 'rwxp'" -o rwx.parquet
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from mmpscope.analysis.options import Manner, Writing

__all__ = ["run"]


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The dataset.", show_default=False)],
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT.", show_default=False)],
    writing: Writing,
    manner: Manner,
) -> int:
    """Ask, and deliver the rows."""
    from mmpscope.analysis.datasets.querying import ask
    from mmpscope.analysis.output import STDOUT, check_output
    from mmpscope.analysis.reporters.dataset_report import report_rows
    from mmpscope.analysis.reporters.report import deliver

    check_output(writing.output or STDOUT, force=writing.force)
    signal.signal(signal.SIGTERM, _end)  # so that DuckDB's temporary folder is taken away
    deliver([report_rows(sql, ask(Path(folder), sql))], writing, manner)
    return 0


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)  # what a shell says of a process that a signal has ended
