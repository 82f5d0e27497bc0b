"""One snapshot of a Windows program: what is had, and that a refusal costs only itself."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.windows.collector import WindowsCollector
from mmpscope.collector.windows.rows import Block, Module, Region
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.mmp.reader import open_file
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capability, Snapshot
from support.fake_win32 import HEAP, IMAGE, STACK, TEB, FakeProgram, FakeWin32, make_demo
from support.pe_image import BUILD_ID, make_image

PAGE = 0x1000


def _collect(system: FakeWin32, options: Options | None = None, pid: int = 4712) -> Snapshot:
    collector = WindowsCollector(options or Options(), system)
    with closing(collector.open_target(pid)) as target:
        snapshot = target.take_snapshot(collector.take_capture())
    assert system.handles == {}, "every handle is closed again"
    return snapshot


def _known(snapshot: Snapshot, item: str) -> Capability:
    [known] = [known for known in snapshot.capability if known.item == item]
    return known


def _table(snapshot: Snapshot, name: str) -> dict[str, list[Any]]:
    return {column: list(values) for column, values in decode_table(snapshot.tables[name]).items()}


def test_a_snapshot_is_written_and_read_back_with_all_its_tables(tmp_path: Path) -> None:
    """What was collected is in the file: regions with raw numbers, drive letters, working sets."""
    path = tmp_path / "a.mmp"
    write_file(path, [_collect(FakeWin32(make_demo()))])
    with open_file(path) as source:
        snapshot = source.read(0)
        tables = {"regions", "threads", "modules", "sections", "heaps", "allocations"}
        assert set(snapshot.tables) == tables
        regions = _table(snapshot, "regions")
    row = regions["start"].index(IMAGE)
    assert [
        regions[name][row] for name in ("AllocationBase", "AllocationProtect", "State", "Protect", "Type")
    ] == [
        IMAGE,
        0x80,
        0x1000,
        0x2,
        0x1000000,
    ]
    assert regions["path"][row] == b"C:\\Program Files\\Demo\\demo.exe"
    assert (regions["SharedWS"][row], regions["AbsentShared"][row + 2]) == (PAGE, 2 * PAGE)
    assert snapshot.moment["map_moved"] is False
    assert snapshot.process["range"]["end"] == 0x7FFF_FFFF_0000


def test_process_facts_are_those_of_the_system() -> None:
    """Who runs it, how far it is trusted, what it was started with."""
    process = _collect(FakeWin32(make_demo())).process
    assert (process["pid"], process["name"], process["bits"], process["wow64"]) == (
        4712,
        "demo.exe",
        64,
        False,
    )
    assert (process["user"], process["sid"], process["integrity"]) == (
        "DESK\\ann",
        "S-1-5-21-1-2-3-1001",
        0x2000,
    )
    assert (process["session"], process["priority_class"], process["job"]) == (1, 0x20, {"in_job": False})
    assert process["cmdline"] == ['"C:\\Program Files\\Demo\\demo.exe" --fast']
    assert (process["start_time"], process["image_base"]) == (133_500_000_000_000_000, IMAGE)
    assert process["runtimes"] == []


def test_the_capture_holds_the_system_and_its_processes() -> None:
    """Pages become bytes, the machine's id is hashed, the idle process is none."""
    collector = WindowsCollector(Options(command_lines=True), FakeWin32(make_demo()))
    capture = collector.take_capture()
    assert capture.system["performance"]["CommitLimit"] == 4000 * PAGE
    assert capture.system["performance"]["ProcessCount"] == 90
    assert (capture.host["os_release"], capture.host["kernel"]) == ("Windows 10 Pro", "10.0.19045")
    assert capture.host["large_page_minimum"] == 2 << 20
    assert "0123-4567" not in str(capture.host)
    processes = decode_table(capture.tables["processes"])
    assert list(processes["pid"]) == [4, 4712]
    assert list(processes["user"]) == [None, b"DESK\\ann"]
    assert list(processes["elf_class"]) == [None, 64]
    assert list(processes["cmdline"])[1].endswith(b"--fast")


def test_modules_carry_what_their_headers_say() -> None:
    """PDB, build id, version and sections from memory; no file is opened."""
    snapshot = _collect(FakeWin32(make_demo()))
    modules, sections = _table(snapshot, "modules"), _table(snapshot, "sections")
    assert (modules["low"], modules["high"]) == ([IMAGE], [IMAGE + 0x5000])
    assert (modules["build_id"], modules["file_version"]) == ([BUILD_ID.encode()], [b"10.2.3.4"])
    assert (sections["name"], sections["start"]) == ([b".text", b".data"], [IMAGE + 0x1000, IMAGE + 0x4000])


def test_threads_carry_their_stacks_and_names() -> None:
    """From the lowest address reserved to the highest; registers are never had, and that is said."""
    snapshot = _collect(FakeWin32(make_demo()))
    threads = _table(snapshot, "threads")
    assert (threads["tid"], threads["teb"], threads["name"]) == ([4800], [TEB], ["wörker".encode()])
    assert (threads["stack_start"], threads["stack_size"]) == ([STACK], [0x100000])
    assert _known(snapshot, "threads.sp").state == "skipped"


def test_runtimes_of_dotnet_are_told_by_their_modules() -> None:
    """CoreCLR by its file's name, however it is written, with the version of its headers."""
    program = make_demo()
    place = 0x7FF8_0000_0000
    program.memory[place] = make_image(version=(8, 0, 2625, 0))
    program.modules.append(Module(place, 0x5000, b"CoreCLR.dll", b"C:\\dotnet\\CoreCLR.DLL"))
    [runtime] = _collect(FakeWin32(program)).process["runtimes"]
    assert runtime == {"name": "coreclr.dll", "base": place, "version": "8.0.2625.0"}


def test_regions_of_allocations_are_kept_where_the_system_tells_them() -> None:
    """MemoryRegionInformation: one row an allocation; what was released meanwhile is left out."""
    allocations = _table(_collect(FakeWin32(make_demo())), "allocations")
    assert allocations == {
        "start": [STACK, IMAGE],
        "size": [0x100000, 0x5000],
        "RegionType": [1, 4],
        "CommitSize": [0x4000, 0x1000],
    }


def test_an_unknown_question_for_allocations_is_asked_a_few_times_only() -> None:
    """Wine, for one, refuses class 3 for another process: unavailable, with the code."""
    program = make_demo()
    program.refused["query_allocation"] = 1
    system = FakeWin32(program)
    snapshot = _collect(system)
    known = _known(snapshot, "allocations")
    assert (known.state, known.code) == ("unavailable", 1)
    assert "allocations" not in snapshot.tables
    assert system.asked.count("query_allocation") <= 8


@pytest.mark.parametrize(
    ("method", "item", "lost"),
    [
        ("query_working_set", "working set", None),
        ("get_image_path", "exe", None),
        ("get_counters", "memory_counters", None),
        ("get_sid", "sid", None),
        ("is_in_job", "job", None),
        ("get_session", "session", None),
        ("get_priority_class", "priority_class", None),
        ("find_peb", "peb", "heaps"),
    ],
)
def test_what_one_call_refuses_is_noted_and_the_rest_survives(
    method: str, item: str, lost: str | None
) -> None:
    """Access denied (5) anywhere but at the map: a null with its reason, and every other table whole."""
    program = make_demo()
    program.refused[method] = 5
    snapshot = _collect(FakeWin32(program))
    known = _known(snapshot, item)
    assert (known.state, known.code) == ("unavailable", 5)
    assert "Access is denied" in str(known.reason)
    tables = {"regions", "threads", "modules", "sections", "heaps", "allocations"}
    assert set(snapshot.tables) == tables - {lost}
    assert len(_table(snapshot, "regions")["start"]) == len(program.regions)


def test_the_command_line_comes_from_the_system_first() -> None:
    """Before Windows 8.1 (87) the environment block has it; where both refuse, the first reason stands."""
    program = make_demo()
    program.refused["get_command_line"] = 87
    snapshot = _collect(FakeWin32(program))
    assert snapshot.process["cmdline"] == ["demo --from-peb"]
    assert "environment block" in str(_known(snapshot, "cmdline").reason)
    program.refused["find_peb"] = 5
    snapshot = _collect(FakeWin32(program))
    assert "cmdline" not in snapshot.process
    assert _known(snapshot, "cmdline").code == 87


def test_a_light_snapshot_asks_for_the_map_and_totals_only() -> None:
    """No pages, no lists, no memory of the program is read."""
    system = FakeWin32(make_demo())
    snapshot = _collect(system, Options(light=True))
    assert set(snapshot.tables) == {"regions"}
    assert "TotalWS" not in _table(snapshot, "regions")
    assert snapshot.process["cmdline"]
    asked = {"query_working_set", "list_modules", "list_threads", "read_memory", "query_allocation"}
    assert not asked & set(system.asked)
    assert {_known(snapshot, item).state for item in ("working set", "threads", "modules")} == {"skipped"}


def test_huge_programs_keep_their_pages_to_themselves() -> None:
    """More committed memory or regions than is bearable: no question a page, unless --full."""
    for options in (Options(max_resident=PAGE), Options(max_regions=2)):
        snapshot = _collect(FakeWin32(make_demo()), options)
        assert "--full" in str(_known(snapshot, "working set").reason)
    full = _collect(FakeWin32(make_demo()), Options(max_resident=PAGE, max_regions=2, full=True))
    assert "TotalWS" in _table(full, "regions")


def test_f41_a_refused_list_of_modules_is_made_from_the_map() -> None:
    """299, as of a program that is just starting, or of another bitness: the images with a path, and why."""
    program = make_demo()
    program.refused["list_modules"] = 299
    snapshot = _collect(FakeWin32(program))
    known = _known(snapshot, "modules")
    assert (known.state, known.code) == ("partial", 299)
    assert str(known.reason).startswith("from the map, without what has no path there: ")
    assert _table(snapshot, "modules")["path"] == [b"C:\\Program Files\\Demo\\demo.exe"]


def test_no_modules_yet_is_not_an_empty_list() -> None:
    """A process that is starting: Toolhelp answers, with nothing; the map has the image already."""
    program = make_demo()
    program.modules = []
    snapshot = _collect(FakeWin32(program))
    assert "Toolhelp lists none yet" in str(_known(snapshot, "modules").reason)
    assert _table(snapshot, "modules")["low"] == [IMAGE]


def test_a_path_that_toolhelp_cut_comes_from_the_map() -> None:
    """szExePath ends after 259 units; the mapped name does not."""
    program = make_demo()
    long = b"\\Device\\HarddiskVolume3\\" + b"d" * 300 + b"\\demo.exe"
    program.files[IMAGE] = long
    program.modules = [Module(IMAGE, 0x5000, b"demo.exe", (b"C:\\" + b"d" * 300)[:259])]
    snapshot = _collect(FakeWin32(program))
    assert _table(snapshot, "modules")["path"] == [b"C:\\" + b"d" * 300 + b"\\demo.exe"]
    program.files = {}
    assert len(_table(_collect(FakeWin32(program)), "modules")["path"][0]) == 259


def test_an_image_whose_file_is_not_named_is_told() -> None:
    """A section of the page file has no name by nature; an image without one has a reason, with its code."""
    assert _known(_collect(FakeWin32(make_demo())), "mapped names").state == "ok"
    program = make_demo()
    program.files = {}
    known = _known(_collect(FakeWin32(program)), "mapped names")
    assert (known.state, known.code) == ("partial", 1006)


def test_lone_surrogates_in_names_survive() -> None:
    """A path that is not Unicode is kept as WTF-8 in tables, byte for byte in facts."""
    program = make_demo()
    odd = b"C:\\odd\xed\xa0\x80\\demo.exe"
    program.path, program.command_line = odd, odd
    program.modules = [Module(IMAGE, 0x5000, b"demo.exe", odd)]
    snapshot = _collect(FakeWin32(program))
    assert (snapshot.process["exe"], snapshot.process["cmdline"]) == (odd, [odd])
    assert _table(snapshot, "modules")["path"] == [odd]


def test_headers_that_are_only_partly_there_cost_one_row() -> None:
    """299 behind the first bytes of an image: its row stands without headers, the others with them."""
    program = make_demo()
    program.memory[0x5000_0000] = make_image()[:0x200]
    program.modules.append(Module(0x5000_0000, 0x5000, b"cut.dll", b"C:\\cut.dll"))
    program.modules.append(Module(0x6000_0000, 0x5000, b"gone.dll", b"C:\\gone.dll"))
    snapshot = _collect(FakeWin32(program))
    assert _table(snapshot, "modules")["machine"] == [0x8664, None, None]
    reason = str(_known(snapshot, "modules.headers").reason)
    assert "2 of 3 modules" in reason
    assert "0x50000000" in reason


def test_a_thread_that_ended_meanwhile_is_counted() -> None:
    """Its row has no stack, and the reason names how many; the other threads are whole."""
    program = make_demo()
    program.threads[4804] = (0xDEAD_0000, None)
    snapshot = _collect(FakeWin32(program))
    threads = _table(snapshot, "threads")
    assert threads["stack_start"] == [STACK, None]
    assert "1 of 2 threads" in str(_known(snapshot, "threads.stack").reason)


def test_a_series_reads_headers_once() -> None:
    """From the second snapshot on only the first bytes of each module are asked for again."""
    system = FakeWin32(make_demo())
    collector = WindowsCollector(Options(), system)
    with closing(collector.open_target(4712)) as target:
        counts = []
        for _ in range(2):
            before = system.asked.count("read_memory")
            snapshot = target.take_snapshot(collector.take_capture())
            counts.append(system.asked.count("read_memory") - before)
            assert _table(snapshot, "modules")["file_version"] == [b"10.2.3.4"]
    assert counts[1] < counts[0] - 5


def test_the_map_that_moved_is_told() -> None:
    """Between the two walks of a snapshot a region appeared."""
    program = make_demo()
    system = FakeWin32(program)
    first = program.regions[0]

    def grow(address: int) -> None:
        if system.asked.count("query_working_set") == 1 and program.regions[0] is first:
            program.regions.insert(0, Region(0x5_0000, 0x5_0000, 4, PAGE, 0x1000, 4, 0x20000))

    system.on_query = grow
    assert _collect(system).moment["map_moved"] is True


def test_heaps_come_from_the_environment_block_and_toolhelp_is_not_asked() -> None:
    """F43: for Toolhelp's list of heaps the system starts a thread in the program."""
    system = FakeWin32(make_demo())
    snapshot = _collect(system)
    assert _table(snapshot, "heaps") == {"id": [HEAP, 0x41_0000], "flags": [1, 0]}
    assert _known(snapshot, "heaps").state == "ok"
    assert not {"list_heaps", "walk_blocks"} & set(system.asked)


def test_f43_looking_takes_no_right_that_could_change_the_target() -> None:
    """Whatever is collected, no handle may write, start threads, suspend or make a process."""
    system = FakeWin32(make_demo())
    _collect(system, Options(heap_blocks=True))
    allowed = 0x0010 | 0x0400 | 0x1000
    assert all(access & ~allowed == 0 for access in system.opened)


def test_f42_blocks_of_heaps_are_added_up_on_request() -> None:
    """Counts and bytes by heap, flags and size class, not a row a block."""
    snapshot = _collect(FakeWin32(make_demo()), Options(heap_blocks=True))
    rows = _table(snapshot, "heap_blocks")
    assert list(zip(*rows.values(), strict=True)) == [
        (HEAP, 1, 16, 2, 40),
        (HEAP, 2, 4096, 1, 4096),
        (0x41_0000, 2, 0, 1, 0),
    ]
    assert _known(snapshot, "heap_blocks").state == "ok"


def test_f42_a_walk_of_blocks_ends_with_its_budget() -> None:
    """`truncated after N blocks`, with what was seen until then."""
    program = make_demo()
    program.blocks[HEAP] = [Block(32, 1)] * 5000
    snapshot = _collect(FakeWin32(program), Options(heap_blocks=True, heap_max_blocks=1000))
    assert _known(snapshot, "heap_blocks").reason == "truncated after 1000 blocks"
    assert _table(snapshot, "heap_blocks")["blocks"] == [1000]


def test_f42_a_heap_list_that_is_refused_leaves_the_heaps() -> None:
    """RECORDED under Wine 8.0: 120, call not implemented; the environment block has the heaps."""
    program = make_demo()
    program.refused["list_heaps"] = 120
    snapshot = _collect(FakeWin32(program), Options(heap_blocks=True))
    assert _known(snapshot, "heap_blocks").code == 120
    assert _known(snapshot, "heaps").state == "ok"
    assert _table(snapshot, "heaps")["id"] == [HEAP, 0x41_0000]


def test_a_job_is_told_and_its_limits_where_they_are_ours() -> None:
    """Windows gives the limits of a job to those in it only; else it is a null with a reason."""
    program = FakeProgram(**{**vars(make_demo()), "in_job": True})
    snapshot = _collect(FakeWin32(program))
    assert snapshot.process["job"] == {"in_job": True}
    assert _known(snapshot, "job.limits").state == "unavailable"
    own = _collect(FakeWin32(program, own_pid=4712))
    assert own.process["job"]["limits"]["ProcessMemoryLimit"] == 1 << 30
