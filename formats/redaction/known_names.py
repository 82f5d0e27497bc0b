"""Names that every machine has, and that therefore stay: folders, libraries, programs, extensions, accounts.

An allow list: whatever is not here becomes a token. Names of files are written without their versions
(``libc.so`` stands for libc.so.6 and libc-2.31.so), those of Windows in lower case.
"""

from __future__ import annotations

__all__ = ["ACCOUNTS", "EXTENSIONS", "FILES", "FOLDERS", "LOOSE_FOLDERS", "PRIVATE_BELOW", "WINDOWS_FOLDERS"]


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


FOLDERS = _list(
    """
    usr lib lib64 lib32 libx32 bin sbin libexec share local etc opt home root var tmp run dev proc sys
    mnt media srv boot snap nix gnu store cache log fonts locale games include data system system_ext
    vendor apex product app priv-app framework javalib dalvik-cache System Library Applications Users
    Volumes private Frameworks PrivateFrameworks Extensions CoreServices dyld Versions Contents MacOS
    Resources Libraries shm dri snd input net pts mapper ashmem net self task fd map_files fs cgroup
    kernel devices class block bus udev dbus user systemd system-lib nss gconv gio modules girepository
    gdk-pixbuf qt qt5 qt6 plugins jvm jre server perl perl-base python dist-packages site-packages
    lib-dynload node_modules ssl engines ossl-modules icu com.android.runtime com.android.art
    com.android.conscrypt com.android.i18n com.android.os.statsd com.android.media com.android.tzdata
    bionic hw egl arm arm64 oat zoneinfo C.utf8 C.UTF-8 en_US.utf8 LC_MESSAGES locale-archive java
    default-java
    """
) | {
    *("x86_64-linux-gnu", "i386-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"),
    *("powerpc64le-linux-gnu", "s390x-linux-gnu", "arm-linux-gnueabi", "mips64el-linux-gnuabi64"),
    *("java-8-openjdk-amd64", "java-11-openjdk-amd64", "java-17-openjdk-amd64", "java-21-openjdk-amd64"),
}
"""Folders of Unix, as long as all above them are known."""

WINDOWS_FOLDERS = _list(
    """
    windows winnt system32 syswow64 sysnative winsxs drivers fonts globalization sorting assembly temp
    users programdata inetpub device microsoft.net framework framework64 gac_msil gac_32 gac_64
    nativeimages en-us registration microsoft inetsrv wbem
    """
) | {"program files", "program files (x86)", "common files"}
"""Folders of Windows, in lower case."""

LOOSE_FOLDERS = frozenset({"harddiskvolume", "nativeimages_v_", "nativeimages", "v", "python", "perl"})
"""Folders that carry a version or a number, without it."""

PRIVATE_BELOW = frozenset(
    {"home", "Users", "users", "user", "media", "Volumes", "mnt", "srv", "root", "app", "opt"}
)
"""Folders below which the next name is somebody's, whatever it is called."""

_GLIBC = (
    "ld ld-linux ld-linux-x ld-linux-aarch ld-linux-armhf ld-musl-x ld-musl-aarch ld libc libm libdl "
    "libpthread librt libutil libresolv libnsl libanl libcrypt libnss_files libnss_dns libnss_compat "
    "libnss_systemd libnss_myhostname libnss_sss libthread_db libBrokenLocale libmvec libmemusage "
    "libpcprofile libSegFault"
)
_COMMON = (
    "libstdc++ libgcc_s libgomp libatomic libquadmath libasan libtsan libubsan liblsan libgfortran libz "
    "libzstd liblzma libbz libbrotlicommon libbrotlidec libbrotlienc liblz libsnappy libssl libcrypto "
    "libgnutls libnettle libhogweed libgmp libtasn libp libidn libunistring libcurl libcurl-gnutls "
    "libnghttp libssh librtmp libpsl libldap libldap_r liblber libsasl libgssapi_krb libkrb libkrbsupport "
    "libk libcom_err libkeyutils libffi libexpat libxml libxslt libpcre libpcre-posix libsqlite libuuid "
    "libblkid libmount libselinux libcap libcap-ng libacl libattr libaudit libpam libsystemd libudev "
    "libdbus libglib libgobject libgio libgmodule libgthread libncurses libncursesw libtinfo libreadline "
    "libedit libhistory libgdbm libdb libyaml libjson-c libjansson libuv libevent libev libhiredis libpq "
    "libmysqlclient libmariadb libodbc libicuuc libicudata libicui18n libicuin libjpeg libpng libtiff "
    "libwebp libgif libfreetype libfontconfig libharfbuzz libcairo libpango libpixman libX libxcb libXau "
    "libXdmcp libXext libXrender libXrandr libXi libXfixes libGL libEGL libGLX libGLdispatch libdrm "
    "libgbm libwayland-client libwayland-server libasound libpulse libnuma libunwind libelf libdw "
    "libbacktrace libnl libpcap libprotobuf libgrpc libtcmalloc libtcmalloc_minimal libjemalloc "
    "libmimalloc libboost_system libboost_thread libboost_filesystem liblua libperl libpython libruby "
    "libmagic libgpg-error libgcrypt libassuan libgpgme libseccomp libapparmor libip libxtables libmnl "
    "libtirpc libaio liburing libhwloc libopenblas libblas liblapack libcuda libcudart libcublas "
    "libnvidia-ml libnode libv libpthread_nonshared libproc libprocps libm vdso linux-vdso linux-gate "
    "libjvm libjava libjli libnio libnet libzip libjimage libjsvml libverify libmanagement libextnet libawt "
    "libinstrument libjsig libcoreclr libclrjit libhostfxr libhostpolicy libSystem libclrgc "
    "libmscordaccore libSystem.Native libicu"
)
_ANDROID = (
    "libart libartbase libdexfile libbase libbinder libutils libcutils liblog libandroid "
    "libandroid_runtime libandroidfw libhwui libgui libui libnativehelper libnativeloader libsigchain "
    "libc++ libvixl libprofile linker linker_hwasan boot boot-framework boot-core-libart app_process "
    "libskia libEGL libGLESv libssl libmedia libnativewindow libft libcrypto core-oj core-libart "
    "framework conscrypt okhttp bouncycastle apache-xml services ext telephony-common updatable-media"
)
_PYTHON = (
    "_asyncio _bisect _blake _bz _codecs_cn _codecs_jp _contextvars _csv _ctypes _curses _datetime _dbm "
    "_decimal _elementtree _functools _hashlib _heapq _json _lsprof _lzma _md _multibytecodec "
    "_multiprocessing _opcode _pickle _posixshmem _posixsubprocess _queue _random _sha _socket _sqlite "
    "_ssl _statistics _struct _tkinter _uuid _zoneinfo array audioop binascii cmath fcntl grp math mmap "
    "nis ossaudiodev pyexpat readline resource select spwd syslog termios unicodedata xxlimited zlib "
    "_typing _interpreters _zstd"
)
_PROGRAMS = (
    "python pypy sh bash dash zsh ksh fish perl ruby node nodejs java javac php php-fpm lua sleep cat "
    "grep sed awk ls ps top init systemd systemd-journald systemd-udevd systemd-logind systemd-resolved "
    "systemd-timesyncd systemd-networkd dbus-daemon dbus-broker cron crond rsyslogd sshd ssh sudo su "
    "login agetty getty busybox tini dumb-init dockerd containerd containerd-shim runc podman conmon "
    "kubelet kube-proxy nginx httpd apache postgres mysqld mariadbd redis-server memcached mongod "
    "rabbitmq-server haproxy envoy gdb strace make gcc g++ clang go rustc cargo git vim emacs tmux screen "
    "chrome chromium firefox Xorg gnome-shell mmp mmp-collect dotnet git-bash qemu-system-x dockerd "
    "zygote app_process surfaceflinger system_server"
)
_SHARED_OBJECTS = frozenset(
    f"{name}.so" for text in (_GLIBC, _COMMON, _ANDROID, _PYTHON) for name in text.split()
)
_WINDOWS = (
    "ntdll kernel32 kernelbase user32 win32u gdi32 gdi32full msvcp_win ucrtbase advapi32 msvcrt sechost "
    "rpcrt4 combase ole32 oleaut32 shell32 shlwapi shcore ws2_32 mswsock crypt32 cryptbase bcrypt "
    "bcryptprimitives ncrypt wintrust secur32 sspicli dbghelp dbgcore version winmm winhttp wininet "
    "iphlpapi dnsapi nsi psapi userenv profapi powrprof setupapi cfgmgr32 wow64 wow64win wow64cpu "
    "wow64base imm32 msctf uxtheme dwmapi comctl32 comdlg32 gdiplus d2d1 d3d9 d3d10 d3d11 d3d12 dxgi "
    "dwrite windowscodecs opengl32 mfplat mscoree mscoreei clr clrjit coreclr mscorwks mscorlib hostfxr "
    "hostpolicy vcruntime140 vcruntime140_1 msvcp140 msvcp120 msvcr120 msvcr110 msvcr100 msvcr90 "
    "concrt140 netapi32 samlib wldap32 wtsapi32 winsta credssp schannel cryptsp rsaenh apphelp sfc sfc_os "
    "normaliz propsys clbcatq amsi mpr wkscli netutils srvcli kernel.appcore windows.storage wldp urlmon "
    "iertutil rasadhlp fwpuclnt locale c_1252 r000000000001 sortdefault staticcache tzres"
)
_WINDOWS_PROGRAMS = (
    "cmd powershell explorer svchost services lsass csrss wininit winlogon smss dwm conhost taskhostw "
    "spoolsv notepad rundll32 regsvr32 dllhost w3wp wmiprvse runtimebroker searchindexer msbuild devenv "
    "python java node dotnet system registry"
)
_MACOS = (
    "dyld libSystem.B libsystem_c libsystem_malloc libsystem_kernel libsystem_pthread libsystem_m "
    "libsystem_platform libsystem_info libsystem_trace libdispatch libobjc.A libc++ libc++abi libxpc "
    "libcompiler_rt libunwind libmacho libdyld libcorecrypto liblaunch libcache libquarantine libcopyfile "
    "libremovefile libsystem_blocks libsystem_asl libsystem_notify libsystem_sandbox "
    "libsystem_networkextension libicucore.A"
)
_MACOS_FRAMEWORKS = (
    "CoreFoundation Foundation AppKit Security CoreServices CFNetwork IOKit CoreGraphics CoreText "
    "QuartzCore Metal Cocoa HIToolbox ApplicationServices Carbon Accelerate vImage vecLib ImageIO ColorSync "
    "CoreData CoreImage"
)
_THREADS = (
    *("VM Thread", "Finalizer", "Signal Dispatch", "Service Thread", "Common-Cleaner", "Reference Handl"),
    *("Monitor Deflati", "C1 CompilerThre", "C2 CompilerThre", "Sweeper thread", "Notification Th"),
    *("VM Periodic Tas", "GC Thread#0", "G1 Conc#0", "G1 Main Marker", "G1 Refine#0", "G1 Service", "main"),
)
"""Of the JVM, as Linux cuts them."""
_LOCALES = (
    "LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY SYS_LC_MESSAGES LC_PAPER LC_NAME LC_ADDRESS "
    "LC_TELEPHONE LC_MEASUREMENT LC_IDENTIFICATION"
)
_OTHER = (
    "zero null random urandom mem kmsg fuse ion ashmem dmabuf kvm binder hwbinder vndbinder nvidiactl "
    "nvidia nvidia-uvm kgsl-d mali renderD card anon_hugepage locale-archive gconv-modules.cache "
    "ld.so.cache modules cacerts classes.jsa mime.cache passwd group __properties__ u:object_r:debug_prop"
)
FILES = frozenset(
    {
        *_SHARED_OBJECTS,
        *_PROGRAMS.split(),
        *_OTHER.split(),
        *_LOCALES.split(),
        *_THREADS,
        *(f"{name}.dll" for name in _WINDOWS.split()),
        *(f"{name}.exe" for name in _WINDOWS_PROGRAMS.split()),
        *(f"{name}.nls" for name in ("locale", "c_1252", "sortdefault")),
        *(f"{name}.pdb" for name in _WINDOWS.split()),
        *(f"{name}.dylib" for name in _MACOS.split()),
        *(f"{name}.framework" for name in _MACOS_FRAMEWORKS.split()),
        *_MACOS_FRAMEWORKS.split(),
        *("[aio]", "drm mm object", "i915", "dyld", "dalvik-jit-code-cache"),
    }
)
"""Files that keep their name wherever they lie."""

EXTENSIONS = (
    "so dll exe sys ocx drv cpl nls mui pdb pyd pyc py pyo jar war ear class jsa dex odex vdex oat art "
    "apk dylib framework app bundle a o ko rb pl pm js mjs cjs node wasm json xml yaml yml toml ini conf "
    "cfg txt log md html css csv tsv db sqlite sqlite3 dat data bin idx index pak tmp temp swp bak old "
    "cache mo gmo ttf ttc otf pfb woff png jpg jpeg gif svg ico bmp webp mp3 mp4 wav zip gz bz2 xz zst "
    "tar tgz lock pid sock map dump dmp core mmp smaps parquet arrow feather npy npz h5 pkl pem crt cer "
    "key service slice scope mount socket target sh bat cmd ps1 go rs c h cc cpp hpp java kt cs lib res "
    "rdb mdb ldf mdf ndf clb tlb manifest config aspx service out"
)
"""Extensions that stay."""

ACCOUNTS = _list(
    """
    root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody
    messagebus sshd syslog postgres mysql redis nginx apache systemd-network systemd-resolve
    systemd-timesync system administrator administrators guest everyone
    """
) | {"nt authority", "local service", "network service", "nt service", "builtin", "window manager"}
"""Accounts that every machine has, in lower case."""
