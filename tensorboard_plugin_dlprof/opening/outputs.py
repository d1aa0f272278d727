"""Creates folders for output files."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of


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
