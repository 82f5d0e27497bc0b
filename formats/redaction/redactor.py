"""Snapshots with names that are tokens: every fact and column goes by its rule, what has none is left out.

The writer never sees the text as it was; docs/privacy.md says what stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Callable, Optional

from mmpscope.formats.errors import UnsupportedVersionError
from mmpscope.formats.mmp.columns import Plain, decode_column, encode_table
from mmpscope.formats.model import REDACTION, Capability, Capture, Column, Fact, Facts, Snapshot, Table
from mmpscope.formats.redaction.names import Names
from mmpscope.formats.redaction.rebase import REBASE, Rebase, plan_rebase
from mmpscope.formats.redaction.rules import COLUMNS, FACTS, FRAMES, ITEMS, LEFT_OUT, NUMBERS, Kind, Rule
from mmpscope.formats.redaction.texts import Texts
from mmpscope.formats.redaction.tokens import Tokens

__all__ = ["Redactor"]

_LEFT_OUT = "left out by redaction"
_SAID = "redacted: names are tokens made under a secret key"
_SAID_MOVED = f"{_SAID}, and addresses are moved where they can be"
_STATES = ("ok", "partial", "unavailable", "skipped", "not applicable")
_CODES = re.compile(r"[A-Za-z]?|[rwxspR?-]{1,6}(?:/[rwx-]{3})?|[a-z]{2}(?: [a-z]{2})* ?|(?:SM=)?[A-Z/]{3}")
"""Of a state, of rights, of VmFlags, of a sharing mode of macOS."""
_SYSTEM_ACCOUNTS = range(1000)
_NOBODY = (65534, (1 << 32) - 1)
_INTEGERS = ("uint", "int")
_ADDRESSES = (Kind.ADDRESS, Kind.END, Kind.BASE, Kind.KERNEL)
_MAY_BE_NUMBERS = (Kind.NUMBER, Kind.INODE, Kind.ACCOUNT_ID, Kind.BUILD, Kind.SENTENCE, *_ADDRESSES)
"""A limit is two numbers and a word."""
_MAY_NAME_ADDRESSES = (Kind.PATH, Kind.NAME, Kind.LABEL, Kind.SENTENCE)

Change = Callable[[str], Optional[str]]


class Redactor:
    """Redacts snapshots under one key, and moves their addresses where that is asked for.

    ``dropped`` counts what had no rule, by what it is called here; ``unmoved`` counts snapshots of which some
    addresses stay that should have moved, by the reason.
    """

    def __init__(self, key: bytes, *, rebase: bool = False) -> None:
        tokens = Tokens(key)
        names = Names(tokens)
        texts = Texts(tokens, names)
        self.dropped: Counter[str] = Counter()
        self.unmoved: Counter[str] = Counter()
        self._is_rebasing = rebase
        self._rebase: Rebase | None = None
        self._tokens = tokens
        self._texts = texts
        self._capture: tuple[Capture, Capture] | None = None
        self._changes: dict[Kind, Change] = {
            Kind.PATH: names.redact_path,
            Kind.NAME: names.redact_name,
            Kind.LABEL: texts.redact_label,
            Kind.SENTENCE: texts.redact_sentence,
            Kind.VERSION: texts.redact_version,
            Kind.ACCOUNT: texts.redact_account,
            Kind.SID: texts.redact_sid,
            Kind.TOKEN: texts.make_token,
            Kind.ID: texts.make_id,
            Kind.MARKS: texts.keep_marks,
            Kind.CODES: _keep_codes,
            Kind.LINE: texts.make_token,
            Kind.WORDS: self._redact_words,
        }

    def redact(self, snapshot: Snapshot) -> Snapshot:
        """Redact a snapshot and its capture; snapshots that share one still do, one after the other.

        FormatError where a table is damaged.
        """
        self._drop("payload", snapshot.extra)
        capture = self.redact_capture(snapshot.capture)
        if self._is_rebasing:
            self._rebase = plan_rebase(snapshot, self._tokens)
            self.unmoved.update(self._rebase.list_unmoved())
        try:
            return Snapshot(
                capture,
                self.redact_process(snapshot.process),
                self._redact_facts("moment", snapshot.moment),
                self._redact_tables(snapshot.tables),
                self._list_capability(snapshot),
            )
        finally:
            self._rebase = None

    def _list_capability(self, snapshot: Snapshot) -> list[Capability]:
        """Redact the reasons of a snapshot, and add what became of columns and addresses."""
        told = snapshot.capability
        if self._rebase is not None:
            told = [row for row in told if row.item != REBASE]
        moved = [] if self._rebase is None else [self._rebase.said]
        return [*self._redact_capability(told), *_list_left_out(snapshot.tables), *moved]

    def redact_capture(self, capture: Capture) -> Capture:
        """Redact a capture, which says then that it is redacted."""
        if self._capture is None or self._capture[0] is not capture:
            self._drop("payload", capture.extra)
            capability = [row for row in capture.capability if row.item != REDACTION]
            redacted = Capture(
                self._redact_facts("host", capture.host),
                self._redact_facts("system", capture.system),
                self._redact_facts("moment", capture.moment),
                self._redact_tables(capture.tables),
                [*self._redact_capability(capability), self._say_redacted(capture)],
            )
            self._capture = (capture, redacted)
        return self._capture[1]

    def _say_redacted(self, capture: Capture) -> Capability:
        """Say what was done; addresses that were moved before still are."""
        was_moved = any(row.item == REDACTION and row.reason == _SAID_MOVED for row in capture.capability)
        return Capability(REDACTION, "ok", None, _SAID_MOVED if self._is_rebasing or was_moved else _SAID)

    def redact_process(self, process: Facts) -> Facts:
        """Redact the facts of a process alone."""
        return self._redact_facts("process", process)

    def redact_sentence(self, text: str) -> str:
        """Redact a sentence of ours, such as a note on how a series ended."""
        return self._texts.redact_sentence(text)

    def redact_command(self, words: Sequence[str]) -> str:
        """Redact the words of a command, and write them as one text."""
        return " ".join(self._texts.redact_arguments(list(words)))

    def redact_file_name(self, name: str) -> str:
        """Make a token of the name of a file, its extension included."""
        return self._texts.make_token(name)

    def leave_out_frames(self, kinds: Mapping[str, int]) -> None:
        """Count frames of kinds that no rule knows, given how many frames of each kind a file has."""
        self.dropped.update({f"frame.{kind}": count for kind, count in kinds.items() if kind not in FRAMES})

    def _drop(self, what: str, names: Mapping[str, object] | Sequence[str]) -> None:
        for name in names:
            self.dropped[f"{what}.{name}"] += 1

    def _redact_facts(self, what: str, facts: Facts) -> Facts:
        return self._redact_map(what, facts, FACTS[what])

    def _redact_map(self, what: str, facts: Facts, rules: Mapping[str, Rule]) -> Facts:
        self._drop(what, [name for name in facts if name not in rules])
        done = {
            name: self._redact_fact(f"{what}.{name}", fact, rules[name])
            for name, fact in facts.items()
            if name in rules
        }
        return {name: fact for name, fact in done.items() if fact is not None or facts[name] is None}

    def _redact_fact(self, what: str, fact: Fact, rule: Rule) -> Fact:
        """Redact one fact; None, and counted, where it is not of the kind that its name promises."""
        if fact is None:
            return None
        if rule is Kind.ARGUMENTS:
            return self._redact_arguments(what, fact)
        if isinstance(fact, list):
            return [self._redact_fact(what, item, rule) for item in fact]
        if isinstance(rule, dict):
            if isinstance(fact, dict):
                return self._redact_map(what, fact, rule)
        elif isinstance(fact, (str, bytes)):
            changed = self._redact_text(fact, rule)
            if changed is not None:
                return changed
        elif isinstance(fact, (int, float)) and rule in _MAY_BE_NUMBERS:
            number = self._redact_number(fact, rule)
            if number is not None:
                return number
        self._drop("value", [what])
        return None

    def _redact_arguments(self, what: str, fact: Fact) -> Fact:
        if not isinstance(fact, list) or not all(isinstance(word, (str, bytes)) for word in fact):
            self._drop("value", [what])
            return None
        return self._texts.redact_arguments([_read(word) for word in fact])

    def _redact_words(self, text: str) -> str:
        """Redact a command line of the list of processes, which on Linux has a NUL behind each word."""
        end = "\0" if text.endswith("\0") else ""
        words = text[: len(text) - len(end)].split("\0")
        return "\0".join(self._texts.redact_arguments(words)) + end

    def _redact_text(self, text: str | bytes, kind: Kind) -> str | None:
        change = self._changes.get(kind)
        changed = None if change is None else _apply(change, text)
        if changed is None or self._rebase is None or kind not in _MAY_NAME_ADDRESSES:
            return changed
        return self._rebase.move_text(changed)

    def _redact_number(self, number: float, kind: Kind) -> float | None:
        """Redact a number; None where it is an address and nothing says where that goes."""
        if kind in _ADDRESSES and self._is_rebasing:
            if self._rebase is None or not isinstance(number, int):
                return None
            return self._rebase.move(number, kind)
        if isinstance(number, bool) or not isinstance(number, int):
            return number
        if kind is Kind.ACCOUNT_ID:
            is_known = number in _SYSTEM_ACCOUNTS or number in _NOBODY
            return number if is_known else self._tokens.make_number(number)
        return self._tokens.make_number(number) if kind in (Kind.INODE, Kind.BUILD) and number else number

    def _redact_capability(self, rows: Sequence[Capability]) -> list[Capability]:
        done = []
        for row in rows:
            if row.item in ITEMS and row.state in _STATES:
                reason = None if row.reason is None else self._redact_text(row.reason, Kind.SENTENCE)
                done.append(Capability(row.item, row.state, row.code, reason))
            else:
                self._drop("capability", [row.item])
        return done

    def _redact_tables(self, tables: Mapping[str, Table]) -> dict[str, Table]:
        self._drop("table", [name for name in tables if name not in COLUMNS])
        return {name: self._redact_table(name, tables[name]) for name in tables if name in COLUMNS}

    def _redact_table(self, name: str, table: Table) -> Table:
        columns: dict[str, Plain] = {}
        for column in table.columns:
            redacted = self._redact_column(name, column, table)
            if redacted is None:
                self._drop(name, [column])
            else:
                columns[column] = redacted
        if self._is_rebasing:
            columns = self._move_columns(name, columns)
        start, size = columns.get("start"), columns.get("size")
        if start is not None and size is not None:
            columns["size"] = size._replace(len_of="start")
        return encode_table(columns, table.rows)

    def _move_columns(self, table: str, columns: Mapping[str, Plain]) -> dict[str, Plain]:
        """Move the addresses of a table; those of a table of the whole system are of no process, and go."""
        if self._rebase is not None:
            return self._rebase.move_columns(table, columns)
        kept = {name: column for name, column in columns.items() if NUMBERS.get(name) not in _ADDRESSES}
        self._drop(table, [name for name in columns if name not in kept])
        return kept

    def _redact_column(self, table: str, name: str, whole: Table) -> Plain | None:
        """Redact one column; None where no rule is for it, or this version cannot decode it."""
        column: Column = whole.columns[name]
        rule = COLUMNS[table].get(name) if column.type == "text" else NUMBERS.get(name)
        if rule is None or column.type not in ("text", *_INTEGERS):
            return None
        try:
            values = decode_column(whole, name)
        except UnsupportedVersionError:
            return None
        if rule is Kind.NUMBER or rule in _ADDRESSES:
            return Plain(column.type, values)
        if column.type != "text":
            kind = rule
            return Plain(
                column.type, self._change_all(values, lambda value: self._redact_number(value, kind))
            )
        kind = rule
        texts = self._change_all(values, lambda value: _encode(self._redact_text(value, kind)))
        return Plain("text", texts, "utf-8")

    def _change_all(self, values: Sequence[Fact], change: Callable[[Fact], Fact]) -> list[Fact]:
        """Change each distinct value once; null stays null."""
        changed = {value: change(value) for value in dict.fromkeys(values) if value is not None}
        return [None if value is None else changed[value] for value in values]


def _list_left_out(tables: Mapping[str, Table]) -> list[Capability]:
    """Say of columns that answers have, and that are left out although they are known, why they are null."""
    return [
        Capability(f"{table}.{column}", "skipped", None, _LEFT_OUT)
        for table, column in LEFT_OUT
        if table in tables and column in tables[table].columns
    ]


def _keep_codes(text: str) -> str | None:
    return text if _CODES.fullmatch(text) else None


def _read(text: str | bytes) -> str:
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def _apply(change: Change, text: str | bytes) -> str | None:
    changed = change(_read(text))
    return None if changed is None else changed.encode("utf-8", "backslashreplace").decode()


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
