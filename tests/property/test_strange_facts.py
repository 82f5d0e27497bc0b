"""Facts from strangers: whatever a file says of a process, every answer is drawn, in text and in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, check_fit, diff, summarize
from mmpscope.analysis.commands.free import _measure
from mmpscope.analysis.options import Listing
from mmpscope.analysis.reporters.diff_report import report_diff
from mmpscope.analysis.reporters.fit_report import report_fit
from mmpscope.analysis.reporters.info_report import describe_entry
from mmpscope.analysis.reporters.report import Report, write_json
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from mmpscope.formats.model import Capture, Snapshot
from mmpscope.formats.source import Entry
from support.effort import scale
from support.loaded import make_raw_table

EDGES = st.sampled_from([0, 1, 4096, 1 << 16, 1 << 32, 1 << 47, 1 << 63, (1 << 64) - 1, -1, -(1 << 63)])
ODD = st.sampled_from(
    [None, True, 1.5, float("inf"), float("nan"), "x", "", b"\xff", [], {}, [7], {"a": [1]}]
)
FACT = EDGES | ODD


def maps(*names: str) -> st.SearchStrategy[Any]:
    """Facts under these names, or something that is no map of facts at all."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, FACT)) | FACT


LEVELS = st.lists(maps("path", "limit", "usage"), max_size=2) | FACT
PAIR = st.lists(FACT, max_size=3) | FACT
PROCESS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("pid", "name", "exe", "page_size", "pid_namespace", "personality"), FACT),
        "cmdline": st.lists(FACT, max_size=2) | FACT,
        "status": maps("VmPTE", "VmPMD", "VmSize", "VmData", "Threads"),
        "stat": maps("starttime"),
        "range": maps("start", "end", "source"),
        "elf": maps("class", "machine"),
        "limits": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("Max address space", "Max data size", "Max stack size"), PAIR)
        ),
        "cgroup": st.fixed_dictionaries(
            {"levels": LEVELS},
            optional={"version": FACT, "memory.stat": maps("active_file", "inactive_file")},
        )
        | FACT,
    },
)
HOST = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("id", "hostname", "os", "kernel", "machine", "boot_id", "page_size"), FACT)
)
SYSTEM = st.fixed_dictionaries(
    {"meminfo": maps("CommitLimit", "Committed_AS", "MemTotal", "SwapTotal")},
    optional=dict.fromkeys(("max_map_count", "mmap_min_addr", "overcommit_memory"), FACT),
)
MOMENT = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(("time_ns", "map_moved", "read_ns"), FACT), "cost": maps("smaps", "maps")}
)
REGIONS = [
    {"start": 0x10000, "size": 1 << 20, "perms": "rw-p", "path": "[heap]", "Rss": 4096},
    {"start": 1 << 46, "size": 1 << 16, "perms": "r-xp", "path": "/bin/x", "Rss": 4096},
]


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A sound map of a process of which anything may be said."""
    capture = Capture(host=draw(HOST), system=draw(SYSTEM), moment={}, tables={})
    return Snapshot(capture, draw(PROCESS), draw(MOMENT), {"regions": make_raw_table(REGIONS)})


def answer_all(a: LoadedSnapshot, b: LoadedSnapshot) -> Iterator[Report]:
    """Yield the answers that look at facts."""
    yield report_summary(a, summarize(a))
    yield _measure(a, None, Listing())
    yield report_fit(a, check_fit(a, 1 << 20))
    for mode in ("same", "different"):
        yield report_diff((a, b), diff(a, b, mode), [], 0)


@settings(max_examples=scale(150))
@given(snapshots(), snapshots())
def test_no_fact_breaks_an_answer(one: Snapshot, two: Snapshot) -> None:
    """A fact of the wrong kind, or out of all bounds, is no fact; and JSON stays JSON."""
    for report in answer_all(LoadedSnapshot("a#0", lambda: one), LoadedSnapshot("b#0", lambda: two)):
        check(report)


@settings(max_examples=scale(100))
@given(snapshots())
def test_no_fact_breaks_info(raw: Snapshot) -> None:
    """What a file holds is told, whatever its facts are."""
    row = describe_entry(Entry(0, None, None, None, {}), raw)
    assert row["time_ns"] is None or type(row["time_ns"]) is int
    json.dumps(row, allow_nan=False)


def check(report: Report) -> None:
    """Draw an answer and write it as JSON that any reader takes."""
    for verbose in (False, True):
        for line in report.draw(Screen(100, verbose=verbose)):
            assert "\n" not in line
    json.loads("\n".join(write_json(report)), parse_constant=pytest.fail)
