"""Windows minidumps, and those that Breakpad and Crashpad write on Linux."""
