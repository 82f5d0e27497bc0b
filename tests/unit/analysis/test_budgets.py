"""Files of budgets: every form that they may have, and one sentence for everything else."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from mmpscope.analysis.checks.budget import (
    AT_LEAST,
    AT_MOST,
    FREE,
    GROWTH,
    LEAST_SAMPLES,
    MAPPINGS,
    MODULES,
    NOTHING_NEW,
    RIGHTS,
    SPREAD,
    Budget,
    Limit,
    Subject,
    choose_default,
)
from mmpscope.analysis.checks.budgets import read_budgets
from mmpscope.analysis.checks.schema import MODULE_METRICS, TOTAL_METRICS
from mmpscope.analysis.errors import UsageError
from mmpscope.formats.errors import FormatError, InputError
from support.checks import MIB, read_toml

_PRIVATE = Subject("total", "total", "private")


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        ('"16M"', [Limit(GROWTH, 16 * MIB)]),
        ("4096", [Limit(GROWTH, 4096)]),
        ('"0"', [Limit(GROWTH, 0)]),
        ('"10%"', [Limit(GROWTH, percent=Fraction(10))]),
        ('"2.5 %"', [Limit(GROWTH, percent=Fraction(5, 2))]),
        ('{grow = "1.5M"}', [Limit(GROWTH, 3 * MIB // 2)]),
        ("{percent = 0.1}", [Limit(GROWTH, percent=Fraction(1, 10))]),
        ('{grow = "1M", percent = 10}', [Limit(GROWTH, MIB, Fraction(10))]),
        ("{spread = 6}", [Limit(SPREAD, spread=Fraction(6))]),
        ('{spread = 6, grow = "1M"}', [Limit(SPREAD, MIB, None, Fraction(6))]),
        ('{at_most = "0x1000"}', [Limit(AT_MOST, 4096)]),
        ('{grow = "1M", at_most = "2M"}', [Limit(GROWTH, MIB), Limit(AT_MOST, 2 * MIB)]),
        ('["1M", "10%"]', [Limit(GROWTH, MIB), Limit(GROWTH, percent=Fraction(10))]),
    ],
)
def test_a_limit_has_these_forms(value: str, limits: list[Limit], tmp_path: Path) -> None:
    """A size, a percentage, a table of what must all be exceeded, a list of what must each hold."""
    budgets = read_toml(tmp_path, f"[total]\nprivate = {value}\n")
    assert list(budgets) == [Budget(_PRIVATE, limit) for limit in limits]


def test_every_table_and_key_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The subjects that there are, in one file that begins with a byte order mark."""
    text = """\ufeffno_new_executable_writable = true
modules_allowed = ["/usr/lib/*"]
total.swap = "1M"
type.Heap.private = "1M"
type."Private Data".size = "1M"
module."libfoo.so*".pss = "1M"
mappings.at_most = 60000
free = {largest_at_least = "256M", window = "0-4G"}
"""
    assert list(read_toml(tmp_path, text)) == [
        Budget(RIGHTS, Limit(NOTHING_NEW)),
        Budget(MODULES, Limit(NOTHING_NEW, allowed=("/usr/lib/*",))),
        Budget(Subject("total", "total", "swap"), Limit(GROWTH, MIB)),
        Budget(Subject("type", "Heap", "private"), Limit(GROWTH, MIB)),
        Budget(Subject("type", "Private Data", "size"), Limit(GROWTH, MIB)),
        Budget(Subject("module", "libfoo.so*", "pss"), Limit(GROWTH, MIB)),
        Budget(MAPPINGS, Limit(AT_MOST, 60_000)),
        Budget(FREE._replace(window=(0, 1 << 32)), Limit(AT_LEAST, 256 * MIB)),
    ]


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("", "no budget", "no_new_executable_writable"),
        ("no_new_executable_writable = false", "no budget", "total"),
        ("[totals]\nprivate = 1", "totals", "total, type, module"),
        ("[total]\nprivat = 1", "total.privat", "private"),
        ("[total]\nlargest = 1", "total.largest", "private"),
        ("total = 3", "total", "a table of figures"),
        ("[type]\nHeep.private = 1", "type.Heep", "Managed Heap"),
        ("[type]\nFree.size = 1", "type.Free", "Heap"),
        ("type = []", "type", "as in [type.Heap]"),
        ("[module.'']\nsize = 1", "module", "a pattern is empty"),
        ("[module.'a*']\nlazyfree = 1", "module.a*.lazyfree", "private_ws"),
        ("[total]\nprivate = true", "total.private", "a size as in"),
        ("[total]\nprivate = 1.5", "total.private", "a size as in"),
        ("[total]\nprivate = 1979-05-27", "total.private", "a size as in"),
        ("[total]\nprivate = []", "total.private", "the list is empty"),
        ("[total]\nprivate = [['1M']]", "total.private", "a list holds a size"),
        ("[total]\nprivate = {}", "total.private", "the table is empty"),
        ("[total]\nprivate = {most = 1}", "total.private.most", "at_most"),
        ("[total]\nprivate = -1", "total.private", "0 or more"),
        ("[total]\nprivate = 9223372036854775808", "total.private", "less than 8 EiB"),
        ("[total]\nprivate = '99999999T'", "total.private", "less than 8 EiB"),
        ("[total]\nprivate = '16 MB/s'", "total.private", "200M"),
        ("[total]\nprivate = '%'", "total.private", "a number from 0"),
        ("[total]\nprivate = 'nan%'", "total.private", "a number from 0"),
        ("[total]\nprivate = {percent = inf}", "total.private.percent", "a number from 0"),
        ("[total]\nprivate = {percent = -1}", "total.private.percent", "a number from 0"),
        ("[total]\nprivate = {percent = 1e-999999999}", "total.private.percent", "6 digits"),
        ("[total]\nprivate = {percent = 1e999999999}", "total.private.percent", "1,000,000"),
        ("[total]\nprivate = {spread = true}", "total.private.spread", "a number from 0"),
        ("[total]\nprivate = {spread = []}", "total.private.spread", "a number from 0"),
        ("[mappings]\nat_most = '64K'", "mappings.at_most", "a whole number"),
        ("[mappings]\nat_most = 1.5", "mappings.at_most", "a whole number"),
        ("[free]\nwindow = '0-4G'", "free", "largest_at_least"),
        ("[free]\nlargest_at_least = '1M'\nwindow = 3", "free.window", "0-4G"),
        ("[free]\nlargest_at_least = '1M'\nwindow = '4G-0'", "free.window", "above the first"),
        ("[free]\nsmallest = '1M'", "free.smallest", "window"),
        ("no_new_executable_writable = 1", "no_new_executable_writable", "true or false"),
        ("modules_allowed = '/usr/lib/*'", "modules_allowed", "a list of patterns"),
        ("modules_allowed = [3]", "modules_allowed", "a list of patterns"),
        ("modules_allowed = ['']", "modules_allowed", "a list of patterns"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(
    text: str, key: str, allowed: str, tmp_path: Path
) -> None:
    """It names the file, the key and what is allowed there; nothing is left out silently."""
    with pytest.raises(UsageError) as refused:
        read_toml(tmp_path, text)
    sentence = str(refused.value)
    assert sentence.startswith(f"{tmp_path / 'budget.toml'}: ")
    assert key in sentence
    assert allowed in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "data",
    [
        b"[total",
        b"total = 1\ntotal = 2",
        b"\xff\xfe[\x00",
        b"\x00" * 100,
        b"x = " + b"9" * 5000,
        b"x = " + b"[" * 100_000,
        b"#" * (1 << 20) + b"#",
    ],
)
def test_what_is_no_toml_is_refused_and_costs_little(data: bytes, tmp_path: Path) -> None:
    """Cut, doubled, of another encoding, of endless digits or depth, too large: one FormatError."""
    path = tmp_path / "budget.toml"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"budget\.toml"):
        read_budgets(path)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    """Not there, or a folder."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError, match="the budgets cannot be read"):
            read_budgets(path)


@pytest.mark.parametrize("samples", [1, 2, LEAST_SAMPLES])
def test_defaults_take_the_spread_of_a_baseline_of_several(samples: int) -> None:
    """One snapshot has none; a system that counts no mappings has no budget for them."""
    rules = {budget.limit.rule for budget in choose_default(samples, has_mapping_count=True)}
    assert rules == {NOTHING_NEW, GROWTH if samples == 1 else SPREAD}
    subjects = [budget.subject for budget in choose_default(samples, has_mapping_count=False)]
    assert MAPPINGS not in subjects
    assert RIGHTS in subjects


def test_the_example_of_the_document_is_accepted(tmp_path: Path) -> None:
    """What docs/check.md shows works as it stands, and names every figure that there is."""
    text = (Path(__file__).parents[3] / "docs" / "check.md").read_text()
    example = text[text.index("```toml\n") + 8 :].split("```", 1)[0]
    assert len(read_toml(tmp_path, example)) == 12
    rows = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("| `[")}
    named = {key: re.findall(r"`(\w+)`", rows[f"| `{key}`"]) for key in ("[total]", "[module.PATTERN]")}
    assert set(named["[total]"]) == set(TOTAL_METRICS)
    assert set(named["[module.PATTERN]"]) == set(MODULE_METRICS)
