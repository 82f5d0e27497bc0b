"""The lines above the regions: which process, on which system, when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from mmpscope.formats.macos.sizes import parse_size
from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import to_fact

__all__ = ["Head"]

_FACT = re.compile(rb"([A-Z][\w /()-]{1,40}?):(?:[ \t]+(.*))?")
_NAMED = re.compile(rb"(.*) \[(\d{1,10})\]")
_TITLE = re.compile(rb"Virtual Memory Map of process (\d{1,10})(?: \((.*)\))?")
_FORMAT = re.compile(rb"Output report format:[ \t]+(\d+\.\d+)(?:.*?(\d\d)-bit)?.*")
_PAGE = re.compile(rb"VM page size:[ \t]+(\d{1,9}) bytes")
_MACHINES = {"X86-64": "x86_64", "X86": "i386", "ARM64": "arm64", "ARM64E": "arm64", "ARM": "arm"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_FACTS = 100


class Head:
    """Facts of one report, filled line by line; ``facts`` has every `Key: value` line as it stands."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        self.version: str | None = None
        self.bits: int | None = None
        self.page_size: int | None = None
        self.pid: int | None = None
        self.name: Facts = {}

    def read_line(self, line: bytes) -> None:
        """Read one line above the regions."""
        line = line.strip()
        title, form, page = _TITLE.fullmatch(line), _FORMAT.fullmatch(line), _PAGE.fullmatch(line)
        if title is not None:
            self.pid = int(title[1])
            if title[2]:
                self.name = {"name": to_fact(title[2])}
        elif form is not None:
            self.version = form[1].decode()
            self.bits = int(form[2]) if form[2] in (b"32", b"64") else None
        elif page is not None:
            self.page_size = int(page[1]) or None
        else:
            fact = _FACT.fullmatch(line)
            if fact is not None and fact[2] and len(self.facts) < _MAX_FACTS:
                self.facts.setdefault(fact[1].decode("ascii", "replace"), to_fact(fact[2]))

    def describe_process(self) -> Facts:
        """Return what is known of the process: pid, name, ppid, exe, page_size, bits, footprints in bytes."""
        process: Facts = dict(self.name)
        if self.pid is not None:
            process["pid"] = self.pid
        for key, pid, name in (("Process", "pid", "name"), ("Parent Process", "ppid", None)):
            named = _NAMED.fullmatch(_to_bytes(self.facts.get(key, "")))
            if named is not None:
                process.setdefault(pid, int(named[2]))
                if name is not None:
                    process.setdefault(name, to_fact(named[1]))
        if "Path" in self.facts:
            process["exe"] = self.facts["Path"]
        for key, name in (
            ("Physical footprint", "physical_footprint"),
            ("Physical footprint (peak)", "physical_footprint_peak"),
        ):
            size = parse_size(_to_bytes(self.facts.get(key, "")))
            if size is not None:
                process[name] = size.value
        process |= {
            key: value for key, value in (("page_size", self.page_size), ("bits", self.bits)) if value
        }
        return process | ({"vmmap": self.facts} if self.facts else {})

    def describe_host(self) -> Facts:
        """Return the system: os, release, machine, page_size."""
        host: Facts = {"os": "macos"}
        if "OS Version" in self.facts:
            host["release"] = self.facts["OS Version"]
        code = self.facts.get("Code Type")
        if isinstance(code, str):
            host["machine"] = _MACHINES.get(code.split(" ")[0].upper(), code)
        if self.page_size:
            host["page_size"] = self.page_size
        return host

    def tell_time(self) -> int | None:
        """Return when the report was made, in ns since 1970; None where it does not say."""
        try:
            moment = datetime.strptime(str(self.facts.get("Date/Time")), "%Y-%m-%d %H:%M:%S.%f %z")
        except ValueError:
            return None
        return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _to_bytes(fact: str | bytes) -> bytes:
    return fact.encode() if isinstance(fact, str) else fact
