"""1309.smaps beside 1309.status: files of one process that somebody copied under such names."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.formats.proc.beside import join_files
from support.mmp_command import run_mmp

MAP = "00400000-00401000 r-xp 00000000 08:01 7                                  /bin/x\nRss:  4 kB\n"
STATUS = "Name:\tshop\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t1309\nVmPTE:\t      40 kB\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A map with what belongs to it, and a status without a map."""
    (tmp_path / "1309.smaps").write_text(MAP)
    (tmp_path / "1309.status").write_text(STATUS)
    (tmp_path / "1309.cmdline").write_bytes(b"/bin/shop\0--till\0")
    (tmp_path / "1309.smaps_rollup").write_text(MAP.replace("/bin/x", "[rollup]"))
    (tmp_path / "7.status").write_text(STATUS)
    return tmp_path


@pytest.mark.parametrize("pattern", ["", "1309.*"])
def test_a_map_has_the_facts_of_the_files_beside_it(folder: Path, pattern: str) -> None:
    """One snapshot, with name, pid, page tables and arguments of its process."""
    (folder / "7.status").unlink()
    [snapshot] = load(folder / pattern)
    process = snapshot.raw.process
    assert (process["pid"], process["name"]) == (1309, "shop")
    assert process["status"]["VmPTE"] == 40 * 1024
    assert process["cmdline"] == ["/bin/shop", "--till"]
    assert process["smaps_rollup"]["Rss"] == 4096


def test_what_has_no_map_is_told(folder: Path) -> None:
    """A status without a map is left out in words; those beside a map are not."""
    answer = run_mmp("info", folder)
    assert answer.code == 0
    assert "1309.status" not in answer.err
    assert "7.status" in answer.err
    assert run_mmp("verify", folder).out.count("\n") == 2


def test_a_file_that_is_named_is_read_alone(folder: Path) -> None:
    """Who names one file means that file."""
    [snapshot] = load(folder / "1309.smaps")
    assert "name" not in snapshot.raw.process


def test_names_are_joined_by_their_stem() -> None:
    """Another stem, another process; without a map nothing is left out."""
    paths = ["a.b.smaps", "a.b.status", "a.status", "c.maps", "c.limits", "c.txt", "smaps"]
    assert list(join_files(paths)) == [
        ("a.b.smaps", {"status": "a.b.status"}),
        ("a.status", {}),
        ("c.maps", {"limits": "c.limits"}),
        ("c.txt", {}),
        ("smaps", {}),
    ]
