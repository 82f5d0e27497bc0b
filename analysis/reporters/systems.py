"""How the system of a machine is named: kernel and distribution, or Windows with its build."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mmpscope.analysis.facts import show_fact
from mmpscope.formats.model import Fact

__all__ = ["name_system"]

_VERSION = re.compile(r"\d+\.\d+\.(\d+)")
_FIRST_BUILD_OF_11 = 22_000


def name_system(host: Mapping[str, Fact]) -> list[str]:
    """Return the words for a system, as far as they are known: name, version, machine.

    The registry calls Windows 11 Windows 10 still; its build tells.
    """
    os, kernel, machine, release = (
        show_fact(host.get(key)) for key in ("os", "kernel", "machine", "os_release")
    )
    words = [os, kernel, machine, release]
    if os == "windows" and kernel is not None:
        words = [_name_windows(release or "Windows", kernel), f"version {kernel}", machine]
    return [word for word in words if word]


def _name_windows(product: str, version: str) -> str:
    found = _VERSION.match(version)
    is_11 = found is not None and int(found[1]) >= _FIRST_BUILD_OF_11
    return product.replace("Windows 10", "Windows 11") if is_11 else product
