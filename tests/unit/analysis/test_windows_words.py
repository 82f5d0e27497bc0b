"""What is said of a Windows process: its system and build, WOW64, and nothing that only Linux has."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, summarize
from mmpscope.analysis.export_vmmap import write_vmmap_csv
from mmpscope.analysis.reporters.head import draw_head
from mmpscope.analysis.reporters.info_report import describe_entry, report_info
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from mmpscope.analysis.reporters.systems import name_system
from mmpscope.formats.model import Capability, Capture, Snapshot
from mmpscope.formats.source import Entry
from support.loaded import make_raw_table

PAGE = 0x1000
BASE = 0x1_4000_0000
HOST = {"os": "windows", "kernel": "10.0.19045", "machine": "AMD64", "os_release": "Windows 10 Pro"}
PROCESS = {"pid": 7, "name": "app.exe", "bits": 32, "wow64": True}
PAGES = {
    "TotalWS": PAGE,
    "PrivateWS": 0,
    "ShareableWS": PAGE,
    "SharedWS": 0,
    "LockedWS": 0,
    "AbsentShared": 0,
}
IMAGE = {"State": 0x1000, "Type": 0x1000000, "AllocationBase": BASE, "path": r"C:\app.exe", **PAGES}
ROWS = [
    {"start": BASE, "size": PAGE, "Protect": 2, **IMAGE},
    {"start": BASE + PAGE, "size": PAGE, "Protect": 0x20, **IMAGE},
]
TABLES = {
    "modules": [
        {"path": r"C:\app.exe", "low": BASE, "high": BASE + 2 * PAGE, "machine": 0x8664}
        | {"timestamp": 0x5F000000, "file_version": "10.0.1.2", "build_id": "ab1"}
    ],
    "sections": [{"module": 0, "name": ".text", "start": BASE + PAGE, "size": 5}],
}
LISTED = [{"pid": 4, "ppid": 0, "name": "System", "starttime": 134404446199018350, "elf_class": 64}]


def _load(rows: list[dict[str, Any]] = ROWS, *capability: Capability) -> LoadedSnapshot:
    tables = {name: make_raw_table(table) for name, table in {"regions": rows, **TABLES}.items()}
    capture = Capture(HOST, {}, {}, {"processes": make_raw_table(LISTED)})
    snapshot = Snapshot(capture, PROCESS, {}, tables, list(capability))
    return LoadedSnapshot("w.mmp#0", lambda: snapshot)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (HOST, ["Windows 10 Pro", "version 10.0.19045", "AMD64"]),
        (HOST | {"kernel": "10.0.22631"}, ["Windows 11 Pro", "version 10.0.22631", "AMD64"]),
        (HOST | {"kernel": "6.1.7601", "os_release": None}, ["Windows", "version 6.1.7601", "AMD64"]),
        (
            HOST | {"kernel": "10.0.26100", "os_release": "Windows Server 2025 Standard"},
            ["Windows Server 2025 Standard", "version 10.0.26100", "AMD64"],
        ),
        ({"os": "windows"}, ["windows"]),
        ({"os": "linux", "kernel": "6.1", "machine": "x86_64"}, ["linux", "6.1", "x86_64"]),
    ],
)
def test_f44_windows_is_named_by_its_product_and_build(host: dict[str, Any], words: list[str]) -> None:
    """The registry of Windows 11 says Windows 10: from build 22000 on that is put right."""
    assert name_system(host) == words


def test_the_head_names_the_system_and_wow64() -> None:
    """A 32-bit program on 64-bit Windows is called so in the first line."""
    lines = draw_head(_load(), Screen(200, verbose=True))
    assert lines[0].startswith("app.exe (pid 7, 32-bit under WOW64), ")
    assert "  system: Windows 10 Pro version 10.0.19045 AMD64" in lines


def test_info_names_the_system() -> None:
    """The line of a snapshot says where it was taken, with the build."""

    class Source:
        name, format, faults, entries = "w.mmp", "mmp", (), ()

    rows = [describe_entry(Entry(0), _load().raw)]
    lines = report_info(Source(), rows).draw(Screen(200))  # type: ignore[arg-type]  # all that it looks at
    assert "#0 on Windows 10 Pro, version 10.0.19045, AMD64" in lines


def test_nothing_is_said_in_words_of_linux() -> None:
    """No kernel threads, VmFlags or mapping counts; what only Linux has is no column, even with -v."""
    nothing = "\n".join(draw_head(_load([]), Screen(200)))
    assert "no address space: a process of the kernel, one that ended, or no permission to read it" in nothing
    snapshot = _load()
    text = "\n".join(report_summary(snapshot, summarize(snapshot)).draw(Screen(300, verbose=True)))
    table = text[text.index("Type ") :]
    assert not any(word in table for word in ("PSS", "USS", "Huge", "Lazy", "Swap", "Charge"))
    for word in ("kernel thread", "zombie", "VmFlags", "max_map_count", "/proc"):
        assert word not in nothing + text


def test_working_sets_that_were_refused_say_why() -> None:
    """The reason that the collector noted stands beside each figure that is missing for it."""
    refused = Capability("working set", "unavailable", 87, "K32QueryWorkingSetEx failed with 87")
    bare = [{name: value for name, value in row.items() if name not in PAGES} for row in ROWS]
    judged = {row["item"]: row["reason"] for row in _load(bare, refused).capability.to_pylist()}
    assert judged["regions.total_ws"].endswith("lack TotalWS: K32QueryWorkingSetEx failed with 87")


def test_modules_and_processes_of_windows_are_listed() -> None:
    """What PE headers and the process list tell stands in the same columns as on Linux."""
    snapshot = _load()
    [module] = snapshot.modules.to_pylist()
    known = {name: module[name] for name in ("path", "size", "version", "timestamp", "build_id", "machine")}
    assert known == {
        "path": r"C:\app.exe",
        "size": 2 * PAGE,
        "version": "10.0.1.2",
        "timestamp": 0x5F000000,
        "build_id": "ab1",
        "machine": 0x8664,
    }
    [process] = snapshot.processes.to_pylist()
    assert (process["name"], process["starttime"], process["elf_class"]) == ("System", 134404446199018350, 64)


def test_an_export_for_vmmap_names_sections_as_vmmap_does() -> None:
    """The path stands with the allocation, the name of its section with each part."""
    stream = BytesIO()
    write_vmmap_csv(stream, _load())
    lines = [line for line in stream.getvalue().decode().splitlines() if "Image" in line and "C:" in line]
    assert [line.endswith(r',"C:\app.exe"') for line in lines] == [True]
    parts = [line for line in stream.getvalue().decode().splitlines() if line.startswith('"  ')]
    assert [part.rpartition(",")[2] for part in parts] == ['"Header"', '".text"']
