"""Inputs by URI: what one stands for, and what is said where nothing is there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.loading import expand_input
from mmpscope.analysis.remote import is_uri
from mmpscope.formats.errors import InputError

LEAK = Path(__file__).parents[3] / "samples" / "linux-leak-v1.0.mmp"


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """The URI of a folder with files in two levels."""
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    for name in ("a.mmp", "b.mmp", ".hidden", "deep/c.mmp", "deep/deeper/d.mmp"):
        shutil.copy(LEAK, tmp_path / name)
    return f"file://{tmp_path}"


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        ("", ["a.mmp", "b.mmp"]),
        ("/a.mmp", ["a.mmp"]),
        ("/*.mmp", ["a.mmp", "b.mmp"]),
        ("/[!a].mmp", ["b.mmp"]),
        ("/*/*.mmp", ["c.mmp"]),
        ("/**/*.mmp", ["a.mmp", "b.mmp", "c.mmp", "d.mmp"]),
        ("/deep/**/d*", ["d.mmp"]),
    ],
)
def test_what_a_uri_stands_for(uri: str, tail: str, found: list[str]) -> None:
    """A file, the files of a folder, or those that a pattern matches: as with local names, and sorted."""
    listed = expand_input(uri + tail)
    assert [name.rpartition("/")[2] for name in listed] == found
    assert all(is_uri(name) for name in listed)


def test_snapshots_of_a_uri_are_those_of_the_file(uri: str) -> None:
    """Also some of them, by number; the label is the URI."""
    [snapshot] = load(f"{uri}/a.mmp#-1")
    assert snapshot.label == f"{uri}/a.mmp#19"
    assert snapshot.regions.drop_columns("snapshot").equals(load(LEAK)[-1].regions.drop_columns("snapshot"))


def test_files_beside_a_map_belong_to_it(tmp_path: Path) -> None:
    """12.status tells what 12.smaps is of, there as here."""
    (tmp_path / "12.smaps").write_text("1000-3000 rw-p 00000000 00:00 0 \n")
    (tmp_path / "12.status").write_text("Name:\tserver\n")
    [snapshot] = load(f"file://{tmp_path}")
    assert snapshot.process["name"] == "server"


@pytest.mark.parametrize("tail", ["/none.mmp", "/none*", "/deep/none/"])
def test_nothing_there_is_an_error(uri: str, tail: str) -> None:
    """One sentence with the URI."""
    with pytest.raises(InputError, match="none"):
        load(uri + tail)


@pytest.mark.parametrize("uri", ["nonsense://bucket/key", "s3://two words/x", "s3://b/x?region=a/b"])
def test_what_is_no_uri_is_an_error(uri: str) -> None:
    """Without asking anyone."""
    with pytest.raises(InputError, match=uri.split(":")[0]):
        load(uri)


@pytest.mark.parametrize("name", ["C:/a.mmp", "c:\\a.mmp", "a.mmp", "-", "x#3", "dir/s3:/y"])
def test_paths_are_no_uris(name: str) -> None:
    """A letter of a drive is no scheme."""
    assert not is_uri(name)
