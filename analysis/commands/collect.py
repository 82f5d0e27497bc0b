"""Collect snapshots of a running process into one file."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["forward"]


def forward(arguments: Sequence[str]) -> int:
    """Hand the words on to the collector, which reads them and says itself what went wrong."""
    from mmpscope.collector.__main__ import main

    return main(arguments, prog="mmp collect")
