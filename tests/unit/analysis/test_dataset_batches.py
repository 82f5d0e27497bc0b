"""Parts of a dataset: names of columns, names of hostile files, metadata, what is dropped."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mmpscope.analysis.bulk.files import list_inputs
from mmpscope.analysis.datasets import batches
from mmpscope.analysis.datasets.batches import Batch, Gathering, drop_snapshots, find_moments, find_month
from mmpscope.analysis.datasets.files import Reading, read_batch
from mmpscope.analysis.datasets.raw_names import name_columns
from mmpscope.analysis.datasets.schema import PARTITIONED, TABLES
from mmpscope.analysis.schema import REGIONS
from mmpscope.analysis.snapshot import LoadedSnapshot
from mmpscope.analysis.stack_tables import StackTables
from mmpscope.analysis.tables import stack
from mmpscope.formats.errors import CorruptError, FormatError
from support.datasets import NOVEMBER_NS, ask_rows, build, read_plainly, write_run
from support.loaded import load_table

ROW = {"start": 0x1000, "size": 0x1000}


def _batch(*paths: Path) -> Batch:
    return read_batch(Reading(), list_inputs(map(str, paths)))


def _read(batch: Batch, name: str, month: str | None = "2026-11") -> pa.Table:
    return pq.read_table(io.BytesIO(batch.parts[name, month]))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (["Rss"], ["raw_Rss"]),
        (["pss"], ["raw_pss"]),
        (["Pss", "PSS", "pSS"], ["raw_Pss", "raw_PSS_2", "raw_pSS_3"]),
        (["raw", "raw.x"], ["raw_raw", "raw_raw.x"]),
        (["Type", "type"], ["raw_Type", "raw_type_2"]),
    ],
)
def test_columns_of_the_source_have_names_of_their_own(raw: list[str], shown: list[str]) -> None:
    """In any case of letters, and whatever a vendor's kernel or a stranger calls them."""
    table = load_table([{**ROW, **dict.fromkeys(raw, 1)}]).regions
    names = name_columns(table)
    assert names[len(REGIONS) :] == shown
    assert len({name.lower() for name in names}) == len(names)


def test_a_column_that_is_a_number_here_and_text_there_is_text() -> None:
    """Nothing is lost, and no batch fails for a stranger's file."""
    tables = [pa.table({"raw_a": pa.array([7], pa.uint64())}), pa.table({"raw_a": ["x"], "raw_b": [True]})]
    assert stack(tables).to_pylist() == [{"raw_a": "7", "raw_b": None}, {"raw_a": "x", "raw_b": True}]


def test_types_that_differ_between_builds_meet_in_sql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column of numbers in one part and of text in another is text in an answer."""
    root = tmp_path / "ds"
    build(root, write_run(tmp_path / "a.mmp", pid=1))
    add = Gathering.add_all

    def add_text(self: Gathering, snapshots: list[tuple[LoadedSnapshot, str]]) -> dict[int, FormatError]:
        [(snapshot, _)] = snapshots
        table = snapshot.regions
        place = table.column_names.index("Rss")
        changed = table.set_column(place, "Rss", pa.repeat(pa.scalar("many"), table.num_rows))
        monkeypatch.setattr(snapshot, "regions", changed)
        return add(self, snapshots)

    with monkeypatch.context() as patched:
        patched.setattr(Gathering, "add_all", add_text)
        build(root, write_run(tmp_path / "b.mmp", pid=2))
    rows = ask_rows(root, "SELECT DISTINCT raw_Rss FROM regions ORDER BY ALL")
    assert {row["raw_Rss"] for row in rows} >= {"many", "0"}


def test_names_of_hostile_files_stay_intact(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are exact in raw_path_bytes, quotes stand as they are."""
    name = b"/srv/\xff\xfe'\";--\\012<b>"
    (tmp_path / "a.maps").write_bytes(b"00400000-00401000 r--p 00000000 08:01 7 " + name + b"\n")
    root = tmp_path / "ds"
    build(root, tmp_path / "a.maps")
    [row] = ask_rows(root, "SELECT raw_path_bytes, raw_path FROM regions")
    assert row["raw_path_bytes"] == name
    assert row["raw_path"] == "/srv/\\xff\\xfe'\";--\\012<b>"
    assert read_plainly(root, "regions", "raw_path_bytes") == (name,)


@pytest.mark.parametrize("name", TABLES)
def test_units_and_meanings_are_in_the_parquet(tmp_path: Path, name: str) -> None:
    """In the metadata of fields for Arrow, and in that of the file for everybody."""
    batch = _batch(write_run(tmp_path / "a.mmp"))
    data = batch.render_files() if name == "files" else batch.parts[name, "2026-11"]
    schema = pq.read_schema(io.BytesIO(data))
    told = schema.metadata
    assert (told[b"mmpscope.dataset"], told[b"mmpscope.table"].decode()) == (b"1", name)
    units = json.loads(told[b"mmpscope.units"])
    for field in TABLES[name]:
        metadata = schema.field(field.name).metadata
        assert (metadata[b"unit"].decode(), metadata[b"meaning"].decode()) == (field.unit, field.meaning)
        assert units.get(field.name, "") == field.unit
    addresses = [field.name for field in TABLES[name] if field.unit == "address"]
    assert all(schema.field(column).type == pa.uint64() for column in addresses)


def test_rows_of_a_part_lie_by_time(tmp_path: Path) -> None:
    """So that the statistics of its row groups tell which of them a question needs."""
    paths = [write_run(tmp_path / f"{n}.mmp", [NOVEMBER_NS + at], n + 1) for n, at in enumerate((5, 1, 9))]
    for name in ("regions", "threads", "modules"):
        times = _read(_batch(*paths), name)["time_ns"].to_pylist()
        assert times == sorted(times)
        assert len(set(times)) == 3


def test_every_row_belongs_to_its_snapshot(tmp_path: Path) -> None:
    """The id is that of the file's bytes and the number in it; order by time moves no row to another."""
    path = write_run(tmp_path / "a.mmp", [NOVEMBER_NS + 5, NOVEMBER_NS])
    batch = _batch(path)
    [content] = [row.content for row in batch.files]
    for name in PARTITIONED:
        assert set(_read(batch, name)["snapshot_id"].to_pylist()) == {f"{content}:0", f"{content}:1"}
    regions = _read(batch, "regions").to_pylist()
    assert {(row["snapshot_id"][-1], row["time_ns"]) for row in regions} == {
        ("0", NOVEMBER_NS + 5),
        ("1", NOVEMBER_NS),
    }


def test_the_same_files_are_the_same_batch(tmp_path: Path) -> None:
    """Its name and bytes follow from the content, whoever makes it: work may be done twice."""
    path = write_run(tmp_path / "a.mmp")
    one, two = _batch(path), _batch(path)
    assert one.name == two.name
    assert one.parts == two.parts
    assert _batch(write_run(tmp_path / "b.mmp", pid=9)).name != one.name


def test_dropping_a_snapshot_drops_all_of_it_and_nothing_else(tmp_path: Path) -> None:
    """In every table and month."""
    batch = _batch(write_run(tmp_path / "a.mmp", [NOVEMBER_NS, NOVEMBER_NS + 1]))
    gone, stays = sorted(batch.moments)
    left = drop_snapshots(batch, {gone})
    assert list(left.moments) == [stays]
    for name in PARTITIONED:
        rows = [row for row in _read(batch, name).to_pylist() if row["snapshot_id"] == stays]
        assert _read(left, name).to_pylist() == rows
    assert drop_snapshots(batch, {gone, stays}).parts == {}


def test_a_moment_is_told_by_boot_pid_start_and_clock(tmp_path: Path) -> None:
    """And where one of them is not known, by nothing but the snapshot itself."""
    captures = _read(_batch(write_run(tmp_path / "a.mmp", [NOVEMBER_NS])), "captures")
    [moment] = find_moments(captures).values()
    renamed = captures.set_column(0, "snapshot_id", pa.array(["x:0"]))
    assert find_moments(renamed) == {"x:0": moment}
    place = captures.column_names.index("boot_id")
    unknown = renamed.set_column(place, "boot_id", pa.nulls(1, pa.string()))
    assert find_moments(unknown) != {"x:0": moment}


@pytest.mark.parametrize(
    ("time_ns", "month"),
    [
        (None, None),
        (0, "1970-01"),
        (-1, "1969-12"),
        (NOVEMBER_NS, "2026-11"),
        (-(1 << 63), "1677-09"),
        ((1 << 63) - 1, "2262-04"),
    ],
)
def test_the_month_of_a_moment(time_ns: int | None, month: str | None) -> None:
    """In UTC, and of any time that 64 bits hold."""
    assert find_month(time_ns) == month


def test_parts_of_snapshots_together_are_those_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table, row by row and in the same order, whatever is made once for several snapshots."""
    samples = sorted((Path(__file__).parents[3] / "samples").glob("*.mmp"))
    together = _batch(*samples)
    monkeypatch.setattr(batches, "stack_together", lambda _: [])
    alone = _batch(*samples)
    assert together.parts.keys() == alone.parts.keys()
    assert together.moments == alone.moments
    for (name, month), data in together.parts.items():
        table, other = pq.read_table(io.BytesIO(data)), _read(alone, name, month)
        assert sorted(table.column_names) == sorted(other.column_names)
        assert table.to_pylist() == other.to_pylist()


def test_a_damaged_column_costs_its_own_snapshot_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is made once for several is made for each where that fails, and the others are whole."""
    paths = [write_run(tmp_path / f"{pid}.mmp", pid=pid) for pid in (1, 2, 3)]
    whole = _batch(paths[0], paths[2])
    list_own = vars(LoadedSnapshot)["threads"].func

    def fail(*_: object) -> pa.Table:
        raise CorruptError("a column is damaged")

    def fail_second(snapshot: LoadedSnapshot) -> pa.Table:
        return fail() if snapshot.process["pid"] == 2 else list_own(snapshot)

    monkeypatch.setattr(StackTables, "list_all", fail)
    monkeypatch.setattr(LoadedSnapshot, "threads", property(fail_second))
    batch = _batch(*paths)
    assert [row.error is not None for row in batch.files] == [False, True, False]
    for name in ("captures", "regions", "names", "threads"):
        assert _read(batch, name).to_pylist() == _read(whole, name).to_pylist()
