"""The rules for regions of macOS, by the types that vmmap(1) prints.

The types are the names of VM tags (mach/vm_statistics.h), segments of Mach-O files, and a few that vmmap
makes up itself. Seen in reports of OS X 10.6 to macOS 26.
"""

from __future__ import annotations

from mmpscope.analysis.rules import Rule

__all__ = ["RULES", "TYPE_COLUMN"]

TYPE_COLUMN = "RegionType"


def _type(rule: str, kind: str, subtype: str | None, pattern: str, because: str, sure: str = "high") -> Rule:
    return Rule(rule, kind, subtype, sure, because, where=((TYPE_COLUMN, pattern),))


# fmt: off
RULES = (
    _type("mac-stack-guard", "Stack", "guard", r"(?i:stack guard)", "guard below a stack of pthread"),
    _type("mac-stack", "Stack", "thread stack", r"Stack( \(.*\))?", "VM_MEMORY_STACK"),
    _type("mac-malloc-guard", "Heap", "guard", r"MALLOC.* guard page.*", "guards of the malloc zones"),
    _type("mac-malloc", "Heap", "malloc", r"MALLOC.*|SBRK|REALLOC", "VM_MEMORY_MALLOC_*: zones of malloc(3)"),
    _type("mac-malloc-webkit", "Heap", "bmalloc", r"WebKit Malloc.*|bmalloc.*", "WebKit: VM_MEMORY_TCMALLOC"),
    _type("mac-js", "Managed Heap", "JavaScriptCore", r"JS .*|WebAssembly memory.*", "JavaScriptCore"),
    _type("mac-java", "Managed Heap", "JVM", r"(?i:java)( .*)?", "VM_MEMORY_JAVA"),
    _type("mac-page-zero", "Private Data", "page zero", r"__PAGEZERO", "no access: null pointers fail"),
    _type("mac-image", "Image", None, r"(unused (but dirty )?(shlib )?)?__\w+( \(.*\))?",
          "segment of a Mach-O file"),
    _type("mac-dyld", "Private Data", "dyld", r"dyld .*", "memory of the dynamic linker"),
    _type("mac-mapped", "Mapped File", None, r"mapped file.*|CoreUI image file", "a file is behind it"),
    _type("mac-shared", "Shareable", None, r"(?i:shared memory).*|shared pmap", "made to be shared"),
    _type("mac-iokit", "Shareable", "graphics and devices",
          r"(IOKit|IOSurface|IOAccelerator|owned unmapped).*", "shared with drivers", "medium"),
    Rule("mac-share-mode", "Shareable", None, "medium", "sharing mode: shared or aliased",
         where=(("SHRMOD", r"(SM=)?(SHM|ALI|S/A)"),)),
    _type("mac-page-table", "Page Table", None, r"page table in kernel", "the kernel's, for this process"),
    _type("mac-allocate", "Private Data", "VM_ALLOCATE", r"VM_ALLOCATE.*", "vm_allocate, no tag", "low"),
    _type("mac-reserved", "Private Data", "reservation", r".* \(reserved\)", "reserved VM address space"),
    Rule("mac-other", "Private Data", "tagged", "low", "unclaimed: a type that no rule knows"),
)
# fmt: on
"""Heaps come before the sharing mode: after a fork zones of malloc are SM=COW or SM=SHM, and still heaps."""
