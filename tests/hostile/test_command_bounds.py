"""Every command on small inputs of very many snapshots: within 512 MiB and 10 s, or one sentence."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.analysis.density import MOST_UNCHOSEN
from support.bounded import COMMANDS, run_bounded
from support.mmp_builder import MmpBuilder, column, table

TINY = b"1000-2000 rw-p 00000000 00:00 0 \n\n"

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


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - _LONGER))
def test_as_many_as_are_answered_for_take_no_longer(name: str, tmp_path: Path) -> None:
    """A text of as many maps as are answered for unasked has its answer."""
    code, said, errors = run_bounded(COMMANDS[name], _write_maps(), tmp_path)
    assert code in (0, 1, 4), errors[-500:]
    assert said or (tmp_path / "errors").stat().st_size or list(tmp_path.glob("out.*"))


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - _OF_EACH))
def test_more_than_that_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """An archive of thousands of tiny maps is refused, and the sentence says how to choose."""
    code, said, errors = run_bounded(COMMANDS[name], _write_zip(), tmp_path)
    told = said + errors
    assert b"Choose some, as in" in b" ".join(told.split())
    assert b"IN#0:%d" % MOST_UNCHOSEN in told
    assert code == 3


@pytest.mark.parametrize("name", sorted(_OF_EACH))
@pytest.mark.parametrize("content", [_write_zip, _write_series])
def test_what_reads_every_snapshot_ends_in_time(
    name: str, content: Callable[[], bytes], tmp_path: Path
) -> None:
    """A listing and a copy of thousands of tiny snapshots have no bound but time."""
    code, _, errors = run_bounded(COMMANDS[name], content(), tmp_path)
    assert code in (0, 1), errors[-500:]


def test_a_series_of_one_process_is_its_last_snapshot(tmp_path: Path) -> None:
    """Nobody asked for more than the last of thousands: that is answered for."""
    code, said, errors = run_bounded("summary IN", _write_series(), tmp_path)
    assert (code, errors) == (0, b"")
    assert b"the last of" in said


def test_all_are_answered_for_where_they_were_chosen(tmp_path: Path) -> None:
    """FILE#0: is every snapshot, however many."""
    code, said, errors = run_bounded("threads IN#0:400", TINY * 400, tmp_path)
    assert code == 4, errors[-500:]
    assert b"Choose some" not in said + errors
