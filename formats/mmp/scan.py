"""Walk all frames of a file and name whatever is lost, doubled, out of place or damaged.

Only frame infos are unpacked here. The rules are those of docs/format.md, "Order of frames" and "Damage".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, FormatError, LimitError, TruncatedError
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp.frames import (
    FileBytes,
    Frame,
    check_frame,
    find_mark,
    name_frame,
    read_end,
    read_head,
)
from mmpscope.formats.source import Fault

__all__ = ["WHOLE_ONES", "Scan", "WholeFrame", "scan"]

WHOLE_ONES = "Whole snapshots can be read with --partial."
"""What can be done about a damaged frame."""

# A file made to be slow can hold marks by the million, each of a frame that reaches to its end: the search
# for the next whole frame may read so many times the file, and a floor for small ones.
_SEARCH_FACTOR = 16
_SEARCH_FLOOR = 64 << 20
_SEARCH_STEP = 4096
_MAX_FAULTS = 1000


class WholeFrame(NamedTuple):
    """A frame whose bytes agree with its checksum, ``crc``."""

    frame: Frame
    crc: int


@dataclass
class Scan:
    """What a walk found.

    ``frames`` are the whole frames in file order, exact doubles left out. ``error`` is the first fault as an
    exception. ``torn`` is set where the only fault is a last frame that was never finished. ``end`` is the
    offset after the last whole frame, ``crc`` the checksum of that frame.
    """

    frames: list[WholeFrame] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    error: FormatError | None = None
    closed: bool = False
    torn: bool = False
    end: int = 0
    crc: int = 0
    next_seq: int = 0


def scan(data: FileBytes, limits: Limits) -> Scan:
    """Walk the whole file, across damage; LimitError where it has more frames than ``limits`` allow."""
    return _Walk(data, limits).run()


class _Walk:
    """One walk: how far it is, and what is needed to tell whether the next frame is the right one."""

    def __init__(self, data: FileBytes, limits: Limits) -> None:
        self._data = data
        self._limits = limits
        self._result = Scan()
        self._sync: bytes | None = None
        self._seen: dict[int, int] = {}  # checksum by number
        self._expected = 0
        self._last: WholeFrame | None = None
        self._damage: FormatError | None = None  # told once the next numbered frame shows what was lost
        self._damage_end = 0
        self._search_left = _SEARCH_FLOOR + _SEARCH_FACTOR * data.size
        self._unlisted = 0

    def run(self) -> Scan:
        offset = 0
        while offset < self._data.size:
            try:
                whole = self._read(offset)
            except FormatError as error:
                offset = self._skip(offset, error)
            else:
                self._accept(whole)
                offset = whole.frame.end
        self._finish()
        return self._result

    def _read(self, offset: int) -> WholeFrame:
        frame = read_head(self._data, offset, self._limits)
        if self._sync is not None and frame.sync != self._sync:
            raise CorruptError(f"{name_frame(frame.kind)} does not belong to this file", offset=offset)
        self._search_left -= frame.end - offset
        return WholeFrame(frame, check_frame(self._data, frame))

    def _skip(self, offset: int, error: FormatError) -> int:
        """Return the offset of the next whole frame, or of the end of the file."""
        error.offset = offset
        for candidate in find_mark(self._data, offset + 1, self._sync):
            if self._search_left < 0:
                break
            try:
                self._read(candidate)
            except FormatError:
                self._search_left -= _SEARCH_STEP
            else:
                if isinstance(error, TruncatedError):
                    error = CorruptError("a frame announces more bytes than the file has", offset=offset)
                return self._note_damage(error, candidate)
        return self._note_damage(error, self._data.size)

    def _note_damage(self, error: FormatError, end: int) -> int:
        if self._damage is None:
            self._damage = error
        self._damage_end = end
        return end

    def _accept(self, whole: WholeFrame) -> None:
        frame = whole.frame
        if self._sync is None:
            self._sync = frame.sync
        is_double = False
        if frame.kind == "end":
            self._check_end(frame)
        else:
            is_double = self._check_number(frame, whole.crc)
        if not is_double:
            self._result.frames.append(whole)
        if len(self._result.frames) > self._limits.frames:
            raise LimitError(f"the file has more than {self._limits.frames} frames")
        self._last = whole

    def _check_end(self, frame: Frame) -> None:
        if self._damage is not None:
            return
        last = self._last.frame if self._last is not None else None
        follows = last is not None and last.kind == "index" and last.end == frame.offset
        if last is None or not follows or read_end(self._data, frame) != last.offset:
            self._report("an end frame does not follow the index that it points at", frame.offset)

    def _check_number(self, frame: Frame, crc: int) -> bool:
        """Compare a frame with those before it; True where it is an exact double of one of them."""
        seq, at = frame.info.get("seq"), frame.offset
        if type(seq) is not int or seq < 0:
            self._report(f"{name_frame(frame.kind)} has no number", at)
            return False
        known = self._seen.get(seq)
        was_damaged = self._settle_damage(seq)
        if known is not None:
            self._report(
                f"frame {seq} comes twice" if known == crc else f"two frames have the number {seq}", at
            )
        elif seq < self._expected:
            self._report(f"frame {seq} is out of its place", at)
        elif seq > self._expected and not was_damaged:
            self._report(f"{_name_frames(self._expected, seq)} missing before this one", at)
        elif not was_damaged and frame.info.get("prev") != (
            self._last.crc if self._last is not None else None
        ):
            self._report(f"frame {seq} does not continue the frame before it", at)
        if seq == 0 and frame.kind != "mmp":
            self._report("the file does not begin with a header", at)
        self._seen.setdefault(seq, crc)
        self._expected = max(self._expected, seq + 1)
        return known == crc

    def _settle_damage(self, seq: int | None) -> bool:
        """Report pending damage now that the next number (none at the end of the file) tells what it cost."""
        error = self._damage
        if error is None or error.offset is None:
            return False
        lost = f"{self._damage_end - error.offset:,} bytes"
        if self._damage_end == self._data.size:
            lost += f" to the end of the file, from frame {self._expected} on"
        elif seq is not None and seq > self._expected:
            lost += f", {_name_frames(self._expected, seq)}"
        self._damage = None
        self._report(error.what, error.offset, lost, type(error))
        return True

    def _report(
        self, what: str, offset: int, lost: str | None = None, kind: type[FormatError] = CorruptError
    ) -> None:
        result = self._result
        if result.error is None:
            result.error = kind(f"{what} (lost: {lost})" if lost else what, offset=offset, now=WHOLE_ONES)
        if len(result.faults) < _MAX_FAULTS:
            result.faults.append(Fault(what, offset=offset, lost=lost))
        else:
            self._unlisted += 1

    def _finish(self) -> None:
        result, last = self._result, self._last
        result.next_seq = self._expected
        self._settle_damage(None)
        result.torn = isinstance(result.error, TruncatedError) and len(result.faults) == 1
        if self._unlisted:
            result.faults.append(Fault(f"{self._unlisted:,} more faults follow"))
        if last is not None:
            result.end, result.crc = last.frame.end, last.crc
            result.closed = last.frame.kind == "end" and last.frame.end == self._data.size


def _name_frames(first: int, after: int) -> str:
    """Name the frames of the numbers from ``first`` up to, not including, ``after``."""
    return f"frame {first}" if after == first + 1 else f"frames {first} to {after - 1}"
