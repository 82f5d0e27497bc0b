"""The entry point of `mmp-collect`: runs, and alone turns an error into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mmpscope.collector.speech import settle, tell
from mmpscope.formats.errors import MmpError

__all__ = ["main"]

_DENIED_OR_ABSENT = 3
_FAULT_OF_OURS = 70
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, prog: str = "mmp-collect") -> int:
    """Run `mmp-collect` with ``arguments`` (the command line's where None), and return the exit code."""
    code = _run_and_tell(sys.argv[1:] if arguments is None else list(arguments), prog)
    settle()
    return code


def _run_and_tell(given: Sequence[str], prog: str) -> int:
    try:
        _run(given, prog)
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else 0
    except MmpError as error:
        return _fail(prog, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail(prog, "interrupted before the first whole snapshot; nothing was written.", _INTERRUPTED)
    except BrokenPipeError:
        return 0  # whoever read our output has had enough
    except MemoryError:
        sentence = "there is too little memory for this snapshot. --light needs less."
        return _fail(prog, sentence, _DENIED_OR_ABSENT)
    except OSError as error:
        return _fail(prog, f"{error.filename or 'the system'}: {error.strerror or error}", _DENIED_OR_ABSENT)
    except Exception as error:  # noqa: BLE001  # the last resort: a fault of ours must not look like the process'
        return _report_fault(prog, error, given)
    return 0


def _run(given: Sequence[str], prog: str) -> None:
    # Imported here, as a Ctrl-C may come while it goes on: that is no traceback but exit 130 too.
    from mmpscope.collector.request import parse_request
    from mmpscope.collector.session import Session

    request = parse_request(given, prog)
    if request.is_list:
        _print_list(request.root)
    else:
        Session(request, prog).run()


def _print_list(root: str | None) -> None:
    from mmpscope.collector.ps import format_rows, list_processes
    from mmpscope.collector.speech import print_text

    print_text(format_rows(list_processes(root)))


def _fail(prog: str, sentence: str, code: int) -> int:
    tell(prog, sentence)
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
