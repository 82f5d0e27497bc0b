"""The secret that tokens are made under: kept in a file of its owner, or thrown away with the run."""

from __future__ import annotations

import os
from pathlib import Path

from mmpscope.formats.errors import InputError, OutputError

__all__ = ["KEEP_IT", "KEY_BYTES", "keep_apart", "load_key", "make_key"]

KEY_BYTES = 32
KEEP_IT = "keep it, and do not send it: whoever has it can tell which names the tokens stand for"
"""What is said of a key that was made."""
_LEAST_BYTES = 16
_MOST_BYTES = 4096


def make_key() -> bytes:
    """Make a random key."""
    return os.urandom(KEY_BYTES)


def load_key(path: str) -> tuple[bytes, bool]:
    """Read the key that a file is, or make the file, and tell whether it was made; its owner alone reads it.

    InputError where it cannot be read or is no key (16 to 4096 bytes), OutputError where it cannot be made.
    """
    try:
        with Path(path).open("rb") as file:
            key = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return _create(path), True
    except OSError as error:
        raise InputError(f"{path}: the key cannot be read ({error.strerror}). Name another file.") from error
    if not _LEAST_BYTES <= len(key) <= _MOST_BYTES:
        now = "Name a file that is not there yet, and a key is made in it."
        raise InputError(f"{path}: this is no key, which has {_LEAST_BYTES} to {_MOST_BYTES} bytes. {now}")
    return key, False


def keep_apart(path: str, output: str) -> None:
    """Refuse a key that an output would replace, or that lies in the folder to be sent: OutputError."""
    key, written = Path(path).resolve(), Path(output).resolve()
    if key == written:
        raise OutputError(f"{path} is the key, which would be replaced. Name another output.")
    if written.is_dir() and written in key.parents:
        raise OutputError(f"{path}: a key is not to be sent with what it hides. Keep it outside of {output}.")


def _create(path: str) -> bytes:
    key, flags = make_key(), os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            try:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                Path(path).unlink()  # a part of a key would be refused as one from now on
                raise
    except OSError as error:
        raise OutputError(f"{path}: the key cannot be made ({error.strerror}). Name another file.") from error
    return key
