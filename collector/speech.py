"""What we print: sentences on stderr, the result on stdout; neither stops a collection that goes well."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

from mmpscope.formats.errors import OutputError

__all__ = ["ask", "print_path", "print_text", "settle", "tell"]


def tell(prog: str, sentence: str) -> None:
    """Say a sentence on stderr; a terminal that is gone or a full disk behind it only cost the sentence."""
    if sys.stderr is not None:  # closed by `2>&-`: print would take stdout in its place
        with suppress(OSError):
            print(f"{prog}: {sentence}", file=sys.stderr, flush=True)


def ask(prog: str, question: str) -> bool | None:
    """Ask on a terminal, and tell whether the answer is yes; None where nobody could give one."""
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f"{prog}: {question}", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_path(path: str, kept: str) -> None:
    """Print a path byte for byte: `$(...)` of a shell must find the file under it, whatever our encoding.

    Paths of Windows are text, not bytes: they come out as all text does there. BrokenPipeError where nobody
    reads any more; OutputError, with ``kept`` to tell that no snapshot is lost.
    """
    if sys.platform == "win32" and sys.stdout is not None:
        data = path.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    else:
        data = os.fsencode(path)
    _print_bytes(data + b"\n", kept)


def print_text(text: str) -> None:
    """Print lines for a person, escaping what the terminal's encoding lacks; the errors of `print_path`."""
    if sys.stdout is not None:
        _print_bytes(f"{text}\n".encode(sys.stdout.encoding or "utf-8", "backslashreplace"), "Redirect it.")


def _print_bytes(data: bytes, now: str) -> None:
    if sys.stdout is None:  # closed by `>&-`
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if sys.platform == "win32" and error.errno == errno.EINVAL:  # what a closed pipe looks like there
            raise BrokenPipeError(error.errno, error.strerror) from error
        raise OutputError(f"standard output cannot be written ({error.strerror}). {now}") from error


def settle() -> None:
    """Let Python end in peace: what a stream could not take, it would try again then, and exit with 120."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
