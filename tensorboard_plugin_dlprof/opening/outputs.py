"""Creates folders for output files, and replaces no more than files."""

from __future__ import annotations

import stat
from pathlib import Path

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.opening.regular_file import shown


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Raises:
        OutputNotWritable: A file is in its place, the parent is read-only, or the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise OutputNotWritable(
            f"{folder}: the folder cannot be made: a file is in its place; choose another folder."
        ) from None
    except OSError as error:
        raise OutputNotWritable(
            f"{folder}: the folder cannot be made: {reason_of(error)}; choose another folder."
        ) from None


def refuse_special(target: Path) -> None:
    """Check that nothing but a file or nothing at all is where a finished file will be put.

    Who may write to /dev would otherwise replace /dev/null for all programs of the machine.

    Raises:
        OutputNotWritable: A device, FIFO, socket or folder is there, also by way of a link, or a loop of links.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        mode = 0
    if stat.S_ISDIR(mode):
        raise OutputNotWritable(f"{shown(target)} cannot be written: it is a folder; choose another name.")
    if not stat.S_ISREG(mode):
        raise OutputNotWritable(f"{shown(target)} is no file that could be replaced; choose another name.")
