"""ModuleListStream and UnloadedModuleListStream: the files that are, or were, loaded, and their builds.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_module
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from mmpscope.formats.errors import FormatError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.lists import find_records, find_sized_records, read_records
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["Module", "read_modules", "read_unloaded", "tabulate_modules"]

_MODULE = struct.Struct("<QIIII52s II 24x")
"""Base, size, checksum, time, name; version; size and offset of the CodeView record; the MISC record."""
_VERSION = struct.Struct("<IIII")  # signature, version of the structure, upper and lower half of the version
_VERSION_SIGNATURE = 0xFEEF04BD  # VS_FFI_SIGNATURE (verrsrc.h)
_UNLOADED = struct.Struct("<QIIII")
_UNLOADED_HEADER = "<III"
_MAX_MODULES = 1 << 16
_LAST = (1 << 64) - 1
_GUID = struct.Struct("<IHH8s")
_RSDS = b"RSDS"
_NB10 = b"NB10"
_ELF = b"LEpB"
"""MD_CVINFOELF_SIGNATURE of Breakpad: the build id of an ELF file follows."""


@dataclass
class Module:
    """One file and the range it is loaded at; what is not known is None, as the end of a damaged range.

    ``timestamp`` and ``checksum`` stand in a PE header. ``build_id`` is that of a debugger: GUID without
    dashes and age for a PDB, else the GNU build id.
    """

    path: bytes | None
    low: int
    high: int | None
    timestamp: int | None
    checksum: int | None
    file_version: bytes | None = None
    pdb: bytes | None = None
    build_id: bytes | None = None


def read_modules(dump: DumpFile, stream: Stream, *, is_windows: bool) -> list[Module]:
    """Read the loaded modules in the order of the list: the program comes first.

    A damaged name or record is a fault and null. CorruptError or LimitError where the list does not fit.
    """
    records = find_records(dump, stream, _MODULE.size)
    modules = []
    for *range_and_name, version, size, offset in read_records(dump, records, _MODULE, _MAX_MODULES):
        module = _make_module(dump, *range_and_name)
        module.file_version = _read_version(bytes(version))
        _read_debug_record(dump, module, size, offset, is_windows=is_windows)
        modules.append(module)
    return modules


def read_unloaded(dump: DumpFile, stream: Stream) -> list[Module]:
    """Read the modules that were loaded once; CorruptError or LimitError where the list does not fit."""
    records = find_sized_records(dump, stream, _UNLOADED_HEADER, _UNLOADED.size)
    return [_make_module(dump, *fields) for fields in read_records(dump, records, _UNLOADED, _MAX_MODULES)]


def _make_module(dump: DumpFile, base: int, size: int, checksum: int, time: int, name: int) -> Module:
    low = dump.narrow(base)
    high = low + size
    if high > _LAST:
        dump.faults.add("a module ends beyond the last address", lost="its end")
    return Module(
        _read_name(dump, name), low, high if high <= _LAST else None, time or None, checksum or None
    )


def _read_name(dump: DumpFile, offset: int) -> bytes | None:
    try:
        return dump.read_name(offset, "the name of a module")
    except FormatError as error:
        dump.faults.add(error.what, offset=error.offset, lost="that name")
        return None


def _read_version(data: bytes) -> bytes | None:
    """Write a VS_FIXEDFILEINFO as people do: 10.0.22000.318; None where there is none."""
    signature, _, high, low = _VERSION.unpack_from(data)
    if signature != _VERSION_SIGNATURE:
        return None
    return b"%d.%d.%d.%d" % (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF)


def _read_debug_record(dump: DumpFile, module: Module, size: int, offset: int, *, is_windows: bool) -> None:
    """Read the CodeView record: which debug file belongs to the module; an unknown kind is left alone."""
    if not size:
        return
    try:
        data = dump.read_text(offset, size, "the CodeView record of a module")
    except FormatError as error:
        dump.faults.add(error.what, offset=error.offset, lost="build id and name of the debug file")
        return
    kind = data[:4]
    if kind == _ELF:
        module.build_id = data[4:].hex().encode() or None
    elif kind == _RSDS and len(data) >= 24:
        module.pdb = data[24:].split(b"\0", 1)[0] or None
        module.build_id = _name_pdb(data[4:24]) if is_windows else data[4:20].hex().encode()
    elif kind == _NB10 and len(data) >= 16:
        module.pdb = data[16:].split(b"\0", 1)[0] or None
        time, age = struct.unpack_from("<II", data, 8)
        module.build_id = b"%08x%x" % (time, age)


def _name_pdb(data: bytes) -> bytes:
    """Write GUID and age as symbol servers do; on Linux, old Breakpad puts the start of a build id there."""
    first, second, third, rest = _GUID.unpack_from(data)
    (age,) = struct.unpack_from("<I", data, _GUID.size)
    return b"%08x%04x%04x%b%x" % (first, second, third, rest.hex().encode(), age)


def tabulate_modules(modules: Sequence[Module]) -> Table:
    """Make a table of modules: path, low, high, timestamp, checksum, file_version, pdb, build_id."""
    texts = {"path": "wtf-8", "file_version": "utf-8", "pdb": "bytes", "build_id": "utf-8"}
    columns = {}
    for name in Module.__dataclass_fields__:
        values = [getattr(module, name) for module in modules]
        columns[name] = Plain("text", values, text=texts[name]) if name in texts else Plain("uint", values)
    return encode_table(columns, len(modules))
