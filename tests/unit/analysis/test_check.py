"""Checks: what is within its budget, what is not, and what nobody can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.checks.baseline import choose_baseline
from mmpscope.analysis.checks.budget import LEAST_SAMPLES, TOTAL, Budget, Limit, Subject
from mmpscope.analysis.checks.parts import matches
from mmpscope.analysis.checks.schema import CANNOT_TELL, OK, VIOLATED
from mmpscope.analysis.checks.snapshots import check
from mmpscope.analysis.checks.verdicts import find_deviation, find_median
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.summary import Summary, sum_up
from mmpscope.formats.model import Capability
from support.checks import FLAGS, MIB, Region, read_toml, size_heap, write_heaps
from support.loaded import load_blocks, load_map, load_table
from support.shop import make_shop

_UNSAFE: Region = ("7f0000100000-7f0000110000 rwxp", {}, FLAGS)
_OTHER: Region = ("7f0000200000-7f0000204000 r-xp 0 78 /opt/plugin/libbar.so", {"Rss": 16}, "rd ex mr mw me")
_CUT = "lists a part"


def _judge(
    new: LoadedSnapshot, baseline: LoadedSnapshot | Sequence[LoadedSnapshot], folder: Path, text: str
) -> list[dict[str, Any]]:
    several = [baseline] if isinstance(baseline, LoadedSnapshot) else baseline
    rows: list[dict[str, Any]] = check(new, several, read_toml(folder, text)).table.to_pylist()
    return rows


def _judge_one(
    new: LoadedSnapshot, baseline: LoadedSnapshot | Sequence[LoadedSnapshot], folder: Path, text: str
) -> dict[str, Any]:
    [row] = _judge(new, baseline, folder, text)
    return row


@pytest.mark.parametrize(
    ("limit", "word"),
    [
        ('"64K"', OK),
        ('"63K"', VIOLATED),
        ('"6.25%"', OK),
        ('"6.249%"', VIOLATED),
        ('{grow = "1K", percent = 6.25}', OK),
        ('{grow = "64K", percent = 1}', OK),
        ('{grow = "63K", percent = 6}', VIOLATED),
    ],
)
def test_growth_is_violated_above_all_that_a_table_names(limit: str, word: str, tmp_path: Path) -> None:
    """1,024 K became 1,088 K: bytes alone, percent alone, and the more generous of both."""
    text = f"[type.Heap]\nprivate = {limit}\n"
    row = _judge_one(size_heap(1088), size_heap(1024), tmp_path, text)
    assert (row["verdict"], row["baseline"], row["value"]) == (word, MIB, 1088 << 10)


def test_each_budget_of_a_list_must_hold(tmp_path: Path) -> None:
    """The stricter of two is written as a list: a row each."""
    rows = _judge(size_heap(1088), size_heap(1024), tmp_path, '[type.Heap]\nprivate = ["1M", "1%"]\n')
    assert [row["verdict"] for row in rows] == [OK, VIOLATED]


def test_what_shrinks_violates_nothing(tmp_path: Path) -> None:
    """Also with a budget of 0."""
    row = _judge_one(size_heap(512), size_heap(1024), tmp_path, "[type.Heap]\nprivate = 0\n")
    assert row["verdict"] == OK
    assert "512 KiB less than the baseline" in row["reason"]


def test_a_byte_too_many_is_told_to_the_byte(tmp_path: Path) -> None:
    """No one believes that 64 KiB are more than 64 KiB."""
    text = f"[type.Heap]\nprivate = {(64 << 10) - 1}\n"
    row = _judge_one(size_heap(1088), size_heap(1024), tmp_path, text)
    assert row["verdict"] == VIOLATED
    assert "64 KiB more" in row["reason"]
    assert "allowed 63.9 KiB more" in row["reason"]
    text = f"[type.Heap]\nprivate = {{at_most = {(1088 << 10) - 1}}}\n"
    assert (
        "1,114,112 bytes; allowed at most 1,114,111 bytes"
        in _judge_one(size_heap(1088), (), tmp_path, text)["reason"]
    )


def test_s05_a_noisy_first_sample_does_not_set_the_limit(tmp_path: Path) -> None:
    """Five runs of 17 MiB, and the first took 157: the median counts, not a ratio to one of them."""
    runs = [size_heap(kib * 1024) for kib in (157, 17, 17, 18, 17, 17)]
    text = "[type.Heap]\nprivate = {spread = 6}\n"
    assert _judge_one(size_heap(17 << 10), runs, tmp_path, text)["baseline"] == 17 * MIB
    row = _judge_one(size_heap(40 << 10), runs, tmp_path, text)
    assert (row["verdict"], row["samples"]) == (VIOLATED, 6)
    text = '[type.Heap]\nprivate = "10%"\n'  # beside the first sample alone, this is what passes
    assert _judge_one(size_heap(40 << 10), runs[:1], tmp_path, text)["verdict"] == OK


def test_the_spread_is_median_and_deviation_with_a_floor(tmp_path: Path) -> None:
    """Of 10, 11, 12, 13, 14 MiB the median is 12 and the deviation 1; equal samples allow the floor."""
    runs = [size_heap(mib << 10) for mib in (10, 14, 11, 13, 12)]
    row = _judge_one(size_heap(15 << 10), runs, tmp_path, "[type.Heap]\nprivate = {spread = 3}\n")
    assert (row["verdict"], row["baseline"], row["limit"]) == (OK, 12 * MIB, 15 * MIB)
    assert "the larger of 1 MiB and 3 MAD = 3 MiB" in row["reason"]
    equal = [size_heap(1024)] * 5
    row = _judge_one(size_heap(1028), equal, tmp_path, "[type.Heap]\nprivate = {spread = 3}\n")
    assert row["limit"] == 2 * MIB
    row = _judge_one(size_heap(1028), equal, tmp_path, "[type.Heap]\nprivate = {spread = 3, grow = 0}\n")
    assert (row["verdict"], row["limit"]) == (VIOLATED, MIB)


@pytest.mark.parametrize("count", range(1, LEAST_SAMPLES))
def test_too_few_samples_have_no_spread(count: int, tmp_path: Path) -> None:
    """Below five it cannot be told, and the reason says how many there are."""
    text = "[type.Heap]\nprivate = {spread = 6}\n"
    row = _judge_one(size_heap(1024), [size_heap(1024)] * count, tmp_path, text)
    assert row["verdict"] == CANNOT_TELL
    assert row["reason"].startswith(f"too few samples: {count},")


def test_median_and_deviation_are_exact() -> None:
    """Whole bytes, also beyond the 2^53 of a float."""
    big = 1 << 60
    assert find_median([big + 1, big + 3, big + 2]) == big + 2
    assert find_median([4, 1, 2, 3]) == 2
    assert find_deviation([big + 1, big + 3, big + 2]) == 1


def test_what_the_baseline_does_not_know_is_no_growth(tmp_path: Path) -> None:
    """A maps text has no counters: it cannot be told, with the reason, and never passes."""
    line = "10000000-10100000 rw-p 0 0 [heap]"
    maps, smaps = load_map(line), load_blocks((line, {"Rss": 64}, FLAGS))
    for new, baseline, side in ((smaps, maps, "the baseline: "), (maps, smaps, "the new snapshot: ")):
        row = _judge_one(new, baseline, tmp_path, '[total]\ntotal_ws = "1T"\n')
        assert row["verdict"] == CANNOT_TELL
        assert side in row["reason"]
    row = _judge_one(maps, (), tmp_path, '[total]\ntotal_ws = {at_most = "1T"}\n')
    assert row["verdict"] == CANNOT_TELL


def test_a_map_of_one_gate_area_tells_no_growth(tmp_path: Path) -> None:
    """Nothing in it is estimated, though its source would have to: that has a verdict, and is no fault."""
    counters = {"Rss": 4, "Pss": 4, "Private_Dirty": 4, "Anonymous": 4}
    old = load_blocks(("10000-11000 rw-p 0 0 [heap]", counters, FLAGS))
    new = load_map("ffffffffff600000-ffffffffff601000 r-xp 0 0 [vsyscall]")
    text = '[type.Heap]\nprivate = "1M"\n[type.Image]\nprivate = "1M"\n'
    for pair in ((new, old), (old, new)):
        rows = check(pair[0], [pair[1]], read_toml(tmp_path, text)).table.to_pylist()
        assert {row["verdict"] for row in rows} <= {"ok", "cannot tell"}
        assert all(row["reason"] for row in rows if row["verdict"] == "cannot tell")


def test_at_least_that_much_may_be_too_much_for_sure(tmp_path: Path) -> None:
    """Page tables of a text are not known: a total above the limit is violated, one below cannot be told."""
    new = size_heap(1024)
    for most, word in (("512K", VIOLATED), ("64M", CANNOT_TELL)):
        row = _judge_one(new, (), tmp_path, f'[total]\nprivate = {{at_most = "{most}"}}\n')
        assert row["verdict"] == word
    assert "Page Table" in row["reason"]


def test_partial_lists_tell_no_growth_no_count_and_no_holes(tmp_path: Path) -> None:
    """Regions are missing: every rule that rests on all of them says so."""
    rows: list[dict[str, Any]] = [{"start": 0x1000, "size": 0x1000, "perms": "rw-p", "inode": 0}]
    part = load_table(rows, capability=[Capability("regions", "partial", None, _CUT)])
    text = """no_new_executable_writable = true
total.size = "1T"
mappings = 1000
free.largest_at_least = 1
module."*".size = "1T"
modules_allowed = ["*"]
"""
    judged = _judge(part, part, tmp_path, text)
    assert [row["verdict"] for row in judged] == [CANNOT_TELL] * 6
    assert all(_CUT in row["reason"] for row in judged)


def test_executable_and_writable_memory_counts_by_name(tmp_path: Path) -> None:
    """What was there before is not new; more of it is, and so is another."""
    text = "no_new_executable_writable = true\n"
    plain, unsafe = size_heap(64), size_heap(64, _UNSAFE)
    row = _judge_one(unsafe, plain, tmp_path, text)
    assert (row["verdict"], row["limit"], row["value"]) == (VIOLATED, 0, 0x10000)
    assert "memory without a name" in row["reason"]
    for new, baseline in ((plain, unsafe), (unsafe, unsafe), (plain, plain)):
        assert _judge_one(new, baseline, tmp_path, text)["verdict"] == OK
    assert _judge_one(unsafe, [plain, unsafe], tmp_path, text)["verdict"] == OK
    named = size_heap(64, ("7f0000100000-7f0000110000 rwxp 0 9 /opt/a.so", {}, FLAGS))
    assert _judge_one(named, unsafe, tmp_path, text)["reason"].endswith(": a.so")


def test_new_modules_are_those_that_no_pattern_allows(tmp_path: Path) -> None:
    """By path or last part; a module of the baseline needs no pattern."""
    plain, more = size_heap(64), size_heap(64, _OTHER)
    for patterns, word in (
        ("[]", VIOLATED),
        ('["/usr/lib/*"]', VIOLATED),
        ('["/opt/plugin/*"]', OK),
        ('["libbar.so*"]', OK),
    ):
        row = _judge_one(more, plain, tmp_path, f"modules_allowed = {patterns}\n")
        assert row["verdict"] == word
    assert _judge_one(more, more, tmp_path, "modules_allowed = []\n")["verdict"] == OK
    row = _judge_one(more, plain, tmp_path, "modules_allowed = []\n")
    assert row["reason"] == "1 module new: /opt/plugin/libbar.so"


def test_a_source_without_folders_cannot_tell_a_pattern_with_one(tmp_path: Path) -> None:
    """pmap prints libbar.so: that may be /opt/plugin/libbar.so, and may be another."""
    lines: list[Region] = [
        ("10000-11000 r-xp 0 9 libfoo.so.1", {}, FLAGS),
        ("20000-21000 r-xp 0 8 libbar.so", {}, FLAGS),
    ]
    new = load_blocks(*lines)
    for pattern, word in (("/opt/plugin/libbar.so", CANNOT_TELL), ("libbar.so", OK), ("/opt/x.so", VIOLATED)):
        row = _judge_one(new, size_heap(64), tmp_path, f'modules_allowed = ["{pattern}"]\n')
        assert row["verdict"] == word


def test_a_module_is_budgeted_by_pattern(tmp_path: Path) -> None:
    """All modules that match are added up; a pattern that names none is a mistake, and no pass."""
    plain, more = size_heap(64), size_heap(64, _OTHER)
    text = '[module."lib*.so*"]\nsize = "8K"\n'
    row = _judge_one(more, plain, tmp_path, text)
    assert (row["verdict"], row["baseline"], row["value"]) == (VIOLATED, 0x4000, 0x8000)
    for limit in ('"8K"', '{at_most = "8K"}'):
        row = _judge_one(more, plain, tmp_path, f'[module."libnone.so"]\nsize = {limit}\n')
        assert row["verdict"] == CANNOT_TELL
        assert "no module is called libnone.so" in row["reason"]


def test_a_module_that_is_gone_costs_nothing(tmp_path: Path) -> None:
    """It was there, so the pattern is right."""
    row = _judge_one(size_heap(64), size_heap(64, _OTHER), tmp_path, '[module."libbar.so"]\nsize = 0\n')
    assert (row["verdict"], row["value"]) == (OK, 0)


@pytest.mark.parametrize("limit", ["0", '"10%"', "{spread = 6}", "{at_most = 0}"])
def test_a_module_that_costs_nothing_is_there(limit: str, tmp_path: Path) -> None:
    """Nothing of it is swapped out on either side: a known 0, which holds, not a pattern of no module."""
    runs = [size_heap(64, _OTHER)] * LEAST_SAMPLES
    text = f'[module."libbar.so"]\nswap = {limit}\n'
    row = _judge_one(size_heap(64, _OTHER), runs, tmp_path, text)
    assert (row["verdict"], row["value"], row["limit"] is None) == (OK, 0, False)


def test_at_most_holds_for_a_module_that_the_baseline_alone_has(tmp_path: Path) -> None:
    """The pattern is right, since it names a module there; without a baseline nothing says so."""
    text = '[module."libbar.so"]\nsize = {at_most = "8K"}\n'
    new, old = size_heap(64), size_heap(64, _OTHER)
    for baseline, word in (([old], OK), ([new, old], OK), ([new], CANNOT_TELL), ([], CANNOT_TELL)):
        assert _judge_one(new, baseline, tmp_path, text)["verdict"] == word


@pytest.mark.parametrize(("most", "word"), [(3, OK), (2, OK), (1, VIOLATED)])
def test_mappings_count_without_gate_areas(most: int, word: str, tmp_path: Path) -> None:
    """Two regions, and [vsyscall], which the kernel does not count."""
    new = size_heap(64, ("ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]", {}, "ex"))
    row = _judge_one(new, (), tmp_path, f"[mappings]\nat_most = {most}\n")
    assert (row["verdict"], row["value"], row["unit"]) == (word, 2, "mappings")


def test_the_largest_free_block_may_be_asked_of_a_window(tmp_path: Path) -> None:
    """Between the two regions of the window lie 0x4000 bytes."""
    new = load_map("10000-20000 rw-p", "24000-30000 rw-p")
    for least, word in ((0x4000, OK), (0x4001, VIOLATED)):
        text = f'[free]\nlargest_at_least = {least}\nwindow = "0x10000-0x30000"\n'
        row = _judge_one(new, (), tmp_path, text)
        assert (row["verdict"], row["value"], row["limit"]) == (word, 0x4000, least)


def test_without_a_baseline_only_limits_of_the_value_itself_are_told(tmp_path: Path) -> None:
    """The others cannot be told, for the reason that there is none."""
    text = "no_new_executable_writable = true\n[type.Heap]\nprivate = {grow = 1, at_most = '2M'}\n"
    rows = _judge(size_heap(1024), (), tmp_path, text)
    assert [row["verdict"] for row in rows] == [CANNOT_TELL, CANNOT_TELL, OK]
    assert {row["reason"] for row in rows[:2]} == {"there is no baseline"}


def test_baselines_that_know_less_do_not_count_and_are_counted(tmp_path: Path) -> None:
    """Five of six tell it: a verdict, which says so; four of five are too few."""
    maps, known = load_map("10000000-10100000 rw-p 0 0 [heap]"), [size_heap(1024)] * 5
    text = "[type.Heap]\ntotal_ws = {spread = 6}\n"
    row = _judge_one(size_heap(1024), [maps, *known], tmp_path, text)
    assert (row["verdict"], row["samples"]) == (OK, 5)
    assert "1 of 6 snapshots of the baseline do not tell it" in row["reason"]
    assert _judge_one(size_heap(1024), [maps, *known[1:]], tmp_path, text)["verdict"] == CANNOT_TELL


def test_f30_growth_that_is_only_lazyfree_is_called_that(tmp_path: Path) -> None:
    """It is over the budget, and the reason says what it is."""
    line = "10000000-10100000 rw-p 0 0 [heap]"
    before, after = (load_blocks((line, {"Rss": rss, "LazyFree": rss - 64}, FLAGS)) for rss in (64, 512))
    row = _judge_one(after, before, tmp_path, "[total]\ntotal_ws = 0\n")
    assert row["verdict"] == VIOLATED
    assert "growth is only LazyFree" in row["reason"]


def test_figures_are_those_of_the_summary(tmp_path: Path) -> None:
    """Of a real file, baseline and value are to the byte what `mmp summary` prints."""
    root = Path(__file__).parents[3] / "samples"
    [before] = load(root / "linux-reserve-commit-a-v1.0.mmp")
    [after] = load(root / "linux-reserve-commit-b-v1.0.mmp")
    row = _judge_one(after, before, tmp_path, '[total]\nprivate = "1G"\n')
    totals = [summarize(side).column("private")[0].as_py() for side in (before, after)]
    assert [row["baseline"], row["value"]] == totals


def test_the_outcome_is_the_worst_that_is_sure() -> None:
    """Violated goes before cannot tell, that before ok: exit codes 1, 4, 0."""
    new, baseline = size_heap(1088), [size_heap(1024)]
    limits = {
        0: Limit("growth", 1 << 20),
        1: Limit("growth", 0),
        4: Limit("spread", spread=Fraction(1)),
    }
    budgets = {code: Budget(Subject(TOTAL, TOTAL, "private"), limit) for code, limit in limits.items()}
    for codes, worst in (((0,), 0), ((0, 4), 4), ((0, 4, 1), 1), ((4,), 4)):
        assert check(new, baseline, [budgets[code] for code in codes]).exit_code == worst


def _shop(time_ns: int, **facts: Any) -> LoadedSnapshot:
    snapshot = make_shop()[0]
    snapshot.process.update(facts)
    snapshot.moment["time_ns"] = time_ns
    return LoadedSnapshot(f"{time_ns}.mmp#0", lambda: snapshot)


def test_copies_of_one_snapshot_are_one_sample() -> None:
    """Five copies have no spread to tell; the snapshot that is checked is no baseline of itself."""
    new, said = _shop(9), list[str]()
    found = [_shop(1), _shop(1), _shop(2), _shop(9)]
    assert [each.label for each in choose_baseline(new, found, said)] == ["1.mmp#0", "2.mmp#0"]
    assert said == [
        "1 of the baseline are copies of others, and do not count",
        "9.mmp#0 of the baseline is the snapshot that is checked, and does not count",
    ]


def test_the_snapshot_that_is_checked_never_passes_beside_itself() -> None:
    """Whatever grew, it would: alone or beside other programs it is as if there were no baseline."""
    new = _shop(9)
    for found in ([_shop(9)], [_shop(1, name="java"), _shop(9)]):
        said = list[str]()
        assert [*choose_baseline(new, found, said)] == []
        assert said[-1].startswith("the baseline is the snapshot that is checked")
    result = check(new, [])
    assert (result.exit_code, result.outcome) == (4, "cannot tell")


def test_other_programs_are_no_baseline() -> None:
    """They count only alone, and with a word; of several that are all others, nothing can be told."""
    new, other, said = _shop(9), _shop(1, name="java"), list[str]()
    assert len([*choose_baseline(new, [other, _shop(2)], said)]) == 1
    assert len([*choose_baseline(new, [other], said)]) == 1
    assert "(java)" in said[0]
    assert said[1] == "the baseline is of java, the new snapshot of shop"
    with pytest.raises(CannotTellError, match="no snapshot of the baseline is of shop, only of java"):
        list(choose_baseline(new, [other, _shop(2, name="java")], said))


@pytest.mark.parametrize(
    ("path", "pattern", "is_match"),
    [
        ("/usr/lib/libfoo.so.1", "libfoo.so*", True),
        ("/usr/lib/libfoo.so.1", "/usr/lib/*", True),
        ("/usr/lib/libfoo.so.1 (deleted)", "libfoo.so.1", True),
        ("/usr/lib/libfoo.so.1", "LIBFOO*", False),
        ("/srv/a\\b/libfoo.so", "b*", False),
        ("C:\\Windows\\System32\\NTDLL.dll", "ntdll.dll", True),
        ("C:\\Windows\\System32\\ntdll.dll", "c:\\windows\\*", True),
        ("libfoo.so.1", "/usr/lib/*", False),
    ],
)
def test_a_pattern_is_that_of_a_path_or_of_its_last_part(path: str, pattern: str, is_match: bool) -> None:
    """Case counts, but not on Windows; a backslash divides a path only there; a deleted file has its name."""
    assert matches(path, pattern) == is_match


def test_what_both_sides_lack_is_told_once(tmp_path: Path) -> None:
    """And a type that no fact tells is not said to be empty: a core names no heap."""
    core: list[dict[str, Any]] = [{"start": 0x1000, "size": 0x1000, "perms": "rw-?"}]
    row = _judge_one(load_table(core), load_table(core), tmp_path, '[type.Heap]\nsize = "1G"\n')
    assert row["verdict"] == CANNOT_TELL
    assert row["reason"] == "both sides: no fact tells it from other private data"
    text = '[type.Heap]\nsize = {at_most = "1G"}\n'
    assert _judge_one(load_table(core), (), tmp_path, text)["verdict"] == CANNOT_TELL


def test_the_new_snapshot_is_summed_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many snapshots a baseline has: each of them once, and the new one once for all."""
    counts: Counter[str] = Counter()

    def count(snapshot: LoadedSnapshot) -> Summary:
        counts[snapshot.label] += 1
        return sum_up(snapshot)

    for name in ("figures", "snapshots"):
        monkeypatch.setattr(f"mmpscope.analysis.checks.{name}.sum_up", count)
    new, *baseline = (load(str(path))[0] for path in write_heaps(tmp_path, 1024, 1024, 1028, 1032))
    text = "[total]\nprivate = {grow = '1M', at_most = '1G'}\n[type.Heap]\nprivate = '1M'\n"
    check(new, baseline, read_toml(tmp_path, text))
    assert counts == dict.fromkeys((new.label, *(each.label for each in baseline)), 1)
