"""Write the generated parts of the documents: docs/cli.md, the tables of docs/metrics.md and docs/formats.md,
and every block of output in README.md and docs/*.md.

`python -m docs.generate` rewrites them, `--check` only tells which are stale (exit code 1). A block is a
fence after a comment `<!-- output: mmp summary samples/leak.mmp -->`; in docs/api.md, each `text` fence
holds what the Python fence before it prints. The commands of a document run one after the other in a folder
of its own, which has the samples, 100 columns wide, without colour.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from importlib import import_module
from pathlib import Path

from docs.columns import write_columns
from docs.formats_table import write_formats

ROOT = Path(__file__).parent.parent
COLUMNS = {"COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}

_ANSWERED = (0, 1, 4)
"""Exit codes of a command that has an answer, which may be no, or that it cannot be told."""
_OUTPUT = re.compile(
    r"(?P<mark><!-- output: (?P<command>[^\n]*?) -->\n+)```text\n.*?^```$", re.DOTALL | re.MULTILINE
)
_PYTHON = re.compile(
    r"(?P<code>^```python\n(?P<source>.*?)^```$)(?P<shown>\n\n```text\n.*?^```$)?", re.DOTALL | re.MULTILINE
)

_CLI_HEAD = """\
# The command line

Written by `python -m docs.generate` from what each command says of itself.

Answers go to standard output, all else to standard error, which stays empty where nothing is wrong. On a
terminal, tables fit its width; in a pipe they are as wide as they need, unless COLUMNS is set. NO_COLOR is
obeyed. Sizes on the screen are KiB; `?` stands for a figure that is not known (the second line says why), `-`
for one that does not exist. [json.md](json.md) describes JSON answers, [metrics.md](metrics.md) the figures.

| exit code | when |
| --- | --- |
| 0 | done; also a series ended with at least one snapshot, and a reader of our output that had enough |
| 1 | the answer is no: `verify` found damage, `free --fits` does not fit, `check` found a budget violated |
| 2 | the command line makes no sense, a process name is ambiguous, an output exists without `--force` |
| 3 | an input, target or output cannot be read or written; also damage without `--partial` |
| 4 | cannot tell: the facts for an answer are missing, or samples are too few |
| 70 | a fault of ours: one line, and how to report it |
| 130 | interrupted |
"""


def main() -> int:
    """Rewrite the documents, or check them; 1 where a check finds a stale one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing, name stale documents")
    check = parser.parse_args().check
    os.environ.update(COLUMNS)
    stale = {
        path: text for path, text in _generate() if not path.exists() or not _is_same(path.read_text(), text)
    }
    for path, text in stale.items():
        if not check:
            path.write_text(text)
        print(f"{path.relative_to(ROOT)} {'is stale: run `make docs`' if check else 'rewritten'}")
    return 1 if stale and check else 0


def _is_same(old: str, new: str) -> bool:
    """Compare two texts as every Python writes them.

    The help of `mmp collect` is argparse's: from Python 3.13 on it writes `-o, --output FILE` where older
    ones write `-o FILE, --output FILE`, and so breaks lines elsewhere.
    """
    words = (
        re.sub(r"(-\w) ([A-Z]+), (--[\w-]+) \2", r"\1, \3 \2", " ".join(text.split())) for text in (old, new)
    )
    return next(words) == next(words)


def _generate() -> Iterator[tuple[Path, str]]:
    yield ROOT / "docs" / "cli.md", describe_commands()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if path.name not in {"cli.md", "api.md"}:
            yield path, write_formats(write_columns(_run_all(path.read_text())))
    api = ROOT / "docs" / "api.md"
    yield api, execute(api.read_text())


def describe_commands() -> str:
    """Return docs/cli.md: exit codes, and the help of `mmp` and of each command."""
    from mmpscope.analysis.cli import COMMANDS

    parts = [_CLI_HEAD, _describe("mmp --help"), *map(_describe_command, COMMANDS)]
    return "\n".join(parts)


def _describe_command(name: str) -> str:
    """Describe a command, and below it its subcommands."""
    module = import_module(f"mmpscope.analysis.commands.{name}")
    parts = [_describe(f"mmp {name} --help")]
    parts += [_describe(f"mmp {name} {word} --help", "###") for word in getattr(module, "COMMANDS", ())]
    return "\n".join(parts)


def _describe(command: str, level: str = "##") -> str:
    return f"{level} {command.removesuffix(' --help')}\n\n```text\n{_run(command, columns=80)}```\n"


def _run_all(text: str) -> str:
    """Run the commands of a document in order: one may ask what another has written."""

    def run_again(block: re.Match[str]) -> str:
        shown = _run(block["command"], folder=Path(folder))
        return f"{block['mark']}```text\n$ {block['command']}\n{shown}```"

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "samples").symlink_to(ROOT / "samples")
        return _OUTPUT.sub(run_again, text)


def _run(command: str, columns: int | None = None, folder: Path = ROOT) -> str:
    """Run a command line of `mmp` and return what it prints; CalledProcessError where it fails to."""
    _, *words = shlex.split(command)
    environment = {**os.environ, **({"COLUMNS": str(columns)} if columns else {})}
    python = [sys.executable, "-m", "mmpscope.analysis", *words]
    answer = subprocess.run(  # noqa: S603  # our own program, and the words of our own documents
        python, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if answer.returncode not in _ANSWERED:
        answer.check_returncode()
    return answer.stdout


def execute(text: str) -> str:
    """Run the Python fences of a document in order, and put what each prints into the fence after it."""
    names: dict[str, object] = {}

    def run(block: re.Match[str]) -> str:
        with redirect_stdout(io.StringIO()) as printed, chdir(ROOT):
            exec(compile(block["source"], "docs/api.md", "exec"), names)  # noqa: S102  # our own document
        shown = printed.getvalue()
        return block["code"] + (f"\n\n```text\n{shown}```" if shown else "")

    return _PYTHON.sub(run, text)


if __name__ == "__main__":
    sys.exit(main())
