"""From what the user named to the files that are meant: files, patterns, folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError, UnknownFormat, UnsafeFile
from tensorboard_plugin_dlprof.metadata import DATABASE_GLOB
from tensorboard_plugin_dlprof.opening.regular_file import is_remote, remote_refusal

LIKELY_SUFFIXES = (".json", ".json.gz", ".gz", ".sqlite", ".sqlite3", ".db")
"""Of the files in a folder only these are opened; a file that is named itself may be called anything."""


def find_sources(arguments: Sequence[str]) -> tuple[list[Path], list[ProfileError]]:
    """The sources that the arguments mean, each once, in the order of the arguments, and what is wrong with the others.

    A folder means every source below it, a pattern (``*``, ``?``, ``[...]``, ``**``) every file that it matches.
    """
    found: dict[Path, None] = {}
    errors: list[ProfileError] = []
    for argument in arguments:
        try:
            for path in _meant_by(argument):
                found.setdefault(path)
        except ProfileError as error:
            errors.append(error)
    return list(found), errors


def _meant_by(argument: str) -> list[Path]:
    path = Path(argument)
    if is_remote(argument) and not os.path.lexists(path):
        raise NotFound(remote_refusal(argument))
    if path.is_dir():
        sources = list(_below(path))
        if not sources:
            raise BadRequest(f"{argument}: there is no profile below this folder; name a trace or an Nsight export.")
        return sources
    if os.path.lexists(path):
        if fnmatch(path.name, DATABASE_GLOB) and _is_database(path):
            raise BadRequest(f"{argument} is a DLProf database already; TensorBoard shows it as it is.")
        return [path]
    if glob.has_magic(argument):
        matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207  may be absolute
        sources = [match for match in matches if not match.is_dir() and not fnmatch(match.name, DATABASE_GLOB)]
        if not sources:
            raise NotFound(f"{argument}: no file matches this pattern.")
        return sources
    raise NotFound(f"{argument}: there is no such file.")


def _below(folder: Path) -> Iterator[Path]:
    """Sources in the order of their paths. Links to folders are not followed, so that no loop can arise."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if name.lower().endswith(LIKELY_SUFFIXES) and not fnmatch(name, DATABASE_GLOB) and _is_source(path):
                yield path


def _is_database(path: Path) -> bool:
    """Whether it is what its name says; another file is imported, or its importer says what is wrong with it."""
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database

    return is_dlprof_database(path)


def _is_source(path: Path) -> bool:
    from tensorboard_plugin_dlprof.importers import find_importer

    try:
        find_importer(path)
    except (UnknownFormat, UnsafeFile, NotFound):
        return False
    return True
