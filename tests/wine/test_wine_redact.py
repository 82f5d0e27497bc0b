"""`mmp-collect.pyz --redact --rebase` under Wine: a file without names and without addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file
from mmpscope.formats.mmp.columns import decode_column
from support.rebasing import find_leaks, list_regions
from support.redacting import KEY, unpack_all
from support.wine_collecting import Target, WineCollector

pytestmark = pytest.mark.real
KNOWN = {"root", "home", ".cache"}
"""Folders and accounts that many machines have, and that stay."""


def test_a_redacted_run_tells_neither_names_nor_addresses(
    collector: WineCollector, targets: dict[int, Target], tmp_path: Path
) -> None:
    """The folders of its program, its command and account are in the plain file, and not in the other."""
    key, plain, redacted = (tmp_path / name for name in ("key", "plain.mmp", "redacted.mmp"))
    key.write_bytes(KEY)
    pid = targets[64].pid
    collector.collect(plain, pid)
    done = collector.run(pid, "--redact", "--rebase", "--key", key, "-o", redacted)
    assert done.returncode == 0
    assert "addresses below 0x100000000 stay as they are" in done.stderr  # where Wine has its heaps
    with open_file(plain) as one, open_file(redacted) as two:
        original, moved = one.read(0), two.read(0)
    folders = {name for name in original.process["exe"].split("\\")[1:-1] if len(name) > 3}
    host = original.capture.host["hostname"]
    assert moved.capture.host["hostname"] != host
    names = {*folders, "target_program", *([host] if len(host) > 3 else [])} - KNOWN
    given, written = (unpack_all(path.read_bytes()).lower() for path in (plain, redacted))
    assert all(name.lower().encode() in given for name in names)
    assert [name for name in names if name.lower().encode() in written] == []
    assert find_leaks(original, moved) == []
    assert len(list_regions(moved)) > 100
    assert b"ntdll.dll" in written
    assert "redaction" in {row.item for row in moved.capture.capability}
    assert decode_column(moved.tables["threads"], "tid") == decode_column(original.tables["threads"], "tid")
