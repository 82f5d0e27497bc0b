"""A captured /proc, in a folder or an archive, is one capture of its processes; other archives are maps."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from mmpscope.formats.containers.folder import FolderTree
from mmpscope.formats.containers.members import MemberSource, verify_members
from mmpscope.formats.containers.tree import Archive
from mmpscope.formats.errors import InputError
from mmpscope.formats.interface import Input
from mmpscope.formats.proc.tree import is_proc_tree, open_tree
from mmpscope.formats.registry import read_all
from mmpscope.formats.source import Fault, ListedSource, Source

__all__ = ["is_captured_folder", "open_archive", "open_folder", "verify_archive"]

_MAPS = tuple(f"{above}[0-9]*/{name}" for above in ("", "*/") for name in ("smaps", "maps", "smaps_rollup"))


def open_archive(archive: Archive, given: Input) -> Source:
    """Open an archive; the errors of `MemberSource`, and those of a captured /proc."""
    if not is_proc_tree(archive.names):
        return MemberSource(archive, given)
    source = open_tree(archive, given.name, given.texts)
    opened = given.opened.pop_all()
    opened.callback(source.close)
    reads = [partial(source.read, entry.index) for entry in source.entries]
    return ListedSource(source.name, source.format, source.entries, reads, source.faults, opened)


def verify_archive(archive: Archive, given: Input) -> list[Fault]:
    """Read all of an archive and list what is wrong with it."""
    if is_proc_tree(archive.names):
        return read_all(open_tree(archive, given.name, given.texts))
    return verify_members(archive, given)


def is_captured_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is a captured /proc; other folders, which may be huge, are not listed for it."""
    root = Path(path)
    found = (file for pattern in _MAPS for file in root.glob(pattern))
    return is_proc_tree([file.relative_to(root).as_posix() for file in found])


def open_folder(path: str | os.PathLike[str]) -> Source:
    """Open a folder that is a captured /proc; InputError for any other."""
    tree = FolderTree(path)
    if not is_proc_tree(tree.names):
        raise InputError(f"{tree.name} cannot be read: it is a directory. Give the files in it.")
    return open_tree(tree, tree.name)
