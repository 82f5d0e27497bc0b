"""`mmp diff` and `mmp check` of what nobody would compare: an answer or a sentence, never a fault of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.mmp_command import run_mmp
from support.smaps_text import Block, MapLine, make_block

SAMPLES = Path(__file__).parents[2] / "samples"
LEAK = SAMPLES / "linux-leak-v1.0.mmp"
TOP = (1 << 64) - 0x2000
ROLLUP = b"1000-7fff0000 ---p 00000000 00:00 0 [rollup]\nRss:  40 kB\nPss:  40 kB\nSwap:  0 kB\n"
BUDGETS = """
no_new_executable_writable = true
modules_allowed = ["/usr/lib/*"]
total = {private = "16M", pss = {grow = "1M", at_most = "1G"}, size = ["25%", {at_most = "64G"}]}
type.Heap.private = {spread = 6, grow = "1M"}
type.Image.total_ws = "1M"
module."libc*".total_ws = "1M"
mappings = {grow = 200, at_most = 60000}
free = {largest_at_least = "256M", window = "0-4G"}
"""


def _region(start: int, end: int, path: bytes | None = None, *, page_kb: int = 4) -> bytes:
    counters = {"Rss": page_kb, "Pss": page_kb, "Private_Dirty": page_kb, "Anonymous": page_kb}
    counters |= {"KernelPageSize": page_kb, "MMUPageSize": page_kb}
    return make_block(Block(MapLine(start, end, path=path), counters))


ODD = {
    "empty.smaps": b"",
    "letter.txt": b"Dear all,\n",
    "gate.maps": b"ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0 [vsyscall]\n",
    "whole.smaps": _region(0, TOP) + _region(TOP, TOP + 0x1000),
    "pages64k.smaps": _region(0x10000, 0x40000, page_kb=64) + _region(0x10_0000, 0x20_0000, b"[heap]"),
    "pages2m.smaps": _region(0x10000, 0x40000) + _region(0x4000_0000, 0x4040_0000, b"[heap]", page_kb=2048),
    "narrow.maps": b"08048000-08049000 r-xp 0 08:01 7 /bin/old\nfffdd000-ffffe000 rw-p 0 00:00 0 [stack]\n",
    "total.smaps_rollup": ROLLUP,
    "cut.mmp": LEAK.read_bytes()[:3000],
}
BROKEN = ("letter.txt", "cut.mmp")
KNOWN = (f"{LEAK}#-1", str(SAMPLES / "windows-wow64-v1.0.mmp"), "whole.smaps", "total.smaps_rollup")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the odd inputs, and budgets of every kind."""
    made = tmp_path_factory.mktemp("odd")
    for name, data in ODD.items():
        (made / name).write_bytes(data)
    (made / "budget.toml").write_text(BUDGETS)
    return made


def _list_errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("mmp: warning: ")]


def _check_lines(text: str) -> None:
    """No line is too long, but for one of a path, which is never cut."""
    lines = [line for line in text.splitlines() if "/" not in line]
    assert max(map(len, lines), default=0) <= 80


@pytest.mark.parametrize("other", KNOWN, ids=lambda path: Path(path).name)
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("mode", ["--same", "--other"])
def test_a_diff_of_odd_inputs_is_an_answer_or_a_sentence(
    name: str, other: str, mode: str, folder: Path
) -> None:
    """Exit 0 and lines that fit, or 3 and one sentence; each change known is after less before."""
    pair = (folder / name, folder / other)
    text = run_mmp("diff", *pair, mode)
    if name in BROKEN:
        assert (text.code, text.out, len(_list_errors(text.err))) == (3, "", 1)
        return
    assert (text.code, _list_errors(text.err)) == (0, [])
    _check_lines(text.out)
    answer = json.loads(run_mmp("diff", *pair, mode, "--json").out)
    for row in answer["totals"]:
        assert row["delta"] is None or row["delta"] == row["b"] - row["a"]


@pytest.mark.parametrize("other", KNOWN, ids=lambda path: Path(path).name)
@pytest.mark.parametrize("name", ODD)
def test_a_check_of_odd_inputs_is_a_verdict_or_a_sentence(name: str, other: str, folder: Path) -> None:
    """On either side: exit 0, 1 or 4 with a line that says how many budgets there were, or 3."""
    for new, old in ((name, other), (other, name)):
        answer = run_mmp(
            "check", folder / new, "--baseline", folder / old, "--budget", folder / "budget.toml"
        )
        if name in BROKEN:
            assert (answer.code, answer.out, len(_list_errors(answer.err))) == (3, "", 1)
            continue
        assert answer.code in (0, 1, 4)
        assert "13 budgets" in answer.out
        assert _list_errors(answer.err) == []
