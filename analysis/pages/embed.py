"""Data inside an HTML file: JSON, deflated, in base64, which a browser undoes with DecompressionStream."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping

__all__ = ["pack", "unpack"]

_RAW = -15
"""Window of zlib for a stream without header or checksum: "deflate-raw" of the Compression Standard."""
_LEVEL = 9


def pack(data: Mapping[str, object]) -> str:
    """Pack JSON-shaped data; the alphabet of base64 holds nothing that ends a script or an attribute."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return base64.b64encode(squeeze.compress(text.encode()) + squeeze.flush()).decode()


def unpack(text: str) -> dict[str, object]:
    """Undo `pack`, as the page does it; for tests and for whoever reads a page by program."""
    data: dict[str, object] = json.loads(zlib.decompress(base64.b64decode(text), _RAW))
    return data
