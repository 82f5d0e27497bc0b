"""Keep snapshots as Parquet that grows as files arrive, and ask it in SQL.

`build` adds what is new of any number of files, `info` tells what there is, `sql` asks. docs/dataset.md
describes folders, tables and columns, for engines other than ours as well.

\b
Examples:
  mmp dataset build night/ --from 'snapshots/*.mmp'
  mmp dataset sql night/ "SELECT hostname, max(private) FROM captures GROUP BY hostname"
"""

from __future__ import annotations

__all__ = ["COMMANDS"]

COMMANDS = {
    "build": "Add the snapshots of files to a dataset, those that it does not have.",
    "sql": "Answer one SELECT over the tables of a dataset.",
    "info": "Tell what a dataset holds: tables, rows, columns and their units.",
}
"""Every subcommand with its one sentence, as in analysis/cli.py; each has a module of its own."""
