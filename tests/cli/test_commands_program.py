"""The installed program `mmp`: what it imports, and what pipes, signals and full disks do to it."""

from __future__ import annotations

import importlib
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mmpscope.analysis.cli import COMMANDS
from mmpscope.formats._version import __version__
from support.mmp_command import PROGRAM, run_mmp, run_program
from support.shop import write_shop
from support.smaps_text import make_text

_PATIENCE_S = 60


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Text of so many regions that no answer fits into a pipe."""
    path = tmp_path / "large.smaps"
    path.write_bytes(make_text(1500))
    return path


def test_the_installed_program_answers(tmp_path: Path) -> None:
    """The entry point works, and so does `python -m`."""
    path = write_shop(tmp_path)
    run = run_program("summary", f"{path}#0")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode() == run_mmp("summary", f"{path}#0").out
    command = [sys.executable, "-m", "mmpscope.analysis", "--version"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.decode() == f"mmp {__version__}\n"


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("summary", "--help"), ("free", "--help"), ("collect", "--help")]
)
def test_help_imports_no_library_of_tables(words: tuple[str, ...]) -> None:
    """Help is there at once: numpy, pandas, pyarrow and rich cost more than all the rest."""
    code = f"""if True:
        import atexit, sys
        from mmpscope.analysis.__main__ import start
        atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
        sys.argv = ["mmp", *{words!r}]
        start()"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    assert run.returncode == 0
    loaded = {name.split(".")[0] for name in run.stderr.split()}
    assert "mmpscope" in loaded
    assert not {"numpy", "pandas", "pyarrow", "rich"} & loaded


def test_no_command_imports_pandas(tmp_path: Path) -> None:
    """pyarrow would do so at its first conversion, at a quarter of a second."""
    path = write_shop(tmp_path)
    code = f"""if True:
        import atexit, sys
        from mmpscope.analysis.__main__ import start
        atexit.register(lambda: print("pandas" in sys.modules, file=sys.stderr))
        sys.argv = ["mmp", "regions", {str(path)!r}, "--json"]
        start()"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    assert (run.returncode, run.stderr) == (0, "False\n")


def test_each_sentence_is_the_first_of_its_module() -> None:
    """The tables of commands repeat them, so that `mmp --help` need not import the modules."""
    told = dict(COMMANDS)
    for name in COMMANDS:
        below = getattr(importlib.import_module(f"mmpscope.analysis.commands.{name}"), "COMMANDS", {})
        told |= {f"{name}_{each}": sentence for each, sentence in below.items()}
    modules = {name: importlib.import_module(f"mmpscope.analysis.commands.{name}") for name in told}
    assert {name: (module.__doc__ or "").splitlines()[0] for name, module in modules.items()} == told
    folder = Path(importlib.import_module("mmpscope.analysis.commands").__file__ or "").parent
    assert {path.stem for path in folder.glob("*.py")} == {*told, "__init__"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_says_what_how_and_by_example(name: str) -> None:
    """One sentence, every option with a word about it, and an example of that command."""
    text = run_mmp(name, "--help").out
    assert COMMANDS[name].split()[0] in text
    assert re.search(rf"^ +(mmp|mmp-collect) ?{name if name != 'collect' else ''} .*\S", text, re.MULTILINE)
    bare = re.findall(r"^  (?:-\w, )?--[\w-]+(?: [A-Z]+)?$", text, re.MULTILINE)
    assert len(bare) <= (1 if name == "collect" else 0), "an option stands there without a word"


@pytest.mark.parametrize(
    "words",
    [
        ("regions", "--flat"),
        ("regions", "--json"),
        ("export", "--format", "csv"),
        ("export", "--format", "jsonl"),
        ("export", "--format", "smaps"),
    ],
)
def test_a_reader_that_had_enough_is_no_failure(words: tuple[str, ...], large: Path) -> None:
    """`mmp regions run.mmp | head -1`: quiet, exit 0."""
    command = [str(PROGRAM), *words, str(large)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(_PATIENCE_S) == 0


@pytest.mark.parametrize("words", [("summary",), ("regions", "--json"), ("export", "--format", "csv")])
def test_a_stdout_that_is_full_is_exit_3(words: tuple[str, ...], tmp_path: Path) -> None:
    """/dev/full takes nothing: one line, no traceback, not even from Python as it leaves."""
    with Path("/dev/full").open("wb") as full:
        run = run_program(
            words[0],
            write_shop(tmp_path),
            *words[1:],
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert run.returncode == 3
    assert run.stderr.count(b"\n") == 1
    assert b"No space left on device" in run.stderr


@pytest.mark.real
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.arrow", "a.jsonl", "a.smaps", "a.txt"])
def test_a_full_disk_leaves_nothing_behind(name: str, small_disk: Path, large: Path) -> None:
    """Exit 3 and one line; no part of the file and no temporary one stays, and an old file is untouched."""
    (small_disk / name).write_bytes(b"precious")
    run = run_program("export", large, "-f", "-o", small_disk / name)
    assert run.returncode == 3, run.stderr
    assert b"No space left on device" in run.stderr
    assert run.stderr.count(b"\n") == 1
    assert [(path.name, path.read_bytes()) for path in small_disk.iterdir()] == [(name, b"precious")]


def test_ctrl_c_is_exit_130() -> None:
    """While input is awaited from a pipe; nothing is printed."""
    command = [str(PROGRAM), "summary", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(make_text(500))
        process.stdin.flush()  # returns when the program has read most of it: it is at work
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=_PATIENCE_S)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_stream_for_ascii_alone_gets_ascii(tmp_path: Path) -> None:
    """Where the locale knows no other characters, the answer does without them."""
    path = write_shop(tmp_path)
    environment = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
        "COLUMNS": "100",
        "PATH": "/usr/bin:/bin",
    }
    run = run_program("free", path, env=environment)
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.isascii()
    assert b"####" in run.stdout
    assert b"..." in run.stdout


@pytest.mark.parametrize(
    ("output", "more", "is_told"),
    [
        ("a.csv", (), True),
        ("a.csv", ("-q",), False),
        ("a.csv", ("--no-progress",), False),
        ("-", (), False),
    ],
)
def test_long_work_tells_how_far_it_is(
    output: str, more: tuple[str, ...], is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal, on stderr, where the answer goes elsewhere; the line is gone in the end."""
    for pause in ("_PATIENCE_S", "_PAUSE_S"):
        monkeypatch.setattr(f"mmpscope.analysis.progress.{pause}", 0)
    monkeypatch.chdir(tmp_path)
    path = write_shop(tmp_path)
    answer = run_mmp("export", path, "--format", "csv", "-o", output, *more, terminal=True)
    assert answer.code == 0
    assert ("snapshots done: 1" in answer.err) == is_told
    assert answer.err.endswith("\r\x1b[K" if is_told else "")
    assert is_told or answer.err == ""
