"""What the rows of a table of totals are, by name alone."""

from __future__ import annotations

import numpy as np
import pytest
from mmpscope.analysis.columns import Text
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.totals_rules import NO_TYPE, TOTALS_RULES, classify_totals

VMMAP = {
    "Total": None,
    "Image": "Image",
    "Mapped File": "Mapped File",
    "Shareable": "Shareable",
    "Heap": "Heap",
    "Managed Heap": "Managed Heap",
    "Stack": "Stack",
    "Private Data": "Private Data",
    "Page Table": "Page Table",
    "Unusable": "Unusable",
    "Free": "Free",
}
WINDBG = {
    "Free": "Free",
    "<unknown>": "Private Data",
    "Image": "Image",
    "MappedFile": "Mapped File",
    "Stack32": "Stack",
    "Stack64": "Stack",
    "Heap32": "Heap",
    "Other": "Private Data",
    "TEB64": "Private Data",
    "PEB": "Private Data",
    "PageHeap": "Heap",
}
WINDBG_OLD = {
    "RegionUsageIsVAD": "Private Data",
    "RegionUsageFree": "Free",
    "RegionUsageImage": "Image",
    "RegionUsageStack": "Stack",
    "RegionUsageTeb": "Private Data",
    "RegionUsageHeap": "Heap",
    "RegionUsagePageHeap": "Heap",
    "RegionUsagePeb": "Private Data",
    "RegionUsageProcessParametrs": "Private Data",
    "RegionUsageEnvironmentBlock": "Private Data",
}
SOS = {
    "GCHeap": "Managed Heap",
    "[GCHeapReserve]": "Managed Heap",
    "HandleTable": "Managed Heap",
    "HighFrequencyHeap": "Managed Heap",
    "LoaderCodeHeap": "Managed Heap",
    "StubHeap": "Managed Heap",
    "Stack": "Stack",
    "Image": "Image",
    "PAGE_READWRITE": "Private Data",
}
MACOS = {
    "IOKit (reserved)": "Shareable",
    "Kernel Alloc Once": "Private Data",
    "MALLOC_LARGE (empty)": "Heap",
    "MALLOC guard page": "Heap",
    "STACK GUARD": "Stack",
    "Stack": "Stack",
    "VM_ALLOCATE": "Private Data",
    "__DATA_CONST": "Image",
    "__PAGEZERO": "Private Data",
    "unused but dirty shlib __DATA": "Image",
    "dyld private memory": "Private Data",
    "mapped file": "Mapped File",
    "shared memory": "Shareable",
    "page table in kernel": "Page Table",
    "JS JIT generated code": "Managed Heap",
    "TOTAL": None,
    "TOTAL, minus reserved VM space": None,
}
ANDROID = {
    "Native Heap": "Heap",
    "Dalvik Heap": "Managed Heap",
    "Dalvik Other": "Managed Heap",
    "Stack": "Stack",
    "Ashmem": "Shareable",
    "Gfx dev": "Shareable",
    "Other dev": "Mapped File",
    ".so mmap": "Image",
    ".oat mmap": "Image",
    ".apk mmap": "Mapped File",
    "Other mmap": "Mapped File",
    "EGL mtrack": "Shareable",
    "Unknown": "Private Data",
    "TOTAL": None,
}
OBJECTS = {
    "[heap]": "Heap",
    "[anon:libc_malloc]": "Heap",
    "[anon:dalvik-main space (region space)]": "Managed Heap",
    "[anon]": "Private Data",
    "[stack]": "Stack",
    "[vdso]": "Image",
    "/dev/ashmem/dalvik-main space (deleted)": "Managed Heap",
    "/dev/ashmem/cursor": "Shareable",
    "/apex/com.android.runtime/lib/bionic/libc.so": "Image",
    "/usr/lib/libz.so.1.2.11": "Image",
    "/apex/com.android.runtime/bin/linker": "Image",
    "/data/app/base.odex": "Image",
    "/apex/com.android.runtime/javalib/core-libart.jar": "Mapped File",
    "/system/framework/boot.art": "Mapped File",
    "/dev/binder": "Mapped File",
}
LANGUAGES = (VMMAP, WINDBG, WINDBG_OLD, SOS, MACOS, ANDROID, OBJECTS)


def _classify(*names: str | None) -> tuple[list[str | None], list[str | None]]:
    distinct = [name for name in dict.fromkeys(names) if name is not None]
    codes = [len(distinct) if name is None else distinct.index(name) for name in names]
    types, rules = classify_totals(Text(np.array(codes, np.int32), (*distinct, None)))
    return [None if code == NO_TYPE else TYPES[code] for code in types.tolist()], rules


@pytest.mark.parametrize("words", LANGUAGES, ids=lambda words: next(iter(words)))
def test_every_source_is_understood_in_its_own_words(words: dict[str, str | None]) -> None:
    """Each name of a summary has a type; sums over other rows have none, lest they count twice."""
    types, rules = _classify(*words)
    assert dict(zip(words, types, strict=True)) == words
    assert [rule is None for rule in rules] == [kind is None for kind in words.values()]


def test_rules_are_those_of_the_source() -> None:
    """Stack is a word of four sources, and the rule says which of them it was."""
    assert _classify("Stack", "Managed Heap")[1] == ["vmmap-stack", "vmmap-managed"]
    assert _classify("Stack", "<unknown>")[1] == ["windbg-stack", "windbg-unknown"]
    assert _classify("Stack", "__TEXT")[1] == ["mac-stack", "mac-image"]
    assert _classify("Stack", "Native Heap")[1] == ["android-stack", "android-native"]


def test_a_rollup_has_no_type_and_a_row_without_name_is_private_data() -> None:
    """smaps_rollup is the sum of everything; a row whose name was lost is memory that nothing claims."""
    assert _classify("[rollup]", None) == ([None, "Private Data"], [None, "object-anonymous"])


def test_f27_names_of_next_year_are_private_data_of_low_confidence() -> None:
    """Nothing is left out of a total for want of a rule."""
    types, rules = _classify("something new", "[heap]")
    assert types == ["Private Data", "Heap"]
    assert rules == ["object-anonymous", "heap-main"]


def test_every_rule_of_totals_is_asked() -> None:
    """Each of the rules for names alone claims at least one of the names above."""
    claimed = {rule for words in LANGUAGES for rule in _classify(*words)[1]}
    assert {rule.id for rule in TOTALS_RULES} <= claimed
