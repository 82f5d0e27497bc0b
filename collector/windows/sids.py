"""Security identifiers: who a process runs as, and how far it is trusted."""

from __future__ import annotations

__all__ = ["format_sid", "read_last_part"]


def format_sid(sid: bytes) -> str:
    """Write a SID as Windows does: `S-1-5-21-...`; ValueError where the bytes are none.

    Revision, number of parts, an authority of 48 bits (the only big-endian one), parts of 32 bits (SID of
    winnt.h).
    """
    parts = _read_parts(sid)
    authority = int.from_bytes(sid[2:8], "big")
    shown = authority if authority < 1 << 32 else f"0x{authority:012X}"
    return "-".join(map(str, ["S", sid[0], shown, *parts]))


def read_last_part(sid: bytes) -> int:
    """Read the last part; of an integrity level it is the level (0x2000 medium, 0x3000 high)."""
    parts = _read_parts(sid)
    if not parts:
        raise ValueError("the security identifier has no parts")
    return parts[-1]


def _read_parts(sid: bytes) -> list[int]:
    if len(sid) < 8 or len(sid) < 8 + 4 * sid[1]:
        raise ValueError(f"{len(sid)} bytes are no security identifier")
    return [int.from_bytes(sid[at : at + 4], "little") for at in range(8, 8 + 4 * sid[1], 4)]
