"""Temporary folders that carry their owner, so that those of killed processes are deleted by the next one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tensorboard_plugin_dlprof.opening.owners import OWNER, is_gone, owner

_PREFIX = "dlprof-"
_OURS = re.compile(rf"{_PREFIX}({OWNER})-[a-z0-9_]{{8}}")


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for the duration of the block.

    Raises:
        OSError: There is no place for one.
    """
    _sweep()
    prefix = f"{_PREFIX}{owner()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _sweep() -> None:
    if not hasattr(os, "getuid"):
        return
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            ours = _OURS.fullmatch(folder.name)
            # Anyone may write to a shared folder: what others put there is theirs.
            if ours is not None and is_gone(ours[1]) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
