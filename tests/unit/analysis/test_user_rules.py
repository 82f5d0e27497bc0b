"""A user's own rules: they go first, and a wrong file is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.user_rules import read_rules
from mmpscope.formats.errors import FormatError
from support.loaded import find_row, load_map, load_table

GOOD = r"""
[[rule]]
id = "pool"
type = "Heap"
subtype = "game pool"
name = '\[anon:pool-\d+\]'
perms = "rw.p"

[[rule]]
id = "big"
type = "Managed Heap"
confidence = "low"
min_size = 0x10000
max_size = 0x20000
"""
POOL = "10000000-10001000 rw-p 0 0 [anon:pool-7]"


def _write(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_own_rules_go_before_ours(tmp_path: Path) -> None:
    """The first rule that matches wins, and says whose it is."""
    rules = read_rules(_write(tmp_path, GOOD))
    snapshot = load_map(POOL, "20000000-20010000 rw-p 0 0 [heap]", "30000000-30030000 rw-p", rules=rules)
    pool, big, rest = (find_row(snapshot, start) for start in (0x10000000, 0x20000000, 0x30000000))
    assert (pool["type"], pool["subtype"], pool["rule"], pool["confidence"]) == (
        "Heap",
        "game pool",
        "user:pool",
        "high",
    )
    assert (big["type"], big["subtype"], big["rule"], big["confidence"]) == (
        "Managed Heap",
        None,
        "user:big",
        "low",
    )
    assert rest["rule"] == "private"
    assert snapshot.rules_version.endswith("+")


def test_names_and_rights_are_matched_whole(tmp_path: Path) -> None:
    """Part of a name is not the name."""
    rules = read_rules(_write(tmp_path, GOOD))
    for line in (POOL.replace("pool-7", "pool-7b"), POOL.replace("rw-p", "r--p")):
        assert find_row(load_map(line, rules=rules), 0x10000000)["rule"] == "named"


def test_gate_areas_cannot_be_claimed(tmp_path: Path) -> None:
    """Whether an area counts at all is no matter of taste."""
    rules = read_rules(_write(tmp_path, '[[rule]]\nid = "all"\ntype = "Heap"\nname = ".*"\n'))
    row = find_row(load_map("ffff0000-ffff1000 r-xp 0 0 [vectors]", rules=rules), 0xFFFF0000)
    assert row["subtype"] == "gate"


def test_loading_takes_the_file(tmp_path: Path) -> None:
    """`load(..., rules=FILE)` is the whole interface."""
    (tmp_path / "text").write_bytes(b"10000000-10001000 rw-p 00000000 00:00 0   [anon:pool-7]\n")
    [snapshot] = load(tmp_path / "text", rules=_write(tmp_path, GOOD))
    assert snapshot.regions.column("rule").to_pylist() == ["user:pool"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rule]\n", "the rules are no TOML"),
        ("rule = 7\n", r"something else than \[\[rule\]\] tables"),
        ("", r"something else than \[\[rule\]\] tables"),
        ("rule = [7]\n", "it is no table, in rule 1"),
        (
            '[[rule]]\nid = "a"\ntype = "Free"\nname = "x"\n',
            "it needs an id, and a type out of Image, .*, in rule 1",
        ),
        ('[[rule]]\ntype = "Heap"\nname = "x"\n', "it needs an id"),
        ('[[rule]]\nid = "a"\ntype = "Heap"\n', "it has no condition"),
        ('[[rule]]\nid = "a"\ntype = "Heap"\nname = "("\n', "no regular expression .*, in rule 1, name"),
        (
            '[[rule]]\nid = "a"\ntype = "Heap"\nmin_size = "4K"\n',
            "min_size must be of type int, in rule 1, min_size",
        ),
        ('[[rule]]\nid = "a"\ntype = "Heap"\nnmae = "x"\n', "there is no key 'nmae', only id, "),
        (
            '[[rule]]\nid = "a"\ntype = "Heap"\nname = "x"\nconfidence = "sure"\n',
            "confidence is one of high, medium, low",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    """The message names file, rule and key."""
    with pytest.raises(FormatError, match=message) as raised:
        read_rules(_write(tmp_path, text))
    assert str(raised.value).startswith(str(tmp_path / "own.toml"))
    assert "\n" not in str(raised.value).replace("\\n", "")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """With the reason of the system."""
    with pytest.raises(FormatError, match="cannot be read"):
        read_rules(tmp_path / "gone.toml")


def test_a_rule_may_look_at_any_column_of_text(tmp_path: Path) -> None:
    """Usage, RegionType, VmmapType: what a source says in words can be asked for by its name."""
    where = r"{ VmmapType = 'Private .*', Details = 'pool \d+' }"
    text = f'[[rule]]\nid = "arena"\ntype = "Heap"\nwhere = {where}\n'
    rows = [
        {"start": start, "size": 0x1000, "VmmapType": "Private Data", "Details": details}
        for start, details in ((0x10000, "pool 7"), (0x20000, "pool"), (0x30000, None))
    ]
    snapshot = load_table(rows, rules=read_rules(_write(tmp_path, text)))
    assert [row["rule"] for row in snapshot.regions.to_pylist()] == [
        "user:arena",
        "vmmap-private",
        "vmmap-private",
    ]


@pytest.mark.parametrize("where", ["{ Usage = 7 }", '{ Usage = "(" }', '"Usage"'])
def test_what_is_no_pattern_for_a_column_is_refused(tmp_path: Path, where: str) -> None:
    """A wrong condition is told before any snapshot is asked."""
    with pytest.raises(FormatError, match=r"rule 1, (Usage|where)"):
        read_rules(_write(tmp_path, f'[[rule]]\nid = "a"\ntype = "Heap"\nwhere = {where}\n'))
