"""Which file of one process is which of another: by path, by build, and in the end by name alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["FILE_MATCHES", "BackingFile", "FileMatches", "match_files", "normalize_path"]

_DELETED = " (deleted)"
"""Behind the path of a file that is mapped and was removed or replaced since (proc_pid_maps(5))."""


class BackingFile(NamedTuple):
    """A file as a process has it mapped; ``build`` is None where nobody read which build it is.

    ``is_image`` tells programs and libraries, whose names carry versions, from data.
    """

    path: str
    build: str | None
    is_image: bool


class FileMatches(NamedTuple):
    """The number of each file of a and of b, alike where they are the same file, and how each was matched.

    ``how[number]`` is a place in FILE_MATCHES; a file that has no partner has that of its own first key.
    """

    of_a: list[int]
    of_b: list[int]
    how: list[int]


_DIGITS = re.compile(r"(?:[-_.]?v?\d+)+")
_SEPARATOR = re.compile(r"[/\\]")

Key = Callable[[BackingFile], Hashable]


def _cut(file: BackingFile) -> str:
    return _SEPARATOR.split(file.path)[-1]


def _leave_out_version(path: str) -> str:
    """Leave numbers out of a path: libfoo.so.1.2 and libfoo.so.1.3, python3.11 and python3.12 are alike."""
    return _DIGITS.sub("", path)


def _without_version(file: BackingFile, path: str) -> Hashable:
    return _leave_out_version(path) if file.is_image else None


_PASSES: tuple[tuple[str, str, Key], ...] = (
    ("path+build id", "high", lambda file: file if file.build else None),
    ("path", "high", lambda file: file),
    ("build id", "high", lambda file: (_cut(file), file.build) if file.build else None),
    ("path", "high", lambda file: (file.path, file.is_image)),
    ("path without version", "medium", lambda file: _without_version(file, file.path)),
    ("file name", "medium", lambda file: (_cut(file), file.is_image)),
    ("file name without version", "low", lambda file: _without_version(file, _cut(file))),
)
"""Ways to know a file again, the surest first: word, confidence, and the key that must be alike.

The directory breaks ties: two files of one name are told by their paths before names alone are asked.
"""
FILE_MATCHES = tuple((word, confidence) for word, confidence, _ in _PASSES)


def normalize_path(path: str) -> str:
    """Write one path always alike: Windows tells no case apart, Linux says where a file was deleted."""
    return path.lower() if "\\" in path and not path.startswith("/") else path.removesuffix(_DELETED)


def match_files(a: Sequence[BackingFile], b: Sequence[BackingFile]) -> FileMatches:
    """Match the distinct files of two sides; a key that two files of one side share matches nothing."""
    left, right = dict(enumerate(a)), dict(enumerate(b))
    of_a, of_b, how = [-1] * len(a), [-1] * len(b), list[int]()
    for number, (_, _, key) in enumerate(_PASSES):
        for one, two in [*_pair(left, right, key)]:
            of_a[one] = of_b[two] = len(how)
            how.append(number)
            del left[one], right[two]
    for rest, numbers in ((left, of_a), (right, of_b)):
        for place, file in rest.items():
            numbers[place] = len(how)
            how.append(0 if file.build else 1)
    return FileMatches(of_a, of_b, how)


def _pair(left: dict[int, BackingFile], right: dict[int, BackingFile], key: Key) -> Iterator[tuple[int, int]]:
    ours, theirs = _find_unique(left, key), _find_unique(right, key)
    for value, one in ours.items():
        two = theirs.get(value)
        if one is not None and two is not None:
            yield one, two


def _find_unique(files: dict[int, BackingFile], key: Key) -> dict[Hashable, int | None]:
    """Return the place of the file of each key; None where there is more than one."""
    places: dict[Hashable, int | None] = {}
    for place, file in files.items():
        if (value := key(file)) is not None:
            places[value] = None if value in places else place
    return places
