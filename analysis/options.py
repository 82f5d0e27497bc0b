"""The options that commands share: one place, the same letters and words everywhere.

A command takes one of these groups as a single parameter; `expand_groups` shows its members to the command
line.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast, get_type_hints

import typer

__all__ = [
    "Inputs",
    "LatestInputs",
    "Listing",
    "Manner",
    "Opening",
    "Outlet",
    "Reading",
    "Running",
    "TypedListing",
    "Types",
    "Writing",
    "expand_groups",
]

_INPUT = "Files of any readable format, also packed; FILE#3, FILE#-1: one snapshot; folders; patterns; -."

Inputs = Annotated[list[str], typer.Argument(metavar="INPUT", help=_INPUT, show_default=False)]

LatestInputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help=f"{_INPUT} A series stands for the last snapshot of each process; FILE#0: is all of it.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Opening:
    """How inputs are opened."""

    partial: Annotated[
        bool, typer.Option("--partial", help="Take every whole snapshot of a damaged file.")
    ] = False


@dataclass(frozen=True)
class Reading(Opening):
    """How inputs are opened, and what their memory is taken for."""

    rules: Annotated[
        str | None,
        typer.Option("--rules", metavar="FILE", help="Your own classification rules (TOML), asked first."),
    ] = None


@dataclass(frozen=True)
class Outlet:
    """Where the answer goes."""

    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to FILE, by its extension: .csv .parquet .arrow .jsonl .json; else as text.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("-f", "--force", help="Replace an output that exists.")] = False


@dataclass(frozen=True)
class Writing(Outlet):
    """Where the answer goes and in which form."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False


@dataclass(frozen=True)
class Types:
    """Which types of memory."""

    type: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only this type, as in Heap; may be repeated."),
    ] = None


@dataclass(frozen=True)
class Listing:
    """How many rows are listed, and in which order."""

    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", metavar="N", min=0, help="At most N rows; 0 shows all."),
    ] = None
    sort: Annotated[
        str | None,
        typer.Option("--sort", metavar="COLUMN", help="Sort by COLUMN; largest numbers first."),
    ] = None


@dataclass(frozen=True)
class TypedListing(Types, Listing):
    """Which rows are listed of a table that has types of memory."""

    limit: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--limit",
            metavar="N",
            min=0,
            help="At most N allocations with their sub-blocks (--flat: N regions); 0 shows all.",
        ),
    ] = None


@dataclass(frozen=True)
class Running:
    """Who works where there are many files."""

    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="Processes that work; else one a processor."),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="URI", help="Work on a Dask cluster, as in tcp://10.0.0.1:8786."),
    ] = None


@dataclass(frozen=True)
class Manner:
    """How much is said, and how it looks."""

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes and warnings.")] = False
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Every detail; a traceback on a fault of ours.")
    ] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour (also: NO_COLOR).")] = False
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress on long work.")] = False


def expand_groups(
    function: Callable[..., int], end_with: Callable[[Callable[[], int]], None]
) -> Callable[..., None]:
    """Wrap a command so that typer sees the members of its option groups as options of their own.

    The wrapper builds the groups and hands the finished call to ``end_with``, which makes an exit code of it.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    groups = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    shown = [
        _make_parameter(name, hint, defaults[name]) for name, hint in hints.items() if name not in groups
    ]
    members = {name: [field.name for field in dataclasses.fields(group)] for name, group in groups.items()}
    for group in groups.values():
        typed = get_type_hints(group, include_extras=True)
        shown += [_make_parameter(f.name, typed[f.name], f.default) for f in dataclasses.fields(group)]

    def call(**given: object) -> None:
        for name, group in groups.items():
            given[name] = cast("type[Any]", group)(**{member: given.pop(member) for member in members[name]})
        end_with(lambda: function(**given))

    # typer asks for both: the order and defaults of the signature, the plain types of the annotations
    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # every function may carry one (PEP 362)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return call


def _make_parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
