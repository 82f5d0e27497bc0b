"""Answers about redacted snapshots are those about the originals, up to names."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fuzz.seeds import list_own_seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, diff, find_trends
from mmpscope.analysis.diffs.files import BackingFile, match_files, normalize_path
from mmpscope.analysis.roles import compare_roles, read_role
from mmpscope.formats.redaction import Redactor
from mmpscope.formats.redaction.names import Names
from mmpscope.formats.redaction.tokens import Tokens
from mmpscope.formats.registry import list_formats, open_source
from support.answers import PAIRS, QUESTIONS, SAMPLES, answer, read_sample, show
from support.effort import scale
from support.redacting import KEY, load_both, read_all


def check_alike(pairs: Iterable[tuple[LoadedSnapshot, LoadedSnapshot]]) -> None:
    """Compare what each snapshot answers with what its redacted copy does."""
    for original, redacted in pairs:
        for question in QUESTIONS:
            assert answer(question, redacted) == answer(question, original)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_regions_of_samples_are_classified_alike(path: Path, tmp_path: Path) -> None:
    """Same regions with the same types, rules and figures; the same sums, holes, heaps, threads, modules."""
    check_alike(load_both(read_all(open_source(path)), tmp_path))


@pytest.mark.parametrize("known", [known.name for known in list_formats() if known.name != "zip"])
def test_regions_of_every_format_are_classified_alike(known: str, tmp_path: Path) -> None:
    """Small files of each format, as its reader gives them and as they are after redaction."""
    [form] = [each for each in list_formats() if each.name == known]
    seeds = list_own_seeds(form)
    for number, seed in enumerate(seeds):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "seed").write_bytes(seed)
        snapshots = read_all(open_source(place / "seed", partial=True))
        check_alike(load_both(snapshots, place))


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_two_redacted_files_differ_as_the_originals_do(one: str, two: str, tmp_path: Path) -> None:
    """Every table of a diff: by address within one file, by what memory is between two."""
    both = load_both([*read_sample(one), *read_sample(two)], tmp_path)
    ends = [both[0], both[-1]]
    for (a, redacted_a), (b, redacted_b) in [*pairwise(both), (ends[0], ends[1])]:
        expected, found = diff(a, b), diff(redacted_a, redacted_b)
        assert found.mode == expected.mode
        for name, table in expected.to_tables().items():
            assert show(found.to_tables()[name]) == show(table), name


def test_trends_of_a_redacted_series_are_those_of_the_original(tmp_path: Path) -> None:
    """The same verdict with the same slopes for each process."""
    with_names = read_sample("linux-leak-v1.0.mmp")
    both = load_both(with_names, tmp_path)
    expected, found = (find_trends([pair[side] for pair in both]) for side in (0, 1))
    assert show(found) == show(expected)


PARTS = st.sampled_from(
    ["app", "App", "lib", "v", "7", "42", "-", ".", "so", "x86", "_", "1.2", ".so", "dll", "é"]
)
NAME = st.lists(PARTS, min_size=1, max_size=5).map("".join)
PATHS = st.lists(NAME, min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from(
        ["/" + "/".join(parts), "C:\\" + "\\".join(parts), "/usr/lib/" + parts[-1] + ".so"]
    )
)


@settings(max_examples=scale(300), deadline=None)
@given(st.lists(PATHS, max_size=5, unique=True), st.lists(PATHS, max_size=5, unique=True))
def test_files_are_known_again_by_their_tokens(a: list[str], b: list[str]) -> None:
    """The same files match, by path, by path without version, by name: in the same ways."""
    redact = Names(Tokens(KEY)).redact_path

    def match(change: bool) -> Any:
        sides = [
            [BackingFile(normalize_path(redact(path) if change else path), None, True) for path in side]
            for side in (a, b)
        ]
        return match_files(*(list(dict.fromkeys(side)) for side in sides))

    assert match(True) == match(False)


OPTIONS = ["-c", "-m", "-jar", "-cp", "-lc", "-u", "-e", "--port=80", "--port=81", "", "-", "-X"]
ARGUMENTS = [
    "server.py",
    "server2.py",
    "x",
    "print(1)",
    "print(2)",
    "a: b",
    "nginx: worker 1",
    "nginx: worker 2",
]
WORDS = st.lists(st.sampled_from([*OPTIONS, *ARGUMENTS]), min_size=1, max_size=4)
PROGRAMS = st.sampled_from(["/usr/bin/python3.11", "/bin/bash", "/opt/shop/server", "/usr/bin/java", None])


@settings(max_examples=scale(400), deadline=None)
@given(PROGRAMS, WORDS, PROGRAMS, WORDS)
def test_processes_have_the_same_roles(
    one: str | None, words: list[str], two: str | None, others: list[str]
) -> None:
    """Two processes are as alike in what they do as they were: the same program, the same arguments."""

    def compare(*commands: dict[str, Any]) -> int:
        return compare_roles(*(read_role(command) for command in commands))

    commands = [
        {"exe": program, "cmdline": [*([program] if program else []), *arguments]}
        for program, arguments in ((one, words), (two, others))
    ]
    redactor = Redactor(KEY)
    redacted = [redactor.redact_process(command) for command in commands]
    assert compare(*redacted) == compare(*commands)
