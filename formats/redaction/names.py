"""Paths, names of files and names of memory: what is known stays, and every other part becomes a token.

Two names that are alike but for their versions have tokens that are alike but for their digits, as the diff
knows files again by that; folders stay folders, so that directories group as before.
"""

from __future__ import annotations

import re

from mmpscope.formats.redaction.known_labels import BRACKETED, MEMORY_PREFIXES, MEMORY_WORDS
from mmpscope.formats.redaction.known_names import (
    EXTENSIONS,
    FILES,
    FOLDERS,
    LOOSE_FOLDERS,
    PRIVATE_BELOW,
    WINDOWS_FOLDERS,
)
from mmpscope.formats.redaction.tokens import Tokens

__all__ = ["Names"]

_VERSION = re.compile(r"(?:[-_.]?v?\d+)+")
"""What the diff leaves out of names of programs and libraries (analysis/diffs/files.py)."""
_DELETED = " (deleted)"
_TAG = r"(?:\.cpython[\d-]*[a-z]*(?:-[a-z\d_]+-linux-(?:gnu|musl)[a-z]*)?\.so|\.abi\d*\.so)"
_KNOWN = "|".join(sorted(EXTENSIONS.split(), key=len, reverse=True))
_EXTENSION = re.compile(rf"(?:{_TAG}|\.(?:{_KNOWN})(?:(?<=\.so)(?:\.\d+)*)?)\Z", re.IGNORECASE)
_BARE_EXTENSION = re.compile(rf"(?:{_TAG}|\.(?:{_VERSION.sub('', _KNOWN)}))\Z", re.IGNORECASE)
"""The same of a name that has lost its numbers."""
_TAGGED = re.compile(r"\.(?:cpython|abi)")
"""What extension modules of Python have before .so."""
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")
_BRACKETS = re.compile(r"\[(anon_shmem:|anon:)?(.*)\]", re.DOTALL)
_STACK = re.compile(r"stack:\d{1,20}")
_SHMID = re.compile(r"( ?)shmid=0x([0-9a-f]+)( ?)")
_MEMFD = re.compile(r"(/?memfd:)(.*)", re.DOTALL)
_MEMFD_KNOWN = ("java_heap", "doublemapper", "jit-zygote-cache", "jit-cache")
_SYSV = re.compile(r"(/?SYSV)([0-9a-f]{8})")
_NO_KEY = "00000000"
_OBJECTS = re.compile(r"(anon_inode:|/dmabuf:|/drm mm object|/i915)(.*)", re.DOTALL)
_INODES = frozenset({"[io_uring]", "[perf_event]", "[eventfd]", "[eventpoll]", "[secretmem]", "dmabuf", ""})
_KVM = re.compile(r"kvm-[a-z]{1,8}:\d{1,6}")
_NUMBERED = re.compile(r"(.*?)((?::\d{1,20})?)", re.DOTALL)
_LETTERS = re.compile(r"[^A-Za-z]+")


def _strip(name: str) -> str:
    return _VERSION.sub("", name)


_FILES = frozenset(map(_strip, FILES))
_FOLDERS = frozenset(map(_strip, FOLDERS | LOOSE_FOLDERS))
_WINDOWS_FOLDERS = frozenset(map(_strip, WINDOWS_FOLDERS | LOOSE_FOLDERS)) | {""}


class Names:
    """The rules for paths and names, with the tokens that they make."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def redact_path(self, path: str) -> str:
        """Redact a path, or the name of memory that stands in place of one; ` (deleted)` stays behind it."""
        if path.endswith(_DELETED):
            return self.redact_path(path[: -len(_DELETED)]) + _DELETED
        special = self._redact_special(path)
        if special is not None:
            return special
        if "\\" in path and not path.startswith("/"):
            return self._redact_windows(path)
        return self._redact_parts(path.split("/"), "/", _FOLDERS, is_absolute=path.startswith("/"))

    def redact_name(self, name: str, *, any_case: bool = False) -> str:
        """Redact the name of a file, program or thread; ``any_case``: Windows tells no case apart."""
        key = name.lower() if any_case else name
        if not name or _strip(key) in _FILES:
            return name
        bare = _strip(key)
        found = _BARE_EXTENSION.search(bare)
        extension = found[0] if found is not None else ""
        bare = bare[: len(bare) - len(extension)]
        if _TAGGED.match(extension) and f"{bare}.so" in _FILES:
            return name
        found = _EXTENSION.search(key)
        if found is not None and _strip(found[0]) == extension:
            extension = found[0]
        stem = key[: len(key) - len(extension)] if key.endswith(extension) else key
        made = self._tokens.make_name(bare)
        return made + ("" if bare == stem else self._tokens.make_digits(stem)) + extension

    def _make(self, stem: str) -> str:
        """Make a token whose letters are those of the name without its numbers."""
        bare = _strip(stem)
        return self._tokens.make_name(bare) + ("" if bare == stem else self._tokens.make_digits(stem))

    def _redact_windows(self, path: str) -> str:
        drive = _DRIVE.match(path)
        start = drive[0] if drive is not None else ""
        parts = re.split(r"[\\/]", path[len(start) :])
        is_absolute = drive is not None or path.startswith("\\")
        return start + self._redact_parts(parts, "\\", _WINDOWS_FOLDERS, is_absolute=is_absolute)

    def _redact_parts(
        self, parts: list[str], separator: str, folders: frozenset[str], *, is_absolute: bool
    ) -> str:
        """Redact all parts but the folders of the system, as long as all above them are such."""
        any_case, is_known, done = separator == "\\", is_absolute, []
        is_known = is_known and parts[:3] != ["", "", ""] and not (any_case and parts[:2] == ["", ""])
        for part in parts[:-1]:
            key = part.lower() if any_case else part
            if part in ("", ".", ".."):
                done.append(part)
                continue
            is_known = is_known and _strip(key) in folders
            done.append(part if is_known else self.redact_name(part, any_case=any_case))
            is_known = is_known and key not in PRIVATE_BELOW
        return separator.join([*done, self.redact_name(parts[-1], any_case=any_case)])

    def _redact_special(self, path: str) -> str | None:
        """Redact what is no path; None where it is one."""
        brackets = _BRACKETS.fullmatch(path)
        if brackets is not None:
            return f"[{brackets[1] or ''}{self._redact_brackets(brackets[1], brackets[2])}]"
        memfd = _MEMFD.fullmatch(path)
        if memfd is not None:
            return memfd[1] + self._redact_tail(memfd[2], _MEMFD_KNOWN)
        sysv = _SYSV.fullmatch(path)
        if sysv is not None:
            return path if sysv[2] == _NO_KEY else sysv[1] + self._make_key(sysv[2])
        objects = _OBJECTS.fullmatch(path)
        if objects is not None:
            rest = objects[2]
            is_known = rest in _INODES or _KVM.fullmatch(rest) is not None
            kept = "kvm-" if rest.startswith("kvm-") else ""
            return objects[1] + (rest if is_known else kept + self._make(rest[len(kept) :]))
        if path.startswith("/dev/ashmem/"):
            return "/dev/ashmem/" + self._redact_memory(path[len("/dev/ashmem/") :])
        return None

    def _make_key(self, key: str) -> str:
        """Make a key of shared memory that is none of the private ones."""
        return f"{int(self._tokens.make_hex(key, 8), 16) | 1:08x}"

    def _redact_brackets(self, kind: str | None, name: str) -> str:
        if kind is not None:
            return self._redact_memory(name)
        shmid = _SHMID.fullmatch(name)
        if shmid is not None:
            return name if shmid[2] == "0" else f"{shmid[1]}shmid=0x{self._make_key(shmid[2])}{shmid[3]}"
        is_known = name in BRACKETED or _STACK.fullmatch(name) is not None
        if is_known:
            return name
        return f"anon:{self._redact_memory(name[5:])}" if name.startswith("anon:") else self._make(name)

    def _redact_memory(self, name: str) -> str:
        """Redact a name that a program gave to its memory, but for what allocators begin it with."""
        return self._redact_tail(name, MEMORY_PREFIXES)

    def _redact_tail(self, name: str, prefixes: tuple[str, ...]) -> str:
        found = max((each for each in prefixes if name.startswith(each)), key=len, default="")
        numbered = _NUMBERED.fullmatch(name[len(found) :])
        tail, number = numbered.groups() if numbered is not None else (name[len(found) :], "")
        words = [word for word in _LETTERS.split(tail) if word]
        if found and all(word in MEMORY_WORDS for word in words):
            return name
        made = self.redact_path(tail) if "/" in tail else self._make(tail)
        # What rules of classification look for inside a name stays in it.
        kept = "-stack" if found == "Ruby:" and "stack" in tail else ""
        kept += ".bss" if tail.endswith(".bss") else ""
        return f"{found}{made}{kept}{number}"
