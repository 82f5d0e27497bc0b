"""Output of Android's showmap and dumpsys meminfo in each generation, written after their sources in AOSP."""
# ruff: noqa: E501, W291, W293  # the tools print lines as wide as this, with blanks at their ends

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["FIGURES", "MEMINFO", "SYSTEM", "make_showmap"]

_TOP = " virtual                     shared   shared  private  private"
_HUGE_TOP = "                   Anon      Shmem     File       Shared   Private"
_BOTTOM = "    size      RSS      PSS    clean    dirty    clean    dirty"
FIGURES = {"plain": 7, "swap": 8, "swapPSS": 9, "huge": 14, "locked": 15}
"""Generations of showmap, and how many figures each prints."""
_WORDS = {
    "plain": "",
    "swap": "     swap",
    "swapPSS": "     swap  swapPSS",
    "huge": "     swap  swapPSS HugePages PmdMapped PmdMapped  Hugetlb  Hugetlb",
    "locked": "     swap  swapPSS HugePages PmdMapped PmdMapped  Hugetlb  Hugetlb   Locked",
}

Row = tuple[int, int, str, int, str, Sequence[int]]


def make_showmap(rows: Sequence[Row], generation: str, options: str = "", total: bool = True) -> str:
    """Write what showmap prints of rows (start, end, rights, count, name, figures) with options -a, -v, -t."""
    addresses, verbose, terse = ("-" + letter in options for letter in "avt")
    counted = not addresses and not verbose
    top = ("           start              end " if addresses else "") + _TOP
    bottom = ("            addr             addr " if addresses else "") + _BOTTOM + _WORDS[generation]
    heading = top + (_HUGE_TOP if "huge" in generation or generation == "locked" else "") + "\n"
    heading += bottom + ("   # " if counted else "") + (" flags " if verbose else "") + " object\n"
    divider = "-------- " * FIGURES[generation] + ("---- " if counted else "") + 30 * "-" + "\n"
    text = heading + divider
    sums = [0] * FIGURES[generation]
    for start, end, flags, count, name, figures in rows:
        sums = [one + other for one, other in zip(sums, figures, strict=True)]
        if terse and not (figures[5] or figures[6]):
            continue
        place = f"{start:16x} {end:16x} " if addresses else ""
        text += place + "".join(f"{figure:8} " for figure in figures)
        text += (f"{count:4} " if counted else "") + (f"{flags:>6} " if verbose else "") + f"{name}\n"
    if total:
        text += divider + heading + divider + (34 * " " if addresses else "")
        text += "".join(f"{figure:8} " for figure in sums)
        text += (f"{sum(row[3] for row in rows):4} " if counted else "") + (7 * " " if verbose else "")
        text += "TOTAL\n"
    return text


MEMINFO = {
    "4.3": """\
** MEMINFO in pid 7 [shop] **
                         Shared  Private     Heap     Heap     Heap
                   Pss    Dirty    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------
       Native       20        8       20     3680     3508       75
       Dalvik     2172     7392     2052     9735     6869     2866
       Unknown      10        0       10
        TOTAL     2202     7400     2082    13415    10377     2941
""",
    "4.4": """\
Applications Memory Usage (kB):
Uptime: 1000 Realtime: 2000

** MEMINFO in pid 7 [shop] **
                   Pss  Private  Private  Swapped     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------
  Native Heap       20        8        2      100     3680     3508       75
  Dalvik Heap     2172     1392       50        0     9735     6869     2866
     .so mmap      692      328        0        0                           
        TOTAL     2884     1728       52      100    13415    10377     2941
""",
    "8": """\
Applications Memory Usage (in Kilobytes):
Uptime: 1000 Realtime: 2000

** MEMINFO in pid 7 [shop] **
                   Pss  Private  Private  SwapPss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------
  Native Heap       20        8        2      100     3680     3508       75
  Dalvik Heap     2172     1392       50       10     9735     6869     2866
     .so mmap      692      328        0        0                           
        TOTAL     2994     1728       52      110    13415    10377     2941
 
 Dalvik Details
        .Heap     2000     1300        0        0
         .LOS      172       92        0        0
 
 App Summary
                       Pss(KB)
                        ------
           Java Heap:     1392
         Native Heap:        8
 
               TOTAL:     2994       TOTAL SWAP PSS:      110
 
 Objects
               Views:      779         ViewRootImpl:        1
         AppContexts:        7           Activities:        1
 
""",
    "14": """\
Applications Memory Usage (in Kilobytes):
Uptime: 1000 Realtime: 2000

** MEMINFO in pid 7 [shop] **
                   Pss      Pss   Shared  Private   Shared  Private  SwapPss      Rss     Heap     Heap     Heap
                 Total    Clean    Dirty    Dirty    Clean    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap       20        0        4        8        1        2      100       40     3680     3508       75
  Dalvik Heap     2172        0       10     1392        2       50       10     3000     9735     6869     2866
     .so mmap      692        9      100      328     2000        0        0     4000                           
        TOTAL     2994        9      114     1728     2003       52      110     7040    13415    10377     2941
 
 App Summary
                       Pss(KB)                        Rss(KB)
                        ------                         ------
           Java Heap:     1392                           3000
       Private Other:       30
             Unknown:                                      44
 
           TOTAL PSS:     2994            TOTAL RSS:     7040       TOTAL SWAP PSS:      110
 
""",
}
"""`dumpsys meminfo PACKAGE` (with -d in 14) by version of Android."""

SYSTEM = """\
Applications Memory Usage (in Kilobytes):
Uptime: 29602806 Realtime: 57806941

Total RSS by process:
     10,240K: one (pid 11)
     10,240K: two (pid 12 / activities)

Total PSS by process:
      4,096K: one (pid 11)                       (        0K in swap)
      4,096K: two (pid 12 / activities)          (    1,024K in swap)
        512K: vendor.service@2.0-service (pid 13 state 0 oom -900)

Total PSS by OOM adjustment:
      8,704K: Native
          4,096K: one (pid 11)

Total PSS by category:
      6,000K: Native
      2,000K: .so mmap

Total RAM: 3,016,708K (status normal)
 Free RAM: 1,097,170K (  431,230K cached pss +   552,380K cached kernel +   113,560K free)
     ZRAM:    18,728K physical used for    80,232K in swap (  524,284K total swap)
"""
