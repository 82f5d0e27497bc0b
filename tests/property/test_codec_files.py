"""Files: what is written is read, in one go, snapshot by snapshot or over several appends."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.formats.errors import FormatError
from mmpscope.formats.mmp import SnapshotWriter, copy_file, open_file, verify
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot
from support.decoding import describe_file, describe_snapshot
from support.effort import scale
from support.small_file import make_small_file

_SCALARS = (
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False)
    | st.text(max_size=6) | st.binary(max_size=6)
)  # fmt: skip
_FACTS: st.SearchStrategy[Facts] = st.dictionaries(
    st.text(max_size=6),
    st.recursive(
        _SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)
_CAPABILITY = st.builds(
    Capability,
    st.text(max_size=5),
    st.sampled_from(["ok", "skipped", "new"]),
    st.none() | st.integers(0, 200),
    st.none() | st.text(max_size=5),
)
_KNOWN = {"process", "moment", "host", "system", "capability", "tables"}
_EXTRA = _FACTS.map(lambda facts: {key: value for key, value in facts.items() if key not in _KNOWN})


def _make_tables(values: dict[str, list[int | None]]) -> dict[str, Any]:
    return {name: encode_table({"x": Plain("uint", column)}, len(column)) for name, column in values.items()}


_TABLES = st.dictionaries(
    st.text(max_size=5), st.lists(st.none() | st.integers(0, (1 << 64) - 1), max_size=4), max_size=2
).map(_make_tables)
_CAPTURES = st.builds(Capture, _FACTS, _FACTS, _FACTS, _TABLES, st.lists(_CAPABILITY, max_size=2), _EXTRA)
_INFO = st.fixed_dictionaries(
    {}, optional={"pid": st.integers(0, 1 << 22), "name": st.text(max_size=5) | st.binary(max_size=5)}
)


@st.composite
def _series(draw: st.DrawFn) -> list[list[Snapshot]]:
    """Draw the snapshots of one to three sessions, of few captures."""
    captures = draw(st.lists(_CAPTURES, min_size=1, max_size=2))
    snapshots = st.builds(
        lambda capture, info, facts, rest: Snapshot(capture, {**facts, **info}, *rest),
        st.sampled_from(captures),
        _INFO,
        _FACTS,
        st.tuples(_FACTS, _TABLES, st.lists(_CAPABILITY, max_size=2), _EXTRA),
    )
    return draw(st.lists(st.lists(snapshots, max_size=3), min_size=1, max_size=3))


def _write(path: Path, sessions: list[list[Snapshot]]) -> None:
    for number, session in enumerate(sessions):
        with SnapshotWriter.append(path) if number else SnapshotWriter.create(path) as writer:
            for snapshot in session:
                writer.write_snapshot(snapshot)


@settings(max_examples=scale(60), deadline=None)
@given(_series())
def test_snapshots_come_back(sessions: list[list[Snapshot]]) -> None:
    """Every fact, table and reason comes back, by index, by a walk and from a copy, without a fault."""
    expected = [describe_snapshot(snapshot) for session in sessions for snapshot in session]
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder, "a.mmp"), Path(folder, "b.mmp")
        _write(path, sessions)
        assert copy_file(path, copy) == []
        for file_path, partial in ((path, False), (path, True), (copy, False)):
            with open_file(file_path, partial=partial) as file:
                assert describe_file(file)["snapshots"] == expected
                assert file.closed
        assert verify(path) == []


_SMALL = make_small_file().data


@settings(max_examples=scale(300), deadline=None)
@given(st.data())
def test_random_damage_ends_in_our_own_errors(data: st.DataObject) -> None:
    """Whatever is cut out, put in or changed, opening and reading raise nothing but FormatError."""
    mutated = bytearray(_SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        size = data.draw(st.integers(0, 60))
        mutated[at : at + size] = data.draw(st.binary(max_size=60))
    for partial in (False, True):
        try:
            file = open_file(io.BytesIO(bytes(mutated)), partial=partial)
            for entry in file.entries:
                describe_snapshot(file.read(entry.index))
        except FormatError:
            continue
