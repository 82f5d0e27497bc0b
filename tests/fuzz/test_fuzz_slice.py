"""A few damaged inputs for every reader, the same in every run, and all that was ever found."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from zlib import crc32

import pytest
from fuzz.mutation import Mutator
from fuzz.seeds import list_own_seeds
from fuzz.targets import Target, list_targets
from fuzz.watching import limit_memory, try_input
from mmpscope.formats.interface import Format
from mmpscope.formats.registry import list_formats

EXAMPLES = {False: 30, True: 6}
"""Inputs of a reader, and of the analysis behind it or a command, which takes ten times as long."""
CORPUS = Path(__file__).with_name("corpus")
TARGETS = list(list_targets())

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory is limited and measured as Linux does"
)


def feed(target: Target, inputs: list[bytes]) -> list[str]:
    """Return what a target did not survive."""
    with limit_memory(target.memory):
        finds = [find for data in inputs if (find := try_input(target.run, data)) is not None]
    return [f"{find.where} for {find.data[:200]!r}\n{find.told}" for find in finds]


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_damaged_input_raises_nothing_but_our_errors(target: Target) -> None:
    """Good inputs, and good ones with a few things wrong, are read or refused, in time and within memory."""
    seeds = [seed for seed in target.seeds() if len(seed) < 1 << 14]
    mutator = Mutator(seeds, Random(crc32(target.name.encode())))
    count = EXAMPLES["+" in target.name or target.name.startswith("commands")]
    assert feed(target, [*seeds[: count // 3], *(mutator.make() for _ in range(count))]) == []


@pytest.mark.parametrize("known", list(list_formats()), ids=lambda known: str(known.name))
def test_every_format_has_seeds_of_our_own(known: Format) -> None:
    """A reader without a good input to begin with is not fuzzed, only asked to refuse noise."""
    assert list_own_seeds(known)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: str(path.name))
def test_past_finds_stay_mended(path: Path) -> None:
    """What broke a reader once does not break it again; the file's name begins with that of the format."""
    targets = [target for target in TARGETS if target.name.partition("+")[0] == path.name.partition(".")[0]]
    assert len(targets) == 2
    assert [told for target in targets for told in feed(target, [path.read_bytes()])] == []
