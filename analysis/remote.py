"""Files that are somewhere else: s3://, gs:// and whatever else pyarrow.fs reads by URI.

A file is read as a local one is, in pieces; pyarrow is imported where such a name is given.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from mmpscope.formats.errors import InputError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

__all__ = ["is_uri", "list_remote", "open_remote"]

_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<path>[^?]*)(?P<query>(\?[^/*]*)?)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")
_BUFFER_BYTES = 1 << 20
"""One request for so many: a reader asks for few bytes at a time, and each request costs milliseconds."""
_PATIENCE_S = 20
"""Google's client tries for 15 minutes by default, that of Amazon for a few seconds."""


def is_uri(text: str) -> bool:
    """Tell if the name of an input is no local path."""
    return _URI.match(text) is not None


def list_remote(uri: str) -> list[str]:
    """Return the URIs of the files that one stands for, sorted: itself, a folder's files, or a pattern's.

    As in local folders only files that lie directly in one count; ``**`` in a pattern goes deeper. A query,
    as in ``?region=eu-west-1``, is kept. Raises InputError where there is nothing, or no answer.
    """
    match = _split(uri)
    with _explaining(uri):
        if _MAGIC.search(match["path"]):
            return [_name(match, info) for info in _find_matching(match)]
        system, path = _connect(match, match["path"])
        info = system.get_file_info(path)
        if info.is_file:
            return [uri]
        listed = _list_folder(system, path, deep=False)
    found = [info for info in listed if not info.base_name.startswith(".")]
    if not found:
        raise InputError(f"{uri}: there is no file in it that could be a snapshot. Check the URI.")
    return [_name(match, info) for info in found]


def open_remote(uri: str) -> BinaryIO:
    """Open a file for reading in pieces; InputError where that cannot be done."""
    match = _split(uri)
    with _explaining(uri):
        system, path = _connect(match, match["path"])
        return cast("BinaryIO", io.BufferedReader(system.open_input_file(path), _BUFFER_BYTES))


def _split(uri: str) -> re.Match[str]:
    match = _URI.fullmatch(uri)
    if match is None:
        raise InputError(f"{uri} is no URI that I understand. Write it as in s3://bucket/folder.")
    return match


def _connect(match: re.Match[str], path: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    query = match["query"]
    if match["scheme"] == "gs" and "retry_limit_seconds" not in query:
        query = f"{query}{'&' if query else '?'}retry_limit_seconds={_PATIENCE_S}"
    system, inner = FileSystem.from_uri(f"{match['scheme']}://{path}{query}")
    return system, inner


def _find_matching(match: re.Match[str]) -> list[FileInfo]:
    """List what a pattern matches; the part before its first wildcard is the folder that is asked."""
    whole = match["path"]
    fixed = _MAGIC.split(whole, maxsplit=1)[0].rpartition("/")[0]
    system, folder = _connect(match, fixed)
    pattern = folder + whole[len(fixed) :]
    found = _list_folder(system, folder, deep="/" in whole[len(fixed) + 1 :])
    wanted = _compile(pattern)
    matching = [info for info in found if wanted.fullmatch(info.path)]
    if not matching:
        raise InputError(f"{match.string}: there is no file of that pattern. Check the URI.")
    return matching


def _compile(pattern: str) -> re.Pattern[str]:
    """Translate a pattern as a shell reads it: * stops at a slash, ** does not, [ab] is one of them."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\[[^\]/]+\])", pattern)
    translated = (
        words.get(piece) or (f"[{_negate(piece[1:-1])}]" if place % 2 else re.escape(piece))
        for place, piece in enumerate(pieces)
    )
    return re.compile("".join(translated), re.DOTALL)


def _negate(members: str) -> str:
    members = members.replace("\\", "\\\\")
    return f"^{members[1:]}" if members.startswith("!") else members


def _list_folder(system: FileSystem, folder: str, *, deep: bool) -> list[FileInfo]:
    from pyarrow.fs import FileSelector

    infos = system.get_file_info(FileSelector(folder, allow_not_found=True, recursive=deep))
    return sorted((info for info in infos if info.is_file), key=lambda info: info.path)


def _name(match: re.Match[str], info: FileInfo) -> str:
    """Write the URI of a listed file, with what the URI that was given has before the @ and after the ?."""
    path = match["path"]
    who = path[: path.index("@") + 1] if "@" in path.partition("/")[0] else ""
    root = "/" if path.startswith("/") else ""
    return f"{match['scheme']}://{who}{root}{info.path.lstrip('/')}{match['query']}"


@contextmanager
def _explaining(uri: str) -> Iterator[None]:
    """Say which URI it is that cannot be read, and why, in one line."""
    from pyarrow import ArrowException

    try:
        yield
    except (OSError, ArrowException) as error:
        reason = " ".join(str(error).split())
        now = "Check the URI, the network and your rights."
        raise InputError(f"{uri} cannot be read: {reason}. {now}") from error
