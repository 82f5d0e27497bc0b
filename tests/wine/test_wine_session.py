"""Runs of `mmp-collect.pyz` under Wine as on Linux: series, appending, launching, ending, refusals."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from mmpscope.formats.mmp import verify
from support.collecting import read_notes, read_snapshots, wait_until
from support.effort import scale
from support.wine import BITS, read_to_end, to_windows
from support.wine_collecting import Target, WineCollector

pytestmark = pytest.mark.real
each_width = pytest.mark.parametrize("bits", BITS)

SERIES = ("--interval", "100ms")


def test_the_list_has_every_process_with_its_bits(
    collector: WineCollector, targets: dict[int, Target]
) -> None:
    """`--ps` shows both targets with their bits, and Wine's own processes."""
    done = collector.run("--ps")
    assert (done.returncode, done.stderr) == (0, "")
    headings, *lines = [line.split() for line in done.stdout.splitlines()]
    bits_at = headings.index("BITS")
    bits = {int(words[0]): words[bits_at] for words in lines}
    assert (bits[targets[64].pid], bits[targets[32].pid]) == ("64", "32")
    assert "services.exe" in done.stdout


@pytest.mark.parametrize("name", ["services.exe", "servic"])
def test_a_process_is_found_by_its_name(collector: WineCollector, tmp_path: Path, name: str) -> None:
    """The whole name does, and so does its unambiguous beginning; no file of ours runs in that process."""
    snapshot = collector.collect(tmp_path / "services.mmp", name)
    assert snapshot.process["name"] == "services.exe"
    assert snapshot.raw_regions.num_rows > 50
    assert {"ntdll.dll", "kernel32.dll"} <= {
        path.lower().rpartition("\\")[2] for path in snapshot.decode("modules")["path"].to_pylist()
    }


@pytest.mark.parametrize(
    ("wanted", "code", "sentence"),
    [
        ("999996", 3, "there is no process 999996. `--ps` lists what runs."),
        ("nosuch", 3, "no process is called 'nosuch', and no name begins so. `--ps` lists what runs."),
        ("python.exe", 2, "2 processes fit 'python.exe'"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    collector: WineCollector,
    targets: dict[int, Target],
    tmp_path: Path,
    wanted: str,
    code: int,
    sentence: str,
) -> None:
    """An unknown pid, an unknown name and a name of several processes: a sentence, and no file."""
    path = tmp_path / "none.mmp"
    done = collector.run(wanted, "-o", path)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence.replace("2 processes", "") in done.stderr
    assert not path.exists()


def test_an_existing_file_stays(collector: WineCollector, targets: dict[int, Target], tmp_path: Path) -> None:
    """Without --force nothing is overwritten; with it the file is a new one."""
    path = tmp_path / "taken.mmp"
    path.write_bytes(b"something")
    assert collector.run(targets[64].pid, "-o", path).returncode == 2
    assert path.read_bytes() == b"something"
    assert collector.run(targets[64].pid, "-f", "-o", path).returncode == 0
    assert len(read_snapshots(path)) == 1


def test_appending_adds_to_the_file(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """One more snapshot, of another process, comes behind the first one."""
    path = tmp_path / "two.mmp"
    collector.collect(path, targets[64].pid)
    assert collector.run(targets[32].pid, "--append", path).returncode == 0
    assert [snapshot.process["bits"] for snapshot in read_snapshots(path)] == [64, 32]
    assert verify(path) == []


def test_a_series_ends_after_its_count(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """`--interval 100ms --count 4` takes four snapshots, at growing times."""
    path = tmp_path / "series.mmp"
    done = collector.run(targets[64].pid, *SERIES, "--count", 4, "-o", path)
    assert (done.returncode, done.stderr) == (0, "")
    times = [snapshot.moment["mono_ns"] for snapshot in read_snapshots(path)]
    assert len(times) == 4
    assert times == sorted(set(times))


def test_light_asks_for_the_map_only(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """`--light` keeps regions with their names, and says of all else that it was not asked for."""
    snapshot = collector.collect(tmp_path / "light.mmp", targets[64].pid, "--light")
    skipped = {row.item for row in snapshot.raw.capability if row.state == "skipped"}
    assert {"working set", "threads", "modules", "heaps"} <= skipped
    assert list(snapshot.raw.tables) == ["regions"]
    assert any((path or "").endswith("python311.dll") for path in snapshot.raw_regions["path"].to_pylist())


@each_width
def test_a_program_is_started_and_watched_to_its_end(
    bits: int, collectors: dict[int, WineCollector], tmp_path: Path
) -> None:
    """`-- COMMAND` takes snapshots until the program ends, and notes its exit code; its output is its own."""
    path, collector = tmp_path / "launched.mmp", collectors[bits]
    program = "import time; time.sleep(3); print('done'); raise SystemExit(3)"
    done = collector.run(*SERIES, "-o", path, "--", to_windows(collector.python.executable), "-c", program)
    assert done.returncode == 0
    assert done.stdout == "done\n"
    assert "ended with exit code 3" in done.stderr
    assert "ended with exit code 3" in read_notes(path)[0]
    assert {snapshot.process["bits"] for snapshot in read_snapshots(path)} == {bits}


def test_a_program_that_is_not_there(collector: WineCollector, tmp_path: Path) -> None:
    """It cannot be started: a sentence, exit 3."""
    done = collector.run("-o", tmp_path / "none.mmp", "--", "Z:\\no\\such\\program.exe")
    assert done.returncode == 3
    assert done.stderr.startswith("mmp-collect: Z:\\no\\such\\program.exe cannot be started")


@each_width
def test_ctrl_c_ends_a_series_with_a_whole_file(
    bits: int, collectors: dict[int, WineCollector], targets: dict[int, Target], tmp_path: Path
) -> None:
    """What was taken is kept and closed, exit 0; Wine hands SIGINT on as a Ctrl-C of the console."""
    path = tmp_path / "stopped.mmp"
    process = collectors[bits].start(targets[32].pid, *SERIES, "-o", path)
    with process:
        wait_until(path.exists)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = read_to_end(process)
    assert process.returncode == 0
    assert b"stopped by SIGINT" in err
    assert read_notes(path) == ["stopped by SIGINT"]
    assert len(read_snapshots(path)) >= 1


def test_ctrl_break_ends_a_series_too(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """SIGBREAK, which only Windows has, does the same."""
    path = tmp_path / "broken-off.mmp"
    done = collector.run_program("break_program.py", targets[32].pid, *SERIES, "-o", path)
    assert (done.returncode, "stopped by SIGBREAK" in done.stderr) == (0, True)
    assert read_notes(path) == ["stopped by SIGBREAK"]


def test_two_writers_do_not_meet_in_one_file(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """While a series runs nobody else adds to its file; it goes on, and when it was ended one may."""
    path = tmp_path / "shared.mmp"
    with collector.start(targets[32].pid, *SERIES, "-o", path) as first:
        wait_until(path.exists)
        second = collector.run(targets[32].pid, "--append", path)
        first.kill()
    assert second.returncode == 3
    assert "another program is adding to it" in second.stderr
    kept = len(read_snapshots(path, partial=True))
    assert collector.run(targets[32].pid, "--append", path).returncode == 0
    assert len(read_snapshots(path)) == kept + 1
    assert verify(path) == []


def test_every_process_is_collected_once(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """`--all` has a snapshot of each process that can be opened, both targets among them, in one capture."""
    path = tmp_path / "all.mmp"
    assert collector.run("--all", "-o", path).returncode == 0
    snapshots = read_snapshots(path)
    pids = [snapshot.process["pid"] for snapshot in snapshots]
    assert len(set(pids)) == len(pids) >= 4
    assert {target.pid for target in targets.values()} <= set(pids)
    assert len({snapshot.capture.moment["time_ns"] for snapshot in snapshots}) == 1


def test_names_beyond_ascii_are_kept(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """An output with a name in other letters is written under exactly that name."""
    path = tmp_path / "größe-メモリ.mmp"
    collector.collect(path, targets[64].pid)
    assert path.exists()


def test_no_handle_is_left_open_by_many_snapshots(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """Opening, looking, writing and closing again and again leaves as many handles as there were before."""
    done = collector.run_program("leak_program.py", targets[32].pid, tmp_path / "leak.mmp", scale(200))
    assert (done.returncode, done.stderr) == (0, "")
    counts = json.loads(done.stdout)
    assert counts["after"] == counts["before"]
