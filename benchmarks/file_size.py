"""Figure: size of a .mmp file against gzip -6 of the same smaps text, every counter kept."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Figure, Options
from benchmarks.mapper import start_mapper

__all__ = ["convert_text", "measure"]


def _measure_gzip(path: Path) -> int:
    with path.open("rb") as text:
        return len(
            subprocess.run(["gzip", "-6", "-c"], stdin=text, stdout=subprocess.PIPE, check=True).stdout
        )


def _measure_mapper(options: Options) -> Figure:
    text, output = options.folder / "mapper.smaps", options.folder / "mapper.mmp"
    with start_mapper(options) as mapper:
        text.write_bytes(Path(f"/proc/{mapper.pid}/smaps").read_bytes())
        collect = [find_script("mmp-collect"), str(mapper.pid), "-o", str(output), "--force", "--quiet"]
        subprocess.run(collect, check=True)
    size = output.stat().st_size
    return Figure("collected .mmp, size", size, "gzip -6 of smaps", _measure_gzip(text), "bytes", 0.20)


def convert_text(text: str, output: str) -> None:
    """Write a smaps text as a .mmp file."""
    from mmpscope.formats.mmp import write_file
    from mmpscope.formats.registry import open_source

    source = open_source(text)
    write_file(output, [source.read(0)], force=True)
    source.close()


def _measure_text(text: Path, output: Path, limit: float | None) -> Figure:
    call_in_child(__name__, "convert_text", str(text), str(output))
    size, packed = output.stat().st_size, _measure_gzip(text)
    return Figure(f"converted {text.name}, size", size, "gzip -6 of smaps", packed, "bytes", limit)


def measure(options: Options) -> list[Figure]:
    """Compare file sizes; small files carry a fixed part of header, index and end, so they have no limit."""
    figures = [_measure_mapper(options)]
    if options.corpus is not None:
        smaps, output = options.corpus / "smaps", options.folder / "converted.mmp"
        others = ("linux-5.5.7/1.smaps", "linux-6.18/java.smaps", "zsh-3.x.smaps", "go-4.14.smaps")
        figures.append(_measure_text(smaps / "firefox-4.4.smaps", output, 0.50))
        figures += [_measure_text(smaps / name, output, None) for name in others]
    return figures
