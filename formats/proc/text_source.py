"""A saved text of /proc as a source: one snapshot a map, however many there are in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import BinaryIO

from mmpscope.formats.model import Capability, Capture, Facts, Snapshot
from mmpscope.formats.proc.facts import to_fact
from mmpscope.formats.proc.parts import Part, split_text
from mmpscope.formats.proc.quoting import Quoted, split_quoted, strip_colours
from mmpscope.formats.proc.reader import build_snapshot, build_totals, read_facts
from mmpscope.formats.proc.smaps import check_lines, no_regions
from mmpscope.formats.proc.source_text import normalize
from mmpscope.formats.proc.titles import read_title
from mmpscope.formats.source import Entry, Fault, ListedSource
from mmpscope.formats.whole import read_whole

__all__ = ["open_bytes", "open_text"]

_COLOURS = "codes for colours were taken off, and are not kept"


def open_text(stream: BinaryIO, name: str, beside: Mapping[str, bytes]) -> ListedSource:
    """Read a whole text, with files of the same process ``beside`` it.

    LimitError where it is too large, NotASnapshotError where it has no map line.
    """
    return open_bytes(read_whole(stream), name, beside)


def open_bytes(data: bytes, name: str, beside: Mapping[str, bytes] | None = None) -> ListedSource:
    """Open a text as a source of its maps.

    Several stand in it where addresses fall back (`map_order`) or a title says so (`titles`).
    NotASnapshotError where no line is a map line, CorruptError where only some lines are quoted, LimitError
    where a line is longer than any kernel's.
    """
    text, form = normalize(data)
    check_lines(text)
    text, colours = strip_colours(text)
    extra = [Capability("source_text", "partial", None, f"{colours} {_COLOURS}")] if colours else []
    if not text:
        regions = no_regions(data)
        facts = read_facts(beside or {})
        snapshot = build_snapshot(regions, facts, Capture(host={"os": "linux"}))
        return ListedSource(name, "smaps text", [_name_entry(0, facts)], [lambda: snapshot])
    parts: list[Part] = []
    faults: list[Fault] = []
    for quoted in split_quoted(text):
        found, odd = split_text(quoted)
        _describe_quoting(found, quoted, form, is_first=not parts)
        parts += found
        faults += odd
    if len(parts) == 1 and not parts[0].is_rollup:
        parts[0].beside = beside or {}
    entries = [_make_entry(index, part) for index, part in enumerate(parts)]
    reads = [partial(_read_snapshot, part, extra) for part in parts]
    return ListedSource(name, _name_format(parts), entries, reads, faults)


def _describe_quoting(parts: list[Part], quoted: Quoted, form: Facts, *, is_first: bool) -> None:
    """Tell parts what was taken off their text: encoding and line ends, a byte order mark, quoting."""
    common = {key: value for key, value in form.items() if key != "before"}
    if quoted.prefix:
        common.update(prefix=quoted.prefix, blank=quoted.blank)
        named = read_title(quoted.prefix.rstrip(b": \t"))
        for part in parts:
            part.title = part.title._replace(pid=part.title.pid or named.pid)
    for part in parts:
        part.form = dict(common)
    mark = form.get("before", b"") if is_first else b""
    if quoted.prefix:
        parts[0].form["lead"] = mark + quoted.lead
        parts[-1].form["trail"] = quoted.trail
    elif mark:
        parts[0].form["before"] = mark


def _read_process(part: Part) -> Facts:
    files = {"status": part.status, "smaps_rollup": part.rollup}
    inside = {name: data for name, data in files.items() if data is not None}
    facts = read_facts({**part.beside, **inside})
    title = {"pid": part.title.pid, "name": part.title.name and to_fact(part.title.name)}
    return {**{name: value for name, value in title.items() if value is not None}, **facts}


def _read_snapshot(part: Part, extra: list[Capability]) -> Snapshot:
    capture, facts = Capture(host={"os": "linux"}), _read_process(part)
    if part.is_rollup:
        facts.update(read_facts({"smaps_rollup": part.map}))
        form = part.describe()
        facts["source_text"] = {**form, "before": form.get("before", b"") + part.map}
        snapshot = build_totals(facts, capture)
    else:
        snapshot = build_snapshot(part.parse(), facts, capture)
    snapshot.capability += extra
    return snapshot


def _make_entry(index: int, part: Part) -> Entry:
    return _name_entry(index, _read_process(part), part.title.label)


def _name_entry(index: int, facts: Facts, label: str | bytes | None = None) -> Entry:
    name = facts.get("name", label)
    shown = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    return Entry(index, facts.get("pid"), name=shown)


def _name_format(parts: list[Part]) -> str:
    """Name the format by the richest map: smaps, maps, or roll-ups alone."""
    if any(part.outline.has_counters and not part.is_rollup for part in parts):
        return "smaps text"
    return "smaps_rollup text" if all(part.is_rollup for part in parts) else "maps text"
