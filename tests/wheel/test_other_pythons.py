"""The wheel on the other CPythons that it is for, each in an environment of its own with all extras."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.interpreters import find_pythons

ROOT = Path(__file__).parents[2]
PYTHONS = {
    version: python
    for version, python in find_pythons().items()
    if (minor := int(version.split(".")[1])) >= 11 and minor != sys.version_info[1]
}
COMMANDS = """
info linux-java-v1.0.mmp
verify linux-java-v1.0.mmp
summary linux-java-v1.0.mmp --json
regions windows-wow64-v1.0.mmp -n 5
free linux-fragmented-v1.0.mmp --fits 64M
diff linux-reserve-commit-a-v1.0.mmp linux-reserve-commit-b-v1.0.mmp --json
trend linux-leak-v1.0.mmp
compare linux-workers-a-v1.0.mmp linux-workers-b-v1.0.mmp
check linux-reserve-commit-b-v1.0.mmp --baseline linux-reserve-commit-a-v1.0.mmp
export linux-java-v1.0.mmp --format csv
export linux-java-v1.0.mmp -o {folder}/a.parquet
report linux-reserve-commit-a-v1.0.mmp -o {folder}/a.html
redact linux-java-v1.0.mmp --key {folder}/key -o {folder}/redacted.mmp
convert linux-java-v1.0.mmp -o {folder}/a.mmp
dataset build {folder}/dataset --from linux-workers-a-v1.0.mmp
dataset sql {folder}/dataset "select count(*), sum(size) from regions"
"""
SCRIPT = """
import shlex, sys
from mmpscope.analysis.__main__ import main
folder, commands = sys.argv[1:]
for line in commands.strip().splitlines():
    sys.argv = ["mmp", *shlex.split(line.format(folder=folder))]
    print("$", line, flush=True)
    print("exit code", main(), flush=True)
import distributed
from mmpscope.analysis.plots import __all__ as charts
print(charts)
"""


def _answer(python: Path, folder: Path) -> str:
    """Run the commands; whatever Python warns of is an error."""
    folder.mkdir()
    command = [python, "-W", "error", "-c", SCRIPT, folder, COMMANDS]
    environment = {"HOME": str(folder), "LC_ALL": "C.UTF-8", "COLUMNS": "80", "PATH": os.defpath}
    done = subprocess.run(
        command, cwd=ROOT / "samples", capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return f"{done.stdout}\n{done.stderr}".replace(str(folder), "FOLDER")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Say what this Python answers."""
    answer = _answer(Path(sys.executable), tmp_path_factory.mktemp("this") / "made")
    assert "exit code 2" not in answer
    assert "exit code 70" not in answer
    return answer


@pytest.mark.real
@pytest.mark.parametrize("version", PYTHONS)
def test_it_answers_the_same(version: str, wheel: Path, expected: str, tmp_path: Path) -> None:
    """The main commands print the same to the byte, without a warning, and its own collector runs there."""
    home = tmp_path / "environment"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", PYTHONS[version], home], check=True)
    extras = f"mmpscope[cluster,plot,sql,stats] @ {wheel.as_uri()}"
    subprocess.run([*uv, "pip", "install", "-q", "--python", home / "bin" / "python", extras], check=True)
    assert _answer(home / "bin" / "python", tmp_path / "made") == expected
    own = tmp_path / "own.mmp"
    subprocess.run([home / "bin" / "mmp-collect", "--self", "-o", own], check=True)
    verified = subprocess.run([home / "bin" / "mmp", "verify", own], capture_output=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, b"")
