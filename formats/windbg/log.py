"""A debugger's log: the lists and summaries of address spaces in it, among everything else that was typed.

Lists and summaries come in any order and number. What a line means depends on the table that it stands in: it
goes to the one that is open, and to none after the next prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.text import walk_lines
from mmpscope.formats.windbg import maddress
from mmpscope.formats.windbg.address_rows import AddressRows, begins_list
from mmpscope.formats.windbg.listing import Listing, Row, Sum, Totals
from mmpscope.formats.windbg.old_rows import OldRows, begins_old_list
from mmpscope.formats.windbg.summaries import find_section, take_sum

__all__ = ["ADDRESS", "OLD", "SOS", "Log", "Space"]

ADDRESS, OLD, SOS = "!address", "!address (old form)", "!maddress"
_PROMPT = re.compile(rb"(?:\d{1,4}:\d{1,4}(?::\w{1,16})?>|>(?= ?!?(?:sos )?m?address\b)) ?(.*)")
_HEAD = re.compile(rb" {0,40}BaseAddr(?:ess)? +EndAddr(?:ess)?\+1 +R(?:egion|gn)Size")
_RULE = re.compile(rb"[ +|=-]+")
_CUT = re.compile(
    rb"\W{0,20}(?:truncated|omitted|snip(?:ped)?|cut|skipped|(?:lines )?removed)\W{0,20}"
    rb"| {0,40}(?:\.{3,}|\xe2\x80\xa6) {0,40}",
    re.IGNORECASE,
)
_MAX_LINE = 4096


@dataclass
class Space:
    """What belongs to one process at one moment: a list, its totals, or both; ``images`` are sums by file."""

    form: str
    line: int
    listing: Listing | None = None
    totals: Totals | None = None
    images: list[Sum] | None = None


class Log:
    """Reads a log; ``other`` counts the lines of other commands."""

    def __init__(self, text: bytes, faults: FaultLog) -> None:
        self.spaces: list[Space] = []
        self.other = 0
        self._faults = faults
        self._command = b""
        self._line = 0
        self._kind = b""
        self._rows: AddressRows | OldRows | None = None
        self._take_line: Callable[[bytes], bool] | None = None
        for self._line, line in walk_lines(text):
            self._take(line.replace(b"\t", b" ").rstrip(b"\r"))
        self._close_row()
        listing = self.spaces[-1].listing if self.spaces else None
        is_told = listing is not None and listing.cuts
        if self._take_line is not None and not text.endswith(b"\n") and not is_told:
            self._faults.add("the text ends within a line", line=self._line)

    def _take(self, line: bytes) -> None:
        if not line or line.isspace():
            self._close_row()
        elif len(line) > _MAX_LINE:
            self._faults.add("a line of more than 4 KiB is left out", line=self._line, lost="that line")
            self._close_row()
            self._note_cut()
        elif self._rows is None or not self._rows.take(line, self._line):
            self._take_other(line)

    def _take_other(self, line: bytes) -> None:
        """Take a line that is no row of the list that is open."""
        prompt = _PROMPT.fullmatch(line)
        if prompt is not None:
            self._close_table()
            self._command = prompt[1].strip()
        elif _CUT.fullmatch(line):
            self._close_row()
            self._note_cut()
        elif not self._open_table(line) and not (self._take_line and self._take_line(line)):
            self._take_outside(line)

    def _take_outside(self, line: bytes) -> None:
        """Take a line that is of no open table: an excerpt may begin with a row, and all else is not ours."""
        if begins_list(line):
            self._open_list(ADDRESS)
        elif begins_old_list(line):
            self._open_list(OLD)
        elif not _RULE.fullmatch(line):
            self.other += 1
            return
        if self._rows is not None:
            self._rows.take(line, self._line)

    def _open_table(self, line: bytes) -> bool:
        """Open the table that has this head; False where the line is none."""
        section = find_section(line)
        if section is not None:
            self._close_table()
            totals = self._open_totals(ADDRESS, is_new=section == "Usage")
            self._take_line = lambda row: take_sum(totals, section, row)
        elif _HEAD.match(line):
            self._open_list(ADDRESS)
        elif b"|" in line:
            return self._open_sos_table(maddress.find_table(maddress.split_cells(line)))
        elif maddress.is_kind_head(line):
            self._open_kind()
        else:
            kind = maddress.find_kind(line)
            self._kind = kind or self._kind
            return kind is not None
        return True

    def _open_list(self, form: str) -> None:
        self._close_table()
        listing = self._make_listing(form)
        kind = OldRows if form == OLD else AddressRows
        rows = kind(listing, self._faults)
        self._rows, self._take_line = rows, rows.take_rest

    def _open_sos_table(self, table: str | None) -> bool:
        if table is None:
            return False
        self._close_table()
        if table == "list":
            listing = self._make_listing(SOS)
            self._take_line = lambda row: self._take_sos(listing, maddress.parse_region(_split(row)), row)
        elif table == "summary":
            totals = self._open_totals(SOS, is_new=True)
            self._take_line = lambda row: _take_total(totals.sizes, row)
        else:
            images: list[Sum] = []
            self._find_space(SOS, "images").images = images
            self._take_line = lambda row: _take_total(images, row)
        return True

    def _open_kind(self) -> None:
        """Open a table of -list; those of one command are one list."""
        self._close_table()
        last = self.spaces[-1].listing if self.spaces and self.spaces[-1].form == SOS else None
        if last is None or not last.kinds or last.command != self._command:
            last = self._make_listing(SOS)
        listing, kind = last, self._kind
        listing.kinds.append(kind)
        self._take_line = lambda row: self._take_sos(listing, maddress.parse_kind_row(row, kind), row)

    def _take_sos(self, listing: Listing, row: Row | None, line: bytes) -> bool:
        if row is not None:
            listing.add(row)
        elif maddress.looks_like_row(line):
            self._faults.add("a row is cut or contradicts itself", line=self._line, lost="that row")
            listing.cuts.append(self._line)
        else:
            return False
        return True

    def _make_listing(self, form: str) -> Listing:
        listing = Listing(form, self._line, self._command)
        space = self._find_space(form, "listing")
        space.form, space.listing = form, listing
        return listing

    def _open_totals(self, form: str, *, is_new: bool) -> Totals:
        """Find the totals that a table belongs to; with ``is_new`` they are others than the last ones."""
        last = self.spaces[-1].totals if self.spaces else None
        if last is not None and not is_new:
            return last
        totals = Totals(self._line)
        self._find_space(form, "totals").totals = totals
        return totals

    def _find_space(self, form: str, part: str) -> Space:
        """Find the space that a list or a table completes: the last one, unless that has one already."""
        last = self.spaces[-1] if self.spaces else None
        if last is None or getattr(last, part) is not None or (last.form == SOS) != (form == SOS):
            last = Space(form, self._line)
            self.spaces.append(last)
        return last

    def _note_cut(self) -> None:
        """Note that something is missing here from the table that is open."""
        if self._take_line is not None and self.spaces:
            last = self.spaces[-1]
            cut = last.listing if self._rows is not None or last.totals is None else last.totals
            if cut is not None:
                cut.cuts.append(self._line)
                self._faults.add("here something was cut out of the log", line=self._line)

    def _close_row(self) -> None:
        if self._rows is not None:
            self._rows.close()

    def _close_table(self) -> None:
        self._close_row()
        self._rows = self._take_line = None


def _split(line: bytes) -> list[bytes]:
    return maddress.split_cells(line)


def _take_total(sums: list[Sum], line: bytes) -> bool:
    parsed = maddress.parse_total(_split(line)) if b"|" in line else None
    if parsed is not None:
        sums.append(parsed)
    return parsed is not None
