"""Makes every .mmp file in this folder again, and the table of README.md with it.

    python samples/make_samples.py            needs root, gcc, javac, unshare; mmpscope installed
    python samples/make_samples.py windows    those of Windows only: these need Wine and MinGW
    python samples/make_samples.py series     the series of half a minute only

Runs in namespaces of its own, so that the files tell nothing of the machine but its kernel and distribution:
the host is called demo, the process list holds the scenario and its collector, programs live in /srv/demo.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

SAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(SAMPLES.parent))  # run as a file, not as a module

from samples.scenario import PROGRAMS, Scenario, build_program  # noqa: E402  # needs the path above
from samples.series_samples import SERIES, collect_series  # noqa: E402  # the same
from samples.windows_samples import WINDOWS_STEPS, collect_windows  # noqa: E402  # the same

DEMO = Path("/srv/demo")
_NAMESPACES = ("unshare", "--uts", "--mount", "--pid", "--fork", "--mount-proc", "--cgroup", "--")
_PYTHON = "import os, sqlite3, ssl, threading; print(f'ready pid={os.getpid()}', flush=True); input()"


_PLAIN, _REDACTED = "linux-python-v1.0.mmp", "linux-redacted-v1.0.mmp"
_FIRST = "malloc_small file_map"
_THEN = "reserve commit write file_read memfd_map memfd_write thread"


@dataclass(frozen=True)
class Sample:
    """One file: what was run for it, and what can be learned from it."""

    name: str
    command: str
    shows: str


_SHOWN = (
    "a heap that leaks 8 KiB in each of its rounds, under a noisy load",
    "the same program under the same load, without the leak",
    "a JVM that fills its cache and its heap, and then needs no more",
)

SAMPLES_MADE = (
    Sample(
        "linux-reserve-commit-a-v1.0.mmp",
        f"`reserve_commit backing.dat` after its steps {_FIRST}",
        "a heap, and a mapped file that nobody has read",
    ),
    Sample(
        "linux-reserve-commit-b-v1.0.mmp",
        f"the same process after {_THEN}",
        "with the one before, what a diff says: reserved, committed, written; read; shared; a thread",
    ),
    Sample("linux-leak-v1.0.mmp", "`leak`, 20 snapshots, one a step", "a heap that grows steadily"),
    Sample("linux-arenas-v1.0.mmp", "`arenas`", "four glibc arenas, five threads"),
    Sample(
        "linux-fragmented-v1.0.mmp",
        "`fragmented`",
        "ten holes in a full address space; the largest is 20 MiB, so 20 MiB fit and one page more does not",
    ),
    Sample(
        _PLAIN,
        f'`python3 -c "{_PYTHON}"`',
        "many libraries; .bss that the kernel merged with what follows",
    ),
    Sample(
        "linux-java-v1.0.mmp",
        "`java -XX:+UseSerialGC -Xmx64m -cp . Blocked`",
        "a JVM: reserved heap and code cache, twenty threads",
    ),
    *(
        Sample(name, f"`{' '.join(command)}`, twice a second for 30 seconds", shows)
        for (name, command), shows in zip(SERIES.items(), _SHOWN, strict=True)
    ),
    Sample(
        "linux-workers-a-v1.0.mmp",
        "`workers` and its children after `worker 512`, four times",
        "five processes, which share a table of 2 MiB",
    ),
    Sample(
        "linux-workers-b-v1.0.mmp",
        "the same program started again, and its children, after `worker 640`, six times, and `grow 4096`",
        "with the one before, what a diff of several processes says: all restarted, two workers more",
    ),
    Sample(
        _REDACTED,
        f"`mmp redact --rebase` of {_PLAIN}, under a key that is thrown away",
        "what is left without names, and with addresses that tell nothing of the process",
    ),
    Sample(
        "windows-reserve-commit-v1.0.mmp",
        f"`windows_steps.py` in a Windows Python in Wine 8.0, after its steps {', '.join(WINDOWS_STEPS)}",
        "six snapshots of one process: reserved, committed, written; a section mapped twice; a file mapped",
    ),
    Sample(
        "windows-wow64-v1.0.mmp",
        "a 32-bit Windows Python that waits, by a 64-bit collector in Wine 8.0",
        "both stacks of a thread under WOW64; what Wine does not tell, and why",
    ),
)


def _collect(scenario: Scenario, name: str, *options: str) -> None:
    command = [sys.executable, "-m", "mmpscope.collector", str(scenario.pid), "--quiet"]
    command += [*(options or ("--force", "-o")), str(SAMPLES / name)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def _collect_blocked(name: str, *command: str) -> None:
    with Scenario(*command, cwd=DEMO) as scenario:
        _collect(scenario, name)


def _collect_pair() -> None:
    with Scenario("./reserve_commit", DEMO / "backing.dat", cwd=DEMO) as scenario:
        for letter, steps in (("a", _FIRST), ("b", _THEN)):
            for step in steps.split():
                scenario.step(step)
            _collect(scenario, f"linux-reserve-commit-{letter}-v1.0.mmp")


def _collect_leak() -> None:
    with Scenario("./leak", cwd=DEMO) as scenario:
        for number in range(20):
            scenario.step()
            _collect(scenario, "linux-leak-v1.0.mmp", *(["--append"] if number else []))


def _collect_workers() -> None:
    """Collect a parent and its children into one file, twice: started anew, with more of them."""
    for letter, steps in (("a", ["worker 512"] * 4), ("b", [*["worker 640"] * 6, "grow 4096"])):
        with Scenario("./workers", cwd=DEMO) as scenario:
            pids = [pair["pid"] for pair in map(scenario.step, steps) if "pid" in pair]
            name = f"linux-workers-{letter}-v1.0.mmp"
            _collect(scenario, name)
            for pid in pids:
                command = [sys.executable, "-m", "mmpscope.collector", str(pid), "--quiet", "--append"]
                subprocess.run([*command, str(SAMPLES / name)], check=True, stdin=subprocess.DEVNULL)
        for _ in pids:  # they end with their parent, and are left to the first process of the namespace
            os.wait()


def _redact() -> None:
    command = [sys.executable, "-m", "mmpscope.analysis", "redact", str(SAMPLES / _PLAIN), "--rebase"]
    command += ["-o", str(SAMPLES / _REDACTED), "--force", "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _build_programs() -> None:
    DEMO.mkdir(parents=True, exist_ok=True)
    for source in sorted(PROGRAMS.glob("*.c")):
        build_program(source, DEMO)
    subprocess.run(["javac", "-d", str(DEMO), *map(str, PROGRAMS.glob("*.java"))], check=True)


def _show_cgroup() -> None:
    """Mount cgroup version 1 anew, where it is in use: the mount that is there has the paths of outside."""
    mount = "/sys/fs/cgroup/memory"
    if os.path.ismount(mount):
        subprocess.run(["umount", mount], check=True)
        subprocess.run(["mount", "-t", "cgroup", "-o", "memory", "none", mount], check=True)


def _collect_all() -> None:
    _show_cgroup()
    _collect_pair()
    _collect_leak()
    _collect_workers()
    _collect_blocked("linux-arenas-v1.0.mmp", "./arenas")
    _collect_blocked("linux-fragmented-v1.0.mmp", "./fragmented")
    _collect_blocked(_PLAIN, "/usr/bin/python3", "-c", _PYTHON)
    _collect_blocked("linux-java-v1.0.mmp", "java", "-XX:+UseSerialGC", "-Xmx64m", "-cp", ".", "Blocked")
    _redact()


def _describe_machine() -> str:
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    kernel = ".".join(platform.release().split(".")[:2])
    return f"Linux {kernel}, {platform.machine()}, {release['PRETTY_NAME'].strip(chr(34))}"


def _describe_sample(sample: Sample) -> str:
    checksum = hashlib.sha256((SAMPLES / sample.name).read_bytes()).hexdigest()
    return f"| {sample.name} | {sample.command} | {sample.shows} | {checksum} |\n"


def _write_readme() -> None:
    head = (
        f"Made on {date.today().isoformat()} in a virtual machine: {_describe_machine()}.\n\n"
        "| file | collected from | shows | sha256 |\n| --- | --- | --- | --- |\n"
    )
    table = "<!-- table -->\n" + head + "".join(map(_describe_sample, SAMPLES_MADE)) + "<!-- end of table -->"
    readme = SAMPLES / "README.md"
    text = readme.read_text()
    readme.write_text(re.sub("<!-- table -->.*<!-- end of table -->", lambda _: table, text, flags=re.S))


def main() -> None:
    """Build outside, collect inside the namespaces, and write the table."""
    asked = {"series", "windows"}.intersection(sys.argv)
    if "--inside" in sys.argv:
        subprocess.run(["hostname", "demo"], check=True)
        if not asked:
            _collect_all()
        if asked != {"windows"}:
            collect_series(DEMO)
        if asked != {"series"}:
            collect_windows(DEMO / "wine")
        return
    if asked != {"windows"}:
        _build_programs()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    inside = [sys.executable, __file__, "--inside", *sys.argv[1:]]
    subprocess.run([*_NAMESPACES, *inside], check=True, env=environment)
    _write_readme()


if __name__ == "__main__":
    main()
