"""The entry point of `mmp-collect`.

Runs, and turns what went wrong into one line on stderr and an exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mmpscope.collector.ps import format_rows, list_processes
from mmpscope.collector.request import Request, parse_request
from mmpscope.collector.session import Session
from mmpscope.formats.errors import MmpError

__all__ = ["main"]

_INTERRUPTED = 130
_FAULT_OF_OURS = 70


def main(arguments: Sequence[str] | None = None, prog: str = "mmp-collect") -> int:
    """Run `mmp-collect` with ``arguments`` (of the command line where None), and return the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        _run(parse_request(given, prog), prog)
    except MmpError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{prog}: interrupted before the first whole snapshot; no file was made.", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; without this Python complains when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the one place that may: a fault of ours becomes a line, not a traceback
        if given.count("-v") > 1 or "-vv" in given:
            raise
        print(
            f"{prog}: a fault of ours: {type(error).__name__}: {error}. "
            "Please report it with what -vv prints.",
            file=sys.stderr,
        )
        return _FAULT_OF_OURS
    return 0


def _run(request: Request, prog: str) -> None:
    if request.is_list:
        print(format_rows(list_processes(request.root)))
    else:
        Session(request, prog).run()


if __name__ == "__main__":
    sys.exit(main())
