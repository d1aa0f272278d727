"""Whose an unfinished file or folder is: its name says it, so that what killed processes left behind can be removed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
from functools import cache

OWNER = r"[0-9a-f]{12}-\d{1,9}"
"""A regular expression of the names that ``owner`` gives: others may leave files that are called much like ours."""


def owner() -> str:
    """This process, fit for a part of a name: letters, digits and one hyphen."""
    return f"{_numbering()}-{os.getpid()}"


def is_gone(name: str) -> bool:
    """Whether ``name``, which ``owner`` gave, is of a process that has ended; of another machine nobody can tell."""
    numbering, _, process = name.partition("-")
    if not re.fullmatch(OWNER, name) or numbering != _numbering() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _numbering() -> str:
    """What counts the processes: a machine, or a container, which may have the name of its machine."""
    container = ""
    with contextlib.suppress(OSError):  # no Linux
        container = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it leads nowhere
    return hashlib.sha256(f"{platform.node()}\0{container}".encode()).hexdigest()[:12]
