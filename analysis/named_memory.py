"""What allocators and runtimes call their memory: names given with PR_SET_VMA_ANON_NAME or memfd_create.

Each row says who gives the name and where that can be read. Names are matched whole.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALLOCATED", "RUNTIME_FILES", "Name"]


class Name(NamedTuple):
    """One kind of name; ``pattern`` is a regular expression for all of it."""

    rule: str
    type: str
    subtype: str
    pattern: str
    because: str


# fmt: off
RUNTIME_FILES = (
    Name("heap-jvm", "Managed Heap", "JVM", r"/?memfd:java_heap.*", "OpenJDK: zPhysicalMemoryBacking_linux"),
    Name("heap-net", "Managed Heap", ".NET code", r"/?memfd:doublemapper.*", ".NET 7: allocator of JIT code"),
    Name("heap-art-code", "Managed Heap", "ART", r"/?memfd:jit(-zygote)?-cache.*", "ART: runtime/jit"),
    Name("heap-art-shm", "Managed Heap", "ART", r"(/dev/ashmem/|\[anon_shmem:)dalvik-.*", "ART: mem_map.cc"),
    Name("heap-bionic-shm", "Heap", "bionic", r"/dev/ashmem/libc malloc.*", "Android: android_os_Debug.cpp"),
)
"""Shared memory that is known to be a runtime's own; it goes before Shareable.

pmap cuts paths to their last part: hence no slash need go before memfd.
"""

ALLOCATED = (
    Name("bss-named", "Image", ".bss", r"\[anon:.*\.bss\]|\[anon: glibc: \.bss.*\]", "dynamic linkers"),
    Name("heap-main", "Heap", "main heap", r"\[heap\]", "brk(2); the kernel gives the name"),
    Name("heap-glibc-arena", "Heap", "glibc arena", r"\[anon: glibc: malloc arena\]", "glibc 2.39: arena.c"),
    Name("heap-glibc", "Heap", "glibc", r"\[anon: glibc: (loader )?malloc\]", "glibc 2.39: malloc.c"),
    Name("heap-bionic", "Heap", "bionic", r"\[anon:libc_malloc\]", "Android: androidprocheaps.cpp"),
    Name("heap-scudo", "Heap", "scudo", r"\[anon:scudo[:_].*\]", "Android 11: androidprocheaps.cpp"),
    Name("heap-gwp-asan", "Heap", "GWP-ASan", r"\[anon:GWP-ASan.*\]", "Android 11: androidprocheaps.cpp"),
    Name("heap-linker", "Heap", "bionic linker", r"\[anon:(bionic_alloc|linker_alloc).*\]", "bionic: linker"),
    Name("heap-jemalloc", "Heap", "jemalloc", r"\[anon:jemalloc.*\]", "jemalloc 5.3: src/pages.c"),
    Name("heap-mimalloc", "Heap", "mimalloc", r"\[anon:mimalloc.*\]", "mimalloc: src/prim/unix/prim.c"),
    Name("heap-tcmalloc", "Heap", "tcmalloc", r"\[anon:tcmalloc.*\]", "tcmalloc: system-alloc.cc"),
    Name("heap-partition", "Heap", "PartitionAlloc", r"\[anon:partition_alloc.*\]", "Chromium"),
    Name("heap-harmony", "Heap", "native heap", r"\[anon:native_heap:.*\]", "OpenHarmony: musl, jemalloc"),
    Name("heap-zend", "Heap", "Zend", r"\[anon:zend_.*\]", "PHP 8.3: Zend/zend_alloc.c"),
    Name("heap-go-named", "Managed Heap", "Go", r"\[anon: Go: .*\]", "Go 1.25: set_vma_name_linux.go"),
    Name("heap-art", "Managed Heap", "ART", r"\[anon:dalvik-.*\]", "ART: libartbase/base/mem_map.cc"),
    Name("heap-v8", "Managed Heap", "V8", r"\[anon:v8.*\]", "Chromium: V8's page allocators"),
    Name("heap-js", "Managed Heap", "SpiderMonkey", r"\[anon:js-.*\]", "Firefox: js-gc-heap and others"),
    Name("heap-ark", "Managed Heap", "ArkTS", r"\[anon:Ark(TS|JS) .*\]", "OpenHarmony: ArkTS runtime"),
    Name("heap-cpython", "Managed Heap", "CPython", r"\[anon:cpython:.*\]", "CPython 3.15: pycore_mmap.h"),
    Name("stack-ruby", "Stack", "thread stack", r"\[anon:Ruby:.*stack.*\]", "Ruby 3.4: thread_pthread_mn.c"),
    Name("heap-ruby", "Managed Heap", "Ruby", r"\[anon:Ruby:.*\]", "Ruby 3.4: ruby_annotate_mmap"),
    Name("stack-main", "Stack", "main stack", r"\[stack\]", "the kernel gives the name"),
    Name("stack-thread", "Stack", "thread stack", r"\[stack:\d+\]", "Linux 3.4 to 4.4: names by thread id"),
    Name("stack-bionic", "Stack", "thread stack", r"\[anon:stack_and_tls:.*\]", "bionic: pthread_create.cpp"),
    Name("stack-guard", "Stack", "guard", r"\[anon:thread stack guard.*\]", "bionic: pthread_create.cpp"),
    Name("stack-signal", "Stack", "signal stack", r"\[anon:(thread )?signal[ _]stack.*\]", "bionic, musl"),
    Name("stack-harmony", "Stack", "thread stack", r"\[anon:stack:.*\]", "OpenHarmony: musl"),
    Name("stack-glibc", "Stack", "thread stack", r"\[anon: glibc: pthread (user )?stack: \d+\]", "glibc"),
    Name("stack-unused", "Stack", "unused stack", r"\[anon: glibc: unused stack\]", "glibc: stack cache"),
)
"""Anonymous memory; these names count only where no file is behind them."""
# fmt: on
