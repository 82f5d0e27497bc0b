"""Windows in: Toolhelp lists, VirtualQueryEx, working sets, thread and process environment blocks.

Everything that calls the system is in `api`; the rest runs on any system, against a stand-in in tests.
"""
