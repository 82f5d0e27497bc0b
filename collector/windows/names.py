r"""Names of mapped files: the device path that the system gives, and the drive letter that people know.

Windows answers `\Device\HarddiskVolume3\Windows\System32\ntdll.dll`, Wine `\??\C:\windows\...`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["to_drive_path"]

_DOS_DEVICES = b"\\??\\"
_NETWORK = b"\\Device\\Mup\\"


def to_drive_path(path: bytes, drives: Mapping[bytes, bytes]) -> bytes:
    """Put the drive letter in place of the device; a path of an unknown device stays as it is.

    Wine counts a NUL at the end of some names: `C:\\windows\\system32\\l_intl.nls` and 00.
    """
    path = path.rstrip(b"\0")
    if path.startswith(_DOS_DEVICES):
        return path[len(_DOS_DEVICES) :]
    if path.startswith(_NETWORK):
        return b"\\\\" + path[len(_NETWORK) :]
    for letter, device in drives.items():
        if path.startswith(device + b"\\"):
            return letter + path[len(device) :]
    return path
