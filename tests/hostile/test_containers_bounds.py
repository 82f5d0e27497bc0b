"""Hostile inputs in a process that may have 512 MiB: one sentence, exit code 3, in time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.archives import make_tar, make_tar_header, make_zip
from support.mmp_command import run_program
from support.smaps_text import MapLine, make_text

MAPS = MapLine(0x10000, 0x11000).text + b"\n"
_MEMORY = 512 << 20
_PATIENCE_S = 30
"""Alone on a machine, the slowest takes four seconds."""


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _write_bomb(path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Write a gibibyte of zeros: what is packed piece by piece is one file of the format, too."""
    path.write_bytes(pack(bytes(1 << 24)) * 64)


def _write_gzip_bomb(path: Path) -> None:
    _write_bomb(path, gzip.compress)


def _write_xz_bomb(path: Path) -> None:
    _write_bomb(path, lzma.compress)


def _write_bzip2_bomb(path: Path) -> None:
    _write_bomb(path, bz2.compress)


def _write_zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            with archive.open(f"{number}.smaps", "w") as member:
                member.write(MAPS)
                for _ in range(100):
                    member.write(bytes(1 << 20))


def _write_zip_of_zips(path: Path) -> None:
    content = make_zip({"x.maps": MAPS})
    for _ in range(50):
        content = make_zip({f"{number}.zip": content for number in range(2)}, method=zipfile.ZIP_DEFLATED)
    path.write_bytes(content)


def _write_huge_tar(path: Path) -> None:
    path.write_bytes(make_tar_header(b"x.maps", b"\x80" + (1 << 62).to_bytes(11, "big")) + MAPS)


def _write_huge_tar_name(path: Path) -> None:
    path.write_bytes(make_tar_header(b"x", b"77777777777\0", b"L") + MAPS)


def _write_many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(30_000):
            archive.writestr(f"{number}.maps", MAPS)


def _write_long_line(path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(b"x" * (1 << 20) for _ in range(100))


HOSTILE: dict[Callable[[Path], None], str] = {
    _write_gzip_bomb: "unpacks to more than 200 times its size",
    _write_xz_bomb: "unpacks to more than 200 times its size",
    _write_bzip2_bomb: "unpacks to more than 200 times its size",
    _write_zip_bomb: "unpacks to more than 200 times its size",
    _write_zip_of_zips: "an archive in an archive is left out",
    _write_huge_tar: "the tar file ends inside a member of 4,611,686,018,427,387,904 bytes",
    _write_huge_tar_name: "a name or description of 8,589,934,591 bytes",
    _write_many_members: "more than 20,000 maps",
    _write_long_line: "line 1 is not a map line",
}


def _take_processor_time() -> float:
    """Return what programs that ended have used, in seconds: a busy machine adds nothing to it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("write", HOSTILE, ids=lambda write: write.__name__)
def test_hostile_inputs_are_refused_in_bounded_memory_and_time(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    """Whatever a file unpacks to, declares or contains."""
    path = tmp_path / "hostile"
    write(path)
    begun = _take_processor_time()
    done = run_program("info", path, preexec_fn=_limit_memory, timeout=_PATIENCE_S * 20)
    assert _take_processor_time() - begun < _PATIENCE_S
    message = done.stderr.decode()
    assert (done.returncode, done.stdout) == (3, b"")
    assert HOSTILE[write] in message
    assert len(message.splitlines()) == 1


def test_a_line_of_100_mb_among_maps_is_told_with_its_number(tmp_path: Path) -> None:
    """Reading a file whole asks for no more memory than it has bytes."""
    path = tmp_path / "x.maps"
    with path.open("wb") as file:
        file.write(MAPS)
        file.writelines(b"x" * (1 << 20) for _ in range(100))
        file.write(b"\n" + MapLine(0x20000, 0x21000).text + b"\n")
    done = run_program("info", path, preexec_fn=_limit_memory, timeout=_PATIENCE_S * 2)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"line 2 has more than 65,536 bytes" in done.stderr


def test_thirty_thousand_members_that_are_no_maps_are_one_fault(tmp_path: Path) -> None:
    """A home folder in a tar archive, with one map in it."""
    path = tmp_path / "home.tar"
    files = {f"home/{number}.txt": b"hello" for number in range(30_000)}
    path.write_bytes(make_tar(files | {"home/x.smaps": make_text(5)}, form=tarfile.USTAR_FORMAT))
    done = run_program("info", path, preexec_fn=_limit_memory, timeout=_PATIENCE_S * 2)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"30,000 members are no snapshots" in done.stdout
    assert b"smaps text in tar, 1 snapshot" in done.stdout
