"""The rules for Windows regions: WinDbg's Usage words where there are any, then MEMORY_BASIC_INFORMATION.

The words are those of !address, in its old form (RegionUsage...) and its new one, and of !maddress of SOS.
"""

from __future__ import annotations

from mmpscope.analysis.rules import Rule, search

__all__ = ["RULES", "USAGE_COLUMN"]

USAGE_COLUMN = "Usage"
_STACK = r"Stack(32|64)?|RegionUsageStack"


def _word(rule: str, kind: str, subtype: str | None, pattern: str) -> Rule:
    return Rule(rule, kind, subtype, "high", "WinDbg: !address", where=((USAGE_COLUMN, pattern),))


def _clr(rule: str, subtype: str, *kinds: str) -> Rule:
    """Name memory of the CLR; !maddress puts a reservation in brackets, as in [GCHeapReserve]."""
    pattern = rf"\[?({'|'.join(kinds)})(Reserve)?\]?"
    return Rule(rule, "Managed Heap", subtype, "high", "SOS: !maddress", where=((USAGE_COLUMN, pattern),))


# fmt: off
_USAGE = (
    _word("windbg-image", "Image", None, r"Image(32|64)?|RegionUsageImage"),
    Rule("windbg-stack-guard", "Stack", "guard", "high", "WinDbg: !address, and PAGE_GUARD",
         where=((USAGE_COLUMN, _STACK),), find="page-guard"),
    _word("windbg-stack", "Stack", "thread stack", _STACK),
    _word("windbg-page-heap", "Heap", "page heap", r"PageHeap|RegionUsagePageHeap"),
    _word("windbg-heap", "Heap", None, r"Heap(32|64)?|HeapBlock|RegionUsageHeap"),
    _word("windbg-teb", "Private Data", "TEB", r"T(EB|eb)(32|64)?|RegionUsageTeb"),
    _word("windbg-peb", "Private Data", "PEB", r"P(EB|eb)(32|64)?|RegionUsagePeb"),
    _word("windbg-parameters", "Private Data", "process parameters",
          r"RegionUsage(ProcessParame?te?rs|EnvironmentBlock)"),
    _word("windbg-mapped", "Mapped File", None, r"MappedFile|FileMap(ping)?|RegionUsageFileMapping"),
    _word("windbg-free", "Free", None, r"Free|\[FREE\]|RegionUsageFree|<free>"),
    _clr("clr-gc", "GC heap", "GCHeap", "GCHeapToBeFreed"),
    _clr("clr-gc-tables", "GC tables", "GCBookkeeping", "HandleTable"),
    _clr("clr-code", "JIT code", "LoaderCodeHeap", "HostCodeHeap", "ExecutableHeap", "JIT.*"),
    _clr("clr-loader", "loader heap", r"\w*LoaderHeap", "(High|Low)FrequencyHeap", "StaticsHeap"),
    _clr("clr-stubs", "stubs", r"(Stub|Lookup|Resolve|Dispatch|CacheEntry|Vtable|Thunk|Indirection\w*|"
         r"DynamicHelpers|\w*Precode)Heap"),
    _clr("clr-other", "CLR", "CLR"),
)
"""What WinDbg and SOS know, with symbols and private structures at hand, is better than any inference."""

_BASIC = (
    search("mbi-stack-guard", "Stack", "guard", "high", "PAGE_GUARD, in the allocation of a stack"),
    search("mbi-stack-64", "Stack", "64-bit stack", "high", "a 32-bit program's thread in 64-bit code"),
    search("mbi-stack", "Stack", "thread stack", "high", "the allocation that a thread's stack lies in"),
    search("mbi-teb", "Private Data", "TEB", "high", "the allocation that a thread's TEB lies in"),
    search("mbi-peb", "Private Data", "PEB", "high", "the allocation that the PEB lies in"),
    search("mbi-heap-main", "Heap", "main heap", "high", "the allocation at the id of the default heap"),
    search("mbi-heap-shared", "Heap", "shareable", "high", "the view of a section at the id of a heap"),
    search("mbi-heap", "Heap", "private heap", "high", "the allocation at the id of a heap"),
    search("mbi-image", "Image", None, "high", "MEM_IMAGE"),
    search("mbi-mapped", "Mapped File", None, "high", "MEM_MAPPED, and the file is known"),
    search("mbi-page-file", "Shareable", None, "high", "MEM_MAPPED: MappedPageFile, says RegionType"),
    search("mbi-no-file", "Shareable", None, "medium", "MEM_MAPPED, without a file where others have theirs"),
    search("mbi-section", "Shareable", None, "low", "MEM_MAPPED: a section; no file is named"),
)

_REST = (
    Rule("windbg-other", "Private Data", "other", "low", "unclaimed: of the system, says WinDbg",
         where=((USAGE_COLUMN, r"Other(32|64)?"),)),
    Rule("windbg-unknown", "Private Data", None, "low", "unclaimed: WinDbg does not know it",
         where=((USAGE_COLUMN, r"<unknown>|<unclassified>|RegionUsageIsVAD"),)),
    search("mbi-reserved", "Private Data", "reservation", "high", "unclaimed: nothing of it is committed"),
    search("mbi-private", "Private Data", None, "low", "unclaimed: MEM_PRIVATE of whatever kind"),
    Rule("mbi-unknown", "Private Data", "unknown type", "low", "unclaimed: no Type that Windows had"),
)
# fmt: on

RULES = (*_USAGE, *_BASIC, *_REST)
"""All rules for Windows in the order in which they are asked."""
