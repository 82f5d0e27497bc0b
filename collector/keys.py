"""Single keys from the terminal, as each system gives them."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from mmpscope.collector.windows.keys import Keyboard, find_keyboard
else:
    from mmpscope.collector.linux.keys import Keyboard, find_keyboard

__all__ = ["Keyboard", "find_keyboard"]
