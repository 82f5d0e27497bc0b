"""Figures of the Windows collector, run in Wine: its walk, its working-set query, the size of its file.

Against the least that a walk can be, a loop of VirtualQueryEx in the same Windows Python; and against gzip -6
of the same facts as text, a line each, as Linux writes smaps.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.commands import ROOT, call_in_child, find_script
from benchmarks.figures import Figure, Options

if TYPE_CHECKING:
    from support.wine import WinePython

__all__ = ["measure", "measure_text"]

_ALLOCATIONS = 11_000
"""About three regions each."""
_FEWEST_PAGES_A_CALL = 256


def measure(options: Options) -> list[Figure]:
    """Measure all in one run of one process; without Wine nothing, and say why, or in CI RuntimeError."""
    python = _find_python()
    if isinstance(python, str):
        if os.environ.get("CI"):
            raise RuntimeError(python)
        print(f"windows_walk is left out: {python}", file=sys.stderr)
        return []
    output = options.folder / "windows.mmp"
    found = _run(python, output, options)
    size = output.stat().st_size
    text, _ = call_in_child(__name__, "measure_text", str(output))
    calls, pages = found["calls"], found["pages"]
    walk = f"Windows walk of {found['regions']:,} regions"
    return [
        Figure(walk, found["walk_s"], "bare VirtualQueryEx loop", found["bare_s"], "s", 3.0),
        Figure("working-set calls", calls, "one for 256 pages", pages / _FEWEST_PAGES_A_CALL, "calls", 1.0),
        Figure("Windows .mmp, size", size, "gzip -6 of it as text", text, "bytes", 0.20),
        Figure("Windows .mmp, size", size, "gzip -6 of VMMap's XML", _measure_xml(output), "bytes"),
    ]


def _find_python() -> WinePython | str:
    sys.path.insert(0, str(ROOT / "tests"))
    from support.wine import find_wine_python

    return find_wine_python(64)


def _run(python: WinePython, output: Path, options: Options) -> dict[str, Any]:
    from support.wine import to_windows

    collector = options.folder / "mmp-collect.pyz"
    build = [sys.executable, "-m", "mmpscope.collector.build", "-f", "-o", str(collector)]
    subprocess.run(build, check=True)
    program = Path(__file__).with_name("windows_program.py")
    count = str(100 if options.quick else _ALLOCATIONS)
    done = python.run(*map(to_windows, (program, collector, output)), count, str(options.runs))
    if done.returncode:
        raise RuntimeError(f"the program under Wine failed: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure_xml(path: Path) -> int:
    xml = path.with_suffix(".xml")
    subprocess.run([find_script("mmp"), "export", path, "--format", "vmmap-xml", "-o", xml], check=True)
    return len(gzip.compress(xml.read_bytes(), 6))


def measure_text(path: str) -> int:
    """Return the size of all facts of the regions as text, packed by gzip -6."""
    from mmpscope import analysis

    [snapshot] = analysis.load(path)
    return len(gzip.compress("\n".join(_write_lines(snapshot)).encode(), 6))


def _write_lines(snapshot: Any) -> Iterator[str]:
    """Write each region as smaps has them: a line with its place and rights, then a line a counter in kB.

    What the system says of a whole allocation stands at its first region.
    """
    stated = {row["start"]: row for row in snapshot.decode("allocations").to_pylist()}
    for row in snapshot.raw_regions.to_pylist():
        facts = (
            row[name] or 0 for name in ("AllocationBase", "AllocationProtect", "State", "Protect", "Type")
        )
        end = row["start"] + row["size"]
        yield f"{row['start']:x}-{end:x} {' '.join(f'{fact:x}' for fact in facts)} {row['path'] or ''}"
        if (whole := stated.get(row["start"])) is not None:
            yield f"RegionType: {whole['RegionType']:x}"
            yield from _write_counters({"RegionSize": whole["size"], "CommitSize": whole["CommitSize"]})
        yield from _write_counters({"Size": row["size"]})
        yield from _write_counters({name: row[name] for name in row if name.endswith(("WS", "Shared"))})


def _write_counters(counters: dict[str, int | None]) -> Iterator[str]:
    for name, value in counters.items():
        yield f"{name + ':':16}{(value or 0) // 1024:8} kB"
