"""`mmp verify --repair`: every whole snapshot of a damaged file, in a new file without a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mmpscope.formats.mmp import SnapshotWriter, decode_table, open_file, verify
from mmpscope.formats.mmp.frames import END_BYTES
from support.mmp_command import run_mmp
from support.shop import make_shop

COUNT = 5


def _write_series(path: Path) -> list[int]:
    """Write a closed series, and return where each snapshot's frame begins; the last is where they end."""
    offsets = []
    [first, *_] = make_shop()
    with SnapshotWriter.create(path, series=True) as writer:
        writer.write_capture(first.capture)
        for _ in range(COUNT):
            offsets.append(writer.frames.output.size)
            writer.write_snapshot(first)
        offsets.append(writer.frames.output.size)
    return offsets


def _read_starts(path: Path) -> list[list[object]]:
    with open_file(path) as source:
        return [list(decode_table(source.read(e.index).tables["regions"])["start"]) for e in source.entries]


@pytest.mark.parametrize("hurt", range(COUNT))
def test_a_damaged_snapshot_costs_only_itself(tmp_path: Path, hurt: int) -> None:
    """The others come along, the new file has no fault, the old one is as it was, and the loss is named."""
    bad, good = tmp_path / "bad.mmp", tmp_path / "good.mmp"
    offsets = _write_series(bad)
    expected = _read_starts(bad)
    data = bytearray(bad.read_bytes())
    data[(offsets[hurt] + offsets[hurt + 1]) // 2] ^= 0x10
    bad.write_bytes(data)
    answer = run_mmp("verify", bad, "--repair", "-o", good)
    assert (answer.code, answer.err) == (0, "")
    assert f"(lost: {offsets[hurt + 1] - offsets[hurt]:,} bytes" in answer.out
    assert answer.out.splitlines()[-1] == f"{good}: {COUNT - 1} whole snapshots"
    assert _read_starts(good) == expected[1:]
    assert verify(good) == []
    assert bad.read_bytes() == data
    assert run_mmp("verify", bad).code == 1


def test_a_file_cut_at_any_place_keeps_what_was_whole(tmp_path: Path) -> None:
    """Of a torn series exactly those snapshots are salvaged that lie whole before the cut."""
    whole, bad, good = (tmp_path / name for name in ("whole.mmp", "bad.mmp", "good.mmp"))
    offsets = _write_series(whole)
    data = whole.read_bytes()
    for cut in range(offsets[1], len(data), 997):
        bad.write_bytes(data[:cut])
        answer = run_mmp("verify", bad, "--repair", "-o", good, "--force", "--json")
        assert answer.code == 0, answer.err
        known = json.loads(answer.out)
        assert known["snapshots"] == sum(offset <= cut for offset in offsets[1:])
        assert known["output"] == str(good)
        assert verify(good) == []


def test_what_cannot_be_repaired_writes_nothing(tmp_path: Path) -> None:
    """No whole snapshot is exit 4; an output that exists, is missing or of another kind is exit 2."""
    bad, good = tmp_path / "bad.mmp", tmp_path / "good.mmp"
    offsets = _write_series(bad)
    (tmp_path / "none.mmp").write_bytes(bad.read_bytes()[: offsets[0]])
    assert run_mmp("verify", tmp_path / "none.mmp", "--repair", "-o", good).code == 4
    assert run_mmp("verify", bad, "--repair").code == 2
    assert run_mmp("verify", bad, bad, "--repair", "-o", good).code == 2
    assert run_mmp("verify", bad, "--repair", "-o", tmp_path / "good.csv").code == 2
    assert not good.exists()
    good.write_bytes(b"mine")
    assert run_mmp("verify", bad, "--repair", "-o", good).code == 2
    assert good.read_bytes() == b"mine"


def test_what_snapshots_lose_with_their_capture_is_said(tmp_path: Path) -> None:
    """They are whole, and know neither host nor boot id any more."""
    bad, good = tmp_path / "bad.mmp", tmp_path / "good.mmp"
    offsets = _write_series(bad)
    data = bytearray(bad.read_bytes())
    data[offsets[0] - 20] ^= 0x10
    bad.write_bytes(data)
    answer = run_mmp("verify", bad, "--repair", "-o", good)
    lack = "without the facts of their system (host, boot id)"
    assert answer.out.splitlines()[-1] == f"{good}: {COUNT} whole snapshots, {lack}"


def test_damage_of_any_frame_is_told_alike(tmp_path: Path) -> None:
    """With the right article, digits in groups, and what can be done about it."""
    whole, bad = tmp_path / "whole.mmp", tmp_path / "bad.mmp"
    offsets = _write_series(whole)
    data = whole.read_bytes()
    for at, what in ((offsets[0] - 20, "a capture"), (offsets[1] - 20, "a snapshot"), (-2, "an end")):
        hurt = bytearray(data)
        hurt[at] ^= 0x10
        bad.write_bytes(hurt)
        told = run_mmp("summary", f"{bad}#0").err
        assert f"{what} frame does not agree with its checksum" in told
        assert "Whole snapshots can be read with --partial." in told
    assert f"at byte {len(data) - END_BYTES:,}." in told
