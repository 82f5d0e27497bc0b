"""What a refused call of Windows comes out as: the function, the code of GetLastError, its text."""

from __future__ import annotations

__all__ = [
    "ERROR_ACCESS_DENIED",
    "ERROR_BAD_LENGTH",
    "ERROR_INVALID_PARAMETER",
    "ERROR_NOT_ALL_ASSIGNED",
    "ERROR_NO_MORE_FILES",
    "ERROR_PARTIAL_COPY",
    "Win32Error",
]

ERROR_ACCESS_DENIED = 5
ERROR_NO_MORE_FILES = 18
ERROR_BAD_LENGTH = 24
ERROR_INVALID_PARAMETER = 87
ERROR_PARTIAL_COPY = 299
"""A part of what was asked for is not there. Also the answer of 32-bit Toolhelp about a 64-bit process."""
ERROR_NOT_ALL_ASSIGNED = 1300


class Win32Error(OSError):
    """``function`` failed; errno is the code of GetLastError here, never that of the C library."""

    def __init__(self, function: str, code: int, text: str) -> None:
        super().__init__(code, text)
        self.errno = code
        self.function = function
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"{self.function} failed with {self.code} ({self.text.rstrip('.')})"
