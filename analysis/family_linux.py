"""The family of Linux maps: /proc text, pmap, ELF cores, the maps stream of a minidump."""

from __future__ import annotations

from mmpscope.analysis.classify import Surroundings
from mmpscope.analysis.classify_linux import LinuxClassifier
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.details_linux import describe_regions
from mmpscope.analysis.families import Family
from mmpscope.analysis.figures_linux import NEEDS, compute_figures, judge_estimates
from mmpscope.analysis.layout import Names
from mmpscope.analysis.rights_linux import describe_protection, describe_state, read_rights

__all__ = ["FAMILY"]


def _read_names(raw: RawColumns, _: Surroundings) -> Names:
    """Read paths; what stands in brackets is a name where no file is behind it: inode 0.

    A source without inodes (pmap, a core) leaves the brackets alone to tell.
    """
    path = raw.text("path")
    inode, major, minor = (raw.numbers(name).values for name in ("inode", "dev_major", "dev_minor"))
    nothing = (inode == 0) & (major == 0) & (minor == 0)
    if "inode" in raw:
        return Names(path, nothing & ~path.match(lambda path: path.startswith("/")))
    is_bracketed = path.match(lambda path: path.startswith("[") and path.endswith("]"))
    return Names(path, nothing & (path.is_null | is_bracketed))


FAMILY = Family(
    read_rights,
    describe_state,
    describe_protection,
    compute_figures,
    _read_names,
    LinuxClassifier,
    describe_regions,
    NEEDS,
    judge_estimates,
)
