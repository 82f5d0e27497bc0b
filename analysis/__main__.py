"""The entry point of `mmp`: runs a command, and alone turns an error into one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from mmpscope.analysis.lean import go_lean
from mmpscope.formats.errors import MmpError

__all__ = ["main", "start"]


def start() -> NoReturn:
    """Be the program `mmp`: a process of its own, in which nothing else runs."""
    go_lean()
    code = main()
    gc.freeze()  # else Python looks through every object of every module once more as it ends: 30 ms
    sys.exit(code)


def main() -> int:
    """Run the command line and return the exit code of docs/cli.md; only here an error is printed."""
    try:
        from mmpscope.analysis.cli import make_app

        make_app()(prog_name="mmp")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:  # before a command has begun, as while modules are imported
        return 130
    except MmpError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 3)
    except MemoryError:
        return _fail("there is not enough memory for this input. Give fewer snapshots or a larger limit", 3)
    except Exception as error:  # noqa: BLE001  # the last resort: a fault of ours must not look like one of the file
        return _report_fault(error)
    return 0


def _fail(sentence: str, code: int) -> int:
    from mmpscope.analysis.reporters.names import show_name

    end = "" if sentence.endswith((".", "?", "!")) else "."
    print(f"mmp: {show_name(sentence)}{end}", file=sys.stderr)
    return code


def _report_fault(error: Exception) -> int:
    # -v is read here by hand: the fault may lie in the reading of the command line itself
    if os.environ.get("MMP_DEBUG") or {"-v", "--verbose"} & set(sys.argv[1:]):
        import traceback

        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    now = "Please report it, with what the same command prints with -v"
    return _fail(f"a fault of ours, not of your file ({what}). {now}", 70)


if __name__ == "__main__":
    start()
