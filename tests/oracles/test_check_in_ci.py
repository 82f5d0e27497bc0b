"""The job of docs/check.md, its shell lines as they stand there: a program that grew, one that did not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the job collects a process of Linux")

_PAGE = Path(__file__).parents[2] / "docs" / "check.md"
_SERVER = """\
#!{python}
import os, time
more = b"x" * ({mib} << 20)
open("server.pid", "w").write(str(os.getpid()))
os.rename("server.pid", "ready")
time.sleep(30)
"""
_WARM_UP = "#!/bin/sh\nwhile [ ! -e ready ]; do sleep 0.05; done\n"
_BUDGET = "no_new_executable_writable = true\n[total]\nprivate = {grow = '8M', percent = 10}\n"


def _read_steps() -> list[str]:
    """Return what each step of the job runs, but for the installation, which needs a network."""
    [job] = re.findall(r"^```yaml\n(.*?)^```$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    steps = re.findall(r"^ +(?:- )?run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", job, re.MULTILINE)
    lines = [textwrap.dedent(block) or line for block, line in steps]
    return [text for text in lines if not text.startswith("pip install")]


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A folder with what the job expects, and no process left behind."""
    (tmp_path / "memory" / "baseline").mkdir(parents=True)
    (tmp_path / "memory" / "budget.toml").write_text(_BUDGET)
    _write_script(tmp_path / "warm-up.sh", _WARM_UP)
    yield tmp_path
    _end_server(tmp_path)


def _write_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _end_server(folder: Path) -> None:
    if (folder / "ready").exists():
        os.kill(int((folder / "ready").read_text()), 9)
        (folder / "ready").unlink()


def _run_step(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: bash that stops at the first failure, output to no terminal."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PATH": path}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    with (folder / "log").open("w+", encoding="utf-8") as log:  # a server in the background would hold a pipe
        done = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=log, check=False)
        log.seek(0)
        return subprocess.CompletedProcess(command, done.returncode, log.read(), "")


def _collect(folder: Path, mib: int) -> None:
    _write_script(folder / "server", _SERVER.format(python=sys.executable, mib=mib))
    done = _run_step(folder, _read_steps()[0])
    assert done.returncode == 0, done.stdout
    _end_server(folder)


def test_the_job_passes_what_is_within_budget_and_stops_what_is_not(checkout: Path) -> None:
    """Two runs of one program hold; 64 MiB more fail the step, and the log and check.xml say by how much."""
    steps = _read_steps()
    assert len(steps) == 2
    _collect(checkout, 1)
    (checkout / "new.mmp").rename(checkout / "memory" / "baseline" / "1.mmp")
    _collect(checkout, 1)
    held = _run_step(checkout, steps[1])
    assert held.returncode == 0, held.stdout
    assert "2 ok" in held.stdout
    for name in ("new.mmp", "check.xml"):
        (checkout / name).unlink()
    _collect(checkout, 65)
    failed = _run_step(checkout, steps[1])
    assert failed.returncode == 1, failed.stdout
    assert re.search(r"^violated: total private growth: .* 64(\.\d)? MiB more", failed.stdout, re.MULTILINE)
    assert '<failure type="violated"' in (checkout / "check.xml").read_text(encoding="utf-8")
