"""Files of /proc that Breakpad and its heirs copy into a minidump, read by the parsers of that text.

Streams 0x47670003 and following of minidump_format.h. The environment is among them and is left out: it holds
passwords and keys more often than anything of use.
"""

from __future__ import annotations

from mmpscope.formats.errors import FormatError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.streams import StreamType
from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import parse_auxv, parse_limits, parse_status, to_fact

__all__ = ["read_files"]

_MAX_BYTES = 1 << 20
_SHARED = (("name", "status", "Name"), ("pid", "status", "Pid"), ("page_size", "auxv", "AT_PAGESZ"))
_DESCRIPTION = b"DISTRIB_DESCRIPTION="


def read_files(dump: DumpFile, streams: dict[int, Stream]) -> tuple[Facts, Facts]:
    """Read status, limits, auxv and cmdline as facts of the process, the distribution as one of the host.

    What a file tells that the collector reads as well is under the same name: name, pid, page_size.
    """

    def read(number: StreamType) -> bytes:
        return _read(dump, streams.get(number))

    words = read(StreamType.LINUX_CMD_LINE).rstrip(b"\0").split(b"\0")
    process: Facts = {
        "status": parse_status(read(StreamType.LINUX_PROC_STATUS)),
        "limits": parse_limits(read(StreamType.MOZ_LINUX_LIMITS)),
        "auxv": parse_auxv(read(StreamType.LINUX_AUXV), dump.bits or 64),
        "cmdline": [to_fact(word) for word in words if words != [b""]],
    }
    for fact, item, key in _SHARED:
        process[fact] = process[item].get(key)
    release = _find_release(read(StreamType.LINUX_LSB_RELEASE))
    return {key: fact for key, fact in process.items() if fact}, release


def _read(dump: DumpFile, stream: Stream | None) -> bytes:
    """Read one copied file; b"" where it is not there."""
    if stream is None:
        return b""
    try:
        return dump.read(stream.offset, min(stream.size, _MAX_BYTES), stream.name)
    except FormatError as error:
        dump.faults.add(error.what, offset=error.offset, lost=stream.name)
        return b""


def _find_release(text: bytes) -> Facts:
    """Find the name of the distribution in /etc/lsb-release."""
    lines = [line for line in text.splitlines() if line.startswith(_DESCRIPTION)]
    return {"os_release": to_fact(lines[0][len(_DESCRIPTION) :].strip(b'"'))} if lines else {}
