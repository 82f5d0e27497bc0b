"""The rules that say what memory is: ordered, anchored, versioned, each with the fact that it rests on.

A rule claims regions that no rule before it has claimed. This is the table alone: `classify` applies it, and
`user_rules` reads rules of the same form from a user's file, which go first.
"""

from __future__ import annotations

from dataclasses import dataclass

from mmpscope.analysis.named_memory import ALLOCATED, RUNTIME_FILES, Name
from mmpscope.analysis.schema import GATE

__all__ = ["GATES", "RULES", "RULES_VERSION", "Rule"]

RULES_VERSION = "1"
"""Changes with every change of the table that can move a region from one type to another."""


@dataclass(frozen=True)
class Rule:
    """What a region must be, and what it is then called; all conditions that are given must hold.

    ``name`` and ``perms`` are regular expressions for the whole text. ``pseudo`` asks for no file behind
    it: a file may be called ``[heap]``. ``find`` names a search of `classify` that looks at more than one
    region. ``type`` is None where a region takes the type of its neighbour.
    """

    id: str
    type: str | None
    subtype: str | None
    confidence: str
    because: str
    name: str | None = None
    perms: str | None = None
    pseudo: bool = False
    find: str | None = None
    min_size: int | None = None
    max_size: int | None = None


def _search(rule: str, kind: str | None, subtype: str | None, confidence: str, because: str) -> Rule:
    return Rule(rule, kind, subtype, confidence, because, find=rule)


def _name(row: Name, *, pseudo: bool) -> Rule:
    return Rule(row.rule, row.type, row.subtype, "high", row.because, name=row.pattern, pseudo=pseudo)


GATES = (
    _search("gate", "Image", GATE, "high", "a page of the kernel that every process sees, in no VmSize"),
)
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
    Name("shm-sysv", "Shareable", "SysV", r"/SYSV[0-9a-f]{8}( \(deleted\))?", "shmget(2); the key in hex"),
    Name("shm-memfd", "Shareable", "memfd", r"/memfd:.*", "memfd_create(2); no image, even if executable"),
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
         name=r"/dev/zero( \(deleted\))?", perms="...s"),
    Rule("shm-hugetlb", "Shareable", "hugetlb", "high", "shared huge pages: MAP_HUGETLB, hugetlbfs",
         perms="...s", find="hugetlb"),
    Rule("shm-unnamed", "Shareable", "anonymous", "high", "shared, and no file behind it",
         perms="...s", find="pseudo"),
)

_IMAGE = (
    _search("image-elf", "Image", None, "high", "part of an ELF file of which a part is mapped executable"),
    _search("image-bss", "Image", ".bss", "high", "at least half is .bss, by p_memsz of the file's segments"),
    _search("image-text", "Image", "moved text", "medium", "executable in place of a file's segment"),
    _search("image-gap", "Image", "gap", "medium", "no access, between two parts of one file"),
    _search("image-name", "Image", None, "low", "mapped executable from a file that was not read"),
)

_PATTERNS = (
    _search("heap-go", "Managed Heap", "Go", "low", "at 0xc000000000, where Go has its heap"),
    _search("stack-pointer", "Stack", "thread stack", "high", "a stack pointer points into it; guarded"),
    _search("stack-bare", "Stack", "thread stack", "medium", "a stack pointer points into it; no guard"),
    _search("heap-arena", "Heap", "glibc arena", "low", "aligned, and a no-access tail, as in glibc"),
    _search("stack-pattern", "Stack", "thread stack", "low", "above a guard, and of a size that stacks have"),
    _search("guard", None, "guard", "medium", "no access, at most 1 MiB, below a stack or inside a heap"),
)

_REST = (
    Rule("private-zero", "Private Data", "/dev/zero", "high", "zero(4): a private mapping of it is anonymous",
         name=r"/dev/zero( \(deleted\))?", perms="...p"),
    Rule("private-hugetlb", "Private Data", "hugetlb", "high", "private huge pages: MAP_HUGETLB",
         perms="...p", find="hugetlb"),
    Rule("device", "Mapped File", "device", "high", "unclaimed: a device", name=r"/dev/.*"),
    _search("file", "Mapped File", None, "high", "unclaimed: a file is behind it"),
    _search("reservation", "Private Data", "reservation", "high", "unclaimed: no access right, no name"),
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
"""All rules of ours in the order in which they are asked. Two orders matter and look odd.

.bss goes before [heap], since kernels before 6.5 call the .bss of a program [heap] where the two touch; and
the heap of Go before stack pointers, since the threads of a Go program run on stacks that lie in its heap.
"""
