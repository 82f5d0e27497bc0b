"""What the user asks for: the options of `mmp-collect`, parsed and checked against each other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from mmpscope.collector.base import Options
from mmpscope.collector.errors import UsageError
from mmpscope.collector.series import Plan
from mmpscope.formats._version import __version__

__all__ = ["Request", "parse_request"]

_SHORTEST_INTERVAL_S = 0.001
_MOST_DIGITS = 15
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|s|m|h|d)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_EPILOG = """examples:
  {prog} 4711                          one snapshot of process 4711
  {prog} nginx -o before.mmp           of the one process called nginx
  {prog} 4711 --interval 10s --duration 1h -o day.mmp
  {prog} 4711 --append day.mmp         one more into the same file
  {prog} -- ./server --port 80         start a program and watch it to its end
  {prog} --all -o host.mmp             one snapshot of each process that may be looked at

While a series runs: Enter takes a snapshot now and p pauses (on a terminal), SIGUSR1 takes one too;
Ctrl-C or SIGTERM ends it. Exit codes: 0 done, 2 usage, 3 cannot be read or written, 130 interrupted."""


@dataclass(frozen=True)
class Request:
    """One run; ``plan`` is None for a single snapshot, ``command`` empty unless a program is started."""

    target: str | None
    is_self: bool
    command: Sequence[str]
    output: str | None
    append: str | None
    force: bool
    plan: Plan | None
    options: Options
    root: str | None
    is_sure: bool
    redact: bool
    rebase: bool
    key: str | None
    is_list: bool
    verbosity: int


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise instead of printing: the entry point words all errors alike."""
        raise UsageError(f"{message}. {self.prog} --help lists the options.")


def parse_request(arguments: Sequence[str], prog: str) -> Request:
    """Parse a command line; UsageError where it cannot be followed, SystemExit after --help and --version."""
    arguments, command = _split_command(arguments)
    parsed = _make_parser(prog).parse_args(arguments)
    _check(parsed, command)
    return Request(
        target=parsed.target,
        is_self=parsed.is_self,
        command=command,
        output=parsed.output,
        append=parsed.append,
        force=parsed.force,
        plan=_make_plan(parsed, bool(command)),
        options=Options(
            light=parsed.light,
            full=parsed.full,
            max_regions=parsed.max_regions,
            processes=parsed.processes,
            budget_s=parsed.budget,
            freeze=parsed.freeze,
            freeze_limit_s=parsed.freeze_limit,
            command_lines=parsed.command_lines,
            every_process=parsed.every_process,
            debug_privilege=parsed.debug_privilege,
            heap_blocks=parsed.heap_blocks,
            heap_max_blocks=parsed.heap_max_blocks,
            heap_max_s=parsed.heap_max_time,
        ),
        root=parsed.proc,
        is_sure=parsed.yes,
        redact=parsed.redact,
        rebase=parsed.rebase,
        key=parsed.key,
        is_list=parsed.ps,
        verbosity=-1 if parsed.quiet else parsed.verbose,
    )


def _split_command(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Cut at the first `--`: what follows is a program and its arguments, even if they look like ours."""
    if "--" not in arguments:
        return list(arguments), []
    at = list(arguments).index("--")
    command = list(arguments[at + 1 :])
    if not command:
        raise UsageError("there is no command after --. Give the program to start.")
    return list(arguments[:at]), command


def _make_parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=prog,
        usage=f"{prog} [options] (PID | NAME | --self | --all | --ps | -- COMMAND ARGS)",
        description="Collect memory snapshots of one process, or of all, into a .mmp file.",
        epilog=_EPILOG.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "target",
        nargs="?",
        metavar="PID|NAME",
        help="pid, or name of a process (exact, or its unambiguous beginning)",
    )
    add("--self", action="store_true", dest="is_self", help="collect this very process, to try things out")
    add("--all", action="store_true", dest="every_process", help="collect every process, each once")
    add("--ps", action="store_true", help="list the processes to choose from")
    _add_output_options(parser)
    _add_series_options(parser)
    _add_extent_options(parser)
    _add_linux_options(parser)
    _add_windows_options(parser)
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    add(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="say what is being done",
    )
    add("--version", action="version", version=f"mmp-collect {__version__}")
    return parser


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="default: NAME-PID-TIME.mmp here; its name is printed"
    )
    group.add_argument("-f", "--force", action="store_true", help="replace FILE if it exists")
    group.add_argument("--append", metavar="FILE", help="add to a file made earlier")
    group.add_argument(
        "--redact", action="store_true", help="write tokens in place of names, which never reach the file"
    )
    group.add_argument(
        "--rebase", action="store_true", help="with --redact: move addresses by secret distances as well"
    )
    group.add_argument(
        "--key", metavar="FILE", help="the key of the tokens, made if it is not there (default: a random one)"
    )


def _add_series_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("series", "TIME is in seconds, or with a unit: 500ms, 10s, 5m, 2h, 1d")
    add = group.add_argument
    add("--interval", metavar="TIME", type=parse_time, help="time from one snapshot to the next (default 1s)")
    add("--count", metavar="N", type=_parse_count, help="end after N snapshots")
    add("--duration", metavar="TIME", type=parse_time, help="end after this time (default: with the process)")


def _add_extent_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to collect")
    add = group.add_argument
    add("--light", action="store_true", help="mappings and totals only: no counters, threads and modules")
    add("--full", action="store_true", help="counters of huge processes too, at the cost of a longer look")
    add(
        "--yes", action="store_true", help="do not ask before a look of more than a second (--full, --freeze)"
    )
    add(
        "--max-regions",
        metavar="N",
        type=_parse_count,
        default=Options.max_regions,
        help="a process with more mappings gets a light snapshot (default %(default)s)",
    )
    add(
        "--no-processes", action="store_false", dest="processes", help="leave the list of other processes out"
    )
    add("--command-lines", action="store_true", help="with the command lines of other processes")
    add("--proc", metavar="ROOT", help="proc file system to read (default /proc)")


def _add_linux_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("on Linux only").add_argument
    add(
        "--budget",
        metavar="TIME",
        type=parse_time,
        help="what a snapshot may take: a source that takes longer, by estimate, is left out and named",
    )
    add(
        "--freeze",
        action="store_true",
        help="hold all threads of the process (ptrace) while it is read, for a picture of one moment",
    )
    add(
        "--freeze-limit",
        metavar="TIME",
        type=parse_time,
        default=Options.freeze_limit_s,
        help="time after which it is let go, read or not (default 5s)",
    )


def _add_windows_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("on Windows only")
    add = group.add_argument
    add(
        "--debug-privilege",
        action="store_true",
        help="enable SeDebugPrivilege: an administrator sees other users' processes with it",
    )
    add(
        "--heap-blocks",
        action="store_true",
        help="add up the blocks of the heaps: takes long, and the process itself has to look at them",
    )
    add(
        "--heap-max-blocks",
        metavar="N",
        type=_parse_count,
        default=Options.heap_max_blocks,
        help="blocks after which that ends (default %(default)s)",
    )
    add(
        "--heap-max-time",
        metavar="TIME",
        type=parse_time,
        default=Options.heap_max_s,
        help="time after which it ends (default 10s)",
    )


def parse_time(text: str) -> float:
    """Parse a time to seconds: `0.5`, `500ms`, `10s`, `5m`, `2h`, `1d`; argparse's error where it is none."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time such as 0.5, 500ms, 10s, 5m, 2h or 1d")
    return float(match[1]) * _UNITS[match[2]]


def _parse_count(text: str) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is no number from 1 up")
    return int(text)


def _check(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    targets = [parsed.target is not None, parsed.is_self, parsed.every_process, parsed.ps, bool(command)]
    is_series = (parsed.interval, parsed.count, parsed.duration) != (None, None, None)
    conflicts = {
        "no process is given: a pid, a name, --self, --all, or -- and a command": not any(targets),
        "give one of pid or name, --self, --all, --ps, -- and a command": sum(targets) > 1,
        "--output and --append exclude each other": parsed.output is not None and parsed.append is not None,
        "--force and --append exclude each other": parsed.force and parsed.append is not None,
        "the name of the process is empty": parsed.target == "",
        "--output names no file": parsed.output == "",
        "--append names no file": parsed.append == "",
        "--key is of --redact": parsed.key is not None and not parsed.redact,
        "--rebase is of --redact": parsed.rebase and not parsed.redact,
        "--key names no file": parsed.key == "",
        "the tokens of one file are of one key: --append with --redact takes --key": parsed.redact
        and parsed.append is not None
        and parsed.key is None,
        "a snapshot needs a file, and - is none: it is written in parts": "-"
        in (parsed.output, parsed.append),
        "--light and --full exclude each other": parsed.light and parsed.full,
        "--self and --freeze exclude each other: a process cannot hold itself": parsed.is_self
        and parsed.freeze,
        "--no-processes and --command-lines exclude each other": parsed.command_lines
        and not parsed.processes,
        "--all takes one snapshot of each process: a series is of one process": parsed.every_process
        and is_series,
        f"an interval below {_SHORTEST_INTERVAL_S} s is none": parsed.interval is not None
        and parsed.interval < _SHORTEST_INTERVAL_S,
        "a program that is started cannot be found in another proc root": bool(command)
        and parsed.proc is not None,
    }
    for text, applies in conflicts.items():
        if applies:
            raise UsageError(f"{text}. Look at --help.")


def _make_plan(parsed: argparse.Namespace, is_launch: bool) -> Plan | None:
    if (parsed.interval, parsed.count, parsed.duration) == (None, None, None) and not is_launch:
        return None
    return Plan(
        Plan.interval_s if parsed.interval is None else parsed.interval, parsed.count, parsed.duration
    )
