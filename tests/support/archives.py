"""Archives that packers make (by the standard library), and headers of tar that none would make (by hand)."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping

__all__ = ["BLOCK", "make_pax", "make_tar", "make_tar_header", "make_zip", "pad"]

BLOCK = 512


def make_zip(members: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack members into a zip archive; a name that ends in / is a folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def make_tar(members: Mapping[str, bytes], *, form: int = tarfile.GNU_FORMAT) -> bytes:
    """Pack members into a tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def make_tar_header(name: bytes, size: bytes = b"00000000000\0", kind: bytes = b"0") -> bytes:
    """Write one header whose checksum is right, whatever it says."""
    blank = name.ljust(100, b"\0") + b"0000644\0" * 3 + size.ljust(12, b"\0") + b"00000000000\0" + b" " * 8
    header = (blank + kind).ljust(257, b"\0") + b"ustar\00000"
    header = header.ljust(BLOCK, b"\0")
    return header[:148] + f"{sum(header):06o}\0 ".encode() + header[156:]


def make_pax(*records: tuple[bytes, bytes]) -> bytes:
    """Write a pax header that describes the next member."""
    data = b"".join(map(_write_record, records))
    return make_tar_header(b"pax", f"{len(data):011o}\0".encode(), b"x") + pad(data)


def _write_record(record: tuple[bytes, bytes]) -> bytes:
    rest = b" " + record[0] + b"=" + record[1] + b"\n"
    size = len(rest) + 1
    while len(str(size)) + len(rest) != size:  # the length counts its own digits
        size += 1
    return b"%d%s" % (size, rest)


def pad(data: bytes) -> bytes:
    """Fill up to whole blocks."""
    return data + bytes(-len(data) % BLOCK)
