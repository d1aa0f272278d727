"""Memory that is freed stays with the process that wants it so."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import re, sys
from pathlib import Path
from tensorboard_plugin_dlprof.many_objects import keep_freed_memory

def data():
    return int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10

if sys.argv[1] == "keep":
    keep_freed_memory()
before = data()
block = b"x" * (64 << 20)
del block
print(data() - before >= 64 << 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize(
    ("how", "environment", "kept"),
    [
        ("keep", {}, True),
        ("leave", {}, False),
        ("keep", {"MALLOC_MMAP_THRESHOLD_": "1000000"}, False),
    ],
)
def test_freed_memory_is_kept_unless_the_user_has_chosen(how: str, environment: dict[str, str], kept: bool) -> None:
    """A block of 64 MB, which glibc gives back to the system otherwise."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    command = [sys.executable, "-c", _PROGRAM, how]
    found = subprocess.run(command, env={**own, **environment}, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(kept)
