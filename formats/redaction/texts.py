"""Everything else that is text: sentences, labels, versions, accounts, command lines, ids."""

from __future__ import annotations

import re

from mmpscope.formats.redaction.known_labels import LABEL_WORDS, SYSTEM_WORDS
from mmpscope.formats.redaction.known_names import ACCOUNTS
from mmpscope.formats.redaction.known_words import SENTENCE_WORDS
from mmpscope.formats.redaction.names import Names
from mmpscope.formats.redaction.tokens import Tokens

__all__ = ["Texts"]

_NUMBERS = re.compile(r"0[xX][\da-fA-F]+|(?:\d[\d_]*)?\.?\d+(?:[eE][-+]?\d+)?")
"""What the diff of processes leaves out of arguments (analysis/roles.py)."""
_PIECE = re.compile(r"0x[0-9a-f]{1,16}\b|[^\W_]+", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]{1,16}")
_WORD = re.compile(r"[^\W\d_]+")
_PATH = re.compile(r"(?<![^\s\"'(\[{`,;:=])(?:[A-Za-z]:)?[\\/][^\s\"'`]+")
_PATHS_OF_OURS = frozenset(
    f"/proc/{name}" for name in ("PID/smaps", "PID/maps", "PID/status", "PID/stat", "PID/cgroup", "kcore")
)
_MARKS = re.compile(r"[0-9a-fA-Fx,/ -]*")
_WELL_KNOWN_SID = re.compile(r"S-1-[0-3]-\d{1,3}|S-1-5-(?:\d{1,2}|32-\d{3})|S-1-16-\d{1,5}")
_OPTION = re.compile(r"(--?)(.*)", re.DOTALL)
_BUNDLE = re.compile(r"[A-Za-z\d]+")
_LONGEST_BUNDLE = 3
_OPTIONS = frozenset(
    {"-jar", "--module", "-cp", "-classpath", "--class-path", "--module-path", "--eval", "--print"}
    | {"--require", "-pe", "-"}
)
"""Options behind which an interpreter takes what it runs."""
_TITLE = ": "


class Texts:
    """The rules for text that is no path, with the tokens that they make."""

    def __init__(self, tokens: Tokens, names: Names) -> None:
        self._tokens = tokens
        self._names = names

    def redact_sentence(self, text: str) -> str:
        """Keep the words of our own sentences, and numbers; what looks like a path is redacted as one."""
        return self._redact_beside_paths(text, SENTENCE_WORDS)

    def redact_label(self, text: str) -> str:
        """Keep the words that tools have for memory; paths and names in brackets are redacted as such."""
        if text.startswith(("/", "[")) or re.match(r"[A-Za-z]:\\|\\", text):
            return self._names.redact_path(text)
        return self._redact_beside_paths(text, LABEL_WORDS)

    def redact_version(self, text: str) -> str:
        """Keep numbers, and the words in the names and versions of systems."""
        return self._redact_pieces(text, SYSTEM_WORDS)

    def redact_account(self, text: str) -> str:
        """Keep the accounts that every machine has; domain and name are two tokens."""
        if text.lower() in ACCOUNTS:
            return text
        parts = text.split("\\")
        return "\\".join(part if part.lower() in ACCOUNTS else self.make_token(part) for part in parts)

    def redact_sid(self, text: str) -> str:
        """Keep the security identifiers that mean the same on every machine."""
        return text if _WELL_KNOWN_SID.fullmatch(text) else self.make_token(text)

    def keep_marks(self, text: str) -> str | None:
        """Keep masks and lists of processors, which are digits and marks alone; None for other text."""
        return text if _MARKS.fullmatch(text) else None

    def make_id(self, text: str) -> str:
        """Make as many hex digits as an id has."""
        return self._tokens.make_hex(text, len(text)) if text else text

    def make_token(self, text: str) -> str:
        """Make a token of the whole text, with digits where it has any."""
        bare = _NUMBERS.sub("", text)
        number = "" if bare == text else self._tokens.make_digits(text)
        return self._tokens.make_name(bare) + number if text else text

    def redact_arguments(self, words: list[str]) -> list[str]:
        """Redact a command line: the first word as a path, each other one as a whole.

        Options that say what an interpreter runs stay, and a title that a process gave itself keeps its two
        parts: roles of processes rest on that.
        """
        return [
            self._names.redact_path(word) if place == 0 and len(words) > 1 else self._redact_word(word)
            for place, word in enumerate(words)
        ]

    def _redact_word(self, word: str) -> str:
        head, mark, rest = word.partition(_TITLE)
        return self._redact_option(head) + mark + self.make_token(rest)

    def _redact_option(self, word: str) -> str:
        option = _OPTION.fullmatch(word)
        if option is None or word in _OPTIONS:
            return word if word in _OPTIONS else self.make_token(word)
        dashes, name = option.groups()
        bare = _NUMBERS.sub("", name)
        if dashes == "-" and name.isascii() and name.isalpha() and len(name) == 1:
            return word
        if dashes == "-" and len(bare) > 1 and _BUNDLE.fullmatch(name):
            # The first letter and the last tell what an interpreter makes of a bundle such as -lc. What is
            # longer may be a password behind its option, as in -pSecret.
            end = bare[-1] if bare == name and len(name) <= _LONGEST_BUNDLE else ""
            return f"-{bare[0]}{self.make_token(name)}{end}"
        return dashes + self.make_token(name)

    def _redact_beside_paths(self, text: str, known: frozenset[str]) -> str:
        done, end = [], 0
        for path in _PATH.finditer(text):
            done.append(self._redact_pieces(text[end : path.start()], known))
            bare = path[0].rstrip(".,;:)]}")
            done.append(bare if bare in _PATHS_OF_OURS else self._names.redact_path(bare))
            end = path.start() + len(bare)
        return "".join([*done, self._redact_pieces(text[end:], known)])

    def _redact_pieces(self, text: str, known: frozenset[str]) -> str:
        return _PIECE.sub(lambda piece: self._redact_piece(piece[0], known), text)

    def _redact_piece(self, piece: str, known: frozenset[str]) -> str:
        if _NUMBER.fullmatch(piece) or all(word.lower() in known for word in _WORD.findall(piece)):
            return piece
        return self.make_token(piece)
