"""Keys and columns that hold numbers and nothing else, as kernels, Windows and tools call them.

A key that is not here is not taken over: a text that somebody saved may have lines of any name.
"""

from __future__ import annotations

from mmpscope.formats.proc.counters import KERNEL_KINDS

__all__ = [
    "ADDRESS_COLUMNS",
    "AUXV",
    "AUXV_ADDRESSES",
    "CGROUP",
    "JOB_LIMITS",
    "LIMITS",
    "MEMINFO",
    "MEMORY_COUNTERS",
    "MEMORY_STAT",
    "NUMBER_COLUMNS",
    "PERFORMANCE",
    "SMAPS",
    "STAT",
    "STAT_ADDRESSES",
    "STATUS",
]


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


SMAPS = frozenset(KERNEL_KINDS) - {"VmFlags"}
STATUS = _list(
    """
    Tgid Ngid Pid PPid TracerPid FDSize NStgid NSpid NSpgid NSsid Kthread VmPeak VmSize VmLck VmPin
    VmHWM VmRSS RssAnon RssFile RssShmem VmData VmStk VmExe VmLib VmPTE VmPMD VmSwap HugetlbPages
    CoreDumping THP_enabled Threads NoNewPrivs Seccomp Seccomp_filters voluntary_ctxt_switches
    nonvoluntary_ctxt_switches
    """
)
STAT = _list(
    """
    ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime
    priority nice num_threads itrealvalue starttime vsize rss rsslim signal blocked sigignore sigcatch
    nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time cguest_time
    exit_code
    """
)
STAT_ADDRESSES = _list(
    """
    startcode endcode startstack kstkesp kstkeip start_data end_data start_brk arg_start arg_end env_start
    env_end
    """
)
LIMITS = frozenset(
    f"Max {name}"
    for name in (
        "cpu time", "file size", "data size", "stack size", "core file size", "resident set", "processes",
        "open files", "locked memory", "address space", "file locks", "pending signals", "msgqueue size",
        "nice priority", "realtime priority", "realtime timeout",
    )
)  # fmt: skip
AUXV = frozenset(
    f"AT_{name}"
    for name in [
        "EXECFD",
        "PHENT",
        "PHNUM",
        "PAGESZ",
        "FLAGS",
        "NOTELF",
        "HWCAP",
        "CLKTCK",
        "FPUCW",
        "DCACHEBSIZE",
        "ICACHEBSIZE",
        "UCACHEBSIZE",
        "IGNOREPPC",
        "SECURE",
        "HWCAP2",
        "RSEQ_FEATURE_SIZE",
        "RSEQ_ALIGN",
        "HWCAP3",
        "HWCAP4",
        "MINSIGSTKSZ",
        "40",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "47",
    ]
)
AUXV_ADDRESSES = frozenset(
    f"AT_{name}"
    for name in _list("PHDR BASE ENTRY PLATFORM BASE_PLATFORM RANDOM EXECFN SYSINFO SYSINFO_EHDR")
)
CGROUP = _list(
    """
    version limit usage memory.current memory.peak memory.min memory.low memory.high memory.max
    memory.swap.current memory.swap.high memory.swap.max memory.oom.group memory.usage_in_bytes
    memory.max_usage_in_bytes memory.limit_in_bytes memory.soft_limit_in_bytes
    memory.memsw.usage_in_bytes memory.memsw.limit_in_bytes memory.failcnt memory.swappiness
    memory.use_hierarchy
    """
)
MEMORY_STAT = _list(
    """
    anon file kernel kernel_stack pagetables sec_pagetables percpu sock vmalloc shmem zswap zswapped
    file_mapped file_dirty file_writeback swapcached anon_thp file_thp shmem_thp inactive_anon
    active_anon inactive_file active_file unevictable slab_reclaimable slab_unreclaimable slab
    workingset_refault_anon workingset_refault_file workingset_activate_anon workingset_activate_file
    workingset_restore_anon workingset_restore_file workingset_nodereclaim pgscan pgsteal pgscan_kswapd
    pgscan_direct pgscan_khugepaged pgsteal_kswapd pgsteal_direct pgsteal_khugepaged pgfault pgmajfault
    pgrefill pgactivate pgdeactivate pglazyfree pglazyfreed zswpin zswpout zswpwb thp_fault_alloc
    thp_collapse_alloc thp_swpout thp_swpout_fallback cache rss rss_huge mapped_file dirty writeback
    swap pgpgin pgpgout hierarchical_memory_limit hierarchical_memsw_limit total_cache total_rss
    total_rss_huge total_shmem total_mapped_file total_dirty total_writeback total_swap total_pgpgin
    total_pgpgout total_pgfault total_pgmajfault total_inactive_anon total_active_anon
    total_inactive_file total_active_file total_unevictable workingset_refault workingset_activate
    total_swapcached total_workingset_refault_anon total_workingset_refault_file
    total_workingset_refault total_workingset_activate
    """
)
MEMINFO = _list(
    """
    MemTotal MemFree MemAvailable Buffers Cached SwapCached Active Inactive Active(anon) Inactive(anon)
    Active(file) Inactive(file) Unevictable Mlocked HighTotal HighFree LowTotal LowFree MmapCopy
    SwapTotal SwapFree Zswap Zswapped Dirty Writeback AnonPages Mapped Shmem KReclaimable Slab
    SReclaimable SUnreclaim KernelStack ShadowCallStack PageTables SecPageTables NFS_Unstable Bounce
    WritebackTmp CommitLimit Committed_AS VmallocTotal VmallocUsed VmallocChunk Percpu EarlyMemtestBad
    HardwareCorrupted AnonHugePages ShmemHugePages ShmemPmdMapped FileHugePages FilePmdMapped CmaTotal
    CmaFree Unaccepted Balloon HugePages_Total HugePages_Free HugePages_Rsvd HugePages_Surp Hugepagesize
    Hugetlb DirectMap4k DirectMap2M DirectMap4M DirectMap1G Quicklists
    """
)
PERFORMANCE = _list(
    """
    CommitTotal CommitLimit CommitPeak PhysicalTotal PhysicalAvailable SystemCache KernelTotal
    KernelPaged KernelNonpaged HandleCount ProcessCount ThreadCount
    """
)
MEMORY_COUNTERS = _list(
    """
    PageFaultCount PeakWorkingSetSize WorkingSetSize QuotaPeakPagedPoolUsage QuotaPagedPoolUsage
    QuotaPeakNonPagedPoolUsage QuotaNonPagedPoolUsage PagefileUsage PeakPagefileUsage PrivateUsage
    PeakVirtualSize VirtualSize PrivateWorkingSetSize SharedCommitUsage
    """
)
JOB_LIMITS = _list(
    """
    PerProcessUserTimeLimit PerJobUserTimeLimit LimitFlags MinimumWorkingSetSize MaximumWorkingSetSize
    ActiveProcessLimit Affinity PriorityClass SchedulingClass ProcessMemoryLimit JobMemoryLimit
    PeakProcessMemoryUsed PeakJobMemoryUsed
    """
)
NUMBER_COLUMNS = SMAPS | _list(
    """
    size offset dev_major dev_minor filesz count Dirty HugePFNMap State AllocationProtect Protect Type
    RegionType CommitSize PrivateBytes TotalWS PrivateWS ShareableWS SharedWS LockedWS LargeWS AbsentShared
    Commit Blocks Protection UseType Storage Id Largest VSIZE RSDNT DIRTY SWAP RegionSize VIRTUAL RESIDENT
    SWAPPED VOLATILE NONVOL EMPTY BYTES_ALLOCATED ALLOCATION_COUNT FRAG_SIZE PERCENT REGION_COUNT Heap_Size
    Heap_Alloc Heap_Free tid starttime stack_size priority stack64_size signal CreateTime ExitTime
    KernelTime UserTime file_size elf_class machine type module characteristics flags size_class blocks
    bytes vaddr memsz pid ppid threads rss private pss
    """
)
ADDRESS_COLUMNS = _list(
    """
    start AllocationBase sp ip stack_start teb stack64_start StartAddress low lowest id heap
    """
)
