"""The words that our own sentences are made of: reasons, sources of ranges, names of formats, error texts.

A sentence of a file is kept word by word where its words are here, and numbers are; every other word becomes
a token. Words of the C library and of Windows for what went wrong are among them.
"""

from __future__ import annotations

__all__ = ["SENTENCE_WORDS"]


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SENTENCES = _list(
    """
    a abort about above access accessing adb add adding addr address addresses adds administrator
    advertise after again agree aligned alike all allocate allocation allocations alone already also an
    and android announces anode anon anonhugepages anonymous another answer any app append applicable
    applications archive are args argument arguments arm around as ask asked asks asm assign assumed at
    attached attempted attempting auth auxv available avoided aware bad base bbiiiii be became been
    before begin beginning begins behind being belong belongs below beside between beyond bin bit bitmap
    bits block blocked blocks boot brace brackets breakpad broken bsdtar btrfs buffer build builds busy
    busybox but by byte bytes c cache call called calls can canceled cannot cap capture captured
    captures category caused cells cgroup changed channel character charge check checksum child choose
    circle class clean cleaning cmdline code codes codeview collect collected collector colours column
    columns combine comes command commit committed communication completed connected connection constant
    container contents context continue contradicts convert copy core corrupted cost could count counter
    counters counts crashpad createtoolhelp cross csi csv ctrl currentversion cut cuts d damaged data
    database day deadlock debug debugger decompress decompressed deep deeply default defined deflate
    deleted denied described describes description descriptor desired destination device devices
    dictionary did died directly directory dirty disagree disk dll do document does domain done dotnet
    down driver dropped due dump dumped dumpsys duration eacces each eaddrinuse eaddrnotavail eadv
    eafnosupport eagain ealready earlier early ebade ebadf ebadfd ebadmsg ebadr ebadrqc ebadslt ebfont
    ebusy ecanceled echild echrng ecomm econnaborted econnrefused econnreset edeadlock edestaddrreq edom
    edotdot edquot eexist efault efbig ehostdown ehostunreach eidrm eilseq einprogress eintr einval eio
    eisconn eisdir eisnam ekeyexpired ekeyrejected ekeyrevoked element elements elf elibacc elibbad
    elibexec elibmax elibscn elnrng eloop elsewhere emediumtype emfile emlink emory empty emsgsize
    emultihop enable enametoolong enavail enc encoding encrypted end endaddr ended ending endpoint ends
    enetdown enetreset enetunreach enfile enoano enobufs enocsi enodata enodev enoent enoexec enokey
    enolck enolink enomedium enomem enomsg enonet enopkg enoprotoopt enospc enosr enostr enosys enotblk
    enotconn enotdir enotempty enotnam enotrecoverable enotsock enotsup enotty enotuniq enter entries
    environ environment enxio eoverflow eownerdead eperm epfnosupport epipe eproto eprotonosupport
    eprototype erange eremchg eremote eremoteio erestart erfkill erofs error errors eshutdown
    esocktnosupport espipe esrch esrmnt estale estrpipe etime etimedout etoomanyrefs etxtbsy euclean
    eunatch eusers every exact examples exceeded excerpt exchange exclude exdev exe exec execute exfull
    exists exit expired explorer extended f facts failed family fault faults features fewer figure
    figures file filepmdmapped files filtered find first fit fixed folder follow follows font footprint
    for force form format formats formed found frame frames free freebsd from full function further gap
    gaps gb gcore gdb generation gets getsysteminfo gib gif gigabytes give given gives gnu go goes going
    gone guard h had half halted handle happens hard has have head header headers heading heap heaps
    help here hidden hidepid hides highest hold holds host hostname how html huge hugetlb i ia id
    identifier if ii illegal image images implemented in inappropriate incomplete incorrect index
    inferred info inode input inside installed insufficient int integrity interrupted interval into
    invalid ioctl ip is it item its itself job jpeg k kb kbytes keeps kept kernel kernelpagesize kernels
    key kib kill kind kinds know known knows ksm lacks large larger largest last layout lazyfree leads
    leave leaves left less level levels lib libraries library licence lies light like limit limits line
    lines link links linux linuxmaps list listed listing listings lists little lmms load location locked
    locks log logs long longer look looked looks lost low lz m ma mac mach machine macos maddress made
    magic main make makes managed manager many map mapped mapping mappings maps max may mdmp medium
    member members meminfo memory memoryinfolist message method methods mib microdump microsoft middle
    min minidump minidumpwritedump minimum mips missing mmap mmp mmpscope mmupagesize module modules
    more mount mounted ms multibyte multihop multiple must mz n name named names namespace need needed
    needs neither nested net network never new newer next nginx no nobody non none nor not note notes
    nothing now nt ntqueryvirtualmemory number numerical o object objects odd of off office offset old
    on once one ones only open opened operation options or order os other others ours out output outside
    over overcommit overlap overlaps overlayfs own owner p package packed page pages pagezero param
    parameter parent parse part partial parts past path paths pause paused pauses payload pdf pe peak
    peb peer performance perfview perm permission permitted perms personality pgtable physical pid pipe
    pk place plain platform please pmap png pointer points port portion possible powerpc pr pretty print
    printed prints priority private privilege proc procdump process processes processor procps prog
    program programs progress protected protection protocol prstatus ps psargs psinfo pss pt ptrace
    public python q qii qiiii qq qqqq queryworkingsetex quota r range ranges rar ratio raw reach read
    readable readers readonly readprocessmemory reads real reason reckons record records recoverable
    redacted redaction redirect refer referenced references refers refused region regions registers
    registry regular rejected release remote removed replace report request requested required requires
    reserve reserved reset resident resource resources restarted result revoked rf rfs right rights risc
    riscv roll rollup room root rounds route row rows rsdnt rss rtf rule run running runs s said same
    save saved saves say says scope seconds secret secrets section security sedebugprivilege see seek
    sees self semaphores send sense separator series server service session set sets several severed
    shareable shared shell shmem shmemhugepages shmempmdmapped short shorter should show showmap shows
    shutdown sid side sighup sigint sign signal signature sigterm sigusr size sizes slot small smallest
    smaps smemcap snapshot snapshots so socket software some something song sos source sp space sparse
    specific specified splice spreadsheet sqlite srmount stack stacks stale stand standard stands start
    startaddr started starts stat state states status still stopped store stream streams string
    structure sub successfully such sudo sum summary sums supported suspended sv swap swappss symbolic
    synchronized sys syscall sysinternals system t table tables tag take taken takes tar task tell tells
    temporarily terminal text texts than that the their them there these they things third this those
    thread threads time timed timer times to together tokens told too tool toolhelp total totals
    transport truncated trust try twice two txt type types u unambiguous unavailable under understood
    unfinished unique unit unknown unless unpack unpacked unpacks unreachable unusable unusual up usable
    usage use used user users usual utf v va validity value values vendor version very virtual vm vmmap
    vsize wait was watch we well were what whatever when where whether which while whole whose wide
    width win windbg windows with within without words working would wow write writeprocessmemory writes
    written wrong wrote ws x xenix xffffffffff xml xp xx y yama yet you yourself z za zero zip zlib
    zombie zstd
    """
)
_STATES = _list(
    """
    running sleeping disk stopped stop tracing zombie dead idle parked waking always enabled vulnerable
    mitigated force globally conditional us seconds locks signals processes coreclr clr mscorwks sigkill
    sigsegv sigabrt sigbus lpmaximumapplicationaddress lpminimumapplicationaddress threadlist modulelist
    memorylist exlist systeminfo threadexlist memoryexlist exceptionstream commentstreama commentstreamw
    handledata functiontable unloadedmodulelist miscinfo memoryinfolist threadinfolist threadnames
    systemmemoryinfo processvmcounters linuxcpuinfo linuxprocstatus linuxlsbrelease linuxcmdline
    linuxenviron linuxauxv linuxmaps linuxdsodebug mozlinuxlimits mozsofterrors memorylistlist sigill
    move moved moves places distances stay across sigfpe sigquit sigpipe sigusr sigtrap sigalrm sigxcpu
    """
)
"""Of a state, of speculation, of limits, of runtimes and of signals."""
SENTENCE_WORDS = _SENTENCES | _STATES
"""In lower case."""
