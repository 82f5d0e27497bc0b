"""Runs on Windows: prints the layout of each structure that the collector gives to the system, as JSON."""

from __future__ import annotations

import ctypes
import json
import sys

sys.path.insert(0, sys.argv[1])

from mmpscope.collector.windows import structures


def describe(structure: type[ctypes.Structure]) -> dict[str, int]:
    """Give the size of a structure, and the offset of each field."""
    offsets = {name: getattr(structure, name).offset for name, *_ in structure._fields_}
    return {"": ctypes.sizeof(structure), **offsets}


print(json.dumps({name: describe(getattr(structures, name)) for name in structures.__all__}))
