"""Files whose counts agree and which cannot be true: `verify` says so, and no question ends in a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from support.mmp_builder import MmpBuilder, column, numbers, table
from support.mmp_command import run_mmp

COMMANDS = ("info", "summary", "regions", "free", "diff", "compare", "trend", "report -o page.html -f")
_EXIT_CODES = (0, 1, 2, 3, 4)
_PAGE = 4096


def write_lie(folder: Path, columns: Mapping[str, Sequence[int]], memory: int = 1 << 34) -> Path:
    """Write a file of two snapshots with such regions."""
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({"host": {"os": "linux"}, "system": {"meminfo": {"MemTotal": memory}}})
    rows = len(columns["start"])
    stored = {
        name: column("uint", "plain", width=8, data=numbers(values, 8)) for name, values in columns.items()
    }
    for moment in (1, 2):
        tables = {"regions": table(stored, rows)}
        builder.add_snapshot(
            {"process": {"pid": 1}, "tables": tables}, capture=capture, pid=1, time_ns=moment
        )
    builder.close()
    path = folder / "lie.mmp"
    path.write_bytes(builder.data)
    return path


LIES: dict[str, tuple[Mapping[str, Sequence[int]], str]] = {
    "ranges overlap": (
        {"start": [_PAGE, 2 * _PAGE], "size": [4 * _PAGE, _PAGE]},
        "a region overlaps another one",
    ),
    "the end is before the start": (
        {"start": [2 * _PAGE], "size": [2**64 - _PAGE]},
        "a range ends beyond 2^64",
    ),
    "the end wraps": ({"start": [2**64 - _PAGE], "size": [2 * _PAGE]}, "a range ends beyond 2^64"),
    "rss above size": (
        {"start": [_PAGE], "size": [_PAGE], "Rss": [2**40], "Pss": [0]},
        "Rss is larger than its region",
    ),
    "a counter below zero that wrapped (F35)": (
        {"start": [_PAGE], "size": [_PAGE], "Rss": [_PAGE], "Swap": [2**64 - 129_000_000]},
        "Swap is larger than its region",
    ),
    "pss above rss": (
        {"start": [_PAGE], "size": [4 * _PAGE], "Rss": [_PAGE], "Pss": [2 * _PAGE]},
        "Pss is larger than Rss",
    ),
    "more than the machine has": (
        {"start": [_PAGE], "size": [2**40], "Rss": [2**40], "Anonymous": [2**40]},
        "Anonymous adds up to more than the memory of the machine",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_verify_tells_a_lie(name: str, tmp_path: Path) -> None:
    """Exit code 1, and a line that says what cannot be, with the table and the snapshot."""
    columns, told = LIES[name]
    answer = run_mmp("verify", write_lie(tmp_path, columns))
    assert (answer.code, answer.err) == (1, "")
    assert f"{told} in table regions of snapshot 0" in answer.out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", LIES)
def test_no_question_about_a_lie_ends_in_a_crash(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer or one of the documented refusals."""
    monkeypatch.chdir(tmp_path)
    answer = run_mmp(*command.split(), write_lie(tmp_path, LIES[name][0]))
    assert answer.code in _EXIT_CODES, answer.err


def test_rows_that_tell_nothing_are_listed_without_a_crash(tmp_path: Path) -> None:
    """Threads of which no column is known have nothing to show, and are no fault of ours."""
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({"host": {"os": "linux"}})
    threads = table({"Rss": column("uint", "const", value=1)}, 2)
    builder.add_snapshot({"tables": {"threads": threads}}, capture=capture, pid=1, time_ns=1)
    path = tmp_path / "odd.mmp"
    path.write_bytes(builder.data)
    answer = run_mmp("threads", path)
    assert answer.code in (0, 4), answer.err


def test_what_is_true_is_not_called_a_lie(tmp_path: Path) -> None:
    """Regions that touch, the last page of all, and counters as large as they may be are whole."""
    columns = {"start": [_PAGE, 2 * _PAGE, 2**64 - _PAGE], "size": [_PAGE, _PAGE, _PAGE]}
    full = [_PAGE, _PAGE, _PAGE]
    path = write_lie(tmp_path, {**columns, "Rss": full, "Pss": full, "Anonymous": full})
    assert run_mmp("verify", path).code == 0
