"""What becomes of single names: what every machine has stays, and nothing else does."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator

import pytest
from fuzz.seeds import list_own_seeds
from mmpscope.formats.redaction.names import Names
from mmpscope.formats.redaction.texts import Texts
from mmpscope.formats.redaction.tokens import Tokens
from mmpscope.formats.registry import list_formats, open_source
from support.redacting import read_all

SHAPE = "[bcdfghjklmnpqstwz]{11}"
NUMBERED = rf"{SHAPE}\d{{12}}"


def make(key: bytes = b"k" * 32) -> tuple[Names, Texts]:
    """Make the rules under a key."""
    tokens = Tokens(key)
    names = Names(tokens)
    return names, Texts(tokens, names)


NAMES, TEXTS = make()


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/x86_64-linux-gnu/libc-2.31.so",
            "[heap]",
            "[stack:7]",
        ),
        *(
            "/lib64/ld-linux-x86-64.so.2 (deleted)",
            "[vdso]",
            "[anon:scudo:primary]",
            "[anon: glibc: malloc arena]",
        ),
        *("[anon:dalvik-main space (region space)]", "/memfd:java_heap (deleted)", "/SYSV00000000 (deleted)"),
        *(
            "/dev/zero (deleted)",
            "[ anon ]",
            "[ shmid=0x0 ]",
            "anon_inode:[io_uring]",
            "/anon_hugepage (deleted)",
        ),
        *(
            "C:\\Windows\\System32\\ntdll.dll",
            "C:\\WINDOWS\\SYSTEM32\\NTDLL.DLL",
            "/usr/bin/python3.11",
            "/",
            "",
        ),
        *(
            "\\Device\\HarddiskVolume3\\Windows\\System32\\kernel32.dll",
            "[anon:stack_and_tls:4711]",
            "libc.so.6",
        ),
        "C:\\Windows\\Microsoft.NET\\Framework64\\v4.0.30319\\clr.dll",
    ],
)
def test_what_every_machine_has_stays(path: str) -> None:
    """Libraries and folders of the system, names of the kernel and of allocators, to the letter."""
    assert NAMES.redact_path(path) == path


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (
            "/home/ann/shop/libcart-1.2.so.3 (deleted)",
            rf"/home/{SHAPE}/{SHAPE}/{NUMBERED}\.so\.3 \(deleted\)",
        ),
        ("/home/lib/libc.so.6", rf"/home/{SHAPE}/libc\.so\.6"),
        ("/usr/lib/libcart.so", rf"/usr/lib/{SHAPE}\.so"),
        ("/usr/lib/cart/libc.so.6", rf"/usr/lib/{SHAPE}/libc\.so\.6"),
        ("/tmp/jit-4711.dump", rf"/tmp/{NUMBERED}\.dump"),
        ("/opt/cart.secret", rf"/opt/{SHAPE}"),
        ("/run/user/1000/x", rf"/run/user/{NUMBERED}/{SHAPE}"),
        ("[anon:cart]", rf"\[anon:{SHAPE}\]"),
        ("[cart]", rf"\[{SHAPE}\]"),
        ("[anon:dalvik-/data/app/cart.odex]", rf"\[anon:dalvik-/data/app/{SHAPE}\.odex\]"),
        ("[anon:cart.bss]", rf"\[anon:{SHAPE}\.bss\]"),
        ("[anon_shmem:cart]", rf"\[anon_shmem:{SHAPE}\]"),
        ("/memfd:cart (deleted)", rf"/memfd:{SHAPE} \(deleted\)"),
        ("/SYSV0000abcd (deleted)", r"/SYSV(?!00000000)[0-9a-f]{8} \(deleted\)"),
        ("/dev/shm/cart", rf"/dev/shm/{SHAPE}"),
        ("C:\\Users\\Ann\\Cart.exe", rf"C:\\Users\\{SHAPE}\\{SHAPE}\.exe"),
        ("\\\\server\\share\\x.dll", rf"\\\\{SHAPE}\\{SHAPE}\\{SHAPE}\.dll"),
        ("C:\\Windows\\System32\\cart.dll", rf"C:\\Windows\\System32\\{SHAPE}\.dll"),
    ],
)
def test_every_other_part_of_a_path_is_a_token(path: str, pattern: str) -> None:
    """Each part has its own, so that folders still group; extension and what stands behind it stay."""
    assert re.fullmatch(pattern, NAMES.redact_path(path))


def test_windows_tells_no_case_apart_and_linux_does() -> None:
    """One file of Windows has one token however it is written; two names of Linux have two."""
    assert NAMES.redact_path("C:\\A\\Cart.DLL").lower() == NAMES.redact_path("C:\\a\\cart.dll").lower()
    assert NAMES.redact_path("/a/Cart") != NAMES.redact_path("/a/cart")


def test_versions_of_a_file_differ_in_their_digits_alone() -> None:
    """So that a diff knows a library again after an update."""
    one, two = (NAMES.redact_path(f"/srv/libcart-1.{minor}.so") for minor in (2, 3))
    assert one != two
    assert re.sub(r"\d", "", one) == re.sub(r"\d", "", two)


def test_tokens_are_those_of_the_key() -> None:
    """The same name has the same token in every file of one key, and another one under another key."""
    again, other = (make(key)[0].redact_path("/srv/cart") for key in (b"k" * 32, b"l" * 32))
    assert again == NAMES.redact_path("/srv/cart") != other


@pytest.mark.parametrize(
    ("change", "text", "pattern"),
    [
        (
            TEXTS.redact_sentence,
            "1 of 14 threads were running (EACCES)",
            r"1 of 14 threads were running \(EACCES\)",
        ),
        (
            TEXTS.redact_sentence,
            "no mount shows /cart.slice/x1",
            rf"no mount shows /{SHAPE}\.slice/{NUMBERED}",
        ),
        (TEXTS.redact_sentence, "process 7 ended: cartwheel", rf"process 7 ended: {SHAPE}"),
        (TEXTS.redact_version, "6.1.0-18-amd64", r"6\.1\.0-18-amd64"),
        (TEXTS.redact_version, "6.1.0-cart2", rf"6\.1\.0-{NUMBERED}"),
        (TEXTS.redact_version, "Debian GNU/Linux 12 (bookworm)", r"Debian GNU/Linux 12 \(bookworm\)"),
        (TEXTS.redact_account, "root", "root"),
        (TEXTS.redact_account, "NT AUTHORITY\\SYSTEM", r"NT AUTHORITY\\SYSTEM"),
        (TEXTS.redact_account, "SHOP\\ann", rf"{SHAPE}\\{SHAPE}"),
        (TEXTS.redact_sid, "S-1-5-18", "S-1-5-18"),
        (TEXTS.redact_sid, "S-1-5-21-1-2-3-1001", NUMBERED),
        (TEXTS.redact_label, "Heap ID: 1 [LOW FRAGMENTATION]", r"Heap ID: 1 \[LOW FRAGMENTATION\]"),
        (TEXTS.redact_label, "MALLOC_TINY (empty)", r"MALLOC_TINY \(empty\)"),
        (TEXTS.redact_label, "__CART", f"__{SHAPE}"),
    ],
)
def test_texts_keep_the_words_that_are_ours(change: Callable[[str], str], text: str, pattern: str) -> None:
    """Reasons, versions, accounts and labels: known words and numbers, and tokens for the rest."""
    assert re.fullmatch(pattern, change(text))


def test_a_command_line_keeps_what_says_which_word_is_run() -> None:
    """Options of interpreters stay, no value does; a title keeps its two parts."""
    words = ["/usr/bin/python3", "-u", "-m", "cart", "--token=hunter2", "-pSecret"]
    program, *rest = TEXTS.redact_arguments(words)
    assert (program, rest[:2]) == ("/usr/bin/python3", ["-u", "-m"])
    patterns = (SHAPE, f"--{NUMBERED}", f"-p{SHAPE}")
    assert all(map(re.fullmatch, patterns, rest[2:]))
    assert re.fullmatch(f"-l{SHAPE}c", TEXTS.redact_arguments(["sh", "-lc"])[1])
    for glued in ("-pS3cret", "-phunter"):  # mysql takes a password so
        assert re.fullmatch(rf"-p{SHAPE}\d*", TEXTS.redact_arguments(["mysql", glued])[1])
    assert re.fullmatch(f"{SHAPE}: {SHAPE}", TEXTS.redact_arguments(["nginx: worker"])[0])


def test_what_our_sources_say_of_themselves_stays_word_for_word() -> None:
    """Reasons, formats and ranges of small files of every format, samples among them."""
    told = set(_list_sentences())
    assert len(told) > 50
    assert {text: TEXTS.redact_sentence(text) for text in told} == {text: text for text in told}


_NAMED = ("/", "__", "elements of the file")
"""Marks of sentences that hold names: of files, of segments, of elements of XML."""


def _list_sentences() -> Iterator[str]:
    for known in list_formats():
        for seed in list_own_seeds(known):
            source = open_source("seed", partial=True, stream=io.BytesIO(seed))
            for snapshot in read_all(source):
                process = snapshot.process
                rows = [*snapshot.capability, *snapshot.capture.capability]
                texts = [row.reason for row in rows]
                texts += [process.get("source", {}).get("format"), process.get("range", {}).get("source")]
                texts += [process.get("status", {}).get("State")]
                yield from (text for text in texts if text and not any(mark in text for mark in _NAMED))
