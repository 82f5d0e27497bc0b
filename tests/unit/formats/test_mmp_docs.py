"""docs/format.md against the code: the same keys, names and limits, and its reader reads our files."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp import Plain, decode_table, encode_table, open_file, verify, write_file
from mmpscope.formats.mmp.columns import ENCODINGS, TYPES
from mmpscope.formats.mmp.frames import END_BYTES, MAGIC
from mmpscope.formats.mmp.header import VERSION
from mmpscope.formats.model import Capture, Column, Snapshot

_ROOT = Path(__file__).parents[3]
_TEXT = (_ROOT / "docs" / "format.md").read_text(encoding="utf-8")
_SAMPLES = sorted((_ROOT / "samples").glob("linux-*.mmp"))
"""What the printed reader prints, `perms`, is a column of Linux."""
_FROZEN = sorted((_ROOT / "tests" / "compat").glob("*.mmp"))


def _find_section(title: str) -> str:
    """Return the text below a heading, up to the next one of any level."""
    match = re.search(rf"^#+ [\d. ]*{re.escape(title)}$(.*?)(?=^#|\Z)", _TEXT, re.MULTILINE | re.DOTALL)
    assert match is not None, title
    return match[1]


def _list_rows(section: str) -> list[list[str]]:
    """Return the cells of all table rows of a section."""
    rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def _list_names(section: str) -> set[str]:
    """Return what stands in backquotes in the first cells of a section's tables."""
    return {name for row in _list_rows(section) for name in re.findall(r"`([^`]+)`", row[0])}


def _find_block(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", _TEXT, re.MULTILINE | re.DOTALL)


def test_every_encoding_and_type_is_described() -> None:
    """The tables of section 7 list just the encodings, types and keys that the code has."""
    rows = _list_rows(_find_section("Columns"))
    keys = {field.name for field in fields(Column)} - {"extra"}
    assert _list_names(_find_section("Columns")) == {*ENCODINGS, *TYPES, *keys}
    defaults = {row[0].strip("`"): row[3] for row in rows if len(row) == 4 and row[3].isdigit()}
    column = Column("uint", "plain")
    assert defaults == {name: str(getattr(column, name)) for name in ("width", "scale", "rows")}


def test_every_limit_is_described() -> None:
    """Section 12 has the default of every limit."""
    described = {row[0].strip("`"): row[1] for row in _list_rows(_find_section("Limits"))[1:]}
    assert described == {
        field.name: str(getattr(DEFAULT_LIMITS, field.name)) for field in fields(DEFAULT_LIMITS)
    }


def test_fixed_bytes_are_described() -> None:
    """Version, first bytes and the size of an end frame stand in the text."""
    assert f"version {VERSION[0]}.{VERSION[1]}" in _TEXT.splitlines()[0]
    assert MAGIC.hex(" ") in _TEXT
    assert f"always {END_BYTES} bytes" in _TEXT


def test_the_file_of_the_example_is_what_the_text_says() -> None:
    """The hex dump is a sound file of the two regions that stand below it."""
    data = bytes.fromhex("".join(line[6:53] for block in _find_block("hex") for line in block.splitlines()))
    assert verify(io.BytesIO(data)) == []
    with open_file(io.BytesIO(data)) as file:
        assert (file.closed, file.entries[0].pid) == (True, 7)
        columns = decode_table(file.read(0).tables["regions"])
    lines = [
        f"{start:x}-{start + size:x} {perms.decode()} {(path or b'').decode()}".rstrip()
        for start, size, perms, path in zip(*columns.values(), strict=True)
    ]
    assert lines == _find_block("text")[0].splitlines()


def test_every_fact_and_column_of_a_sample_is_described() -> None:
    """What the collector writes is in sections 5 and 6; counters have kernel names and are not listed."""
    tables = {row[0].strip("`"): row[2] for row in _list_rows(_find_section("Tables")) if len(row) == 3}
    known = {name: set(re.findall(r"`([^`]+)` [uti]\b", cell)) for name, cell in tables.items()}
    for path in _SAMPLES:
        with open_file(path) as file:
            snapshot = file.read(0)
        capture = snapshot.capture
        assert set(snapshot.process) <= _list_names(_find_section("`process`"))
        assert set(snapshot.moment) | set(capture.moment) <= _list_names(_find_section("`moment`"))
        assert set(capture.host) <= _list_names(_find_section("`host`"))
        assert set(capture.system) <= _list_names(_find_section("`system`"))
        for name, table in {**capture.tables, **snapshot.tables}.items():
            assert {column for column in table.columns if not column[0].isupper()} <= known[name]


def _run_reader(path: Path, folder: Path) -> list[str]:
    """Run the reader that section 14 prints."""
    script = folder / "reader.py"
    script.write_text(_find_block("python")[0], encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script), str(path)]
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, check=False, env=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def _read_regions(path: Path) -> list[str]:
    lines = []
    with open_file(path) as file:
        for entry in file.entries:
            tables = file.read(entry.index).tables
            if "regions" not in tables:
                continue
            columns = decode_table(tables["regions"])
            four = [columns[name] for name in ("start", "size", "perms", "path")]
            for start, size, perms, name in zip(*four, strict=True):
                text = (name or b"").decode("utf-8", "backslashreplace")
                lines.append(f"{start:x}-{(start + size):x} {perms.decode()} {text}")
    return [line for each in lines for line in each.splitlines()]


def _make_regions(rows: int) -> Snapshot:
    """Make regions in which each of the four columns gets another encoding as the number of rows changes."""
    columns = {
        "start": Plain("uint", [(row * 0x5000 + (row == 9) * (1 << 60)) for row in range(rows)]),
        "size": Plain(
            "uint", [0x1000 + 0x1000 * (row % 2 if rows % 2 else row) for row in range(rows)], len_of="start"
        ),
        "perms": Plain("text", [(b"r--p", b"rw-p", b"rw-p")[row % 3] for row in range(rows)], "utf-8"),
        "path": Plain(
            "text", [(b"/lib/a", None, b"/caf\xe9", b"")[row % min(rows, 4)] for row in range(rows)], "bytes"
        ),
        "VmFlags": Plain("text", [(b"rd", b"rd wr", b"wr")[row % 3] for row in range(rows)], "utf-8"),
    }
    return Snapshot(Capture(), tables={"regions": encode_table(columns, rows)})


def test_the_printed_reader_reads_what_we_write(tmp_path: Path) -> None:
    """Whatever encodings the writer picks for the four columns, the printed reader agrees with ours."""
    path = tmp_path / "a.mmp"
    write_file(path, [_make_regions(rows) for rows in (0, 1, 2, 3, 4, 7, 8, 201)])
    assert _run_reader(path, tmp_path) == _read_regions(path)


@pytest.mark.parametrize("path", [*_SAMPLES, *_FROZEN], ids=lambda path: path.stem)
def test_the_printed_reader_reads_every_sample(path: Path, tmp_path: Path) -> None:
    """A stranger's ten lines print the same regions as we do, also where a snapshot has none."""
    lines = _run_reader(path, tmp_path)
    assert lines == _read_regions(path)
    assert len(lines) >= 5
