"""Holding on to one Windows program: which rights, which process, and what each refusal is called."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.errors import CollectError, ProcessGoneError
from mmpscope.collector.windows.collector import WindowsCollector
from mmpscope.collector.windows.rows import Region
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from support.fake_win32 import FakeProgram, FakeWin32, make_demo
from support.pe_image import make_image
from support.windows_blocks import make_peb, make_teb

LIMITED, QUERY, READ = 0x1000, 0x0400, 0x0010


def _collect(system: FakeWin32, pid: int = 4712, options: Options | None = None) -> Snapshot:
    collector = WindowsCollector(options or Options(), system)
    with closing(collector.open_target(pid)) as target:
        return target.take_snapshot(collector.take_capture())


def _refuse(system: FakeWin32, words: str, pid: int = 4712) -> CollectError:
    with pytest.raises(CollectError, match=words) as caught:
        _collect(system, pid)
    assert system.handles == {}, "a refusal leaves no handle open"
    return caught.value


def test_the_least_rights_come_first() -> None:
    """Who it is takes QUERY_LIMITED; only then reading is asked for, and never more."""
    system = FakeWin32(make_demo())
    with closing(WindowsCollector(Options(), system).open_target(4712)):
        assert system.opened == [LIMITED, QUERY | READ]
        assert len(system.handles) == 1
    assert system.handles == {}


def test_without_the_right_to_read_the_map_is_had_all_the_same() -> None:
    """VM_READ is refused (5): no stacks and headers, each with its reason, and every region."""
    program = FakeProgram(**{**vars(make_demo()), "rights": LIMITED | QUERY})
    system = FakeWin32(program)
    snapshot = _collect(system)
    assert system.opened[:3] == [LIMITED, QUERY | READ, QUERY]
    assert snapshot.tables["regions"].rows == len(program.regions)
    reasons = {known.item: str(known.reason) for known in snapshot.capability if known.state != "ok"}
    assert {"threads.stack", "modules.headers", "heaps"} <= reasons.keys()
    assert "Access is denied" in reasons["threads.stack"]


def test_a_protected_process_is_refused_with_the_code_and_a_way_on() -> None:
    """It may be asked who it is, and nothing else: 5, in one sentence."""
    error = _refuse(FakeWin32(FakeProgram(**{**vars(make_demo()), "rights": LIMITED})), "failed with 5")
    assert str(error) == (
        "process 4712 (demo.exe) cannot be read: OpenProcess failed with 5 (Access is denied). "
        "Run this as the same user or as Administrator with --debug-privilege; "
        "protected processes open to nobody."
    )
    assert error.code == 5


def test_a_refusal_does_not_advise_the_privilege_that_is_enabled_already() -> None:
    """Whoever gave --debug-privilege is not told to give it."""
    system = FakeWin32(FakeProgram(**{**vars(make_demo()), "rights": LIMITED}))
    with pytest.raises(CollectError, match="or as Administrator; protected processes open to nobody"):
        WindowsCollector(Options(debug_privilege=True), system).open_target(4712)


def test_a_process_that_does_not_open_at_all_is_refused_as_well() -> None:
    """Not even QUERY_LIMITED: then it has no name either."""
    _refuse(FakeWin32(FakeProgram(rights=0)), "process 4712 cannot be read: OpenProcess failed with 5")


@pytest.mark.parametrize(
    ("pid", "words"),
    [(0, "in which nothing runs"), (4, "kernel of Windows itself"), (9996, "no process 9996")],
)
def test_numbers_that_are_no_program_are_called_what_they_are(pid: int, words: str) -> None:
    """Pid 0 and 4 are there and have no memory; an invalid one (87) is not there."""
    _refuse(FakeWin32(make_demo()), words, pid)


@pytest.mark.parametrize("pid", [4713, 4714, 4715])
def test_a_number_beside_a_pid_is_not_taken_for_it(pid: int) -> None:
    """OpenProcess is blind to the last two bits: it opens 4712 for 4713, which nobody asked for."""
    _refuse(FakeWin32(make_demo()), f"there is no process {pid}", pid)


def test_a_pid_that_was_given_to_another_process_is_not_looked_at() -> None:
    """Between the list and now the process ended, and its number began anew: start times tell."""
    system = FakeWin32(make_demo())
    collector = WindowsCollector(Options(), system)
    [row] = [row for row in collector.list_processes() if row.pid == 4712]
    system.programs[4712].started += 1
    with pytest.raises(ProcessGoneError):
        collector.open_target(4712, row.starttime)
    assert system.handles == {}
    collector.open_target(4712, row.starttime + 1 if row.starttime else None).close()


def test_a_process_that_ends_during_the_walk_is_gone_not_denied() -> None:
    """Its memory is refused with 5 then: the handle, which is signalled, tells the difference."""
    program = make_demo()
    system = FakeWin32(program)

    def end(address: int) -> None:
        program.is_running = address < 0x10_0000

    system.on_query = end
    error = _refuse(system, "ended while I read its map")
    assert isinstance(error, ProcessGoneError)


def test_a_map_that_is_refused_in_the_middle_is_kept_up_to_there() -> None:
    """Where the program still runs, what was seen stands, and the reason names the address."""
    program = make_demo()
    system = FakeWin32(program)

    def refuse(address: int) -> None:
        program.refused = {"query_region": 998} if address >= 0x40_0000 else {}

    system.on_query = refuse
    snapshot = _collect(system)
    assert max(decode_table(snapshot.tables["regions"])["start"]) < 0x40_0000
    [known] = [known for known in snapshot.capability if known.item == "regions"]
    assert (known.state, known.code) == ("partial", 998)
    assert "0x" in str(known.reason)


def test_a_64_bit_process_is_refused_to_a_32_bit_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its addresses do not fit (Toolhelp says 299): one sentence, and a way on."""
    monkeypatch.setattr("mmpscope.collector.windows.target.OWN_BITS", 32)
    _refuse(FakeWin32(make_demo()), "64-bit program, and this Python is a 32-bit one. Use a 64-bit Python.")


def _make_wow64(flags: int) -> FakeProgram:
    """Make a 32-bit program beside whose blocks lie 64-bit ones, as a 64-bit Python sees it."""
    peb, teb, teb32 = 0x2B_0000, 0x2C_0000, 0x2C_2000
    block64 = make_teb(64, teb, stack=(0x8_0000, 0x8_8000, 0x9_0000), peb=0x2A_0000).ljust(0x2000, b"\0")
    block32 = make_teb(32, teb32, stack=(0x10_0000, 0x1F_0000, 0x20_0000), peb=peb)
    return FakeProgram(
        bits=32,
        is_wow64=True,
        regions=[Region(0x40_0000, 0x40_0000, 0x80, 0x5000, 0x1000, 2, 0x1000000)],
        threads={7: (teb, None)},
        memory={
            teb: block64 + block32,
            peb: make_peb(32, peb, image=0x40_0000, heaps=[0x50_0000], command_line="small"),
            0x40_0000: make_image(bits=32, flags=flags),
        },
        wow64_peb=peb,
        refused={"get_command_line": 87},
    )


@pytest.mark.parametrize(("flags", "end"), [(0, 0x7FFF_0000), (0x20, 0xFFFF_0000)])
def test_a_32_bit_program_is_seen_from_64_bits_with_its_own_range(flags: int, end: int) -> None:
    """2 GiB, or 4 where its header says LARGE_ADDRESS_AWARE; 32-bit block, heaps, stack and command line."""
    snapshot = _collect(FakeWin32(_make_wow64(flags)))
    assert (snapshot.process["range"]["end"], snapshot.process["bits"]) == (end, 32)
    assert snapshot.process["cmdline"] == ["small"]
    assert list(decode_table(snapshot.tables["heaps"])["id"]) == [0x50_0000]
    threads = decode_table(snapshot.tables["threads"])
    assert (list(threads["stack_start"]), list(threads["stack64_start"])) == ([0x10_0000], [0x8_0000])


def test_under_wine_the_32_bit_block_is_found_through_a_thread() -> None:
    """RECORDED under Wine 8.0: ProcessWow64Information is 1, for yes, and no address."""
    program = _make_wow64(0)
    program.wow64_peb = 1
    assert _collect(FakeWin32(program)).process["image_base"] == 0x40_0000


def test_a_range_that_nobody_tells_is_assumed_and_says_so() -> None:
    """The header of a 32-bit program cannot be read: 4 GiB, with the reason in its source."""
    program = _make_wow64(0)
    del program.memory[0x40_0000]
    usable = _collect(FakeWin32(program)).process["range"]
    assert usable["end"] == 0xFFFF_0000
    assert usable["source"].startswith("assumed: the PE header of the program cannot be read")


def test_a_program_without_a_path_is_called_as_in_the_list() -> None:
    """Minimal processes such as that of compressed memory have no image: QueryFullProcessImageName fails."""
    program = FakeProgram(**{**vars(make_demo()), "path": None, "name": b"Memory Compression"})
    assert _collect(FakeWin32(program)).process["name"] == "Memory Compression"


def test_debug_privilege_is_enabled_only_on_request_and_its_lack_is_told() -> None:
    """1300 says that the account does not hold it: one sentence, before anything is collected."""
    system = FakeWin32(make_demo())
    _collect(system)
    assert "enable_debug_privilege" not in system.asked
    WindowsCollector(Options(debug_privilege=True), system)
    assert "enable_debug_privilege" in system.asked
    system.refused["enable_debug_privilege"] = 1300
    with pytest.raises(
        CollectError, match=r"SeDebugPrivilege is not to be had.*1300.*leave --debug-privilege out"
    ):
        WindowsCollector(Options(debug_privilege=True), system)


def test_no_handle_is_left_whatever_goes_wrong() -> None:
    """Each call refused in turn, with 5 and with 299: opens and closes are equal in number."""
    asked = FakeWin32(make_demo())
    _collect(asked, options=Options(heap_blocks=True))
    for method in sorted(set(asked.asked)):
        for code in (5, 299):
            system = FakeWin32(make_demo())
            system.refused[method] = code
            with suppress(CollectError):
                _collect(system, options=Options(heap_blocks=True))
            assert system.handles == {}, method


def test_the_list_of_processes_holds_what_does_not_open() -> None:
    """A protected process has its name, parent and threads; what could not be asked is None, not 0."""
    hidden = FakeProgram(pid=4720, name=b"csrss.exe", rights=0, threads={1: (0, None)})
    system = FakeWin32(make_demo(), hidden)
    rows = {row.pid: row for row in WindowsCollector(Options(), system).list_processes()}
    assert (rows[4720].name, rows[4720].threads, rows[4720].has_memory) == (b"csrss.exe", 1, True)
    assert (rows[4720].rss, rows[4720].private, rows[4720].starttime, rows[4720].user) == (None,) * 4
    assert (rows[4712].rss, rows[4712].private, rows[4712].elf_class) == (0x6000, 0x8000, 64)
    assert not rows[4].has_memory
    assert system.handles == {}


def test_for_every_process_the_lists_of_the_system_are_taken_once() -> None:
    """Processes and threads of the whole system are walked once, however many programs are looked at."""
    others = [FakeProgram(**{**vars(make_demo()), "pid": pid}) for pid in (5000, 5004, 5008)]
    system = FakeWin32(make_demo(), *others)
    collector = WindowsCollector(Options(every_process=True), system)
    rows = collector.list_processes()
    capture = collector.take_capture(rows)
    for row in rows:
        if row.has_memory:
            with closing(collector.open_target(row.pid, row.starttime)) as target:
                assert target.take_snapshot(capture).tables["threads"].rows == 1
    assert (system.asked.count("list_processes"), system.asked.count("list_threads")) == (1, 1)
