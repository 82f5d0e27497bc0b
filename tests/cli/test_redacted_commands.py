"""What commands say of redacted files is what they say of the originals, up to names and addresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from mmpscope.formats.redaction.rules import NUMBERS, Kind
from support.answers import NAMES, show
from support.corpus import ROOT
from support.mmp_command import Answer, run_mmp

FILES = {
    name: ROOT / "samples" / f"linux-{name}-v1.0.mmp" for name in ("leak", "workers-a", "workers-b", "python")
}
TEXTS = {
    *("label", "group", "sentence", "program", "capability", "host", "build", "version", "input", "command"),
    *("identity", "address", "end", "low", "high", "start", "file", "groups_left_out", "baseline", "why"),
    *("snapshot_id", "snapshot_a", "snapshot_b", "pid_namespace"),
}
"""Keys of names and addresses, of texts that hold some, and of what redaction says of itself."""
MOVED = {name for name, kind in NUMBERS.items() if kind in (Kind.ADDRESS, Kind.END, Kind.BASE)} | {
    "allocation",
    "stack",
}
"""Columns of addresses."""
OF_HOLES = {"largest", "largest_free", "external_fragmentation"}
"""Keys and metrics of what changes with the holes between two zones."""


@pytest.fixture(scope="module", params=[(), ("--rebase",)], ids=["redacted", "rebased"])
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files redacted under one key, and with their addresses moved."""
    folder = tmp_path_factory.mktemp("copies")
    made = {name: folder / f"{name}.mmp" for name in FILES}
    for name, path in made.items():
        answer = run_mmp("redact", FILES[name], "-o", path, "--key", folder / "key", *request.param)
        assert answer.code == 0, answer.err
    return made


def ask(files: dict[str, Path], words: str) -> Answer:
    """Run a command, in which each name of a file stands for the file."""
    command, *others = words.split()
    inputs = [
        f"{files[name]}#{rest}" if rest else files.get(name, word)
        for word in others
        for name, _, rest in [word.partition("#")]
    ]
    return run_mmp(command, *inputs, "--json")


def strip(value: Any, left_out: set[str]) -> Any:
    """Take names out of an answer in JSON, and the order of its lists, which names decide."""
    if isinstance(value, dict):
        return {key: strip(item, left_out) for key, item in value.items() if key not in left_out}
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, dict) and item.get("metric") in left_out)]
        return sorted((strip(item, left_out) for item in kept), key=lambda item: json.dumps(item))
    return value


LEFT_OUT = TEXTS | {name for name in NAMES if isinstance(name, str)}


@pytest.mark.parametrize(
    "words",
    [
        "compare workers-a workers-b python",
        "compare leak workers-b --metric total_ws --mads 1",
        "check leak#19 --baseline leak#0",
        "check workers-b#0 --baseline workers-a#0",
        "check python --baseline workers-a",
        "diff workers-a workers-b",
        "summary workers-a#1",
        "heaps python",
        "processes leak#0",
    ],
)
def test_commands_answer_alike(words: str, copies: dict[str, Path]) -> None:
    """The same figures, groups, outliers and verdicts, and the same exit code."""
    expected, found = ask(FILES, words), ask(copies, words)
    assert (found.code, found.err == "") == (expected.code, expected.err == "")
    assert expected.out
    one, two = (strip(json.loads(answer.out), LEFT_OUT | OF_HOLES) for answer in (expected, found))
    assert two == one


@pytest.mark.parametrize("words", ["python", "workers-a#2", "leak#19"])
@pytest.mark.parametrize("size", ["64K", "1G", "200T"])
def test_what_fits_is_the_same(words: str, size: str, copies: dict[str, Path]) -> None:
    """The same verdict of each limit; how much there is room for at most lies between two zones."""
    told = []
    for files in (FILES, copies):
        answer = ask(files, f"free {words} --fits {size}")
        given = json.loads(answer.out)
        checks = [(row["check"], row["outcome"]) for row in given["rows"]]
        told.append((answer.code, given["outcome"], given["binding"], given["placement"], checks))
    assert told[0] == told[1]


@pytest.mark.parametrize("words", ["python", "workers-a#2", "leak#19"])
def test_the_sum_of_free_is_the_same(words: str, copies: dict[str, Path]) -> None:
    """And so is their number, in each window; below 4 GiB and round the program all else is as well."""
    told = []
    for files in (FILES, copies):
        given = json.loads(ask(files, f"free {words}").out)
        whole, *parts = given["windows"]
        assert [row["window"] for row in parts] == ["below 4 GiB", "within 2 GiB of the program"]
        requests = [row for row in given["requests"] if row["window"] != whole["window"]]
        kept = {name: whole[name] for name in ("size", "mapped", "unusable", "free", "holes")}
        sizes = [{name: row[name] for name in row if name not in ("low", "high")} for row in parts]
        told.append((kept, sizes, requests, given["mappings"]))
    assert told[0] == told[1]


def test_a_dataset_of_redacted_files_has_the_same_figures(copies: dict[str, Path], tmp_path: Path) -> None:
    """Regions, summaries, modules and threads, row by row, up to their order."""
    roots = []
    for number, files in enumerate((FILES, copies)):
        roots.append(tmp_path / str(number))
        sources = [word for path in files.values() for word in ("--from", path)]
        answer = run_mmp("dataset", "build", roots[-1], *sources, "--json")
        assert (answer.code, json.loads(answer.out)["errors"]) == (0, 0)
    for name in ("summaries", "regions", "modules", "threads"):
        one, two = (pq.read_table(root / name) for root in roots)
        assert two.num_rows == one.num_rows > 0
        assert {"size", "tid", "total_ws"} & set(one.column_names)
        known = {*LEFT_OUT, *MOVED}
        raw = {f"raw_{each}" for each in known}
        without: set[str | tuple[str, str]] = {*known, *raw, ("Free", "largest")}
        assert show(two, without) == show(one, without), name
