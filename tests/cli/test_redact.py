"""`mmp redact`: keys, outputs, refusals, and what it says of what it did."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file, verify
from mmpscope.formats.mmp.writer import SnapshotWriter
from support.corpus import ROOT
from support.mmp_command import run_mmp
from support.redacting import unpack_all
from support.shop import write_shop
from support.small_file import make_small_file
from support.smaps_text import make_text


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file with three snapshots."""
    return write_shop(tmp_path)


def test_a_redacted_file_is_whole_and_says_that_names_are_tokens(shop: Path, tmp_path: Path) -> None:
    """In `mmp info`, above every table, and on the page of a report."""
    out, page = tmp_path / "out.mmp", tmp_path / "page.html"
    answer = run_mmp("redact", shop, "-o", out, "--key", tmp_path / "key")
    assert answer.code == 0
    assert " ".join(answer.out.split()).startswith(f"{out}: ")  # lines are broken where paths are long
    assert verify(out) == []
    for command in ("info", "summary", "diff"):
        inputs = [f"{out}#0", f"{out}#1"] if command == "diff" else [out]
        assert "redacted: names are tokens made under a secret key" in run_mmp(command, *inputs).out
    assert "names are tokens" in run_mmp("diff", out, out).out
    assert run_mmp("report", out, "-o", page).code == 0


def test_one_key_makes_one_token_of_a_name_in_every_file(shop: Path, tmp_path: Path) -> None:
    """The key is made once, for its owner alone, and that is said once; another run reads it."""
    key = tmp_path / "key"
    said = [run_mmp("redact", shop, "-o", tmp_path / f"{n}.mmp", "--key", key).err for n in (1, 2)]
    assert said == [
        f"mmp: {key} is a new key: keep it, and do not send it: "
        "whoever has it can tell which names the tokens stand for\n",
        "",
    ]
    assert len(key.read_bytes()) == 32
    if sys.platform != "win32":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    names = [_read_name(tmp_path / f"{n}.mmp") for n in (1, 2)]
    assert names[0] == names[1] != _read_name(shop)


def _read_name(path: Path) -> object:
    with open_file(path) as file:
        return file.read(0).process["exe"]


def test_without_a_key_two_runs_have_nothing_in_common(shop: Path, tmp_path: Path) -> None:
    """And that is said, as such files cannot be compared."""
    outs = [tmp_path / "1.mmp", tmp_path / "2.mmp"]
    said = {run_mmp("redact", shop, "-o", out).err for out in outs}
    assert "thrown away" in "".join(said)
    assert _read_name(outs[0]) != _read_name(outs[1])


def test_each_input_gets_a_file_of_its_own_in_a_folder(shop: Path, tmp_path: Path) -> None:
    """Under a token of its name, which is the same in another run of the same key."""
    text = tmp_path / "other.smaps"
    text.write_bytes(make_text(4))
    found = []
    for name in ("one", "two"):
        folder = tmp_path / name
        answer = run_mmp("redact", shop, text, "-o", f"{folder}/", "--key", tmp_path / "key", "--json")
        rows = json.loads(answer.out)["rows"]
        assert [row["file"] for row in rows] == [str(shop), str(text)]
        assert {row["output"] for row in rows} == {str(path) for path in folder.iterdir()}
        found.append(sorted(path.name for path in folder.iterdir()))
    assert found[0] == found[1]
    assert all(re.fullmatch(r"[a-z]{11}\.mmp", name) for name in found[0])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "which file shall be written?"),
        (["-o", "-"], 2, "which file shall be written?"),
        (["-o", "shop.mmp"], 2, "exists. Use --force"),
        (["-o", "new.mmp", "--key", "shop.mmp.short"], 3, "this is no key"),
        (["-o", "new.mmp", "--key", "no/folder/key"], 3, "the key cannot be made"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    words: list[str], code: int, says: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No output, a file that exists, a key that is none."""
    monkeypatch.chdir(shop.parent)
    Path("shop.mmp.short").write_bytes(b"short")
    before = shop.read_bytes()
    answer = run_mmp("redact", shop, *words)
    assert (answer.code, answer.out) == (code, "")
    assert says in answer.err
    assert shop.read_bytes() == before
    assert not Path("new.mmp").exists()


def test_damage_is_refused_unless_partial(tmp_path: Path) -> None:
    """A damaged file leaves nothing behind; with --partial every whole snapshot of it comes along."""
    damaged, out = tmp_path / "damaged.mmp", tmp_path / "out.mmp"
    damaged.write_bytes(make_small_file().data[:-60])
    refused = run_mmp("redact", damaged, "-o", out)
    assert (refused.code, out.exists()) == (3, False)
    assert run_mmp("redact", damaged, "-o", out, "--partial").code == 0
    with open_file(out) as file:
        assert len(file.entries) > 0


def test_notes_are_left_out_unless_they_are_asked_for(shop: Path, tmp_path: Path) -> None:
    """How a series ended may name a command; what is left out is counted."""
    noted, out = tmp_path / "noted.mmp", tmp_path / "out.mmp"
    with open_file(shop) as file, SnapshotWriter.create(noted) as writer:
        writer.write_snapshot(file.read(0))
        writer.write_note("ended: make cartwheel")
    assert "1 note left out" in " ".join(run_mmp("redact", noted, "-o", out).out.split())
    assert b"cartwheel" not in unpack_all(out.read_bytes())
    assert run_mmp("redact", noted, "-o", out, "--keep-notes", "--force").code == 0
    with open_file(out) as file:
        assert file.read_notes() == ["ended: make cartwheel"]


@pytest.mark.parametrize("output", ["out.mmp", "out/"])
def test_without_a_snapshot_there_is_no_file(output: str, tmp_path: Path) -> None:
    """A file that only has a header: nothing is written, and that is an answer of its own."""
    empty = tmp_path / "empty.mmp"
    with SnapshotWriter.create(empty):
        pass
    answer = run_mmp("redact", empty, "-o", f"{tmp_path}/{output}")
    assert (answer.code, "there is no snapshot" in answer.err) == (4, True)
    assert [path.name for path in tmp_path.rglob("*.mmp")] == ["empty.mmp"]


def test_what_no_rule_knows_is_left_out_and_listed(tmp_path: Path) -> None:
    """Columns of a newer kernel, tables of a newer version, facts of another program."""
    text, out = tmp_path / "x.smaps", tmp_path / "x.mmp"
    text.write_bytes(make_text(4).replace(b"Locked:", b"Cartwheel:"))
    answer = run_mmp("redact", text, "-o", out, "--json")
    assert "regions.Cartwheel" in json.loads(answer.out)["left_out"]
    assert b"Cartwheel" not in unpack_all(out.read_bytes())


def test_frames_of_unknown_kinds_are_listed_with_what_is_left_out(shop: Path, tmp_path: Path) -> None:
    """By their kind, of which each is named once; a file with frames that are known all has none."""
    strange = tmp_path / "strange.mmp"
    with open_file(shop) as file, SnapshotWriter.create(strange) as writer:
        writer.frames.write("cartwheel", {"x": 1}, b"of another program")
        writer.write_snapshot(file.read(0))
        writer.frames.write("cartwheel", {"x": 2}, b"of another program")
        writer.write_note("done")
    told = [
        json.loads(run_mmp("redact", path, "-o", tmp_path / f"out-{path.name}", "--json").out)["left_out"]
        for path in (strange, shop)
    ]
    assert [[name for name in each if name.startswith("frame.")] for each in told] == [
        ["frame.cartwheel"],
        [],
    ]
    with open_file(tmp_path / "out-strange.mmp") as file:
        assert set(file.count_kinds()) == {"mmp", "capture", "snapshot", "index", "end"}
    assert "frame.cartwheel" in run_mmp("redact", strange, "-o", tmp_path / "again.mmp").out


def test_a_redacted_file_can_be_redacted_again(shop: Path, tmp_path: Path) -> None:
    """Under another key, which takes its tokens for names; it still says once that it is redacted."""
    once, twice = tmp_path / "1.mmp", tmp_path / "2.mmp"
    assert run_mmp("redact", shop, "-o", once).code == 0
    assert run_mmp("redact", once, "-o", twice).code == 0
    with open_file(twice) as file:
        items = [row.item for row in file.read(0).capture.capability]
    assert items.count("redaction") == 1


def test_the_key_is_neither_replaced_nor_put_beside_what_it_hides(shop: Path, tmp_path: Path) -> None:
    """Whoever sends the folder would send the key, and without it no other file has these tokens."""
    key, folder = tmp_path / "key", tmp_path / "to-vendor"
    key.write_bytes(b"k" * 32)
    answer = run_mmp("redact", shop, "--key", key, "-o", key, "-f")
    assert answer.code == 3
    assert "is the key, which would be replaced" in answer.err
    folder.mkdir()
    (folder / "inner").mkdir()
    for inside in (folder / "key", folder / "inner" / "key"):
        answer = run_mmp("redact", shop, "--key", inside, "-o", f"{folder}/")
        assert answer.code == 3
        assert "not to be sent" in answer.err
    assert key.read_bytes() == b"k" * 32
    assert [path.name for path in folder.rglob("*")] == ["inner"]


def test_addresses_that_stay_are_counted_and_told(tmp_path: Path) -> None:
    """Of 32 bits, of a space so full that a region lies in two zones, and of a program that is not PIE."""
    names = ("linux-python", "linux-fragmented", "windows-wow64")
    samples = [ROOT / "samples" / f"{name}-v1.0.mmp" for name in names]
    told = run_mmp("redact", *samples, "-o", f"{tmp_path}/out/", "--rebase", "--json")
    unmoved = json.loads(told.out)["unmoved"]
    assert sorted(unmoved.values()) == [1, 1, 1]
    assert any(reason.startswith("addresses below 0x1c000000000 stay") for reason in unmoved)
    assert any("in 32 bits there is no room" in reason for reason in unmoved)
    for row in json.loads(told.out)["rows"]:
        shown = " ".join(run_mmp("info", "-v", row["output"]).out.split())
        assert "addresses are moved where they can be" in shown
        assert ("skipped: rebase (addresses" in shown) == ("python" not in row["file"])


def test_a_rebased_file_that_is_redacted_again_still_says_so(shop: Path, tmp_path: Path) -> None:
    """And can be rebased again, which moves it on."""
    once, twice, again = (tmp_path / f"{number}.mmp" for number in range(3))
    assert run_mmp("redact", shop, "-o", once, "--rebase").code == 0
    assert run_mmp("redact", once, "-o", twice).code == 0
    assert run_mmp("redact", once, "-o", again, "--rebase").code == 0
    for path in (twice, again):
        with open_file(path) as file:
            snapshot = file.read(0)
        items = [row.item for row in (*snapshot.capability, *snapshot.capture.capability)]
        assert (items.count("redaction"), items.count("rebase")) == (1, 1)
        assert "addresses are moved" in run_mmp("info", path, "-v").out
