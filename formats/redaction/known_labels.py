"""Words of kernels, allocators, runtimes and tools for memory, systems and threads; they stay.

An allow list like `known_names`: a word that is not here becomes a token.
"""

from __future__ import annotations

__all__ = ["BRACKETED", "LABEL_WORDS", "MEMORY_PREFIXES", "MEMORY_WORDS", "SYSTEM_WORDS"]


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


BRACKETED = _list(
    """
    heap stack vdso vvar vvar_vclock vsyscall vectors sigpage uprobes anon rollup stacks guard
    """
) | {" anon ", " stack ", "anon: glibc: malloc arena", "anon: glibc: malloc", "anon: glibc: loader malloc"}
"""Names that stand in brackets, of the kernel, pmap and glibc."""

MEMORY_PREFIXES = (
    " glibc: pthread user stack: ", " glibc: pthread stack: ", " glibc: unused stack", " glibc: .bss",
    " glibc: loader malloc", " glibc: malloc arena", " glibc: malloc", "libc_malloc", "scudo:", "scudo_",
    "GWP-ASan", "bionic_alloc", "linker_alloc", "jemalloc", "mimalloc", "tcmalloc", "partition_alloc",
    "native_heap:", "zend_", " Go: ", "dalvik-", "v8", "js-", "ArkTS ", "ArkJS ", "cpython:", "Ruby:",
    "stack_and_tls:", "stack:", "thread stack guard", "thread signal stack", "thread signal_stack",
    "signal stack", "signal_stack", ".bss", "libc malloc",
)  # fmt: skip
"""What names of anonymous memory begin with; analysis/named_memory.py has who gives them."""

MEMORY_WORDS = _list(
    """
    main space primary secondary large object zygote non moving alloc allocator stack region regions
    bitmap card table mark live free list heap heaps code cache jit data arena metadata page pages pool
    immortal guard thread tls LinearAlloc Boot image method CompilerMetadata indirect ref local global
    weak globals locals interpreter allocspace rosalloc concurrent copying gc sweep array dummy sentinel
    fault reference processor gcmark scudo svelte size classes ring buffer bionic small System property
    base chunk chunks obmalloc pymalloc raw mem vm wasm code-space old new generation semi shared
    trusted read only script source bump isolate bytecode executable memory mmap hash dex and tid names
    map
    """
)
"""Words behind such a beginning that the allocators and runtimes use themselves."""

LABEL_WORDS = _list(
    """
    native tag dalvik java art heap other private shared system unknown total totals swap graphics code
    stack cursor ashmem gfx dev egl gl mtrack mmap so jar apk ttf dex oat mtrack other_dev webview low
    frequency high domain statics image mapped file files shareable managed data page table unusable
    free thread environment block process header default domains low fragmentation lfh id bit segment
    segments handle type allocation reserved reserve committed gc gen generation heaps loader stub stubs
    bookkeeping teb peb segment regionusageimage regionusagestack regionusagepageheap regionusageheap
    regionusageteb regionusagepeb regionusageprocessparametrs regionusageprocessparameters
    regionusageenvironmentblock regionusagefilemapping regionusagefree regionusageisvad pageheap
    heapblock mappedfile filemap filemapping unclassified clr gcheap gcheaptobefreed gcbookkeeping
    handletable loadercodeheap hostcodeheap executableheap jit jitheap loaderheap highfrequencyheap
    lowfrequencyheap staticsheap stubheap lookupheap resolveheap dispatchheap cacheentryheap vtableheap
    thunkheap indirectionheap dynamichelpersheap precodeheap fixupprecodeheap newstubprecodeheap
    gcheapreserve loadercodeheapreserve hostcodeheapreserve executableheapreserve
    lowfrequencyheapreserve highfrequencyheapreserve stubheapreserve mem_image mem_mapped mem_private
    mem_commit mem_reserve mem_free var regions malloc tiny small medium large huge nano empty metadata
    guard zone zones defaultmalloczone gfxmalloczone mallochelperzone quartzcore activity tracing
    allocate vm vm_allocate dyld unused but dirty shlib kernel alloc once iokit iosurface ioaccelerator
    coreanimation coregraphics coreservices coreui foundation corefoundation cg ci is backing stores
    raster libnetwork sqlite webkit webassembly memory js gigacage bmalloc sbrk realloc pmap shm owned
    unmapped unowned in for of the or and skywalk networking accelerator purgeable stop guard text const
    linkedit auth objc ro rw pagezero unicode data_const data_dirty auth_const objc_const objc_rw
    objc_ro tpro_const font oslog writable writeable resident size count bytes rollup local android tls
    bss rdata pdata idata edata rsrc reloc didat debug didat crt orpc mrdata clr section locked
    shareable view views physical aslr activation context pagefile backed sections
    """
)
"""Labels of tools: categories of dumpsys, types of VMMap and vmmap, usages of WinDbg; in lower case."""

SYSTEM_WORDS = _list(
    """
    linux gnu debian ubuntu fedora red hat redhat enterprise centos rocky almalinux alma oracle suse
    opensuse leap tumbleweed sles alpine arch manjaro gentoo amazon android microsoft windows macos os x
    server pro home education datacenter standard core enterprise evaluation lts workstation release
    bookworm bullseye buster trixie stretch sid jammy noble focal bionic xenial plow ootpa maipo service
    pack nt build insider edition for smp preempt preempt_dynamic dynamic rt utc gmt mon tue wed thu fri
    sat sun jan feb mar apr may jun jul aug sep oct nov dec generic amd arm aarch x i aws azure gcp gke
    cloud kvm virt lowlatency hwe oem raspi rpi el fc amzn deb rc wsl microsoft-standard linuxkit moby
    aufs pve lkm v version uek chromeos amd64 arm64 i386 x86_64 aarch64 ppc64le ppc64 s390x riscv64
    riscv mips mips64 ppc le s riscv32 armv7l armv8l ia64 ia darwin macos ios fuchsia little big
    processor platform winbuild release th rs vb fe co ni ge built by a b c d e f g h gdr ldr qfe rtm
    win lh vistasp
    """
)
"""Words of the names and versions of systems and kernels; in lower case."""
