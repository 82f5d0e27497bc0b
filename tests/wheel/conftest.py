"""These tests look at an installed wheel; elsewhere they are not even collected (a skip would hide them)."""

import os

if not os.environ.get("MMP_TEST_INSTALLED"):
    collect_ignore_glob = ["test_*.py"]
