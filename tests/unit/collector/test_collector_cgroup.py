"""Where the memory cgroup of a process is, and what binds it, on version 1, version 2 and hybrid systems."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.collector.linux.cgroup import Cgroup, CgroupError, find_cgroup, read_cgroup
from mmpscope.collector.recorder import NotApplicableError, Recorder

V2_MOUNT = b"30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = b"35 24 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
OTHER_MOUNTS = b"""\
24 1 8:2 / / rw - ext4 /dev/sda2 rw
36 24 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
odd line
"""
NO_LIMIT_V1 = 9223372036854771712


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@pytest.mark.parametrize(
    ("membership", "mounts", "expected"),
    [
        (b"0::/user.slice/app\n", V2_MOUNT, Cgroup(2, "/user.slice/app", "/sys/fs/cgroup")),
        (
            b"5:cpu,cpuacct:/a\n4:memory:/docker/1\n0::/\n",
            V2_MOUNT + V1_MOUNT,
            Cgroup(1, "/docker/1", "/sys/fs/cgroup/memory"),
        ),
        (b"1:name=systemd:/x\n0::/y\n", V2_MOUNT, Cgroup(2, "/y", "/sys/fs/cgroup")),
    ],
    ids=["version 2", "hybrid, memory in version 1", "hybrid, memory in version 2"],
)
def test_the_memory_controller_decides_the_version(
    membership: bytes, mounts: bytes, expected: Cgroup
) -> None:
    """Of two mounted versions the one that has the memory controller counts."""
    assert find_cgroup(membership, OTHER_MOUNTS + mounts) == expected


def test_a_mount_of_a_part_shows_paths_below_it() -> None:
    """A container's mount begins at its own cgroup, and a blank in its path is escaped in mountinfo."""
    mount = b"30 24 0:26 /docker/a\\040b /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    assert find_cgroup(b"0::/docker/a b/app\n", mount) == Cgroup(2, "/app", "/sys/fs/cgroup")
    assert find_cgroup(b"0::/docker/a b\n", mount) == Cgroup(2, "/", "/sys/fs/cgroup")


@pytest.mark.parametrize(
    ("membership", "mounts", "words"),
    [
        (b"0::/a\n", V1_MOUNT, "no mount of cgroup version 2"),
        (b"0::/../other\n", V2_MOUNT, "no mount .* shows /../other"),
        (b"0::/docker/b\n", b"30 24 0:26 /docker/a /c rw - cgroup2 c rw\n", "no mount"),
    ],
)
def test_a_cgroup_out_of_sight_says_why(membership: bytes, mounts: bytes, words: str) -> None:
    """No mount of it, or a path outside of what is mounted: each is named."""
    with pytest.raises(CgroupError, match=words):
        find_cgroup(membership, mounts)


@pytest.mark.parametrize("membership", [b"", b"3:cpu:/a\n"])
def test_a_process_in_no_memory_cgroup_lacks_nothing(membership: bytes) -> None:
    """Without a memory controller no limit binds: that is no gap in the snapshot."""
    with pytest.raises(NotApplicableError, match="in no memory cgroup"):
        find_cgroup(membership, V2_MOUNT)
    recorder = Recorder()
    assert recorder.attempt("cgroup", lambda: find_cgroup(membership, V2_MOUNT)) is None
    assert [known.state for known in recorder.capability] == ["not applicable"]


def test_version_2_limits_of_all_levels(tmp_path: Path) -> None:
    """Own figures keep the kernel's names, "max" is no limit, and the smallest of all levels is the limit."""
    _write(
        tmp_path,
        {
            "a/b/memory.current": "1000",
            "a/b/memory.max": "max",
            "a/b/memory.high": "5000",
            "a/b/memory.stat": "anon 600\nfile 400\nodd line here",
            "a/memory.max": "4096",
            "a/memory.current": "3000",
        },
    )
    assert read_cgroup(Cgroup(2, "/a/b", str(tmp_path))) == {
        "path": "/a/b",
        "version": 2,
        "memory.current": 1000,
        "memory.high": 5000,
        "memory.max": None,
        "memory.stat": {"anon": 600, "file": 400},
        "levels": [
            {"path": "/a/b", "limit": None, "usage": 1000},
            {"path": "/a", "limit": 4096, "usage": 3000},
            {"path": "/", "limit": None, "usage": None},
        ],
        "limit": 4096,
    }


def test_version_1_no_limit_is_null_and_hierarchy_matters(tmp_path: Path) -> None:
    """The largest page count means no limit; without use_hierarchy the parent's limit does not bind."""
    files = {
        "a/memory.limit_in_bytes": str(NO_LIMIT_V1),
        "a/memory.usage_in_bytes": "7",
        "memory.limit_in_bytes": "99",
    }
    _write(tmp_path, {**files, "a/memory.use_hierarchy": "1"})
    facts = read_cgroup(Cgroup(1, "/a", str(tmp_path)))
    assert facts["memory.limit_in_bytes"] == NO_LIMIT_V1
    assert facts["levels"] == [
        {"path": "/a", "limit": None, "usage": 7},
        {"path": "/", "limit": 99, "usage": None},
    ]
    assert facts["limit"] == 99
    _write(tmp_path, {"a/memory.use_hierarchy": "0"})
    assert read_cgroup(Cgroup(1, "/a", str(tmp_path)))["limit"] is None


def test_a_cgroup_without_memory_files_says_so(tmp_path: Path) -> None:
    """A hybrid system's version 2 tree has directories and no memory figures."""
    with pytest.raises(CgroupError, match="shows no memory figures"):
        read_cgroup(Cgroup(2, "/", str(tmp_path)))
