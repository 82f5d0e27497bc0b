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
info samples/linux-java-v1.0.mmp
verify samples/linux-java-v1.0.mmp
summary samples/linux-java-v1.0.mmp --json
regions samples/windows-wow64-v1.0.mmp -n 5
free samples/linux-fragmented-v1.0.mmp --fits 64M
diff samples/linux-reserve-commit-a-v1.0.mmp samples/linux-reserve-commit-b-v1.0.mmp --json
trend samples/linux-leak-v1.0.mmp
compare samples/linux-workers-a-v1.0.mmp samples/linux-workers-b-v1.0.mmp
check samples/linux-reserve-commit-b-v1.0.mmp --baseline samples/linux-reserve-commit-a-v1.0.mmp
export samples/linux-java-v1.0.mmp --format csv
export samples/linux-java-v1.0.mmp -o a.parquet
report samples/linux-reserve-commit-a-v1.0.mmp -o a.html
redact samples/linux-java-v1.0.mmp --key key -o redacted.mmp
convert samples/linux-java-v1.0.mmp -o a.mmp
dataset build dataset --from samples/linux-workers-a-v1.0.mmp
dataset sql dataset "select count(*), sum(size) from regions"
"""
SCRIPT = """
import shlex, sys
from mmpscope.analysis.__main__ import main
for line in sys.argv[1].strip().splitlines():
    sys.argv = ["mmp", *shlex.split(line)]
    print("$", line, flush=True)
    print("exit code", main(), flush=True)
import distributed
from mmpscope.analysis.plots import __all__ as charts
print(charts)
"""


def _answer(python: Path, folder: Path) -> str:
    """Run the commands; whatever Python warns of is an error."""
    folder.mkdir()
    (folder / "samples").symlink_to(ROOT / "samples")
    command = [str(python), "-W", "error", "-c", SCRIPT, COMMANDS]
    environment = {"HOME": str(folder.parent), "LC_ALL": "C.UTF-8", "COLUMNS": "80", "PATH": os.defpath}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return f"{done.stdout}\n{done.stderr}"


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
    subprocess.run(
        [*uv, "pip", "install", "-q", "--python", str(home / "bin" / "python"), extras], check=True
    )
    assert _answer(home / "bin" / "python", tmp_path / "made") == expected
    own = tmp_path / "own.mmp"
    subprocess.run([home / "bin" / "mmp-collect", "--self", "-o", own], check=True)
    verified = subprocess.run([home / "bin" / "mmp", "verify", own], capture_output=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, b"")
