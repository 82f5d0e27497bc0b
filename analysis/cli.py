"""The command `mmp`: which commands there are, and how one is found when it is asked for.

A command's module is imported only when it runs: `mmp --help` costs no more than typer itself.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.options import expand_groups
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["COMMANDS", "make_app"]

COMMANDS = {
    "collect": "Collect snapshots of a running process into one file.",
    "ps": "List the processes that could be collected.",
    "info": "Tell what a file is: its snapshots, where they come from, what is missing and why.",
    "verify": "Read every byte of a file and name each damage.",
    "summary": "Sum up a process by type of memory.",
    "regions": "List the memory of a process, allocation by allocation.",
    "threads": "List the threads of a process and their stacks.",
    "modules": "List the programs and libraries that a process has mapped.",
    "heaps": "List the heaps of a process.",
    "processes": "List the processes that ran beside a snapshot.",
    "free": "Show the holes of an address space, and what would still fit.",
    "diff": "Compare snapshots of a process: what is new, gone, grown or shrunk.",
    "trend": "Tell of a series of snapshots whether a process leaks: what grows, how fast, and until when.",
    "compare": "Put many snapshots side by side: a row each, and which of them are odd.",
    "check": "Check a snapshot against budgets and a baseline, as in CI.",
    "report": "Make one HTML file of any number of snapshots, to look at and to attach to a bug report.",
    "view": "Look at snapshots in a browser: the page of `mmp report`, made in a temporary place and opened.",
    "dataset": "Keep snapshots as Parquet that grows as files arrive, and ask it in SQL.",
    "export": "Write one table of any number of snapshots to a file.",
    "convert": "Write what any readable files hold into one .mmp file, losing nothing.",
    "redact": "Write what any readable files hold into .mmp files without names, to give away.",
    "formats": "List the formats that can be read, and what each can and cannot tell.",
}
"""Every command with its one sentence: the first line of its module, repeated so that help imports none."""

_EPILOG = "`mmp COMMAND --help` tells more. A first look: `mmp collect PID -o a.mmp && mmp summary a.mmp`."

_make_typer = functools.partial(
    typer.Typer, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)
"""Plain help: that of rich takes twice the time."""


_WORDS = ((str | None,), (list[str],), (list[str] | None,))
"""What options and arguments of words are annotated with."""


def _spare_conversions(parameters: list[Any], words: Collection[str]) -> list[Any]:
    """Have parameters take words, and nothing, as they are, and leave every other value to typer.

    typer converts with pydantic, whose import costs more than a whole small answer (0.06 s).
    """
    for parameter in parameters:
        if not isinstance(parameter.process_value, functools.partial):
            process = functools.partial(_take, parameter, parameter.process_value, parameter.name in words)
            parameter.process_value = process
    return parameters


def _take(parameter: Any, process: Callable[..., Any], is_words: bool, ctx: Any, value: Any) -> Any:
    is_absent = value is None and not parameter.required
    if parameter.name == "inputs" and not value and _is_piped_in():
        ctx.fail(
            f"Missing argument 'INPUT': to read what is piped in, give -, as in `mmp {ctx.info_name} -`."
        )
    return value if is_absent or (is_words and value) else process(ctx, value)


def _is_piped_in() -> bool:
    return sys.stdin is not None and not sys.stdin.isatty()


class PlainCommand(TyperCommand):
    """A command whose ``words`` are the names of the parameters that need no conversion."""

    words: Collection[str] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, --help among them."""
        return _spare_conversions(super().get_params(ctx), self.words)


class LazyGroup(TyperGroup):
    """A group that knows its commands by name, and imports a command's module when it is asked for.

    ``table`` has its commands; the name of a command's module has ``prefix`` before that of the command.
    """

    table: Mapping[str, str] = COMMANDS
    prefix = ""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, sentence in self.table.items():
            self.add_command(TyperCommand(name, short_help=sentence))

    # click's context is another class in each release of typer: hence Any
    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, --help among them."""
        return _spare_conversions(super().get_params(ctx), ())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and build one command; None where there is none of that name."""
        return _build_command(cmd_name, self.prefix) if cmd_name in self.table else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed; UsageError where that is a file, and no command."""
        word = args[0]
        if not self.prefix and word not in self.table and _is_file(word):
            is_there = Path(word.partition("#")[0]).exists()
            what = "standard input" if word == "-" else "a file" if is_there else "no command, maybe a file"
            raise UsageError(f"{word} is {what}: ask something of it, as in `mmp summary {word}`")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))


def _is_file(word: str) -> bool:
    """Whether a word that is no command is a file or is named like one: a path, or with an extension."""
    stem, _, _ = word.partition("#")
    return word == "-" or os.sep in stem or Path(stem).suffix != "" or (stem != "" and Path(stem).exists())


class ForwardCommand(TyperCommand):
    """A command that hands its words on unread: the collector reads its own command line.

    ``--`` and options that only the collector knows must reach it as they were typed.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words; parse none."""
        ctx.args = list(args)
        return []


def make_app() -> Any:
    """Build the command line; calling it runs the command of sys.argv and raises SystemExit."""
    app = _make_typer(
        cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True
    )
    app.callback(epilog=_EPILOG)(_start)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from mmpscope.formats._version import __version__

        print(f"mmp {__version__}")
        raise typer.Exit


def _start(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Collect, compare and explain process memory snapshots, offline."""


def _build_command(name: str, prefix: str = "") -> Any:
    module = importlib.import_module(f"mmpscope.analysis.commands.{prefix}{name}")
    if hasattr(module, "COMMANDS"):
        return _build_group(name, module)
    app = _make_typer()
    if hasattr(module, "forward"):
        app.command(name, cls=ForwardCommand, help=module.__doc__)(_make_forward(module))
        return get_command(app)
    function = expand_groups(module.run, _end_with)
    app.command(name, cls=PlainCommand, help=module.__doc__)(function)
    command: Any = get_command(app)
    annotations = function.__annotations__
    command.words = {name for name, kind in annotations.items() if get_args(kind)[:1] in _WORDS}
    return command


def _build_group(name: str, module: ModuleType) -> Any:
    """Build a command that has subcommands of its own: `mmp dataset build` is commands/dataset_build.py."""
    group = type("SubGroup", (LazyGroup,), {"table": module.COMMANDS, "prefix": f"{name}_"})
    app = _make_typer(name=name, cls=group, help=module.__doc__, no_args_is_help=True)
    app.callback()(_start_group)
    return get_command(app)


def _start_group() -> None:
    """Do nothing: the subcommand does the work."""


def _make_forward(module: ModuleType) -> Callable[[typer.Context], None]:
    def forward(ctx: typer.Context) -> None:
        _end_with(lambda: module.forward(ctx.args))

    return forward


def _end_with(work: Callable[[], int]) -> None:
    """End the program with the exit code that ``work`` returns, where typer would choose its own."""
    try:
        code = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader had enough, as in `mmp regions a.mmp | head`: quiet, and no failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        code = 0
    if code:
        raise typer.Exit(code)
