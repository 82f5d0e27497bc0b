"""Archives, as the registry knows them: what is in them is told by content, too."""

from __future__ import annotations

from mmpscope.formats.containers.tar import is_tar
from mmpscope.formats.containers.tree import Archive
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Fault, Source

__all__ = ["FORMATS"]

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def _is_zip(head: bytes) -> bool:
    """Whether it begins with a member, or with the end of an empty archive."""
    return head.startswith(_ZIP)


def _make_tar(given: Input) -> Archive:
    from mmpscope.formats.containers.tar import TarTree

    return TarTree(given.stream, given.name, partial=given.partial)


def _make_zip(given: Input) -> Archive:
    from mmpscope.formats.containers.zip import ZipTree  # zipfile takes a while to import

    return ZipTree(given.stream, given.name)


def _open(archive: Archive, given: Input) -> Source:
    from mmpscope.formats.containers.captured import open_archive

    return open_archive(archive, given)


def _verify(archive: Archive, given: Input) -> list[Fault]:
    from mmpscope.formats.containers.captured import verify_archive

    return verify_archive(archive, given)


_GIVES = ("the snapshots of every file in it that can be read, or of every process of a captured /proc",)

FORMATS = (
    Format(
        name="tar",
        title="a tar archive of maps, or of /proc as smemcap captures it",
        sniff=is_tar,
        open=lambda given: _open(_make_tar(given), given),
        verify=lambda given: _verify(_make_tar(given), given),
        tools="GNU tar, bsdtar, busybox, smemcap",
        gives=_GIVES,
        lacks=("links, devices, sparse files",),
        known_by="a header whose checksum is right",
        weight=0,
    ),
    Format(
        name="zip",
        title="a zip archive of maps",
        sniff=_is_zip,
        open=lambda given: _open(_make_zip(given), given),
        verify=lambda given: _verify(_make_zip(given), given),
        tools="Info-ZIP, Windows Explorer, Python",
        gives=_GIVES,
        lacks=("encrypted files, methods other than store and deflate",),
        known_by="the signature PK of a member",
        weight=0,
    ),
)
