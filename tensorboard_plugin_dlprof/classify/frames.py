"""Whose code a frame of a Python stack is: the program's own, or that of Python or of a library below it.

Frames are texts as PyTorch records them: ``train.py(42): step``, ``<built-in function len>``, ``nn.Module: Linear_0``.
It leaves out of a file what Python's path begins with. So only the name tells a module of Python from one that lies
beside the program, and a package that is installed from one of the program's own; what is not known to be another's is
the program's.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Final

from tensorboard_plugin_dlprof.expressions import Expression

_NO_FILE: Final = ("<", "nn.Module: ")
"""How frames begin that are in no file: built-in functions, Python's frozen modules, modules of the model."""

_CELL: Final = "<ipython-input"
"""The beginning of those that are in a notebook."""

_ELSEWHERE: Final = Expression(r"[/\\](?:(?:site|dist)-packages|torch)[/\\]|[/\\]lib[/\\]python\d|[/\\]torchinductor_")
"""What is installed, PyTorch where it was built, and what its compiler wrote."""

_PACKAGES: Final = frozenset(
    (
        "PIL",
        "functorch",
        "numpy",
        "pandas",
        "scipy",
        "torch",
        "torchaudio",
        "torchdata",
        "torchvision",
        "tqdm",
        "triton",
    )
)
"""What all programs call. Models and pipelines of others are as good as the program's own: what is slow there is worth
its name."""

_STANDARD: Final = sys.stdlib_module_names - {"code", "profile", "trace"}
"""Modules of Python. A program that is profiled may be called like those that are left out, and calls none of them."""

_FIRST_FOLDER: Final = re.compile(r"[^/\\(]*")


@lru_cache(maxsize=10_000)
def is_own(frame: str) -> bool:
    """Whether a frame is of the program's own code."""
    if frame.startswith(_NO_FILE):
        return frame.startswith(_CELL)
    first = _FIRST_FOLDER.match(frame)
    name = first[0].removesuffix(".py") if first else ""
    return name not in _PACKAGES and name not in _STANDARD and not _ELSEWHERE.search(frame)
