"""Limits what the work on a file may cost, by its size (``allowance``)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tensorboard_plugin_dlprof.opening.allowance import allowed
from tensorboard_plugin_dlprof.opening.byte_stream import likely_bytes
from tensorboard_plugin_dlprof.opening.regular_file import shown

_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")


def allowed_for(path: Path) -> AbstractContextManager[None]:
    """Limit the work in a block on a file, as ``allowed`` does.

    Raises:
        NotFound: There is no such file.
        UnsafeFile: It is not a regular file, or may not be read; in the block, also that a limit is exceeded.
        BrokenSource: The storage fails.
    """
    return allowed(shown(path), likely_bytes(path))


def limited(work: Callable[Concatenate[Path, _Rest], _Result]) -> Callable[Concatenate[Path, _Rest], _Result]:
    """Limit each call of a function by the size of the file that is its first argument; raises as ``allowed_for``."""

    @functools.wraps(work)
    def within(path: Path, /, *rest: _Rest.args, **named: _Rest.kwargs) -> _Result:
        with allowed_for(path):
            return work(path, *rest, **named)

    return within
