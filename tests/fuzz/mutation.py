"""Makes damaged inputs of good ones, always the same for one seed: for CI, and where atheris is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["NUMBERS", "TOKENS", "Mutator"]

_MOST_BYTES = 1 << 17
_MOST_STEPS = 6
NUMBERS = (
    0, 1, -1, 255, 4095, 4096, 65535, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64,
    10**18, 10**30,
)  # fmt: skip
_TOO_MANY_DIGITS = 4400  # Python takes no more than 4,300 for a number
_WORD = re.compile(rb"0x[0-9a-fA-F]+|[0-9a-fA-F]{4,}|[0-9][0-9,.]*")

TOKENS = (
    b"\0", b"\r", b"\n", b"\r\r\n", b"\t", b"\xa0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b",
    b"PK\3\4", b"-", b" ", b",", b'"', b"'", b"&a;", b"&#0;", b"<!DOCTYPE a [<!ENTITY a 'b'>]>", b"<![CDATA[",
    b"]]>", b"<!--", b"kB", b"-rw-p", b"---p", b"ffffffffffffffff-0", b"0-ffffffffffffffff", b"VmFlags:",
    b"(deleted)", b"inf", b"nan", b"1e400", b"\xd9\xa1\xd9\xa2", b"\xc2\xb2", b"4G", b"1.5M", b"0.0K", b"%s",
    b"{0}", b"..", b"/", b"\\x00",
)  # fmt: skip
"""Words that readers trip over: marks, ends of lines, digits that are none, how other formats begin."""


class Mutator:
    """An endless source of inputs near to the seeds."""

    def __init__(self, seeds: Sequence[bytes], random: Random) -> None:
        self._seeds = [seed for seed in seeds if seed] or [b"0"]
        self._random = random
        self._steps: tuple[Callable[[bytes], bytes], ...] = (
            self._flip, self._cut, self._drop, self._double, self._insert, self._splice, self._set_number,
            self._set_number, self._write_binary, self._write_binary, self._swap_lines, self._repeat_byte,
        )  # fmt: skip

    def make(self) -> bytes:
        """Make the next one: a seed after a few steps."""
        data = self._random.choice(self._seeds)
        for _ in range(self._random.randint(1, _MOST_STEPS)):
            data = self._random.choice(self._steps)(data)[:_MOST_BYTES] or b"0"
        return data

    def _place(self, data: bytes) -> int:
        return self._random.randrange(len(data))

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._place(data)
        return start, start + min(len(data) - start, 1 << self._random.randrange(12))

    def _flip(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + bytes([data[at] ^ 1 << self._random.randrange(8)]) + data[at + 1 :]

    def _cut(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] if self._random.random() < 0.8 else data[at:]

    def _drop(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _double(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:end] + data[start:end] * self._random.choice((1, 1, 1, 50)) + data[end:]

    def _insert(self, data: bytes) -> bytes:
        start, end = self._span(data)
        after = end if self._random.random() < 0.2 else start
        return data[:start] + self._random.choice(TOKENS) + data[after:]

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._seeds)
        return data[: self._place(data)] + other[self._place(other) :]

    def _set_number(self, data: bytes) -> bytes:
        """Put an extreme number, decimal or hex, where there is one now."""
        at = self._place(data)
        word = _WORD.search(data, at)
        if word is None:
            return data
        number = self._random.choice(NUMBERS) + self._random.choice((-1, 0, 0, 1))
        is_hex = len(word[0]) >= 8 or self._random.random() < 0.3
        written = (b"%x" if is_hex else b"%d") % number
        if self._random.random() < 0.05:
            written = b"7" * _TOO_MANY_DIGITS
        return data[: word.start()] + written + data[word.end() :]

    def _write_binary(self, data: bytes) -> bytes:
        """Put an extreme number in binary, most often where a field may be."""
        width = self._random.choice((1, 2, 4, 4, 8, 8))
        at = self._place(data)
        if self._random.random() < 0.8:
            at -= at % width
        number = self._random.choice(NUMBERS) % (1 << 8 * width)
        order = "little" if self._random.random() < 0.7 else "big"
        written = number.to_bytes(width, order)  # type: ignore[arg-type]  # mypy sees a str of the two literals
        return data[:at] + written + data[at + width :]

    def _swap_lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        one, two = (self._random.randrange(len(lines)) for _ in range(2))
        lines[one], lines[two] = lines[two], lines[one]
        return b"\n".join(lines)

    def _repeat_byte(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + data[at : at + 1] * self._random.choice((2, 100, 10_000)) + data[at:]
