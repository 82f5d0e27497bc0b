"""Inputs in a bucket, from a real server of S3 on loopback; what is not there is told in a sentence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow.fs as pafs
import pytest
from support.dask_cluster import find_port, wait_for_port
from support.mmp_command import run_program

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(find_spec("moto") is None, reason="moto, a server of S3, is not installed"),
]

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = ("linux-arenas-v1.0.mmp", "linux-leak-v1.0.mmp", "linux-python-v1.0.mmp")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give host and port of a server whose bucket `night` holds three samples and a file that is none."""
    port = find_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            system = pafs.S3FileSystem(
                access_key="any",
                secret_key="any",
                region="us-east-1",
                scheme="http",
                endpoint_override=f"127.0.0.1:{port}",
                allow_bucket_creation=True,
            )
            system.create_dir("night")
            for name in NAMES:
                _put(system, f"night/a/{name}", (SAMPLES / name).read_bytes())
            _put(system, "night/notes.txt", b"no snapshot")
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


def _put(system: pafs.S3FileSystem, path: str, content: bytes) -> None:
    with system.open_output_stream(path) as stream:
        stream.write(content)


def _run(server: str, *words: object) -> subprocess.CompletedProcess[bytes]:
    """Run `mmp` where the environment names the server, as it does for every program that uses S3."""
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": f"http://{server}",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    return run_program(*words, env=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same three files on this machine."""
    target = tmp_path / "a"
    target.mkdir()
    for name in NAMES:
        shutil.copy(SAMPLES / name, target)
    return target


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("tail", ["a", "a/*.mmp", "**/linux-*"])
def test_a_comparison_of_a_bucket_is_that_of_its_files(
    server: str, folder: Path, tail: str, workers: str
) -> None:
    """A folder of a bucket and patterns give what the local files give, but for the names."""
    local = run_program("compare", folder, "--json")
    done = _run(server, "compare", f"s3://night/{tail}", "--json", "--workers", workers)
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.sub(rb"s3://night/a\b", bytes(folder), done.stdout) == local.stdout


def test_a_dataset_of_a_bucket_is_that_of_its_files(server: str, folder: Path, tmp_path: Path) -> None:
    """What is built from the bucket has the very rows that the local files give, and again adds nothing."""
    for name, source in (("far", "s3://night/a/*.mmp"), ("near", folder)):
        done = _run(server, "dataset", "build", tmp_path / name, "--from", source, "--quiet")
        assert (done.returncode, done.stderr) == (0, b"")
    asked = "SELECT count(*) AS n, sum(size) AS size, sum(private) AS private FROM regions"
    far, near = (_run(server, "dataset", "sql", tmp_path / name, asked, "--json") for name in ("far", "near"))
    assert far.returncode == 0
    assert far.stdout.replace(b"/far", b"/near") == near.stdout
    again = _run(server, "dataset", "build", tmp_path / "far", "--from", "s3://night/a", "--quiet")
    assert again.returncode == 0
    assert _run(server, "dataset", "sql", tmp_path / "far", asked, "--json").stdout == far.stdout


def test_a_file_of_a_bucket_that_is_no_snapshot_is_a_row(server: str) -> None:
    """The run goes on, and the reason stands in the row."""
    done = _run(server, "compare", "s3://night/notes.txt", f"{SAMPLES / NAMES[0]}", "--json")
    assert done.returncode == 0
    assert b"s3://night/notes.txt" in done.stdout


@pytest.mark.parametrize("command", ["compare {}", "summary {}", "dataset build {folder} --from {}"])
@pytest.mark.parametrize("uri", ["s3://no-such-bucket/a", "s3://night/nothing/*.mmp"])
def test_what_is_not_in_the_bucket_is_told_in_a_sentence(
    server: str, command: str, uri: str, tmp_path: Path
) -> None:
    """Exit code 3 and one line that names it, whichever command asks."""
    words = [word.format(uri, folder=tmp_path / "ds") for word in command.split()]
    done = _run(server, *words)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.count(b"\n") == 1
    assert uri.encode() in done.stderr


def test_a_server_that_does_not_answer_is_told_in_a_sentence() -> None:
    """Exit code 3 within half a minute, and no stack trace."""
    begin = time.monotonic()
    done = _run(f"127.0.0.1:{find_port()}", "compare", "s3://night/a")
    assert time.monotonic() - begin < 30
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"s3://night/a" in done.stderr
