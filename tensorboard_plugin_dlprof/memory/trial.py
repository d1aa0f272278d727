"""Reads a pickle once in a bare process that may be ended, before it is read in this one.

The pickle machine is C: a few nested tuples as the key of a dictionary take it years to hash, or more stack than there
is, and nothing in the same process can stop it.
"""

from __future__ import annotations

import subprocess
import sys
from typing import BinaryIO

_BYTES_PER_S = 1 << 20
"""Measured 15 MB/s; less than that on a busy machine."""

_LEAST_S = 10
_BARE_BYTES = 32 << 20
"""Of memory that a bare process takes."""

_NO_MEMORY = 3
_PROGRAM = f"""
import pickle, sys
class Machine(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError
    persistent_load = find_class
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
except (ImportError, ValueError, OSError):
    pass
try:
    Machine(sys.stdin.buffer).load()
except MemoryError:
    sys.exit({_NO_MEMORY})
except Exception:
    sys.exit(1)
import os
os._exit(0)
"""


def try_pickle(file: BinaryIO, size_bytes: int, memory_bytes: int) -> None:
    """Read a pickle and throw it away. What is wrong with it otherwise is found when it is read here.

    Args:
        file: At its beginning; left there.
        size_bytes: Of the file.
        memory_bytes: What reading may take.

    Raises:
        MemoryError: It needs more.
        RecursionError: It ends the process.
        TimeoutError: It takes longer than any snapshot of its size.
    """
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(memory_bytes + _BARE_BYTES)]
    quiet = subprocess.DEVNULL
    try:
        timeout_s = _LEAST_S + size_bytes / _BYTES_PER_S
        done = subprocess.run(command, stdin=file, stdout=quiet, stderr=quiet, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    finally:
        file.seek(0)
    if done.returncode == _NO_MEMORY:
        raise MemoryError
    if done.returncode not in (0, 1):
        raise RecursionError
