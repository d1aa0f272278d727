"""A copy of the process computes beside it, and whatever becomes of it, the result is the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies processes")

PROGRAM = """
import os, sys
from tensorboard_plugin_dlprof.forking import Beside

here = os.getpid()

def compute():
    if {fails_in_copy} and os.getpid() != here:
        os._exit(1)
    if {fails}:
        raise ValueError("as it is")
    yield os.getpid() == here, list(range(300_000))
    if {fails_behind} and os.getpid() != here:
        os._exit(1)
    yield "last"

try:
    with Beside(compute, beside={beside}) as found:
        is_here, numbers = found.next()
        print(is_here, len(numbers), found.next())
except ValueError as error:
    print(error)
"""
"""A program of its own: a test process may have threads, and a process with threads is not copied."""


def printed(
    *, beside: bool = True, fails_in_copy: bool = False, fails: bool = False, fails_behind: bool = False
) -> str:
    """What the program prints."""
    program = PROGRAM.format(beside=beside, fails_in_copy=fails_in_copy, fails=fails, fails_behind=fails_behind)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_copy_computes() -> None:
    """Its results, one larger than a pipe, come back."""
    assert printed() == "False 300000 last"


def test_without_a_copy_the_process_computes() -> None:
    """Where none is wanted."""
    assert printed(beside=False) == "True 300000 last"


def test_a_copy_that_dies_is_replaced() -> None:
    """The process computes what the copy did not."""
    assert printed(fails_in_copy=True) == "True 300000 last"


def test_a_copy_that_dies_behind_a_result_is_replaced() -> None:
    """The process computes what is missing, and gives nothing twice."""
    assert printed(fails_behind=True) == "False 300000 last"


def test_an_error_is_raised_here() -> None:
    """With its own type and words, as if there had been no copy, which says nothing itself."""
    assert printed(fails=True) == "as it is"
    assert printed(fails=True, beside=False) == "as it is"


WITHOUT_PROCESSES = """
import os
from tensorboard_plugin_dlprof.forking import Beside

def refuse():
    raise BlockingIOError("no more processes")

os.fork = refuse
before = len(os.listdir("/proc/self/fd"))
for _ in range(3):
    with Beside(lambda: iter(["here"]), beside=True) as found:
        print(found.next(), len(os.listdir("/proc/self/fd")) - before)
"""


def test_without_another_process_the_pipes_to_it_are_closed() -> None:
    """Where the system makes no more processes, a server must not run out of files too."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_PROCESSES], capture_output=True, text=True, check=True)
    assert (done.stdout.split("\n"), done.stderr) == (["here 0", "here 0", "here 0", ""], "")
