"""Any snapshot in VMMap's formats: our reader gets the same memory back, and others' readers show it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, find_free, load, summarize
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.export_vmmap import (
    FIGURES,
    list_rows,
    list_unknown_figures,
    write_vmmap_csv,
    write_vmmap_xml,
)
from mmpscope.formats.vmmap.write_rows import ListRow
from support.loaded import load_blocks, load_map, load_text
from support.mmp_command import run_mmp
from support.vmmap_public_readers import Node, read_leaves, read_lines, read_tree

SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("linux-*.mmp"))
KIB = 1024
COUNTED = tuple(name for name in FIGURES if name != "locked_ws")
HOLES = ("Free", "Unusable")


def written_xml(*snapshots: LoadedSnapshot) -> bytes:
    """Write snapshots as XML."""
    stream = io.BytesIO()
    write_vmmap_xml(stream, snapshots)
    return stream.getvalue()


def written_csv(snapshot: LoadedSnapshot) -> bytes:
    """Write a snapshot as CSV."""
    stream = io.BytesIO()
    write_vmmap_csv(stream, snapshot)
    return stream.getvalue()


def load_bytes(folder: Path, data: bytes) -> list[LoadedSnapshot]:
    """Load what was written, by content: the name says nothing."""
    path = folder / "written"
    path.write_bytes(data)
    return load(path)


def show(snapshot: LoadedSnapshot, figures: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return address, size, type and figures of what is memory of the process."""
    rows = snapshot.regions.select(["address", "size", "type", "subtype", *figures]).to_pylist()
    shown = ("address", "size", "type", *figures)
    return [tuple(row[name] for name in shown) for row in rows if row["subtype"] != "gate"]


def take(path: Path, number: int = -1) -> LoadedSnapshot:
    """Load one snapshot of a sample, the last one unless told."""
    return load(path)[number]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_xml_of_a_linux_process_comes_back(path: Path, tmp_path: Path) -> None:
    """Address, size, type, figures, holes, time and summary are those of the sample."""
    snapshot = take(path)
    [back] = load_bytes(tmp_path, written_xml(snapshot))
    assert show(back, COUNTED) == show(snapshot, COUNTED)
    holes = ["address", "size", "type"]
    assert find_free(back).select(holes).to_pylist() == find_free(snapshot).select(holes).to_pylist()
    assert back.moment.get("time_ns", 0) // 100 == snapshot.moment.get("time_ns", 0) // 100
    names = ["type", "size", *COUNTED, "blocks"]
    unlike = [
        (row, other)
        for row, other in zip(
            summarize(back).select(names).to_pylist(),
            summarize(snapshot).select(names).to_pylist(),
            strict=True,
        )
        if row != other and row["type"] not in HOLES
    ]
    assert unlike == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_csv_of_a_linux_process_comes_back(path: Path, tmp_path: Path) -> None:
    """Name, pid, regions and all figures are those of the sample, locked pages too."""
    snapshot = take(path)
    [back] = load_bytes(tmp_path, written_csv(snapshot))
    assert show(back, tuple(FIGURES)) == show(snapshot, tuple(FIGURES))
    assert (back.process["pid"], back.process["name"]) == (snapshot.process["pid"], snapshot.process["name"])
    assert [row["item"] for row in back.capability.to_pylist() if row["item"] == "regions"] == []


def test_protections_come_back(tmp_path: Path) -> None:
    """The PAGE_* numbers that were written are read, from either format."""
    snapshot = take(SAMPLES[0])
    wanted = [row.protection for row in list_rows(snapshot, with_holes=False) if row.is_part]
    for data in (written_xml(snapshot), written_csv(snapshot)):
        [back] = load_bytes(tmp_path, data)
        assert back.regions.column("Protection").to_pylist() == wanted
    assert {0x02, 0x04, 0x08, 0x20} <= set(wanted)


def parts_of(snapshot: LoadedSnapshot) -> list[ListRow]:
    """Return the rows that are regions."""
    return [row for row in list_rows(snapshot, with_holes=False) if row.is_part]


@pytest.mark.parametrize(
    ("line", "protection"),
    [
        ("1000-2000 r--p", 0x02),
        ("1000-2000 rw-p", 0x04),
        ("1000-2000 r-xp", 0x20),
        ("1000-2000 rwxp", 0x40),
        ("1000-2000 --xp", 0x10),
        ("1000-2000 -w-p", 0x04),
        ("1000-2000 ---p", 0),
        ("1000-2000 ---s 0 5 /dev/shm/x", 0x01),
        ("1000-2000 rw-p 0 5 /lib/x", 0x08),
        ("1000-2000 rwxp 0 5 /lib/x", 0x80),
        ("1000-2000 r--p 0 5 /lib/x", 0x02),
        ("1000-2000 rw-s 0 5 /dev/shm/x", 0x04),
    ],
)
def test_rights_become_the_nearest_protection(line: str, protection: int) -> None:
    """A private writable file is copied on write, private memory without a right is reserved."""
    [row] = parts_of(load_map(line))
    assert row.protection == protection


def test_types_and_names_are_in_the_words_of_vmmap() -> None:
    """Heap and stack have other names in VMMap's list; a file is told by its path, a thread by its number."""
    snapshot = load_map(
        "400000-401000 r-xp 0 5 /bin/a b",
        "401000-402000 rw-p 1000 5 /bin/a b",
        "10000000-10021000 rw-p 0 0 [heap]",
        "20000000-20001000 rw-s 0 9 /dev/shm/x",
        "30000000-30001000 r--p 0 7 /etc/x",
        "7ffc0000000-7ffc0021000 rw-p 0 0 [stack]",
        tables={"threads": [{"tid": 12, "name": "main", "sp": 0x7FFC0020000}]},
    )
    rows = [row for row in list_rows(snapshot, with_holes=False) if not row.is_part]
    assert [(row.kind, row.details, row.blocks) for row in rows] == [
        ("Image", "/bin/a b", 2),
        ("Heap (Private Data)", "[heap]", 1),
        ("Shareable", "/dev/shm/x", 1),
        ("Mapped File", "/etc/x", 1),
        ("Thread Stack", "[stack], Thread ID: 12 main", 1),
    ]
    assert rows[0].protection == 0x20
    assert [row.details for row in parts_of(snapshot)] == [None] * 6


def test_an_allocation_with_a_gap_is_two() -> None:
    """Readers take what lies inside an allocation for a part of it: a library with a hole has two rows."""
    snapshot = load_map(
        "400000-401000 r-xp 0 5 /lib/x", "402000-403000 r--p 2000 5 /lib/x", "401000-402000 rw-p"
    )
    rows = list(list_rows(snapshot, with_holes=False))
    assert [(row.address, row.size, row.is_part) for row in rows] == [
        (address, 0x1000, is_part) for address in (0x400000, 0x401000, 0x402000) for is_part in (False, True)
    ]


def test_gate_areas_are_no_memory_of_the_process() -> None:
    """[vsyscall] counts in nothing, and VMMap would count it."""
    snapshot = load_map(
        "400000-401000 r-xp 0 5 /bin/x", "ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]"
    )
    assert [row.address for row in parts_of(snapshot)] == [0x400000]


def test_unknown_figures_stay_unknown_in_xml(tmp_path: Path) -> None:
    """Maps tell no working set: null when read back, not 0; a CSV of VMMap cannot tell the two apart."""
    snapshot = load_map("400000-401000 r-xp 0 5 /bin/x", "10000000-10021000 rw-p")
    assert list_unknown_figures(snapshot) == [
        heading for name, heading in FIGURES.items() if snapshot.regions.column(name).null_count
    ]
    [back] = load_bytes(tmp_path, written_xml(snapshot))
    for name in ("total_ws", "private_ws"):
        assert back.regions.column(name).to_pylist() == [None, None]
    [back] = load_bytes(tmp_path, written_csv(snapshot))
    assert back.regions.column("total_ws").to_pylist() == [0, 0]


def test_several_snapshots_of_one_process_are_one_file(tmp_path: Path) -> None:
    """A series comes back with every snapshot; two processes are refused, for VMMap's file holds one."""
    leak = next(path for path in SAMPLES if "leak" in path.stem)
    series = load(leak)
    back = load_bytes(tmp_path, written_xml(*series))
    assert len(back) == len(series) > 1
    assert [show(one, COUNTED) for one in back] == [show(one, COUNTED) for one in series]
    other = next(path for path in SAMPLES if "java" in path.stem)
    with pytest.raises(UsageError, match="another process"):
        written_xml(series[0], take(other))


def test_names_of_strangers_do_no_harm(tmp_path: Path) -> None:
    """What a spreadsheet would run is made text in CSV; XML keeps every name that it can hold."""
    name = '/x/=cmd"<b>&\x1b'
    text = (
        f"400000-401000 r-xp 00000000 fe:00 5 {name}\n10000000-10001000 rw-p 00000000 00:00 0 =HYPERLINK(1)\n"
    )
    snapshot = load_text(text, name="=1+1", pid=5)
    data = written_csv(snapshot)
    assert b'"Process:","\'=1+1"' in data
    assert b'"\'=HYPERLINK(1)"' in data
    assert b"\x1b" not in data
    [back] = load_bytes(tmp_path, written_xml(snapshot))
    assert back.regions.column("details").to_pylist()[0] == name.replace("\x1b", "\\x1b")


def test_totals_alone_cannot_be_written(tmp_path: Path) -> None:
    """A list without rows has nothing that VMMap could show."""
    data = written_csv(load_map("400000-401000 r-xp 0 5 /bin/x"))
    [snapshot] = load_bytes(
        tmp_path, b"".join(line for line in data.splitlines(True) if b"00400000" not in line)
    )
    for write in (written_xml, written_csv):
        with pytest.raises(CannotTellError):
            write(snapshot)


def walk(nodes: list[Node]) -> dict[str, int]:
    """Add up the sizes of roots by type."""
    found: dict[str, int] = {}
    for node in nodes:
        found[node.type] = found.get(node.type, 0) + node.numbers["Size"]
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_perfview_would_show_the_last_snapshot(path: Path) -> None:
    """Read by names and put into a tree by what contains what, roots are allocations and leaves regions.

    A file of VMMap holds one process: of a sample of several, that of the last snapshot.
    """
    found = load(path)
    series = [each for each in found if each.process["pid"] == found[-1].process["pid"]]
    roots = read_tree(written_xml(*series))
    rows = list(list_rows(series[-1], with_holes=True))
    assert [(node.address, node.type, len(node.parts)) for node in roots] == [
        (row.address, row.kind, row.blocks) for row in rows if not row.is_part
    ]
    leaves = [part for node in roots for part in node.parts]
    assert [(leaf.address, leaf.numbers["Size"], leaf.numbers["PrivateWS"]) for leaf in leaves] == [
        (row.address, row.size, row.private_ws) for row in rows if row.is_part
    ]
    assert {leaf.numbers["Protection"] for leaf in leaves} == {row.protection for row in rows if row.is_part}
    assert walk(roots)["Image"] == sum(row.size for row in rows if row.is_part and row.kind == "Image")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_vmmapreader_would_add_up_each_type(path: Path) -> None:
    """Regions with nothing inside add up to the summary, by UseType, holes and all."""
    snapshot = take(path)
    sums = read_leaves(written_xml(snapshot))
    expected = {row["type"]: (row["size"] or 0) // KIB for row in summarize(snapshot).to_pylist()}
    del expected["Total"], expected["Page Table"]
    assert {name: sums[name] for name in expected} == expected


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_memoryanalyzer_would_find_its_words(path: Path) -> None:
    """Line by line, each number is the word at its place; blocks of 10 and 20 are what that reader loses."""
    snapshot = take(path)
    found = read_lines(written_xml(snapshot))
    shown = [
        row for row in list_rows(snapshot, with_holes=False) if not row.is_part and "0" not in str(row.blocks)
    ]
    [page_table] = [row["size"] for row in summarize(snapshot).to_pylist() if row["type"] == "Page Table"]
    expected = {
        "total": sum(row.size for row in shown) + page_table,
        **{
            name: sum(getattr(row, name) for row in shown) + page_table
            for name in ("committed", "total_ws", "private_ws")
        },
    }
    assert {name: found[name] for name in expected} == expected
    assert found["ticks"] == snapshot.moment["time_ns"] // 100 + 116_444_736_000_000_000


def test_the_command_says_that_a_list_is_not_whole(tmp_path: Path) -> None:
    """A filtered list saves as a whole one: what it lacks is said on the way out."""
    data = written_csv(load_map("10000-20000 r-xp 0 5 /bin/x", "30000-40000 rw-p"))
    path = tmp_path / "filtered.csv"
    path.write_bytes(b"".join(line for line in data.splitlines(True) if b'00030000"' not in line))
    answer = run_mmp("export", path, "--format", "vmmap-xml", "-o", tmp_path / "x.mmp")
    assert answer.code == 0
    assert "not all regions are known" in answer.err


def test_the_command_writes_both_formats(tmp_path: Path) -> None:
    """`mmp export --format vmmap-xml` and `vmmap-csv` write to a file of any name, whole or not at all."""
    leak = next(path for path in SAMPLES if "leak" in path.stem)
    target = tmp_path / "out.mmp"
    answer = run_mmp("export", f"{leak}#0:", "--format", "vmmap-xml", "-o", target)
    assert (answer.code, answer.err) == (0, "")
    assert target.read_bytes() == written_xml(*load(leak))
    answer = run_mmp("export", f"{leak}#-1", "--format", "vmmap-csv")
    assert (answer.code, answer.out.replace("\r", "").encode()) == (
        0,
        written_csv(take(leak)).replace(b"\r", b""),
    )
    answer = run_mmp("export", f"{leak}#0:", "--format", "vmmap-csv", "-o", tmp_path / "x.csv")
    assert (answer.code, (tmp_path / "x.csv").exists()) == (2, False)
    assert "one snapshot" in answer.err
    answer = run_mmp("export", leak, "--format", "vmmap-xml", "--type", "Heap")
    assert answer.code == 2


def test_the_command_says_what_is_not_known(tmp_path: Path) -> None:
    """VMMap shows nothing for zero and for unknown: which it is, is said on the way out."""
    path = tmp_path / "maps"
    path.write_text("00400000-00401000 r-xp 00000000 fe:00 5 /bin/x\n")
    answer = run_mmp("export", path, "--format", "vmmap-csv", "-o", tmp_path / "x.csv")
    assert answer.code == 0
    assert "does not tell" in answer.err
    assert "Total WS" in answer.err
    assert run_mmp("export", path, "--format", "vmmap-csv", "-o", tmp_path / "y.csv", "-q").err == ""


def test_figures_of_an_allocation_are_sums() -> None:
    """Where no source states them, an allocation has what its regions have together."""
    nothing = {"Anonymous": 0, "Shared_Clean": 0, "Shared_Dirty": 0}
    snapshot = load_blocks(
        ("400000-402000 r-xp 0 5 /bin/x", {**nothing, "Rss": 8}, "rd ex mr"),
        ("402000-403000 rw-p 2000 5 /bin/x", {**nothing, "Rss": 4, "Anonymous": 4}, "rd wr mr ac"),
    )
    rows = list(list_rows(snapshot, with_holes=False))
    assert [(row.is_part, row.total_ws, row.private_ws, row.blocks) for row in rows] == [
        (False, 12 * KIB, 4 * KIB, 2),
        (True, 8 * KIB, 0, 0),
        (True, 4 * KIB, 4 * KIB, 0),
    ]
