"""The header frame: which version of the format governs what follows, and content that is not ours at all."""

from __future__ import annotations

from operator import ne

from mmpscope.formats._version import __version__
from mmpscope.formats.errors import CorruptError, NotASnapshotError, UnsupportedVersionError
from mmpscope.formats.mmp.frames import MAGIC, is_frame
from mmpscope.formats.model import Facts

__all__ = ["FEATURES", "HEADER_INFO", "VERSION", "check_header", "check_magic", "is_mmp"]

VERSION: tuple[int, int] = (1, 0)
"""The version that this program writes; it reads every minor version of the same major one."""
FEATURES: tuple[str, ...] = ()
"""The required features that this program has."""
HEADER_INFO: Facts = {
    "version": list(VERSION),
    "producer": f"mmpscope {__version__}",
    "required": [],
    "optional": [],
}

_DAMAGED_BYTES = 2  # so many of the first seven may be wrong before a file is taken for something else


def check_header(info: Facts) -> tuple[int, int]:
    """Return the version that a header states.

    UnsupportedVersionError where it is of another major version or requires what we do not have, CorruptError
    where it is no header.
    """
    version, required = info.get("version"), info.get("required", [])
    if not isinstance(version, list) or len(version) < 2 or not all(type(part) is int for part in version):
        raise CorruptError("the header states no version")
    if not isinstance(required, list) or not all(isinstance(feature, str) for feature in required):
        raise CorruptError("the header's list of required features is damaged")
    major, minor = version[:2]
    ours = f"{VERSION[0]}.{VERSION[1]}"
    now = "Read it with a newer mmpscope."
    if major != VERSION[0]:
        what = f"it is version {major}.{minor} of the format, and this program reads {ours}"
        raise UnsupportedVersionError(what, now=now)
    unknown = [feature for feature in required if feature not in FEATURES]
    if unknown:
        what = f"it is version {major}.{minor} and requires what {ours} lacks: {', '.join(unknown)}"
        raise UnsupportedVersionError(what, now=now)
    return major, minor


def is_mmp(head: bytes) -> bool:
    """Tell whether a file that begins with ``head`` is ours, even if cut short, damaged there or headless."""
    if len(head) < len(MAGIC):
        return head != b"" and MAGIC.startswith(head)
    return sum(map(ne, head, MAGIC)) <= _DAMAGED_BYTES or is_frame(head)


def check_magic(head: bytes) -> None:
    """NotASnapshotError, saying what it is, where a file that begins with ``head`` is not ours."""
    if is_mmp(head):
        return
    raise NotASnapshotError(
        f"it is no snapshot that I can read: {_describe(head)}", now="Make one with `mmp collect`."
    )


def _describe(head: bytes) -> str:
    """Say what a file is that is not ours.

    The name ending .mmp is also used by VMMap and PerfView, whose files are XML, and by LMMS, whose songs are
    XML with the root lmms-project.
    """
    if not head:
        return "it is empty"
    text = head.decode(
        "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace"
    ).lstrip()
    if "<lmms-project" in text:
        return "it is a song made with LMMS, which gives its files the same ending .mmp"
    if text.startswith("<"):
        return "it is XML; VMMap and PerfView write XML files with the same ending .mmp"
    return f"it starts with {head[:16].decode('latin-1')!a}"
