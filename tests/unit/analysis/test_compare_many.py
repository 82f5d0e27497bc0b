"""Many snapshots side by side: who is compared with whom, how groups are spread, which rows are kept."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.bulk.measuring import FileError, Measured
from mmpscope.analysis.comparisons.answer import (
    Answer,
    Choice,
    answer,
    choose_by,
    choose_figure,
    choose_rows,
)
from mmpscope.analysis.comparisons.compare import compare_measures, group_measures
from mmpscope.analysis.comparisons.schema import COMPARE, GROUPS, OUTLIERS
from mmpscope.analysis.errors import UsageError
from support.fleets import MIB, make_fleet, make_process

FLEET = [*(make_process(number) for number in range(20)), make_process(20, 400 * MIB)]


def _verdicts(rows: list[dict[str, Any]]) -> list[str]:
    verdicts: list[str] = compare_measures(make_fleet(rows)).rows["verdict"].to_pylist()
    return verdicts


def _ask(choice: Choice, errors: tuple[FileError, ...] = ()) -> Answer:
    return answer(Measured(make_fleet(FLEET), errors), choice)


def test_one_that_is_odd_is_named_with_every_figure_that_is() -> None:
    """The oddest first; the others of its kind are usual, and their number is told."""
    compared = compare_measures(make_fleet(FLEET))
    rows = compared.rows.to_pylist()
    assert [row["verdict"] for row in rows] == ["usual"] * 20 + ["outlier"]
    assert rows[-1]["peers"] == 20
    assert "heap 300 MiB above 20 others of this executable and version" in rows[-1]["reason"]
    odd = compared.outliers.to_pylist()
    assert {row["metric"] for row in odd} >= {"private", "Heap private", "total_ws"}
    assert {row["input"] for row in odd} == {"20.mmp#0"}
    assert all(row["value"] - row["median"] == row["excess"] for row in odd)


def test_only_one_executable_and_version_is_compared() -> None:
    """A database is not odd among small tools, nor the new version among the old."""
    small = [make_process(number) for number in range(20)]
    big = [make_process(number, 900 * MIB, exe="/opt/database") for number in range(20, 40)]
    new = [make_process(number, 400 * MIB, version="cd34") for number in range(40, 60)]
    assert set(_verdicts([*small, *big, *new])) == {"usual"}


def test_the_place_of_a_program_does_not_matter() -> None:
    """The same program lies in another folder on another machine, or was replaced while it ran."""
    places = ("/a/server", "/b/server", "/c/server (deleted)", "C:\\x\\server")
    rows = [make_process(number, exe=places[number % 4]) for number in range(20)]
    assert _verdicts([*rows, make_process(20, 400 * MIB)])[-1] == "outlier"


def test_few_of_a_kind_cannot_tell() -> None:
    """And say how many there are."""
    compared = compare_measures(make_fleet([make_process(0), make_process(1, 900 * MIB)]))
    assert set(compared.rows["verdict"].to_pylist()) == {"cannot tell"}
    assert compared.rows["reason"].to_pylist()[0].startswith("1 other of this executable and version")


def test_what_lists_only_some_regions_is_neither_judged_nor_a_peer() -> None:
    """A part of a process is small for another reason."""
    part = make_process(
        20, MIB, extent="some regions", complete=False, lacks="not all regions are known: cut"
    )
    rows = [*(make_process(number) for number in range(20)), part]
    compared = compare_measures(make_fleet(rows)).rows.to_pylist()
    assert (compared[-1]["verdict"], compared[-1]["peers"]) == ("cannot tell", None)
    assert compared[-1]["reason"] == "not all regions are known: cut"
    assert compared[0]["peers"] == 19


def test_one_file_given_twice_is_two_rows() -> None:
    """Figures of types are found by the id of a snapshot, which both have."""
    rows = [*(make_process(number) for number in range(10)), make_process(3, input="copy.mmp#0")]
    assert len(_verdicts(rows)) == 11


def test_no_snapshot_is_an_empty_answer() -> None:
    """With every column."""
    compared = compare_measures(make_fleet([]))
    assert compared.rows.column_names == [field.name for field in COMPARE]
    assert compared.outliers.column_names == [field.name for field in OUTLIERS]
    assert group_measures(make_fleet([]), ("host",)).column_names == [field.name for field in GROUPS]


def test_groups_tell_how_a_figure_is_spread() -> None:
    """Smallest to largest, as values that occur; snapshots add up over groups."""
    groups = [
        row for row in group_measures(make_fleet(FLEET), ("host",)).to_pylist() if row["metric"] == "private"
    ]
    assert [(row["group"], row["snapshots"]) for row in groups] == [
        ("host-0", 7),
        ("host-1", 7),
        ("host-2", 7),
    ]
    assert [row["max"] // MIB for row in groups] == [100, 100, 400]
    assert groups[2]["median"] == 100 * MIB


def test_a_group_that_knows_a_figure_nowhere_has_none() -> None:
    """Null, not 0."""
    rows = [make_process(number, swap=None) for number in range(3)]
    [row] = [row for row in group_measures(make_fleet(rows), ("all",)).to_pylist() if row["metric"] == "swap"]
    assert (row["snapshots"], row["known"], row["min"], row["max"]) == (3, 0, None, None)


def test_several_words_group_together() -> None:
    """Names of groups are joined."""
    groups = group_measures(make_fleet(FLEET), ("build", "host"))
    assert set(groups["group"].to_pylist()) == {f"server / ab12 / host-{number}" for number in range(3)}


def test_rows_are_chosen_after_all_are_judged() -> None:
    """One host alone has too few of a kind; it is judged beside those that are not shown."""
    chosen = _ask(Choice(conditions=choose_rows(["hostname=host-2"])))
    assert chosen.rows["hostname"].unique().to_pylist() == ["host-2"]
    assert "outlier" in chosen.rows["verdict"].to_pylist()
    assert chosen.compared == len(FLEET)


def test_outliers_come_first_and_errors_last() -> None:
    """Errors are rows whatever is asked for: silence about a file would look like an answer."""
    error = FileError("bad.mmp", "bad.mmp: damaged")
    rows = _ask(Choice(), (error,)).rows.to_pylist()
    assert (rows[0]["input"], rows[-1]["input"]) == ("20.mmp#0", "bad.mmp")
    assert (rows[-1]["error"], rows[-1]["verdict"]) == ("bad.mmp: damaged", None)
    only = _ask(Choice(only_outliers=True), (error,)).rows
    assert only["input"].to_pylist() == ["20.mmp#0", "bad.mmp"]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("private>200M", 1),
        ("private<=100M", 20),
        ("PID=1003", 1),
        ("name=SERV*", 21),
        ("name!=server", 0),
        ("complete=true", 21),
        ("lacks=*", 0),
        ("external_fragmentation<0.5", 0),
    ],
)
def test_conditions(condition: str, count: int) -> None:
    """Text by pattern in any case, numbers as numbers or sizes; what is unknown meets none."""
    assert len(_ask(Choice(conditions=choose_rows([condition]))).rows) == count


@pytest.mark.parametrize("text", ["private", "none=1", "name>3", "private=x", "complete=maybe", "pid=ten"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    """With the words that were typed."""
    with pytest.raises(UsageError, match=text):
        choose_rows([text])


def test_words_that_mean_nothing_are_refused() -> None:
    """Each error lists what there is."""
    with pytest.raises(UsageError, match="executable, build, host"):
        choose_by(["color"])
    with pytest.raises(UsageError, match="Heap private"):
        choose_figure("weight")
    with pytest.raises(UsageError, match="no such column"):
        _ask(Choice(sort="weight"))


def test_figures_are_found_in_any_spelling() -> None:
    """As types are, elsewhere."""
    assert choose_figure("heap-private").name == "Heap private"
    assert choose_figure("TOTAL_WS").name == "total_ws"
