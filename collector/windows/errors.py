"""What a refused call of Windows comes out as: the function, the code of GetLastError, its text."""

from __future__ import annotations

__all__ = [
    "ERROR_ACCESS_DENIED",
    "ERROR_BAD_LENGTH",
    "ERROR_INVALID_PARAMETER",
    "ERROR_NO_MORE_FILES",
    "ERROR_PARTIAL_COPY",
    "Win32Error",
]

ERROR_ACCESS_DENIED = 5
ERROR_NO_MORE_FILES = 18
ERROR_BAD_LENGTH = 24
ERROR_INVALID_PARAMETER = 87
ERROR_PARTIAL_COPY = 299
"""Also the answer of 32-bit Toolhelp about a 64-bit process."""


class Win32Error(Exception):
    """``function`` failed; ``code`` is GetLastError's, or an NTSTATUS; ``text`` the system's words for it."""

    def __init__(self, function: str, code: int, text: str) -> None:
        super().__init__(f"{function} failed with {code if code < 1 << 16 else hex(code)} ({text})")
        self.function = function
        self.code = code
        self.text = text
