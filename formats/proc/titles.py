"""Lines between maps: titles that say whose map follows, prompts, the status of the same process."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Title", "find_status", "find_title", "is_harmless", "read_title"]

_PROC = rb"proc/(?:(\d{1,10})|self|thread-self)/(?:task/\d{1,10}/)?(?:smaps_rollup|smaps|maps)\b"
_BESIDE = rb"(?:^|[\s/])(\d{1,10})/(?:smaps_rollup|smaps|maps)\b"
_PID = rb"[^\w\n]{0,20}(?i:pid)[^\w\n]{1,3}(\d{1,10})\b(?:[ \t]*\(([^()\n]{1,64})\))?"
_TITLE = re.compile(
    rb"(?m)^(?:==> [^\n]{1,4096} <==[ \t]*$|" + _PID + rb"|Name:\t[^\n]*\n(?:Umask|State):\t)"
)
_NAMED = re.compile(_PROC)
_NO_TITLE = re.compile(rb"[0-9a-fA-F]{1,16}-[0-9a-fA-F]{1,16}[ \t]+[-rwxps]{4}[ \t]|(?:VmFlags|Name):[ ]")
"""A map line, whose path may be anything, or a text below it."""
_HEAD = re.compile(rb"(?m)^==> ([^\n]{1,4096}) <==[ \t]*$")
_WHOLE_STATUS = re.compile(rb"(?m)^Name:\t[^\n]*\n(?:Umask|State):\t[^\n]*\n(?:[A-Za-z]\w{0,63}:[^\n]*\n?)*")
_HARMLESS = re.compile(
    rb"[ \t]*(?:"
    rb"[^\s@]{1,64}@[^\s]{1,256}[^\n]{0,256}?[#$%>](?: [^\n]*)?"  # root@host:~# ls
    rb"|\[[^\]\n]{1,256}\][#$%>](?: [^\n]*)?"  # [root@host ~]# ls
    rb"|[#$%>](?: [^\n]*)?|(?:ba|z|k|da)?sh-[\d.]+[#$](?: [^\n]*)?"  # $ ls, bash-5.1# ls
    rb"|`{3,}\w*|~{3,}\w*|-{2,}|={2,}"  # fences and rules of Markdown
    rb")?[ \t\r]*"
)


class Title(NamedTuple):
    """What lines before a map say of it: the process, or else what a list of files calls it."""

    pid: int | None = None
    name: bytes | None = None
    label: bytes | None = None


def find_title(text: bytes, start: int, end: int) -> int | None:
    """Find the first line below a map line at ``start`` that can only stand between maps.

    As `head` and `tail` write them (`==> /proc/12/smaps <==`), a command or a path with the name of a map
    (`# cat /proc/12/smaps`), a pid (`Pid: 12`, `----- pid 12 at 2024-05-01 -----`), or a `/proc/PID/status`.
    """
    match = _TITLE.search(text, start, end)
    first = end if match is None else match.start()
    for named in _NAMED.finditer(text, start, first):
        line = text.rfind(b"\n", start, named.start()) + 1
        if line > start and not _NO_TITLE.match(text, line):
            return line
    return None if match is None else first


def read_title(lead: bytes) -> Title:
    """Read what stands before a map; the title that is next to the map counts, a status does not."""
    lines = _WHOLE_STATUS.sub(b"\n", lead)
    found = [
        match
        for pattern in (_PROC, _BESIDE, rb"(?m)^" + _PID)
        for match in re.finditer(pattern, lines)
        if match[1] is not None
    ]
    if not found:
        labels = _HEAD.findall(lines)
        return Title(label=labels[-1] if labels else None)
    last = max(found, key=re.Match.start)
    return Title(int(last[1]), last[2] if last.re.groups > 1 else None)


def find_status(lead: bytes) -> bytes | None:
    """Find the text of a `/proc/PID/status` among lines that are no map."""
    found = _WHOLE_STATUS.findall(lead)
    return found[-1] if found else None


def is_harmless(lines: bytes) -> bool:
    """Whether lines behind the last region are what terminals and Markdown leave there: no region is lost."""
    rest = _WHOLE_STATUS.sub(b"", lines)
    return all(_HARMLESS.fullmatch(line) or _is_title(line) for line in rest.split(b"\n"))


def _is_title(line: bytes) -> bool:
    return bool(_TITLE.match(line) or (_NAMED.search(line) and not _NO_TITLE.match(line)))
