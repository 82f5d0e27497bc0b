"""What memory is: names, and the table of rules itself."""

from __future__ import annotations

import re

import pytest
from mmpscope.analysis.rules import RULES_VERSION
from mmpscope.analysis.rules_linux import GATES, RULES
from mmpscope.analysis.schema import TYPES
from support.loaded import find_row, load_map

NAMES = {
    "[heap]": ("Heap", "main heap"),
    "[stack]": ("Stack", "main stack"),
    "[stack:1851]": ("Stack", "thread stack"),
    "[vdso]": ("Image", "vdso"),
    "[vvar]": ("Image", "vvar"),
    "[vvar_vclock]": ("Image", "vvar"),
    "[sigpage]": ("Image", "sigpage"),
    "[uprobes]": ("Private Data", "uprobes"),
    "[anon:libc_malloc]": ("Heap", "bionic"),
    "[anon:scudo:primary]": ("Heap", "scudo"),
    "[anon:GWP-ASan Guard Page]": ("Heap", "GWP-ASan"),
    "[anon:jemalloc_pg_overcommit]": ("Heap", "jemalloc"),
    "[anon:mimalloc]": ("Heap", "mimalloc"),
    "[anon:tcmalloc_region_NORMAL]": ("Heap", "tcmalloc"),
    "[anon:partition_alloc]": ("Heap", "PartitionAlloc"),
    "[anon:zend_alloc]": ("Heap", "Zend"),
    "[anon:native_heap:brk]": ("Heap", "native heap"),
    "[anon: glibc: malloc]": ("Heap", "glibc"),
    "[anon: glibc: malloc arena]": ("Heap", "glibc arena"),
    "[anon: glibc: loader malloc]": ("Heap", "glibc"),
    "[anon: glibc: pthread stack: 4711]": ("Stack", "thread stack"),
    "[anon: glibc: pthread user stack: 4711]": ("Stack", "thread stack"),
    "[anon: glibc: unused stack]": ("Stack", "unused stack"),
    "[anon: Go: heap]": ("Managed Heap", "Go"),
    "[anon: Go: page summary]": ("Managed Heap", "Go"),
    "[anon:dalvik-main space (region space)]": ("Managed Heap", "ART"),
    "[anon:v8]": ("Managed Heap", "V8"),
    "[anon:v8-sandbox]": ("Managed Heap", "V8"),
    "[anon:js-gc-heap]": ("Managed Heap", "SpiderMonkey"),
    "[anon:ArkTS Heapsemi space]": ("Managed Heap", "ArkTS"),
    "[anon:cpython:pymalloc]": ("Managed Heap", "CPython"),
    "[anon:Ruby:nt_alloc_thread_stack_chunk]": ("Stack", "thread stack"),
    "[anon:Ruby:rb_jit_reserve_addr_space]": ("Managed Heap", "Ruby"),
    "[anon:stack_and_tls:4711]": ("Stack", "thread stack"),
    "[anon:thread signal stack]": ("Stack", "signal stack"),
    "[anon:.bss]": ("Image", ".bss"),
    "[anon:ld-musl-aarch64.so.1.bss]": ("Image", ".bss"),
    "[anon:some pool (old gen, part 2)]": ("Private Data", "named"),
    "[anything else]": ("Private Data", "named"),
}
SHARED = {
    "/SYSV0000abab (deleted)": ("Shareable", "SysV"),
    "/memfd:jit cache (deleted)": ("Shareable", "memfd"),
    "/memfd: (deleted)": ("Shareable", "memfd"),
    "/dev/shm/pulse-shm-1": ("Shareable", "shm"),
    "/dev/zero (deleted)": ("Shareable", "anonymous"),
    "/dev/ashmem/cursor (deleted)": ("Shareable", "ashmem"),
    "[anon_shmem:pool]": ("Shareable", "named"),
    "/[aio] (deleted)": ("Shareable", "aio ring"),
    "anon_inode:[io_uring]": ("Shareable", "io_uring"),
    "anon_inode:[perf_event]": ("Shareable", "perf ring"),
    "anon_inode:kvm-vcpu:0": ("Shareable", "kvm"),
    "/dmabuf:": ("Shareable", "dma-buf"),
    "/dev/dri/renderD128": ("Shareable", "graphics"),
    "/anon_hugepage (deleted)": ("Shareable", "hugetlb"),
    "/dev/mem": ("Mapped File", "device"),
    "/srv/data.bin": ("Mapped File", None),
    "/memfd:java_heap (deleted)": ("Managed Heap", "JVM"),
    "/memfd:doublemapper (deleted)": ("Managed Heap", ".NET code"),
    "/dev/ashmem/dalvik-main space (deleted)": ("Managed Heap", "ART"),
}
PRIVATE = {
    "/dev/zero": ("Private Data", "/dev/zero"),
    "/anon_hugepage (deleted)": ("Private Data", "hugetlb"),
    "/memfd:view (deleted)": ("Shareable", "memfd"),
    "/dev/shm/segment": ("Shareable", "shm"),
    "/srv/data.bin": ("Mapped File", None),
    "/srv/gone.bin (deleted)": ("Mapped File", None),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_brackets_tells_what_memory_is(name: str) -> None:
    """The kernel, allocators and runtimes name their memory; each name has its type."""
    row = find_row(load_map(f"7000000-7100000 rw-p 0 0 {name}"), 0x7000000)
    assert (row["type"], row["subtype"], row["details"]) == (*NAMES[name], name)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_be_called_like_a_name(name: str) -> None:
    """Brackets count only without a file: on disk anything may be called [heap]."""
    row = find_row(load_map(f"7000000-7100000 rw-p 0 2a /srv/{name}"), 0x7000000)
    assert (row["type"], row["subtype"]) == ("Mapped File", None)
    row = find_row(load_map(f"7000000-7100000 rw-p 0 2a {name}"), 0x7000000)
    assert row["type"] in ("Mapped File", "Shareable")


@pytest.mark.parametrize("name", ["[heap", "[heap]x", "x[heap]", "[stack:]", "[stack:1] (deleted)"])
def test_names_are_matched_whole(name: str) -> None:
    """A name that only resembles one of the kernel's is none."""
    row = find_row(load_map(f"7000000-7100000 rw-p 0 0 {name}"), 0x7000000)
    assert row["type"] == "Private Data"


@pytest.mark.parametrize("name", SHARED)
def test_shared_mappings_are_told_by_what_is_behind_them(name: str) -> None:
    """Objects made for sharing are Shareable, files are files, and a runtime's own memory is its heap."""
    row = find_row(load_map(f"7000000-7100000 rw-s 0 2a {name}"), 0x7000000)
    assert (row["type"], row["subtype"]) == SHARED[name]


@pytest.mark.parametrize("name", PRIVATE)
def test_private_mappings_are_told_by_what_is_behind_them(name: str) -> None:
    """A private view of a shared object is still of that object; one of /dev/zero is mere memory."""
    row = find_row(load_map(f"7000000-7100000 rw-p 0 2a {name}"), 0x7000000)
    assert (row["type"], row["subtype"]) == PRIVATE[name]


def test_a_jit_that_runs_in_shared_memory_is_no_image() -> None:
    """`rwxs /memfd:` holds code, and is no program."""
    row = find_row(load_map("7000000-7002000 rwxs 0 401 /memfd:jit cache (deleted)"), 0x7000000)
    assert (row["type"], row["rule"]) == ("Shareable", "shm-memfd")


def test_f27_names_that_no_rule_knows_have_a_bucket_of_their_own() -> None:
    """The allocator of next year is visible as named memory, and the rules have a version to tell it by."""
    snapshot = load_map("7000000-7100000 rw-p 0 0 [anon:allocator of next year]", "7200000-7300000 rw-p")
    rows = snapshot.regions.to_pylist()
    assert [(row["type"], row["subtype"], row["rule"]) for row in rows] == [
        ("Private Data", "named", "named"),
        ("Private Data", None, "private"),
    ]
    assert snapshot.rules_version == RULES_VERSION
    assert snapshot.regions.schema.metadata[b"mmpscope.rules"] == RULES_VERSION.encode()


def test_every_rule_is_complete() -> None:
    """A rule has an id of its own, a type that a region can have, a confidence and a reason."""
    rules = (*GATES, *RULES)
    assert len({rule.id for rule in rules}) == len(rules)
    for rule in rules:
        assert rule.type is None or rule.type in TYPES[: TYPES.index("Page Table")]
        assert rule.confidence in ("high", "medium", "low")
        assert rule.because
        assert rule.name is None or re.compile(rule.name)


def test_the_last_rule_claims_everything() -> None:
    """No region is left without a type."""
    last = RULES[-1]
    assert (last.name, last.where, last.find, last.pseudo) == (None, (), None, False)
