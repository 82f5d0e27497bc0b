"""From what the user typed to one process, and how names of strangers are shown."""

from __future__ import annotations

import pytest
from mmpscope.collector.base import ProcessRow
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.collector.find import find_process
from mmpscope.collector.names import make_file_name, printable
from mmpscope.collector.ps import format_rows


def _row(pid: int, name: bytes, executable: bytes | None = None, *, has_memory: bool = True) -> ProcessRow:
    return ProcessRow(pid, 1, name, 0, "root", 2, 4096, 2048, 5, 64, None, executable, has_memory)


ROWS = [
    _row(10, b"nginx"),
    _row(11, b"nginx-helper"),
    _row(12, b"redis-server"),
    _row(13, b"very-long-name-", b"very-long-name-of-a-program"),
    _row(14, b"worker"),
    _row(15, b"worker"),
    _row(16, b"kworker/0:1", None, has_memory=False),
    _row(17, b"python3", b"python3.11"),
    _row(18, b"java"),
    _row(19, b"java", has_memory=False),
]


@pytest.mark.parametrize(
    ("wanted", "pid"),
    [
        ("nginx", 10),
        ("nginx-", 11),
        ("redis", 12),
        ("very-long-name-of-a-program", 13),
        ("very-long-name-of", 13),
        ("python3.11", 17),
        ("kworker/0:1", 16),
        ("java", 18),
    ],
    ids=[
        "exact beats prefix",
        "prefix",
        "shorter prefix",
        "executable",
        "its prefix",
        "other name",
        "kernel thread",
        "zombie",
    ],
)
def test_a_name_is_found_exactly_else_by_its_beginning(wanted: str, pid: int) -> None:
    """comm or executable, exact before prefix, and what has memory before what has none."""
    assert find_process(wanted, ROWS, own_pid=None).pid == pid


def test_several_hits_are_listed_and_refused() -> None:
    """An ambiguous name is exit 2, with pid, user and name of each to choose from."""
    with pytest.raises(UsageError, match="2 processes fit 'worker'") as caught:
        find_process("worker", ROWS, own_pid=None)
    assert caught.value.exit_code == 2
    assert [line.split()[:2] for line in str(caught.value).splitlines()[2:]] == [
        ["14", "root"],
        ["15", "root"],
    ]


def test_we_ourselves_do_not_count() -> None:
    """The collector that looks for python3 is called python3 itself."""
    assert find_process("worker", ROWS, own_pid=15).pid == 14


@pytest.mark.parametrize("wanted", ["nothing", "", "ginx"])
def test_no_hit_is_said(wanted: str) -> None:
    """A name that nothing has, or that is only a part of one, is exit 3; an empty one fits all."""
    with pytest.raises((CollectError, UsageError)):
        find_process(wanted, ROWS, own_pid=None)


WINDOWS_ROWS = [
    _row(40, b"Notepad.exe"),
    _row(44, b"notepad++.exe"),
    _row(48, b"\xc3\x84rger.EXE"),
    _row(52, b"odd\xed\xa0\x80.exe"),
    _row(4, b"System", has_memory=False),
]


@pytest.mark.parametrize(
    ("wanted", "pid"),
    [
        ("notepad", 40),
        ("NOTEPAD.EXE", 40),
        ("notepad+", 44),
        ("\xe4rger", 48),
        ("odd\udced\udca0\udc80", 52),
        ("system", 4),
    ],
)
def test_on_windows_capital_letters_and_exe_do_not_matter(wanted: str, pid: int) -> None:
    """`notepad` is Notepad.exe, exactly, and not the beginning of two; elsewhere each letter counts."""
    assert find_process(wanted, WINDOWS_ROWS, None, is_windows=True).pid == pid
    with pytest.raises(CollectError, match="no process is called"):
        find_process("notepad.exe", WINDOWS_ROWS, None, is_windows=False)


def test_names_that_act_are_shown_as_escapes() -> None:
    """Control characters, direction marks and bytes that are no UTF-8 do not reach the terminal."""
    assert printable(b"a\x1b[31mb\n") == "a\\x1b[31mb\\n"
    assert printable("\u202egpj.exe \u00e9".encode()) == "\\u202egpj.exe \u00e9"
    assert printable(b"\xff(") == "\\xff("


@pytest.mark.parametrize(
    ("name", "pid", "expected"),
    [
        (b"nginx", 7, "nginx-7-20010909T014640Z.mmp"),
        (b"../../etc/x y", 7, "etc_x_y-7-20010909T014640Z.mmp"),
        (b"\xff\x1b", 7, "process-7-20010909T014640Z.mmp"),
        (b"server", None, "server-20010909T014640Z.mmp"),
        (b"Notepad.EXE", 8, "Notepad-8-20010909T014640Z.mmp"),
        (b"con.d", 8, "_con.d-8-20010909T014640Z.mmp"),
        (b'a<b>:"|?*c', 8, "a_b_c-8-20010909T014640Z.mmp"),
    ],
)
def test_default_file_names_are_plain(name: bytes, pid: int | None, expected: str) -> None:
    """A process cannot lead our output elsewhere by its name: another directory, a device of Windows."""
    assert make_file_name(name, pid, 1_000_000_000) == expected


def test_the_list_shows_what_is_unknown_as_such() -> None:
    """Sizes are KiB, and what the system does not say is a dash, not 0."""
    unknown = ProcessRow(
        9, None, b"k\x1b", 5, None, None, None, None, None, None, None, None, has_memory=False
    )
    head, first, second = format_rows([_row(10, b"nginx", b"nginx"), unknown]).splitlines()
    assert head.split() == ["PID", "USER", "PRIVATE", "RSS", "THREADS", "BITS", "NAME", "EXECUTABLE"]
    assert first.split() == ["10", "root", "2", "4", "2", "64", "nginx", "nginx"]
    assert second.split() == ["9", "5", "-", "-", "-", "-", "k\\x1b"]
