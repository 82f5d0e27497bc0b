"""One process written as VMMap's XML, CSV and text in every variant reads back to the same memory.

The fixtures come from the notes on VMMap's files alone (tests/support/vmmap_process.py, vmmap_builder.py);
the readers are asked through the public interface only.
"""

from __future__ import annotations

import codecs
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, find_free, load, summarize
from mmpscope.formats.errors import FormatError, MmpError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from mmpscope.formats.registry import open_source
from support.mmp_command import run_mmp
from support.vmmap_builder import (
    CsvStyle,
    TextStyle,
    XmlStyle,
    to_filetime,
    write_csv,
    write_text,
    write_xml,
)
from support.vmmap_process import DEVENV, DEVENV64, GROWN, KIB, PROTECTIONS, Allocation, Process, Row

TAKEN_NS = 1_700_000_000_123_456_700
FIGURES = ("committed", "private", "total_ws", "private_ws", "shareable_ws", "shared_ws", "locked_ws")
SUMMED = ("size", *FIGURES, "blocks", "largest")
RAW_NAMES = {
    "Commit": "committed",
    "PrivateBytes": "private",
    "TotalWS": "total_ws",
    "PrivateWS": "private_ws",
    "ShareableWS": "shareable_ws",
    "SharedWS": "shared_ws",
    "Blocks": "blocks",
    "Protection": "protection",
}

XML_STYLES = {
    "nested": XmlStyle(),
    "flat": XmlStyle(nested=False),
    "pretty": XmlStyle(pretty=True, line_end="\n"),
    "one line": XmlStyle(line_end=""),
    "traced": XmlStyle(traced=True),
    "unknown attributes": XmlStyle(more="""LockedPages="5" x='6'"""),
    "no declaration": XmlStyle(declared=None),
    "utf-8 with BOM": XmlStyle(bom=True),
    "utf-8 with BOM, no declaration": XmlStyle(bom=True, declared=None),
    "utf-16-le": XmlStyle(encoding="utf-16-le", declared="UTF-16", bom=True),
    "utf-16-le, no declaration": XmlStyle(encoding="utf-16-le", declared=None, bom=True),
    "utf-16-le, no BOM": XmlStyle(encoding="utf-16-le", declared="UTF-16"),
    "utf-16-be": XmlStyle(encoding="utf-16-be", declared="utf-16", bom=True),
    "utf-16-be, no declaration": XmlStyle(encoding="utf-16-be", declared=None, bom=True),
    "cp1252": XmlStyle(encoding="cp1252", declared="windows-1252"),
    "latin 1": XmlStyle(encoding="latin-1", declared="ISO-8859-1", nested=False),
    "no Type": XmlStyle(left_out=frozenset({"Type"})),
    "no Id, Storage and UseType": XmlStyle(left_out=frozenset({"Id", "Storage", "UseType"})),
}
SEPARATORS = {
    "comma": (",", "cp1252"),
    "point": (".", "cp1252"),
    "apostrophe": ("'", "cp1252"),
    "blank": (" ", "cp1252"),
    "no-break space": ("\u00a0", "cp1252"),
    "no-break space in UTF-8": ("\u00a0", "utf-8"),
    "narrow no-break space": ("\u202f", "utf-8"),
    "none": ("", "utf-8"),
    "comma in UTF-16": (",", "utf-16"),
}
CSV_STYLES = {
    **{name: CsvStyle(separator, encoding) for name, (separator, encoding) in SEPARATORS.items()},
    "utf-8 with BOM": CsvStyle(encoding="utf-8", bom=True),
    "holes": CsvStyle(encoding="cp1252", holes=True),
    "mended line ends": CsvStyle(encoding="cp1252", line_end="\r\n"),
    "line ends of Unix": CsvStyle(encoding="utf-8", line_end="\n"),
}
TEXT_STYLES = {
    **{name: TextStyle(separator, encoding) for name, (separator, encoding) in SEPARATORS.items()},
    "headed": TextStyle(encoding="cp1252", headed=True),
    "right-aligned": TextStyle(encoding="cp1252", right=True),
    "headed, right-aligned": TextStyle("\u00a0", "cp1252", headed=True, right=True),
    "holes": TextStyle(encoding="cp1252", holes=True),
    "odd line ends": TextStyle(encoding="cp1252", line_end="\r\r\n", headed=True),
    "line ends of Unix": TextStyle(encoding="utf-8", line_end="\n"),
}
PLAIN = {"xml": XmlStyle(), "csv": CsvStyle(encoding="cp1252"), "text": TextStyle(encoding="cp1252")}
WRITTEN: dict[str, tuple[str, Any]] = {
    **{f"xml {name}": ("xml", style) for name, style in XML_STYLES.items()},
    **{f"csv {name}": ("csv", style) for name, style in CSV_STYLES.items()},
    **{f"text {name}": ("text", style) for name, style in TEXT_STYLES.items()},
}


def write(process: Process, kind: str, style: Any) -> bytes:
    """Write a process in one of the three formats."""
    if kind == "xml":
        return write_xml([(to_filetime(TAKEN_NS), process)], style)
    return write_csv(process, style) if kind == "csv" else write_text(process, style)


def load_bytes(folder: Path, data: bytes) -> LoadedSnapshot:
    """Load a file of one snapshot; its name says nothing."""
    path = folder / "saved"
    path.write_bytes(data)
    [snapshot] = load(path)
    return snapshot


def read_bytes(folder: Path, data: bytes) -> Snapshot:
    """Read the raw snapshot of a file that holds one."""
    path = folder / "saved"
    path.write_bytes(data)
    source = open_source(path)
    [entry] = source.entries
    snapshot = source.read(entry.index)
    source.close()
    return snapshot


def expect_region(row: Row, *, locked: bool) -> dict[str, Any]:
    """Tell what the regions table says of a row; a `.mmp` knows nothing of locked pages."""
    figures: dict[str, int | None] = {name: getattr(row, name) for name in FIGURES}
    if not locked:
        figures["locked_ws"] = None
    state = "committed" if row.protection else "reserved"
    shown = {"address": row.address, "size": row.size, "type": row.summary_type, "state": state}
    return {**shown, **figures, "Details": row.details or None}


def show_regions(snapshot: LoadedSnapshot) -> list[dict[str, Any]]:
    """Return the columns that `expect_region` tells, Details as VMMap has them; empty ones are none."""
    rows = snapshot.regions.select(["address", "size", "type", "state", *FIGURES, "Details"]).to_pylist()
    return [{**row, "Details": row["Details"] or None} for row in rows]


def expect_summary(process: Process, *, locked: bool) -> dict[str, dict[str, int | None]]:
    """Tell what the summary says: every cell that VMMap would print."""
    rows: dict[str, dict[str, int | None]] = {}
    for name, row in process.sum_up().items():
        rows[name] = {figure: row[figure] for figure in SUMMED}
        if not locked:
            rows[name]["locked_ws"] = None
    for name in ("Page Table", "Unusable", "Free"):
        rows[name]["locked_ws"] = 0
    for name, figure in _NOT_PRINTED:
        del rows[name][figure]
    return rows


_NOT_PRINTED = (
    ("Unusable", "blocks"),
    ("Total", "largest"),
    ("Page Table", "largest"),
    ("Page Table", "blocks"),
)


def show_summary(table: Any, expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return of the summary what is expected of it, so that a difference can be read."""
    rows = {row["type"]: row for row in table.to_pylist()}
    return {
        name: {figure: rows.get(name, {}).get(figure) for figure in row} for name, row in expected.items()
    }


@pytest.mark.parametrize("process", [DEVENV, DEVENV64], ids=["32-bit", "64-bit"])
@pytest.mark.parametrize("name", WRITTEN)
def test_every_variant_reads_back_the_same(tmp_path: Path, name: str, process: Process) -> None:
    """Regions with figures and types, the summary, and the holes are those of the process, however saved."""
    kind, style = WRITTEN[name]
    snapshot = load_bytes(tmp_path, write(process, kind, style))
    locked = kind != "xml"
    assert show_regions(snapshot) == [expect_region(leaf, locked=locked) for leaf in process.leaves]
    holes = find_free(snapshot).select(["address", "size", "type"]).to_pylist()
    assert holes == [{"address": h.address, "size": h.size, "type": h.type} for h in process.list_holes()]
    expected = expect_summary(process, locked=locked)
    if kind == "text" and not style.headed:
        for row in (expected["Page Table"], expected["Total"]):
            row.clear()  # a list alone tells nothing of page tables
    assert show_summary(summarize(snapshot), expected) == expected


@pytest.mark.parametrize("kind", ["xml", "csv", "text"])
def test_raw_columns_are_the_same_in_every_format(tmp_path: Path, kind: str) -> None:
    """Leaves and allocations keep VMMap's own figures and protection numbers, whatever they come from."""
    raw = read_bytes(tmp_path, write(DEVENV, kind, PLAIN[kind]))
    for table, rows in (("regions", DEVENV.leaves), ("allocations", [a.whole for a in DEVENV.allocations])):
        columns = decode_table(raw.tables[table])
        order = sorted(range(len(rows)), key=columns["start"].__getitem__)
        for name, attribute in RAW_NAMES.items():
            found = [columns[name][at] for at in order]
            assert found == [getattr(row, attribute) for row in rows], (table, name)
        assert [columns["VmmapType"][at] for at in order] == [row.type.encode() for row in rows]


@pytest.mark.parametrize("kind", ["csv", "headed text"])
def test_process_is_named(tmp_path: Path, kind: str) -> None:
    """A CSV tells name and number of its process, and so does a text with a head."""
    data = write_csv(DEVENV, CsvStyle(encoding="cp1252"))
    if kind == "headed text":
        data = write_text(DEVENV, TextStyle(encoding="cp1252", headed=True))
    raw = read_bytes(tmp_path, data)
    assert (raw.process["name"], raw.process["pid"]) == ("devenv.exe", 29892)


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """A `.mmp` of VMMap with three snapshots, the last of them larger."""
    moments = [to_filetime(TAKEN_NS + second * 10**9) for second in range(3)]
    path = tmp_path / "series.mmp"
    path.write_bytes(write_xml(list(zip(moments, (DEVENV, DEVENV, GROWN), strict=True))))
    return path


def test_f50_info_lists_every_snapshot_of_vmmap(series: Path) -> None:
    """F50: a `.mmp` of VMMap is told from ours by content, and its snapshots are listed with their times."""
    answer = run_mmp("info", series, "--json")
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert "VMMap" in document["format"]
    assert [row["index"] for row in document["rows"]] == [0, 1, 2]
    assert [row["time_ns"] for row in document["rows"]] == [TAKEN_NS + s * 10**9 for s in range(3)]
    counts = [len(process.leaves) for process in (DEVENV, DEVENV, GROWN)]
    assert [row["regions"] for row in document["rows"]] == counts


def test_f50_the_last_snapshot_is_the_default(series: Path) -> None:
    """F50: summary answers for the last snapshot, as VMMap itself does, and for any other on request."""
    for chosen, process in (("", GROWN), ("#0", DEVENV), ("#-1", GROWN)):
        answer = run_mmp("summary", f"{series}{chosen}", "--json")
        assert answer.code == 0
        document = json.loads(answer.out)
        totals = {row["type"]: row["size"] for row in document["rows"]}
        assert totals["Total"] == process.sum_up()["Total"]["size"]
        assert document["snapshot"]["label"].endswith("#0" if chosen == "#0" else "#2")


def test_f50_snapshots_of_a_file_can_be_compared(series: Path) -> None:
    """F50: the difference between two snapshots of one file is the allocation that came."""
    answer = run_mmp("diff", f"{series}#0", f"{series}#2", "--json")
    assert answer.code == 0
    document = json.loads(answer.out)
    types = {row["type"]: row for row in document["types"]}
    assert "1024000" in json.dumps(types["Private Data"])


def test_bytes_are_exact_in_xml(tmp_path: Path) -> None:
    """Sizes in a `.mmp` are bytes: none is rounded to KiB, and addresses of 64 bits keep every bit."""
    part = Row(0x7FFF_1234_5034, 12345, "Managed Heap", committed=12345, private=12345, protection=4)
    whole = Row(0x7FFF_1234_0000, 0x10001, "Managed Heap", committed=54321, protection=4, blocks=1)
    process = replace(DEVENV64, allocations=(Allocation(whole, (part,)),))
    [row] = show_regions(load_bytes(tmp_path, write_xml([(to_filetime(TAKEN_NS), process)])))
    assert (row["address"], row["size"], row["private"]) == (0x7FFF_1234_5034, 12345, 12345)


def test_without_holes_the_range_of_xml_is_assumed(tmp_path: Path) -> None:
    """Where a `.mmp` has no Free and Unusable rows, its regions are read as ever and a range is assumed."""
    data = write_xml([(to_filetime(TAKEN_NS), DEVENV)], XmlStyle(holes=False))
    snapshot = load_bytes(tmp_path, data)
    assert show_regions(snapshot) == [expect_region(leaf, locked=False) for leaf in DEVENV.leaves]
    assert "assumed" in snapshot.usable_range.source


def test_an_attribute_that_is_missing_is_unknown(tmp_path: Path) -> None:
    """A figure that no region has is null, never 0."""
    style = XmlStyle(left_out=frozenset({"SharedWS", "PrivateBytes", "Details"}))
    snapshot = load_bytes(tmp_path, write_xml([(to_filetime(TAKEN_NS), DEVENV)], style))
    rows = show_regions(snapshot)
    for figure in ("shared_ws", "private"):
        assert {row[figure] for row in rows} == {None}
    assert [row["committed"] for row in rows] == [leaf.committed for leaf in DEVENV.leaves]
    assert len(snapshot.capability.to_pylist()) > 0


@pytest.mark.parametrize("lost", ["Address", "Size"])
def test_a_region_without_a_place_is_skipped_and_told(tmp_path: Path, lost: str) -> None:
    """A row with no address or size cannot be placed: it is left out with a warning, the rest loads."""
    data = write_xml([(to_filetime(TAKEN_NS), DEVENV)], XmlStyle(nested=False))
    leaf = DEVENV.leaves[-1]
    value = leaf.address if lost == "Address" else leaf.size
    head, _, tail = data.rpartition(f'{lost}="{value}"'.encode())
    path = tmp_path / "saved"
    path.write_bytes(head + tail)
    source = open_source(path)
    snapshot = source.read(0)
    kept = decode_table(snapshot.tables["regions"])["start"]
    source.close()
    assert len(kept) == len(DEVENV.leaves)  # its allocation, the row before, is a leaf now
    assert source.faults or snapshot.capability


@pytest.mark.parametrize(("number", "kind"), [(7, None), (99, None), (8, "Managed Heap"), (9, "Page Table")])
def test_use_type_alone_names_a_region(tmp_path: Path, number: int, kind: str | None) -> None:
    """Without Type the number decides; a number that nobody knows is kept, and its size still counts."""
    row = Row(0x50000000, 8192, "?", committed=8192, private=8192, protection=4, blocks=1)
    image = next(a for a in DEVENV.allocations if a.whole.type == "Image")
    process = replace(DEVENV, allocations=(image, Allocation(row)), page_table=0)
    style = XmlStyle(left_out=frozenset({"Type"}), holes=False)
    data = write_xml([(to_filetime(TAKEN_NS), process)], style)
    data = data.replace(b'UseType="7"', b'UseType="%d"' % number).replace(b' PageTableSize="0"', b"")
    snapshot = load_bytes(tmp_path, data)
    rows = {row["type"]: row["size"] for row in summarize(snapshot).to_pylist()}
    assert rows["Total"] - rows["Unusable"] - rows["Image"] == 8192
    if kind is not None:
        assert rows[kind] == 8192
        return
    assert snapshot.regions.select(["address", "UseType"]).to_pylist()[-1] == {
        "address": 0x50000000,
        "UseType": number,
    }


def test_page_tables_are_counted_once(tmp_path: Path) -> None:
    """A file that has PageTableSize and a Page Table region tells the same memory twice."""
    data = write_xml([(to_filetime(TAKEN_NS), DEVENV)], XmlStyle(page_table_region=True))
    rows = {row["type"]: row for row in summarize(load_bytes(tmp_path, data)).to_pylist()}
    expected = DEVENV.sum_up()
    for name in ("Page Table", "Total"):
        assert rows[name]["size"] == expected[name]["size"]
        assert rows[name]["committed"] == expected[name]["committed"]


def test_unknown_elements_are_counted(tmp_path: Path) -> None:
    """What a traced file holds besides is skipped, and `info` says so."""
    path = tmp_path / "traced.mmp"
    path.write_bytes(write_xml([(to_filetime(TAKEN_NS), DEVENV)], XmlStyle(traced=True)))
    answer = run_mmp("info", path, "-v")
    assert answer.code == 0
    assert "Event" in answer.out + answer.err or "element" in answer.out + answer.err


@pytest.mark.parametrize("only", ["Image", "Private Data", ""], ids=["images", "private data", "header only"])
@pytest.mark.parametrize("kind", ["csv", "text"])
def test_a_filtered_list_tells_no_holes(tmp_path: Path, kind: str, only: str) -> None:
    """A list filtered to one type, or to none, keeps VMMap's own summary; it does not tell what is free."""
    path = tmp_path / "filtered"
    style = CsvStyle(encoding="cp1252", only=only)
    if kind == "text":
        path.write_bytes(write_text(DEVENV, TextStyle(encoding="cp1252", only=only, headed=True)))
    else:
        path.write_bytes(write_csv(DEVENV, style))
    assert run_mmp("free", path).code == 4
    answer = run_mmp("summary", path, "--json")
    assert answer.code == 0
    rows = {row["type"]: row for row in json.loads(answer.out)["rows"]}
    for name, row in DEVENV.sum_up().items():
        assert rows[name]["size"] == row["size"], name
        assert (rows[name]["private"] or 0) == row["private"], name


@pytest.mark.parametrize("only", ["Image", "Private Data"])
def test_rows_of_a_filtered_list_are_read(tmp_path: Path, only: str) -> None:
    """What a filtered list does show is read like any other."""
    snapshot = load_bytes(tmp_path, write_csv(DEVENV, CsvStyle(encoding="cp1252", only=only)))
    shown = [leaf for a in DEVENV.allocations if a.whole.type == only for leaf in a.leaves]
    assert show_regions(snapshot) == [expect_region(leaf, locked=True) for leaf in shown]
    items = {row["item"]: row["state"] for row in snapshot.capability.to_pylist()}
    assert items["regions"] == "partial"


def test_protection_words_are_the_numbers(tmp_path: Path) -> None:
    """Each word for a protection in a CSV is the number that the `.mmp` has, whatever its capitals."""
    rows = tuple(
        Allocation(Row(0x10000 * (at + 1), 4096, "Private Data", protection=number, blocks=1))
        for at, number in enumerate(PROTECTIONS)
    )
    process = replace(DEVENV, allocations=rows)
    for data in (
        write_csv(process),
        write_csv(process).replace(b"Copy on write", b"Copy on Write"),
        write_xml([(to_filetime(TAKEN_NS), process)]),
    ):
        columns = decode_table(read_bytes(tmp_path, data).tables["regions"])
        assert columns["Protection"] == list(PROTECTIONS)


def count_regions(path: Path) -> int | None:
    """Count the regions of a file that must not pass for whole; None where it is refused."""
    try:
        source = open_source(path)
    except FormatError:
        return None
    snapshot = source.read(0)
    source.close()
    assert any(item.item == "regions" and item.state != "ok" for item in snapshot.capability)
    return snapshot.tables["regions"].rows if "regions" in snapshot.tables else 0


@pytest.mark.parametrize("kind", ["xml", "csv"])
def test_a_cut_file_never_passes_for_whole(tmp_path: Path, kind: str) -> None:
    """Cut anywhere, XML is refused; a CSV is refused, or read as one that does not show all regions."""
    data = write(DEVENV, kind, PLAIN[kind])
    path = tmp_path / "cut"
    for size in range(40, len(data) - 400, len(data) // 40):
        path.write_bytes(data[:size])
        count = count_regions(path)
        assert count is None or (kind == "csv" and count < len(DEVENV.leaves))


def test_a_cut_series_keeps_its_whole_snapshots(series: Path) -> None:
    """With --partial a `.mmp` that ends within its last snapshot gives those before."""
    data = series.read_bytes()
    series.write_bytes(data[: data.rindex(b"<Snapshot ") + 2000])
    with pytest.raises(FormatError):
        open_source(series)
    source = open_source(series, partial=True)
    assert len(source.entries) >= 2
    assert source.faults
    first = decode_table(source.read(0).tables["regions"])["start"]
    source.close()
    assert len(first) == len(DEVENV.leaves)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_not_expanded(tmp_path: Path, encoding: str) -> None:
    """A document type with entities is refused in one sentence, in any encoding."""
    text = write_xml([(to_filetime(TAKEN_NS), DEVENV)], XmlStyle(declared=None)).decode()
    bomb = "<!DOCTYPE root [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>"
    path = tmp_path / "bomb.mmp"
    path.write_bytes((bomb + text.replace('Details=""', 'Details="&b;"', 1)).encode(encoding))
    with pytest.raises(MmpError):
        open_source(path)


def test_a_byte_order_mark_alone_changes_nothing() -> None:
    """The fixtures do differ: a mark stands where a style asks for it, and nowhere else."""
    assert write_xml([(0, DEVENV)], XmlStyle(bom=True)).startswith(codecs.BOM_UTF8)
    assert write_xml([(0, DEVENV)], XmlStyle(encoding="utf-16-le", bom=True)).startswith(codecs.BOM_UTF16_LE)
    assert not write_xml([(0, DEVENV)]).startswith(codecs.BOM_UTF8)
    assert KIB * DEVENV.sum_up()["Free"]["size"] > 0
