"""The entry point of `mmp-collect`: runs, and alone turns an error into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mmpscope.collector.ps import format_rows, list_processes
from mmpscope.collector.request import Request, parse_request
from mmpscope.collector.session import Session
from mmpscope.formats.errors import MmpError

__all__ = ["main"]

_DENIED_OR_ABSENT = 3
_FAULT_OF_OURS = 70
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, prog: str = "mmp-collect") -> int:
    """Run `mmp-collect` with ``arguments`` (the command line's where None), and return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _run(parse_request(given, prog), prog)
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else 0
    except MmpError as error:
        return _fail(prog, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail(prog, "interrupted before the first whole snapshot; nothing was written.", _INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough; without this Python complains when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        return _fail(prog, f"{error.filename or 'the system'}: {error.strerror or error}", _DENIED_OR_ABSENT)
    except Exception as error:  # noqa: BLE001  # the last resort: a fault of ours must not look like the process'
        return _report_fault(prog, error, given)
    return 0


def _run(request: Request, prog: str) -> None:
    if request.is_list:
        print(format_rows(list_processes(request.root)))
    else:
        Session(request, prog).run()


def _fail(prog: str, sentence: str, code: int) -> int:
    print(f"{prog}: {sentence}", file=sys.stderr)
    return code


def _report_fault(prog: str, error: Exception, given: Sequence[str]) -> int:
    if os.environ.get("MMP_DEBUG") or {"-v", "--verbose"} & set(given):
        import traceback

        traceback.print_exc()
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    now = "Please report it, with what the same command prints with -v."
    return _fail(prog, f"a fault of ours, not of the process ({what}). {now}", _FAULT_OF_OURS)


if __name__ == "__main__":
    sys.exit(main())
