"""Our own format, as the registry knows it."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.mmp.header import is_mmp
from mmpscope.formats.source import Fault, Source

__all__ = ["FORMATS"]


def _open(given: Input) -> Source:
    from mmpscope.formats.mmp.reader import open_file

    file = open_file(given.stream, partial=given.partial)
    file.name = given.name
    file.close_with(given.opened.pop_all())
    return file


def _verify(given: Input) -> list[Fault]:
    from mmpscope.formats.mmp.verify import verify

    return verify(given.stream, allowance=given.allowance)


FORMATS = (
    Format(
        name="mmp",
        title="snapshots of mmpscope",
        sniff=is_mmp,
        open=_open,
        verify=_verify,
        tools="mmp collect, mmp-collect, mmp convert",
        gives=("whatever the source had, and the reason where it had not",),
        lacks=(),
        known_by="the frame that it begins with, or one that was cut or damaged",
        weight=3,
    ),
)
