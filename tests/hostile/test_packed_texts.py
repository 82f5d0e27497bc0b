"""Small packed files of very much text: within 512 MiB and 10 s, or one sentence that says what to do."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.formats.containers.packed import TextBudget
from mmpscope.formats.errors import LimitError
from support.archives import make_tar, make_zip
from support.bounded import run_bounded
from support.mmp_builder import MmpBuilder
from support.mmp_command import run_mmp

_TOLD = b"more text than so few bytes of a process become. If you trust it, unpack it yourself"
_MAP = b"1000-2000 rw-p 00000000 00:00 0\n"
_NAMES = ("Size", "Rss", "Pss", "Referenced", "Swap")
_BLOCK = "".join(f"{name + ':':15} {4:8} kB\n" for name in _NAMES).encode() + b"VmFlags: rd wr\n"


def _list_maps(count: int, more: bytes = b"") -> bytes:
    return b"".join(
        b"%x-%x rw-p 00000000 00:00 0\n%s" % (0x10000 + at * 0x2000, 0x11000 + at * 0x2000, more)
        for at in range(count)
    )


def _tar(members: dict[str, bytes]) -> bytes:
    return gzip.compress(make_tar(members))


def _write_mmp() -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    builder.add_capture({"system": {"meminfo": bytes(34 << 20)}})
    return gzip.compress(builder.data)


REFUSED: dict[str, Callable[[], bytes]] = {
    "one line over and over": lambda: gzip.compress(_MAP * 7_000_000),
    "a million regions": lambda: lzma.compress(_list_maps(1_000_000), preset=1),
    "counters without an end": lambda: gzip.compress(_MAP + b"Rss: 4 kB\n" * 20_000_000),
    "lines that look like counters": lambda: gzip.compress(_MAP + b" kB\n" * 16_000_000),
    "a listing": lambda: gzip.compress(b"1:   x\n" + b"00001000      4K rw---   [ anon ]\n" * 5_000_000),
    "a file of ours": _write_mmp,
}


@pytest.mark.parametrize("kind", REFUSED)
def test_too_much_text_is_refused_before_it_is_read(kind: str, tmp_path: Path) -> None:
    """The first of them took 43 s and 4.2 GB before it was refused for something else."""
    said = run_bounded("verify IN", REFUSED[kind](), tmp_path)
    assert said.code == 3
    assert _TOLD in said.errors


@pytest.mark.parametrize("pack", [make_zip, _tar])
@pytest.mark.parametrize("name", ["{}.maps", "proc/{}/maps"])
def test_members_share_what_there_may_be(
    pack: Callable[[dict[str, bytes]], bytes], name: str, tmp_path: Path
) -> None:
    """Each of them is small enough; those beyond all that there may be are told, and left out."""
    text = _MAP + b"Rss:                   4 kB\n" * 700_000
    content = pack({name.format(number): text for number in range(1, 7)})
    said = run_bounded("verify IN", content, tmp_path)
    told = b" ".join(said.out.split())
    assert said.code == 1
    assert told.count(_TOLD.partition(b".")[0]) == 3


@pytest.mark.parametrize("command", ["info", "summary", "regions -n 5", "diff", "convert -o OUT.mmp"])
def test_as_many_regions_as_a_mebibyte_may_be_of(command: str, tmp_path: Path) -> None:
    """Regions that are all alike shrink most of all that is real."""
    content = gzip.compress(_list_maps(140_000, _BLOCK))
    word, *more = command.split()
    said = run_bounded(" ".join([word, "IN", *more]), content, tmp_path)
    assert said.code in (0, 2), said.errors  # 2: one snapshot has nothing to be compared with


def test_what_is_not_packed_has_no_budget(tmp_path: Path) -> None:
    """Nor has it once it came through a pipe: whoever unpacked it did so."""
    text = _list_maps(20_000)
    budget = TextBudget(0)
    budget.take("once", [b"\n" * 599_999])
    budget.take("once", [b"\n" * 599_999])
    with pytest.raises(LimitError):
        budget.take("twice", [b"\n" * 2])
    assert run_mmp("info", "-", stdin=text).code == 0


def test_a_pipe_has_as_many_rows_as_bytes_came_through_it(tmp_path: Path) -> None:
    """Seven bytes a row: a map line has sixty. What is refused says what to do, which is not `-#0`."""
    answer = run_mmp("summary", "-", stdin=_list_maps(160_000))
    assert answer.code == 0, answer.err
    refused = run_mmp("summary", "-", stdin=lzma.compress(_list_maps(160_000)))
    assert refused.code == 3
    assert "Save it to a file, and choose it, as in FILE#0" in " ".join(refused.err.split())
