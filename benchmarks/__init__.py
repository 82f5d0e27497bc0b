"""Our own speed and size, as ratios against named peers: ``python -m benchmarks``.

One module a figure, each with ``measure(options) -> list[Figure]``. Nothing here is installed.
"""
