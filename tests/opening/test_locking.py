"""The lock on a folder is waited for, but not without end."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import QueueFull
from tensorboard_plugin_dlprof.opening.locking import exclusive


def test_who_only_holds_a_lock_hangs_nobody(tmp_path: Path) -> None:
    """Any reader of a folder may lock it: the message names the folder."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with pytest.raises(QueueFull, match=tmp_path.name), exclusive(tmp_path, patience_s=0.2):
            pass
    finally:
        os.close(descriptor)
    with exclusive(tmp_path, patience_s=0.2):
        pass
