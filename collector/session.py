"""One run of the collector: find the process, collect, write, and say what became of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mmpscope.collector.base import Target, open_collector
from mmpscope.collector.cost import Cost
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.collector.events import Cut, Events, interruptible
from mmpscope.collector.everyone import Everyone
from mmpscope.collector.find import find_process, parse_pid
from mmpscope.collector.keys import find_keyboard
from mmpscope.collector.names import make_file_name, printable
from mmpscope.collector.request import Request
from mmpscope.collector.series import Plan, Series
from mmpscope.collector.speech import ask, print_path, tell
from mmpscope.collector.usage import describe_usage
from mmpscope.formats.errors import MmpError, OutputError, OutputExistsError
from mmpscope.formats.mmp.writer import SnapshotWriter
from mmpscope.formats.model import Capture

if TYPE_CHECKING:
    from mmpscope.collector.launch import Program
    from mmpscope.formats.redaction import Redactor

__all__ = ["Session"]

_POLL_S = 0.2
"""How often to look whether a program that we started has ended."""
_MUCH_S = 1.0
"""Beyond this the user is asked before the counters are read."""
_CAPTURE_AGE_S = 60.0
"""A series collects the facts of the whole system again when they are older than this."""


class Session:
    """Does what ``request`` asks for; ``prog`` begins each line that it says on stderr."""

    def __init__(self, request: Request, prog: str) -> None:
        self._request = request
        self._prog = prog
        options = request.options
        if not (options.full or options.freeze or options.every_process) and options.budget_s is None:
            options = replace(options, on_cost=self._tell_cost)
        self._collector = open_collector(options, request.root)
        self._capture: Capture | None = None
        self._captured_at = 0.0
        self._count = 0
        self._said: set[str] = set()
        self._is_cost_told = False
        self._cut = Cut()
        self._redactor = self._make_redactor()

    def run(self) -> None:
        """Run to the end; MmpError, or KeyboardInterrupt before the first whole snapshot."""
        request = self._request
        _check_output(request)
        try:
            if request.command:
                self._run_program(request.plan or Plan())
            elif request.options.every_process:
                self._run_everyone()
            elif request.plan is not None:
                self._run_series(request.plan)
            else:
                self._run_once()
        except KeyboardInterrupt:
            if not self._count:  # else it came when all was written, and our handlers were gone again
                raise

    def _make_redactor(self) -> Redactor | None:
        """Make what takes names out of snapshots before they are written, where that is asked for."""
        if not self._request.redact:
            return None
        from mmpscope.formats import redaction  # most do without

        path = self._request.key
        if path is None:
            self._say(
                "names become tokens of a random key, which is thrown away: no other file has the same."
            )
            return redaction.Redactor(redaction.make_key(), rebase=self._request.rebase)
        output = self._request.append or self._request.output
        if output is not None:
            redaction.keep_apart(path, output)
        key, is_new = redaction.load_key(path)
        if is_new:
            self._say(f"{path} is a new key: {redaction.KEEP_IT}.")
        return redaction.Redactor(key, rebase=self._request.rebase)

    def _run_once(self) -> None:
        with interruptible(self._cut), closing(self._find_target()) as target:
            self._confirm_target(target)
            path = self._choose_path(target.name, target.pid)
            with self._open_writer(path) as writer:
                self._take(target, writer)
            self._print_path(path)

    def _run_series(self, plan: Plan) -> None:
        with interruptible(self._cut):
            target = self._find_target()
            self._confirm_target(target)
        keyboard = find_keyboard()
        with closing(target), Events(keyboard, self._cut) as events:
            path = self._choose_path(target.name, target.pid)
            if keyboard is not None and keyboard.is_listening:
                self._say("Enter takes a snapshot now, p pauses, Ctrl-C ends.")
            with self._telling_what_is_kept(path), self._open_writer(path) as writer:
                ended_by = self._watch(target, plan, writer, events)
                if ended_by is not None:
                    self._write_note(writer, ended_by)
            if ended_by is not None:
                self._say(f"{ended_by}; {self._describe_file(path)}.")
            self._print_path(path)

    def _run_everyone(self) -> None:
        """Take one snapshot of each process that opens; a Ctrl-C ends it after the one in the making."""
        with interruptible(self._cut):
            everyone, self._capture = self._find_everyone()
        with Events(cut=self._cut) as events:
            told = everyone.judge()
            self._capture.capability.append(told)
            path = self._choose_path(b"all", None)
            with self._telling_what_is_kept(path), self._open_writer(path) as writer:
                ended_by = self._visit(everyone, writer, events)
                text = everyone.describe_refused()
                if not self._count:
                    raise CollectError(f"no process could be read. {text or 'None has any memory'}.")
                for note in filter(None, (ended_by, text if text != told.reason else None)):
                    self._write_note(writer, note)
            for sentence in filter(None, (text, ended_by)):
                self._say(f"{sentence}; {self._describe_file(path)}.")
            self._print_path(path)

    def _find_everyone(self) -> tuple[Everyone, Capture]:
        with self._cut.allowed():
            everyone = Everyone(self._collector)
            everyone.check()
        self._confirm_cost("all processes", everyone.cost)
        with self._cut.allowed():
            return everyone, everyone.take_capture()

    def _visit(self, everyone: Everyone, writer: SnapshotWriter, events: Events) -> str | None:
        """Take the snapshots, and tell what ended that before it was done."""
        try:
            for _ in everyone.visit(lambda target: self._take(target, writer)):
                if events.stopped_by is not None:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not self._count:
                raise
            return f"stopped by {events.stopped_by}"
        return None

    def _run_program(self, plan: Plan) -> None:
        from mmpscope.collector.launch import launch  # subprocess costs more than all the rest of us

        command = self._request.command
        self._refresh_capture()
        path = self._choose_path(os.fsencode(Path(command[0]).name), None)
        program: Program | None = None
        with Events(cut=self._cut) as events:
            try:
                with self._telling_what_is_kept(path), self._open_writer(path) as writer:
                    program = launch(command)
                    self._watch_program(program, plan, writer, events)
                    end = program.describe_end()
                    self._write_note(writer, end, command)
            except MmpError as error:
                if program is not None and program.is_running() and events.stopped_by is None:
                    self._outlive(program, error, events)
                raise
            self._say(f"{end}; {self._describe_file(path)}.")

    def _watch_program(self, program: Program, plan: Plan, writer: SnapshotWriter, events: Events) -> None:
        try:
            with closing(self._collector.open_target(program.pid)) as target:
                self._watch(target, plan, writer, events)
        except CollectError as error:
            if self._count or program.is_running():
                raise
            raise CollectError(f"{program.describe_end()} before I could read its memory.") from error
        _wait_for(program, events)

    def _outlive(self, program: Program, error: MmpError, events: Events) -> NoReturn:
        """Say at once what ends the snapshots, and stay until the program ends.

        If we went first, the shell or service manager that started us would take it for ended, or end it.
        """
        tell(self._prog, f"{error} The program goes on without snapshots; I end when it does.")
        _wait_for(program, events)
        raise CollectError(f"{program.describe_end()}; the snapshots had ended before it.") from error

    def _find_target(self) -> Target:
        with self._cut.allowed():
            wanted = self._request.target
            own_pid = self._collector.own_pid()
            if wanted is None:
                if own_pid is None:
                    raise CollectError(f"we do not run in {self._request.root}. Give a pid.")
                return self._collector.open_target(own_pid)
            pid = parse_pid(wanted)
            if pid is not None:
                return self._collector.open_target(pid)
            found = find_process(wanted, self._collector.list_processes(), own_pid)
            return self._collector.open_target(found.pid, found.starttime)

    def _confirm_target(self, target: Target) -> None:
        with self._cut.allowed():
            cost = target.estimate_cost()
        self._confirm_cost(f"process {target.pid} ({printable(target.name)})", cost)

    def _confirm_cost(self, who: str, cost: Cost | None) -> None:
        """Have the user agree to what takes long; UsageError where there is nobody to ask."""
        if cost is None or cost.counters_s <= _MUCH_S:
            return
        held = ", and is held still meanwhile" if self._request.options.freeze else ""
        sentence = f"{who}: {cost.describe()}{held}."
        if self._request.is_sure:
            self._say(sentence)
            return
        with self._cut.allowed():
            answer = ask(self._prog, f"{sentence} --light leaves them out. Go on? [y/N] ")
        if answer is None:
            raise UsageError(f"{sentence} --yes goes on, --light leaves them out.")
        if not answer:
            raise KeyboardInterrupt

    def _tell_cost(self, cost: Cost) -> None:
        """Tell once what takes long and was not asked for, before it begins."""
        if cost.counters_s > _MUCH_S and not self._is_cost_told:
            self._is_cost_told = True
            self._say(f"{cost.describe()}. --light leaves them out.")

    def _choose_path(self, name: bytes, pid: int | None) -> str:
        shown = name if self._redactor is None else b"process"  # the name of a file tells as well
        return self._request.append or self._request.output or make_file_name(shown, pid, time.time())

    def _write_note(self, writer: SnapshotWriter, text: str, command: Sequence[str] = ()) -> None:
        """Write how a series ended, and the command that was started; redacted where that is asked for."""
        redactor, words = self._redactor, " ".join(command)
        if redactor is not None:
            text, words = redactor.redact_sentence(text), redactor.redact_command(command) if command else ""
        writer.write_note(f"{text}: {words}" if command else text)

    def _open_writer(self, path: str) -> SnapshotWriter:
        request = self._request
        if request.append is not None:
            return SnapshotWriter.append(path)
        series = bool(request.plan or request.command or request.options.every_process)
        return SnapshotWriter.create(path, force=request.force, series=series)

    def _watch(self, target: Target, plan: Plan, writer: SnapshotWriter, events: Events) -> str | None:
        """Run a series, and tell what ended it before its plan was fulfilled."""
        series = Series(target, plan, lambda: self._take(target, writer), events, self._say)
        try:
            return series.run()
        except KeyboardInterrupt:  # somebody did not want to wait for the snapshot in the making
            if not self._count:
                raise
            return f"stopped by {events.stopped_by}"

    def _take(self, target: Target, writer: SnapshotWriter) -> None:
        with self._cut.allowed():
            capture = self._refresh_capture()
            snapshot = target.take_snapshot(capture)
        writer.write_snapshot(snapshot if self._redactor is None else self._redactor.redact(snapshot))
        self._count += 1
        stay = [] if self._redactor is None else [f"{reason}." for reason in self._redactor.unmoved]
        for notice in [*target.notices, *stay]:
            if notice not in self._said:
                self._said.add(notice)
                self._say(notice)
        target.notices.clear()
        if self._request.verbosity > 0:
            rows = snapshot.tables["regions"].rows
            self._say(
                f"snapshot {self._count}: {rows} regions, read in {snapshot.moment['read_ns'] / 1e6:.1f} ms"
            )

    def _refresh_capture(self) -> Capture:
        now = time.monotonic()
        is_old = now - self._captured_at > _CAPTURE_AGE_S and not self._request.options.every_process
        if self._capture is None or is_old:
            self._capture = self._collector.take_capture()
            self._captured_at = now
        return self._capture

    @contextmanager
    def _telling_what_is_kept(self, path: str) -> Iterator[None]:
        """Where an error ends a series, say that what was written before is not lost."""
        try:
            yield
        except MmpError:
            if self._count:
                self._say(f"{self._describe_file(path)}; nothing of them is lost.")
            raise

    def _describe_file(self, path: str) -> str:
        return f"{self._count} {'snapshot is' if self._count == 1 else 'snapshots are'} in {path}"

    def _say(self, text: str) -> None:
        if self._request.verbosity >= 0:
            tell(self._prog, text)

    def _print_path(self, path: str) -> None:
        """Print the result: where the snapshots are; and what they cost us, where details are wanted."""
        if self._request.verbosity > 0:
            self._say(describe_usage(path))
        if self._request.verbosity >= 0:
            print_path(path, f"{'The snapshot is' if self._count == 1 else 'The snapshots are'} in {path}.")


def _check_output(request: Request) -> None:
    """Refuse what cannot be written to before anything is asked of a process."""
    output, append = request.output, request.append
    if output is not None and not request.force and os.path.lexists(output):
        raise OutputExistsError(f"{output} exists. Use --force to replace it, or name another file.")
    if append is not None and Path(append).exists() and not Path(append).is_file():
        raise OutputError(f"{append}: it is no regular file. Name a .mmp file to add to.")


def _wait_for(program: Program, events: Events) -> None:
    """Wait until the program ends or somebody says stop; looked at, as older kernels have no pidfd."""
    while program.is_running() and events.stopped_by is None:
        events.wait(_POLL_S, None)
