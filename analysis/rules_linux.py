"""The rules for Linux maps (/proc text, pmap, cores): names of the kernel and of allocators, images, shapes.

They rest on perms, path and, where the source has them, on inode, threads, modules and segments.
"""

from __future__ import annotations

from mmpscope.analysis.named_memory import ALLOCATED, RUNTIME_FILES, Name
from mmpscope.analysis.rules import Rule, search
from mmpscope.analysis.schema import GATE

__all__ = ["GATES", "RULES"]


def _name(row: Name, *, pseudo: bool) -> Rule:
    return Rule(row.rule, row.type, row.subtype, "high", row.because, name=row.pattern, pseudo=pseudo)


GATES = (search("gate", "Image", GATE, "high", "a page of the kernel that every process sees, in no VmSize"),)
"""Before even the user's rules: whether an area counts at all is no matter of taste."""

# fmt: off
_KERNEL = (
    Name("kernel-vdso", "Image", "vdso", r"\[vdso\]", "vdso(7): the kernel's own shared library"),
    Name("kernel-vvar", "Image", "vvar", r"\[vvar(_\w+)?\]", "vdso(7): the data that its code reads"),
    Name("kernel-sigpage", "Image", "sigpage", r"\[sigpage\]", "ARM: code to return from signal handlers"),
    Name("kernel-uprobes", "Private Data", "uprobes", r"\[uprobes\]", "instructions that uprobes moved"),
)
"""Names that the kernel gives to mappings of its own."""

_SHARED = (
    Name("shm-sysv", "Shareable", "SysV", r"/?SYSV[0-9a-f]{8}( \(deleted\))?|\[ ?shmid=.*\]", "shmget(2)"),
    Name("shm-memfd", "Shareable", "memfd", r"/?memfd:.*", "memfd_create(2); no image, even if executable"),
    Name("shm-posix", "Shareable", "shm", r"/(dev|run)/shm/.*", "shm_open(3): files in the tmpfs /dev/shm"),
    Name("shm-ashmem", "Shareable", "ashmem", r"/dev/ashmem.*", "shared memory of Android before memfd"),
    Name("shm-named", "Shareable", "named", r"\[anon_shmem:.*\]", "named by PR_SET_VMA, Linux 6.2"),
    Name("shm-aio", "Shareable", "aio ring", r"/\[aio\]( \(deleted\))?", "io_setup(2): ring of completions"),
    Name("shm-io-uring", "Shareable", "io_uring", r"anon_inode:\[io_uring\]", "io_uring_setup(2): its rings"),
    Name("shm-perf", "Shareable", "perf ring", r"anon_inode:\[perf_event\]", "perf_event_open(2)"),
    Name("shm-kvm", "Shareable", "kvm", r"anon_inode:kvm-.*", "KVM: state of a virtual processor"),
    Name("shm-dmabuf", "Shareable", "dma-buf", r"/dmabuf:.*|anon_inode:dmabuf", "shared with devices"),
    Name("shm-drm", "Shareable", "graphics", r"/dev/(dri/|kgsl|mali).*|/drm mm object.*|/i915.*", "GPU"),
)
"""Objects that exist to be shared, however they are mapped; before Image, since a JIT may run in one."""

_SHARED_ANONYMOUS = (
    Rule("shm-anonymous", "Shareable", "anonymous", "high", "mmap(2): how MAP_SHARED | MAP_ANONYMOUS looks",
         name=r"/dev/zero|(/dev/)?zero \(deleted\)", where=(("perms", "...s"),)),
    Rule("shm-hugetlb", "Shareable", "hugetlb", "high", "shared huge pages: MAP_HUGETLB, hugetlbfs",
         where=(("perms", "...s"),), find="hugetlb"),
    Rule("shm-unnamed", "Shareable", "anonymous", "high", "shared, and no file behind it",
         where=(("perms", "...s"),), find="pseudo"),
)

_IMAGE = (
    search("image-elf", "Image", None, "high", "part of an ELF file of which a part is mapped executable"),
    search("image-bss", "Image", ".bss", "high", "at least half is .bss, by p_memsz of the file's segments"),
    search("image-text", "Image", "moved text", "medium", "executable in place of a file's segment"),
    search("image-gap", "Image", "gap", "medium", "no access, between two parts of one file"),
    search("image-name", "Image", None, "low", "mapped executable from a file that was not read"),
)

_PATTERNS = (
    search("heap-go", "Managed Heap", "Go", "low", "at 0xc000000000, where Go has its heap"),
    search("stack-pointer", "Stack", "thread stack", "high", "a stack pointer points into it; guarded"),
    search("stack-bare", "Stack", "thread stack", "medium", "a stack pointer points into it; no guard"),
    search("heap-arena", "Heap", "glibc arena", "low", "aligned, and a no-access tail, as in glibc"),
    search("stack-pattern", "Stack", "thread stack", "low", "above a guard, and of a size that stacks have"),
    search("guard", None, "guard", "medium", "no access, at most 1 MiB, below a stack or inside a heap"),
)

_REST = (
    Rule("private-zero", "Private Data", "/dev/zero", "high", "zero(4): a private mapping of it is anonymous",
         name=r"/dev/zero( \(deleted\))?", where=(("perms", "...[p?]"),)),
    Rule("private-hugetlb", "Private Data", "hugetlb", "high", "private huge pages: MAP_HUGETLB",
         where=(("perms", "...[p?]"),), find="hugetlb"),
    Rule("device", "Mapped File", "device", "high", "unclaimed: a device", name=r"/dev/.*"),
    search("file", "Mapped File", None, "high", "unclaimed: a file is behind it"),
    search("reservation", "Private Data", "reservation", "high", "unclaimed: no access right, no name"),
    Rule("named", "Private Data", "named", "low", "unclaimed: a name that no rule knows",
         name=r"\[.*\]", pseudo=True),
    Rule("private", "Private Data", None, "low", "unclaimed: private memory of whatever kind"),
)
# fmt: on

RULES = (
    *(_name(row, pseudo=True) for row in _KERNEL),
    *(_name(row, pseudo=False) for row in (*RUNTIME_FILES, *_SHARED)),
    *_SHARED_ANONYMOUS,
    *_IMAGE,
    *(_name(row, pseudo=True) for row in ALLOCATED),
    *_PATTERNS,
    *_REST,
)
"""All rules for Linux in the order in which they are asked. Two orders matter and look odd.

.bss goes before [heap], since kernels before 6.5 call the .bss of a program [heap] where the two touch; and
the heap of Go before stack pointers, since the threads of a Go program run on stacks that lie in its heap.
"""
