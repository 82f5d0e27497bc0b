"""Builds and starts the process with very many mappings that several figures look at."""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures import Options
from samples.scenario import Scenario, build_program

__all__ = ["MAPPINGS", "start_mapper"]

MAPPINGS = 33_000


def start_mapper(options: Options, mappings: int = MAPPINGS) -> Scenario:
    """Start the mapper, blocked once it has made its mappings; 500 of them for a quick run."""
    folder = options.folder / "backing"
    folder.mkdir(exist_ok=True)
    program = build_program(Path(__file__).with_name("mapper.c"), options.folder)
    return Scenario(program, folder, str(500 if options.quick else mappings))
