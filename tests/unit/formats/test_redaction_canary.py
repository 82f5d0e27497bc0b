"""Names planted in every place that a snapshot has: none of them is in what is written, or in an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz.seeds import list_own_seeds
from mmpscope.analysis.pages.embed import unpack
from mmpscope.formats.errors import FormatError
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.mmp.writer import SnapshotWriter
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.redaction import Redactor
from mmpscope.formats.redaction.rules import COLUMNS, FACTS, ITEMS, NUMBERS, Kind, Rule
from mmpscope.formats.registry import list_formats, open_source
from support.mmp_command import run_mmp
from support.pages import ReadPage
from support.redacting import KEY, read_all, unpack_all, write_snapshots

CANARY = "Zyxwvut"
NUMBER = 730_999_123_456_789
"""For numbers that identify: no length or address of a small file."""
SHAPES = (
    *("{}", "{}4711", "/usr/lib/{}.so.6", "/usr/lib/{}/libc.so.6", "/home/{}/libc.so", "[anon:{}]", "[{}]"),
    *("[anon:dalvik-{}]", "[anon:scudo:{}]", "[anon_shmem:{}]", "/memfd:{} (deleted)", "/memfd:java_heap{}"),
    *("/dev/shm/{}", "/dev/{}", "/dev/ashmem/dalvik-{}", "anon_inode:{}", "anon_inode:[{}]", "/dmabuf:{}"),
    *(
        "C:\\Windows\\System32\\{}.dll",
        "C:\\{}\\ntdll.dll",
        "\\\\{}\\share\\x",
        "C:\\Users\\{}",
        "DOMAIN\\{}",
    ),
    *("{}\\SYSTEM", "the {} of it", "permission denied: /{}/x", "Heap ID: 1 [{}]", "__{}", "{} (reserved)"),
    *(
        "x.{}",
        "libc.so.{}",
        "6.1.0-{}-amd64",
        "Debian {} 12",
        "S-1-5-21-{}",
        "-{}",
        "--{}=5",
        "-Dkey={}",
        "é{}",
    ),
    *("/proc/{}/maps", "/{} (deleted)", "{}: worker", "nginx: {}", "/[{}]", "//{}//", "..\\{}", "a/{}/../b"),
)
"""What a name can stand in, one shape for each that some rule lets pass in part."""


def plant(rule: Rule | None) -> Any:
    """Make a fact full of canaries for a rule, with keys that no rule has."""
    if isinstance(rule, dict):
        return {**{name: plant(inner) for name, inner in rule.items()}, CANARY: CANARY, f"{CANARY}2": 5}
    texts = [shape.format(CANARY) for shape in SHAPES]
    if rule in (Kind.INODE, Kind.ACCOUNT_ID, Kind.BUILD):
        return [NUMBER, CANARY]
    return [*texts, *(text.encode() + b"\xff" for text in texts), {CANARY: CANARY}]


def plant_table(name: str) -> Table:
    """Make a table with every column that it can have, and one that it cannot."""
    rows = len(SHAPES)
    texts = [shape.format(CANARY).encode() for shape in SHAPES]
    columns = {column: Plain("text", texts, "bytes") for column in (*COLUMNS.get(name, {}), CANARY)}
    numbers = {column: Plain("uint", [5] * rows) for column in NUMBERS if column not in columns}
    for column in ("inode", "uid", "timestamp", "checksum"):
        numbers[column] = Plain("uint", [NUMBER] * rows)
    numbers["start"] = Plain("uint", [0x10000 * (row + 1) for row in range(rows)])
    numbers["size"] = Plain("uint", [0x1000] * rows, len_of="start")
    return encode_table({**numbers, **columns, f"{CANARY}2": Plain("uint", [NUMBER] * rows)}, rows)


def plant_all() -> Iterator[Snapshot]:
    """Make snapshots of which every place holds a canary; facts that are one text have another each time."""
    whole = {what: plant(dict(rules)) for what, rules in FACTS.items()}
    for number, shape in enumerate(SHAPES):
        text = shape.format(CANARY)
        facts = {what: {**(planted if not number else {}), CANARY: text} for what, planted in whole.items()}
        for what, rules in FACTS.items():
            facts[what] |= {name: text for name, rule in rules.items() if isinstance(rule, Kind)}
        facts["process"] |= {"pid": number, "cmdline": [text, text, f"-{text}"], "range": {"source": text}}
        capability = [
            *(Capability(item, "partial", 5, text) for item in sorted(ITEMS)),
            *(Capability(text, "ok", None, text), Capability("smaps", text, None, None)),
        ]
        extra: Facts = {CANARY: text}
        # Each table has all shapes in its rows: once is enough.
        tables = {} if number else {name: plant_table(name) for name in (*COLUMNS, CANARY)}
        capture = Capture(facts["host"], facts["system"], facts["moment"], tables, capability, extra)
        yield Snapshot(capture, facts["process"], facts["moment"], tables, capability, extra)


def find_canaries(data: bytes) -> list[bytes]:
    """Find what is left of canaries: whole, in another case, or in UTF-16."""
    narrow, wide = CANARY[:4].encode(), CANARY[:4].encode("utf-16-le")
    found = re.findall(b".{0,20}(?:%b|%b).{0,20}" % (narrow, wide), data, re.IGNORECASE | re.DOTALL)
    return [*found, *re.findall(str(NUMBER).encode(), data), *re.findall(NUMBER.to_bytes(8, "big"), data)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with canaries in every place of a payload, in a note, and in a frame of an unknown kind."""
    path = tmp_path_factory.mktemp("canary") / f"{CANARY}.mmp"
    with SnapshotWriter.create(path) as writer:
        for snapshot in plant_all():
            writer.write_snapshot(snapshot)
        writer.write_note(f"stopped by {CANARY}")
        writer.frames.write(CANARY.lower(), {CANARY: CANARY}, CANARY.encode())
    return path


@pytest.fixture(scope="module")
def redacted(planted: Path) -> Path:
    """What `mmp redact` makes of it."""
    path = planted.with_name("redacted.mmp")
    answer = run_mmp("redact", planted, "-o", path, "--key", planted.with_name("key"))
    assert answer.code == 0, answer.err
    return path


def test_no_canary_is_in_the_bytes_of_a_redacted_file(planted: Path, redacted: Path) -> None:
    """Nor in any table of it once decompressed; every one of them is in the file that was given."""
    given = unpack_all(planted.read_bytes())
    assert len(find_canaries(given)) > 1000
    assert find_canaries(unpack_all(redacted.read_bytes())) == []


@pytest.mark.parametrize(
    "command", ["info -v", "summary -v", "regions -n 0", "threads", "modules", "processes", "report"]
)
def test_no_canary_is_in_an_answer(command: str, redacted: Path, tmp_path: Path) -> None:
    """On the screen and in a page: what is not in the file is nowhere."""
    name, *options = command.split()
    output = tmp_path / "answer"
    answer = run_mmp(name, f"{redacted}#0", *options, "-o", output) if name == "report" else None
    answer = answer or run_mmp(name, f"{redacted}#0", *options)
    assert answer.code in (0, 4), answer.err
    told = [answer.out, *(_read_page(output.read_text()) if output.exists() else ())]
    assert find_canaries("\n".join(told).encode()) == []


def _read_page(html: str) -> Iterator[str]:
    """Yield what a page packs, and the rest of it without digests: four letters of base64 come by chance."""
    for block in ReadPage(html).blocks.values():
        yield json.dumps(unpack(block))
        html = html.replace(block, "")
    yield re.sub("sha256-[A-Za-z0-9+/]{43}=", "", html)


def test_a_folder_of_redacted_files_names_no_input(planted: Path, tmp_path: Path) -> None:
    """The file of an input is called by a token: what it was called tells as much as what is in it."""
    folder = tmp_path / "out"
    assert run_mmp("redact", planted, "-o", f"{folder}/").code == 0
    assert [find_canaries(path.name.encode()) for path in folder.iterdir()] == [[]]


MOST_WORDS = 16
FORMATS = [known.name for known in list_formats()]
_NAME = re.compile(rb"[A-Za-z]{4,}")
_WIDE = re.compile(rb"(?:[A-Za-z]\0){4,}")
_KEPT = {b"Snapshot", b"Region", b"Address"}


def plant_in(seed: bytes, rename: bytes) -> bytes:
    """Put a canary of the same length in place of one word of a file, in either form of letters."""
    canary = (CANARY * 9)[: len(rename)].encode()
    wide, wide_canary = (word.decode("latin-1").encode("utf-16-le") for word in (rename, canary))
    return seed.replace(rename, canary).replace(wide, wide_canary)


@pytest.mark.parametrize("name", FORMATS)
def test_no_canary_of_a_foreign_file_is_in_what_is_written(name: str, tmp_path: Path) -> None:
    """Words of small files of each format in turn, as far as the file can be read with them."""
    [known] = [each for each in list_formats() if each.name == name]
    planted = 0
    for number, seed in enumerate(list_own_seeds(known)[:3]):
        words = {*_NAME.findall(seed), *(word[::2] for word in _WIDE.findall(seed))} - _KEPT
        spread = sorted(words)[:: max(1, len(words) // MOST_WORDS)]
        for place, word in enumerate(spread):
            planted += check_planted(plant_in(seed, word), tmp_path / f"{number}-{place}")
    assert planted or name in PACKED


PACKED = {"zip", "tar", "mmp", "smaps_rollup"}
"""Formats whose files have checksums over their words, or no words of their own."""


def check_planted(data: bytes, path: Path) -> int:
    """Redact a file with a canary, and return whether its reader had passed the canary on."""
    path.write_bytes(data)
    try:
        snapshots = read_all(open_source(path, partial=True))
    except FormatError:
        return 0
    given = find_canaries(unpack_all(write_snapshots(path.with_suffix(".given"), snapshots)))
    redactor = Redactor(KEY)
    written = write_snapshots(path.with_suffix(".mmp"), [redactor.redact(each) for each in snapshots])
    assert find_canaries(unpack_all(written)) == [], data[:200]
    return bool(given)
