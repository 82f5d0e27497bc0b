"""Names from strangers, from file to output: harmless where they are shown, intact where machines read."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.proc.reader import snapshot_from_text
from pyarrow import parquet
from support.loaded import make_raw_table
from support.mmp_command import run_mmp, run_program
from support.shop import make_shop, write_shop
from support.smaps_text import Block, MapLine, make_block

LONG = "/srv/" + "x" * 4990 + "/tail"
NAMES = [
    '=HYPERLINK("x")',
    "</script><b>",
    "/tmp/\x1b[31mred\x1b[0m",
    "/tmp/\u202egpj.exe",
    "/tmp/two  blanks",
    "+1",
    "@SUM(A1)",
    "-2+3",
    "/tmp/\u6587\u4ef6",
    LONG,
]
ODD = b"/tmp/caf\xe9"
"""A file name that is no UTF-8."""
NEWLINE = "/tmp/a\\012b"
"""How the kernel writes a newline in a name: seq_path escapes it."""
TOP = 0xFFFF_FFFF_FF60_0000
_STEP = 0x10_0000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A snapshot of regions with such names, of a process with such a name, and of the last page but some."""
    names = [name.encode() for name in NAMES] + [ODD, NEWLINE.encode(), None]
    lines = [
        MapLine(at * _STEP, at * _STEP + 0x1000, inode=at if name else 0, path=name)
        for at, name in enumerate(names, 1)
    ]
    lines.append(MapLine(TOP, TOP + 0x1000, b"--xp", path=b"[vsyscall]"))
    snapshot = snapshot_from_text(b"".join(make_block(Block(line, {"Rss": 4})) for line in lines))
    process = {"pid": 7, "name": "\x1b]0;owned\x07", "exe": "/\u202ex\n", "cmdline": ["=1", "a\nb", b"\xff"]}
    write_file(tmp_path / "odd.mmp", [replace(snapshot, process={**snapshot.process, **process})])
    return tmp_path / "odd.mmp"


COMMANDS = (
    "summary -v",
    "regions -v",
    "regions --flat",
    "free",
    "threads",
    "modules",
    "heaps",
    "processes",
    "info -v",
)


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("columns", [80, 160])
def test_f49_nothing_acts_on_a_terminal(words: str, columns: int, path: Path) -> None:
    """No control character, no direction mark, no byte of another encoding, in whatever width."""
    command, *more = words.split()
    answer = run_mmp(command, path, *more, columns=columns)
    is_unknown = command in ("threads", "modules", "processes")  # text of smaps has no such list
    assert (answer.code, bool(answer.err)) == ((4, True) if is_unknown else (0, False))
    said = answer.out + answer.err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said)
    if command == "regions":
        assert max(len(line) for line in answer.out.splitlines()[4:]) <= columns
        assert "\\x1b[31m" in answer.out
        assert "\\u202e" in answer.out


def test_a_name_of_5000_characters_is_shortened_in_the_middle(path: Path) -> None:
    """Both ends stay; the file has it whole."""
    [row] = [line for line in run_mmp("regions", path, "--flat").out.splitlines() if "/tail" in line]
    assert "/srv/xxx" in row
    assert len(row) <= 80


@pytest.mark.parametrize("table", ["regions", "allocations", "free"])
def test_f49_a_spreadsheet_runs_no_name(table: str, path: Path) -> None:
    """Text that a formula could begin with gets an apostrophe; numbers stay numbers, without one."""
    rows = list(csv.DictReader(io.StringIO(run_mmp("export", path, "-t", table, "--format", "csv").out)))
    cells = [cell for row in rows for cell in row.values() if cell]
    assert not [cell for cell in cells if cell[0] in "=@+\t\r"]
    assert not [cell for cell in cells if cell[0] == "-" and not re.fullmatch(r"-\d+", cell)]
    assert all(row["size"].isdecimal() for row in rows)


def test_f49_negative_numbers_stay_numbers(tmp_path: Path) -> None:
    """A delta below zero has neither quotes nor an apostrophe, as the column of a chart needs it."""
    shop = write_shop(tmp_path)
    text = run_mmp("export", f"{shop}#1", f"{shop}#0", "-t", "diff", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    deltas = {row["address_a"]: row["size_delta"] for row in rows}
    assert deltas["0x00007f0a90000000"] == "-8388608"
    assert ",-8388608," in text


def test_f49_json_and_parquet_hold_every_name_as_it_is(path: Path, tmp_path: Path) -> None:
    """Escapes are for people: a program gets the name, and a name that is no UTF-8 as bytes too."""
    text = run_mmp("regions", path, "--flat", "--json").out
    assert text.isascii()
    rows = json.loads(text)["rows"]
    assert [row["path"] for row in rows[: len(NAMES)]] == NAMES
    assert rows[len(NAMES)]["path_bytes"] == ODD.hex()
    output = tmp_path / "odd.parquet"
    assert run_mmp("export", path, "-o", output) == (0, "", "")
    table = parquet.read_table(output)
    assert table["path"].to_pylist()[: len(NAMES)] == NAMES
    assert table["path_bytes"].to_pylist()[len(NAMES)] == ODD
    assert table["path"].to_pylist()[len(NAMES) + 1] == NEWLINE


def test_f47_addresses_are_exact_through_every_output(path: Path, tmp_path: Path) -> None:
    """The last page of the address space comes through CSV, Parquet and pandas to the byte."""
    row = list(csv.DictReader(io.StringIO(run_mmp("export", path, "--format", "csv").out)))[-1]
    assert (row["address"], row["end"]) == (f"0x{TOP:016x}", f"0x{TOP + 4096:016x}")
    assert row["size"] == "4096"
    output = tmp_path / "odd.parquet"
    run_mmp("export", path, "-o", output)
    frame = pd.read_parquet(output)
    assert {str(frame[name].dtype).lower() for name in ("address", "end", "inode")} == {"uint64"}
    assert (frame["end"] - frame["address"] == 4096).all()
    assert frame["address"].iloc[-1] == TOP


def test_f47_an_unknown_address_makes_no_float_of_the_others(tmp_path: Path) -> None:
    """A column with a null stays uint64 in Parquet, and exact in pandas with Arrow's types."""
    first, _ = make_shop()
    threads = make_raw_table([{"tid": 1, "sp": TOP + 1}, {"tid": 2, "sp": None}])
    write_file(tmp_path / "t.mmp", [replace(first, tables={**first.tables, "threads": threads})])
    output = tmp_path / "t.parquet"
    assert run_mmp("export", tmp_path / "t.mmp", "-t", "threads", "-o", output) == (0, "", "")
    assert parquet.read_table(output)["sp"].to_pylist() == [TOP + 1, None]
    pointers = pd.read_parquet(output, dtype_backend="pyarrow")["sp"]
    assert pointers.isna().tolist() == [False, True]
    assert int(pointers.iloc[0]) == TOP + 1


def test_a_hostile_file_name_does_no_harm_either(tmp_path: Path) -> None:
    """The name of the input is a name, too: in an error and in the head."""
    hostile = tmp_path / "\x1b[31m\u202e.smaps"
    assert "\x1b" not in run_mmp("summary", hostile).err
    hostile.write_bytes(b"")
    answer = run_mmp("summary", hostile)
    assert not set("\x1b\u202e") & set(answer.out)
    assert not set("\x1b\u202e") & set(run_mmp("verify", hostile).out)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path: Path, encoding: str) -> None:
    """A Windows console and an old locale lack most characters; no name of a file ends a command."""
    path = tmp_path / "x.maps"
    path.write_bytes("7f0010000000-7f0010001000 r--p 00000000 08:01 7 /srv/β-数据.bin\n".encode())
    done = run_program("regions", path, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u6570\\u636e" in done.stdout
