"""Every command on small inputs of very many rows: within 512 MiB and 10 s, or one sentence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.density import MOST_ROWS
from support.bounded import COMMANDS, run_bounded
from support.effort import scale
from support.mmp_builder import MmpBuilder, column, numbers, table, texts

_ALLOWED, _MANY = MOST_ROWS - 10, 1 << 20
_ANSWER = sorted(COMMANDS.keys() - {"info", "verify", "convert"})
"""Commands that answer about memory, or write it anew: they have a bound of rows."""
_SAME = column("uint", "const", value=4096)
_SIZES = (
    *("Rss", "Pss", "Private_Dirty", "Private_Clean", "Shared_Clean", "Shared_Dirty", "Referenced"),
    *("Anonymous", "Swap", "SwapPss", "Locked", "KernelPageSize", "LazyFree"),
)


def _space(rows: int) -> dict[str, Any]:
    """Return regions of a page each, with a hole of a page behind it."""
    return {"start": column("uint", "delta", width=2, scale=4096, data=numbers([2] * rows, 2)), "size": _SAME}


def _write(tables: dict[str, Any], count: int = 1) -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    capture = builder.add_capture({})
    for number in range(count):
        builder.add_snapshot({"tables": tables}, capture=capture, pid=1, time_ns=1 + number * 10**9)
    builder.close()
    return builder.data


def _columns(rows: int, more: int = 0) -> dict[str, Any]:
    kib = column("uint", "plain", width=1, scale=1024, data=bytes(4 * (row % 2) for row in range(rows)))
    perms = column(
        "text", "dict", width=1, data=bytes(row % 2 for row in range(rows)), values=texts([b"rw-p", b"r--p"])
    )
    unknown = (f"c{number}" for number in range(more))
    return {**_space(rows), "perms": perms, **dict.fromkeys((*_SIZES, *unknown), kib)}


@cache
def _write_names() -> bytes:
    """Make as many regions as are answered for unasked, each with a name of its own."""
    names = texts([b"/srv/demo/lib%x.so" % row for row in range(_ALLOWED)])
    return _write({"regions": table({**_columns(_ALLOWED), "path": names}, _ALLOWED)})


@cache
def _write_wide() -> bytes:
    """Make as many with as many columns as a row may have."""
    return _write({"regions": table(_columns(_ALLOWED, 64 - 3 - len(_SIZES)), _ALLOWED)})


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_as_many_rows_as_are_answered_for_take_no_more(name: str, tmp_path: Path) -> None:
    """Names that all differ cost most."""
    said = run_bounded(COMMANDS[name], _write_names(), tmp_path)
    assert said.code in (0, 1, 2, 4), said.errors[-500:]  # 2: `diff` of one snapshot


@pytest.mark.parametrize("name", sorted(COMMANDS)[:: len(COMMANDS) // scale(len(COMMANDS))])
def test_as_many_columns_as_a_row_may_have_take_no_more(name: str, tmp_path: Path) -> None:
    """Columns that no version of ours knows are decoded all the same."""
    said = run_bounded(COMMANDS[name], _write_wide(), tmp_path)
    assert said.code in (0, 1, 2, 4), said.errors[-500:]


@pytest.mark.parametrize("name", _ANSWER)
def test_a_million_rows_in_few_bytes_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """The sentence says how to have the answer all the same."""
    content = _write({"regions": table({"start": _SAME, "size": _SAME}, _MANY)}, 2)
    assert len(content) < 800
    said = run_bounded(COMMANDS[name].replace("IN#0", "IN"), content, tmp_path)
    told = b" ".join((said.out + said.errors).split())
    assert said.code == (0 if name == "processes" else 3) or b"cannot tell the processes" in told
    assert said.code != 3 or b", or all of them: " in told


def test_what_was_chosen_is_answered_for(tmp_path: Path) -> None:
    """Whoever names a snapshot has its answer, however large."""
    content = _write({"regions": table(_space(_MANY), _MANY)})
    assert run_bounded("info IN", content, tmp_path).code == 0
    said = run_bounded("redact IN#0 -o OUT.mmp", content, tmp_path)
    assert said.code == 0, said.errors


@pytest.mark.parametrize("command", ["redact IN -o OUT.mmp", "trend IN", "report IN -o OUT.html"])
def test_all_snapshots_of_an_input_have_a_bound_together(command: str, tmp_path: Path) -> None:
    """Two hundred that are each small enough are 15 million rows."""
    rows = MOST_ROWS // 2
    said = run_bounded(command, _write({"regions": table(_space(rows), rows)}, 200), tmp_path)
    assert said.code == 3
    assert b"than are read unasked of so few bytes" in said.errors


def test_verify_says_which_tables_it_did_not_decode(tmp_path: Path) -> None:
    """Four hundred snapshots of a million rows in 0.9 MB would take minutes; --all takes them."""
    content = _write({"regions": table(_space(_MANY), _MANY)}, 380)
    said = run_bounded("verify IN", content, tmp_path)
    told = b" ".join(said.out.split())
    assert said.code == 1
    assert b"more has more cells than are decoded of so few bytes (`mmp verify --all` decodes them)" in told
    few = _write({"regions": table(_space(_MANY), _MANY)}, 8)
    assert run_bounded("verify IN", few, tmp_path).code == 1
    assert run_bounded("verify --all IN", few, tmp_path).code == 0


@pytest.mark.parametrize("text", [b"/" + b"n" * 60_000, b"/" + b"n" * 2_000])
def test_a_name_is_as_long_as_often_as_it_stands_there(text: bytes, tmp_path: Path) -> None:
    """One of 60,000 letters in each of 149,000 regions is 9 GB of text, in 1.3 KB."""
    path = column("text", "const", value=text)
    content = _write({"regions": table({**_space(_ALLOWED), "path": path}, _ALLOWED)})
    said = run_bounded("export IN -t regions -o OUT.csv", content, tmp_path)
    assert said.code == 3
    assert b"or text, than are read unasked" in b" ".join(said.errors.split())


def test_how_rows_were_printed_is_no_text_that_is_shown(tmp_path: Path) -> None:
    """A kilobyte for each region of smaps, which 65,530 regions have 67 MB of."""
    layout = column("text", "const", value=b"l" * 1000)
    rows = 130_000
    content = _write({"regions": table({**_space(rows), "layout": layout}, rows)})
    assert run_bounded("summary IN", content, tmp_path).code == 0


def test_columns_that_refer_to_each_other_are_no_way_around(tmp_path: Path) -> None:
    """Each is decoded anew for every column that refers to it."""
    rows, columns = _MANY, _space(_MANY)
    zeros = bytes(rows)
    for number in range(50):
        of = f"c{number - 1}" if number % 15 else "start"
        columns[f"c{number}"] = column("uint", "diff", width=1, of=of, data=zeros)
    said = run_bounded("verify IN", _write({"regions": table(columns, rows)}), tmp_path)
    assert said.code == 1
    assert b"--all" in said.out


def test_a_table_that_shrinks_to_a_thousandth_is_refused(tmp_path: Path) -> None:
    """900 MB of text in 0.9 MB took 1.9 GB for a list of snapshots."""
    rows = 1 << 18
    ends = column("uint", "delta", width=2, data=numbers([3600] * rows, 2))
    text = column("text", "plain", rows=rows, data=bytes(3600 * rows), ends=ends)
    content = _write({"regions": table({"start": _SAME, "size": _SAME, "path": text}, rows)})
    said = run_bounded("info IN", content, tmp_path)
    assert said.code == 3
    assert b"is beyond the limit" in said.errors
