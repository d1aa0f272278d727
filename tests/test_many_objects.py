"""Memory that is freed stays with the process that wants it so."""

from __future__ import annotations

import mmap
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


_MANY_IMPORTS = """
import resource
from tensorboard_plugin_dlprof.many_objects import memory_for_millions

def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

before = pages()
for _ in range(5):
    with memory_for_millions():
        kept = bytearray(1 << 20)
print(pages() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_memory_is_kept_without_filling_it() -> None:
    """Of the 16 MB that are kept, five imports in one process touch what they use."""
    command = [sys.executable, "-c", _MANY_IMPORTS]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) * mmap.PAGESIZE < 8 << 20
