"""Our own `.mmp` files: frames, columns, reader and writer; standard library and msgpack only.

docs/format.md describes the files; `mmpscope.formats.model` is what is read and written.
"""

from mmpscope.formats.mmp.columns import Plain, decode_column, decode_table, encode_table
from mmpscope.formats.mmp.copying import copy_file
from mmpscope.formats.mmp.header import is_mmp
from mmpscope.formats.mmp.reader import MmpFile, open_file
from mmpscope.formats.mmp.verify import verify
from mmpscope.formats.mmp.writer import SnapshotWriter, write_file

__all__ = [
    "MmpFile",
    "Plain",
    "SnapshotWriter",
    "copy_file",
    "decode_column",
    "decode_table",
    "encode_table",
    "is_mmp",
    "open_file",
    "verify",
    "write_file",
]
