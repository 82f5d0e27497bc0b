"""A report of macOS's vmmap in format 2.4, in parts, written after vmmap(1) and published reports."""
# ruff: noqa: E501  # reports are as wide as vmmap prints them

from __future__ import annotations

__all__ = ["COLUMNS", "END", "HEAD", "ROWS", "WHOLE"]

HEAD = """\
Process:         shop [42]
Path:            /Applications/Shop Front.app/Contents/MacOS/shop
Load Address:    0x100000000
Identifier:      org.example.shop
Version:         1.5 (7)
Code Type:       ARM64E
Platform:        macOS
Parent Process:  launchd [1]

Date/Time:       2026-02-03 04:05:06.007 +0200
OS Version:      macOS 26.1 (25B78)
Report Version:  7
Analysis Tool:   /usr/bin/vmmap

Physical footprint:         1.5G
Physical footprint (peak):  2048M
----

Virtual Memory Map of process 42 (shop)
Output report format:  2.4  -- 64-bit process
VM page size:  16384 bytes

"""
COLUMNS = "REGION TYPE                    START - END         [ VSIZE  RSDNT  DIRTY   SWAP] PRT/MAX SHRMOD PURGE    REGION DETAIL\n"
ROWS = """\
__TEXT                      100000000-100004000    [   16K    16K     0K     0K] r-x/r-x SM=COW          /Applications/Shop Front.app/Contents/MacOS/shop
MALLOC_LARGE (reserved)     100100000-100200000    [ 1024K     0K     0K     0K] rw-/rwx SM=NUL          DefaultMallocZone_0x105348000
IOKit                       100300000-100304000    [   16K    16K    16K     0K] rw-/rw- SM=SHM PURGE=N
VM_ALLOCATE                 100400000-100404000    [   16K    16K    16K     0K] rw-/rw- SM=S/A          V  kept for a while
unused __DATA               1e1be07f0-1e1be1580    [  3472     0K     0K   3472] rw-/rw- SM=COW          on dirty page  unused /System/Library/X
Memory Tag 22               200000000-280000000    [  2.0G   1.5M   1.5M   100K] rw-/rw- SM=PRV
"""
END = """
==== Legend
SM=sharing mode:
\tCOW=copy_on_write PRV=private NUL=empty ALI=aliased

==== Summary for process 42
ReadOnly portion of Libraries: Total=16K resident=16K(100%) swapped_out_or_unallocated=0K(0%)

                                VIRTUAL RESIDENT    DIRTY  SWAPPED VOLATILE   NONVOL    EMPTY   REGION
REGION TYPE                        SIZE     SIZE     SIZE     SIZE     SIZE     SIZE     SIZE    COUNT (non-coalesced)
===========                     ======= ========    =====  ======= ========   ======    =====  =======
IOKit                               16K      16K      16K       0K       0K      16K       0K        1
MALLOC_LARGE (reserved)           1024K       0K       0K       0K       0K       0K       0K        1         reserved VM address space (unallocated)
Memory Tag 22                      2.0G     1.5M     1.5M     100K       0K       0K       0K        1
VM_ALLOCATE                         16K      16K      16K       0K      16K       0K       0K        1
__TEXT                              16K      16K       0K       0K       0K       0K       0K        1
unused but dirty shlib __DATA      3472       0K       0K     3472       0K       0K       0K        1
===========                     ======= ========    =====  ======= ========   ======    =====  =======
TOTAL                              2.0G     1.6M     1.5M     103K      16K      16K       0K        6

                                 VIRTUAL   RESIDENT      DIRTY    SWAPPED ALLOCATION      BYTES DIRTY+SWAP          REGION
MALLOC ZONE                         SIZE       SIZE       SIZE       SIZE      COUNT  ALLOCATED  FRAG SIZE  % FRAG   COUNT
===========                      =======  =========  =========  =========  =========  =========  =========  ======  ======
AttributeGraph graph data_0x1      37.1M      1756K      1756K      3764K      33880      4606K       914K     17%      18
"""
WHOLE = (
    HEAD
    + "==== Non-writable regions for process 42\n"
    + COLUMNS
    + ROWS.split("\n", 1)[0]
    + "\n\n==== Writable regions for process 42\n"
    + COLUMNS
    + ROWS.split("\n", 1)[1]
    + END
)
