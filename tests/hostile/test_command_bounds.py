"""Every command on small inputs of very many snapshots: within 512 MiB and 10 s, or one sentence."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.analysis.density import MOST_UNCHOSEN
from support.mmp_builder import MmpBuilder, column, table
from support.mmp_command import PROGRAM

_MEMORY = 512 << 20
_ADDRESSES = 4 << 30
"""What libraries reserve and never touch (threads of numpy, pools of pyarrow) is no memory."""
_PROCESSOR_S = 10
TINY = b"1000-2000 rw-p 00000000 00:00 0 \n\n"

COMMANDS = {
    "info": "info IN", "verify": "verify IN", "summary": "summary IN", "regions": "regions IN",
    "free": "free IN", "fits": "free IN --fits 1M", "threads": "threads IN", "modules": "modules IN",
    "heaps": "heaps IN", "processes": "processes IN", "diff": "diff IN", "compare": "compare IN",
    "trend": "trend IN", "check": "check IN#0 --baseline IN", "report": "report IN -o OUT.html",
    "markdown": "report IN --markdown", "export": "export IN -t regions -o OUT.csv",
    "export free": "export IN -t free -o OUT.csv", "xml": "export IN --format vmmap-xml -o OUT.xml",
    "convert": "convert IN -o OUT.mmp", "redact": "redact IN -o OUT.mmp",
}  # fmt: skip
_OF_EACH = {"info", "verify", "convert", "redact"}
"""Commands that read every snapshot, and ask nothing about its memory: they have no bound of snapshots."""

_LONGER = {"report"}
"""A page holds the lists of each: it takes longer, as docs/reliability.md says."""


def _write_maps() -> bytes:
    return TINY * MOST_UNCHOSEN


def _write_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for number in range(2000):
            packed.writestr(zipfile.ZipInfo(f"{number:x}"), TINY[:-1])
    return stream.getvalue()


def _write_series() -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    capture, number = builder.add_capture({}), 0
    same = column("uint", "const", value=4096)
    while len(builder.data) < 900_000:  # the index comes behind
        tables = {"regions": table({"start": same, "size": same}, 1)}
        builder.add_snapshot({"tables": tables}, capture=capture, pid=1, time_ns=1 + number * 10**9)
        number += 1
    builder.close()
    return builder.data


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S))


def _run(command: str, content: Callable[[], bytes], folder: Path) -> tuple[int, bytes, bytes]:
    """Run a command on content within the limits; return exit code, output and errors."""
    path = folder / "IN"
    path.write_bytes(content())
    assert path.stat().st_size <= 1 << 20
    words = [word.replace("IN", str(path)).replace("OUT", str(folder / "out")) for word in command.split()]
    with (folder / "said").open("wb") as out, (folder / "errors").open("wb") as err:
        process = subprocess.Popen([str(PROGRAM), *words], stdout=out, stderr=err, preexec_fn=_limit)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert used.ru_maxrss * 1024 <= _MEMORY
    return process.returncode, (folder / "said").read_bytes(), (folder / "errors").read_bytes()


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - _LONGER))
def test_as_many_as_are_answered_for_take_no_longer(name: str, tmp_path: Path) -> None:
    """A text of as many maps as are answered for unasked has its answer."""
    code, said, errors = _run(COMMANDS[name], _write_maps, tmp_path)
    assert code in (0, 1, 4), errors[-500:]
    assert said or (tmp_path / "errors").stat().st_size or list(tmp_path.glob("out.*"))
    assert b"a fault of ours" not in errors


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - _OF_EACH))
def test_more_than_that_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """An archive of thousands of tiny maps is refused, and the sentence says how to choose."""
    code, said, errors = _run(COMMANDS[name], _write_zip, tmp_path)
    told = said + errors
    assert b"Choose some, as in" in b" ".join(told.split())
    assert b"IN#0:%d" % MOST_UNCHOSEN in told
    assert b"a fault of ours" not in told
    assert code == 3


@pytest.mark.parametrize("name", sorted(_OF_EACH))
@pytest.mark.parametrize("content", [_write_zip, _write_series])
def test_what_reads_every_snapshot_ends_in_time(
    name: str, content: Callable[[], bytes], tmp_path: Path
) -> None:
    """A listing and a copy of thousands of tiny snapshots have no bound but time."""
    code, _, errors = _run(COMMANDS[name], content, tmp_path)
    assert code in (0, 1), errors[-500:]


def test_a_series_of_one_process_is_its_last_snapshot(tmp_path: Path) -> None:
    """Nobody asked for more than the last of thousands: that is answered for."""
    code, said, errors = _run("summary IN", _write_series, tmp_path)
    assert (code, errors) == (0, b"")
    assert b"the last of" in said


def test_all_are_answered_for_where_they_were_chosen(tmp_path: Path) -> None:
    """FILE#0: is every snapshot, however many."""
    code, said, errors = _run("threads IN#0:400", lambda: TINY * 400, tmp_path)
    assert code == 4, errors[-500:]
    assert b"Choose some" not in said + errors
