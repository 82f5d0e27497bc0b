"""formats.mmp where the collector runs it: CPythons from 3.9 up, msgpack's pure-Python half."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file
from support.decoding import describe_file
from support.interpreters import find_pythons

_GOLDEN = Path(__file__).parents[2] / "compat" / "v1.0.mmp"
_PYTHONS = find_pythons()
_MSGPACK = find_spec("msgpack")

_SCRIPT = """
import sys
from mmpscope.formats.mmp import Plain, SnapshotWriter, copy_file, encode_table, open_file, verify
from mmpscope.formats.model import Capture, Snapshot
golden, path, copy = sys.argv[1:]
rows = 300
columns = {
    "start": Plain("uint", [row << 15 for row in range(rows)]),
    "size": Plain("uint", [16384 + 4096 * (row % 3) for row in range(rows)], len_of="start"),
    "path": Plain("text", [None if row % 3 else b"/lib/%d" % (row % 20) for row in range(rows)], "utf-8"),
    "Rss": Plain("uint", [4096 * (row * 7 % 5) for row in range(rows)]),
    "Pss": Plain("uint", [4096 * (row * 7 % 5) - (row % 10 == 1) * 1024 for row in range(rows)]),
}
with SnapshotWriter.create(path) as writer:
    writer.write_snapshot(Snapshot(Capture(), {"pid": 1}, {}, {"regions": encode_table(columns, rows)}))
with SnapshotWriter.append(path) as writer:
    writer.write_snapshot(Snapshot(Capture(), {"pid": 2}))
assert verify(path) == [] and verify(golden) == []
assert copy_file(golden, copy) == []
assert not {"numpy", "pandas", "pyarrow"} & set(sys.modules)
print(len(open_file(path).entries), sys.modules["msgpack"].Unpacker.__module__)
"""


def _run(python: Path, folder: Path, environment: dict[str, str]) -> str:
    """Run the script with nothing but formats and msgpack to import."""
    assert _MSGPACK is not None
    assert _MSGPACK.origin is not None
    source = Path(__file__).parents[3] / "formats"
    (folder / "lib" / "mmpscope").mkdir(parents=True)
    (folder / "lib" / "mmpscope" / "formats").symlink_to(source)
    (folder / "lib" / "msgpack").symlink_to(Path(_MSGPACK.origin).parent)
    command = [
        str(python),
        "-S",
        "-B",
        "-c",
        _SCRIPT,
        str(_GOLDEN),
        str(folder / "a.mmp"),
        str(folder / "copy.mmp"),
    ]
    variables = {"PATH": os.defpath, "PYTHONPATH": str(folder / "lib"), **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _check(folder: Path) -> None:
    with open_file(folder / "a.mmp") as file:
        tables = describe_file(file)["snapshots"][0]["tables"]
    assert sum(tables["regions"]["columns"]["Pss"]) == sum(
        4096 * (row * 7 % 5) - (row % 10 == 1) * 1024 for row in range(300)
    )
    with open_file(folder / "copy.mmp") as copy, open_file(_GOLDEN) as golden:
        assert describe_file(copy) == describe_file(golden)


def test_with_the_pure_python_msgpack(tmp_path: Path) -> None:
    """Without msgpack's compiled half files are written and read just the same."""
    assert _run(Path(sys.executable), tmp_path, {"MSGPACK_PUREPYTHON": "1"}) == "2 msgpack.fallback\n"
    _check(tmp_path)


@pytest.mark.real
@pytest.mark.skipif(not _PYTHONS, reason="no other CPython from 3.9 up")
@pytest.mark.parametrize("version", _PYTHONS)
def test_on_another_python(tmp_path: Path, version: str) -> None:
    """What one CPython writes with msgpack alone another one reads."""
    assert _run(_PYTHONS[version], tmp_path, {"MSGPACK_PUREPYTHON": "1"}).startswith("2 ")
    _check(tmp_path)
