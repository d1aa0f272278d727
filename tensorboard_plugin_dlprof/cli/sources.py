"""Finds the files that the user's arguments name: files, patterns and folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensorboard_plugin_dlprof.database.naming import is_candidate_name, is_database_name, is_trace_name
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError
from tensorboard_plugin_dlprof.metadata import JOB_SUFFIX
from tensorboard_plugin_dlprof.opening.regular_file import is_remote, remote_refusal


def find_sources(arguments: Sequence[str]) -> tuple[list[Path], list[ProfileError]]:
    """The sources that the arguments name, each once and in their order, and the errors of the other arguments.

    A folder stands for every source below it, a pattern (``*``, ``?``, ``[...]``, ``**``) for every match.
    """
    result: dict[Path, None] = {}
    errors: list[ProfileError] = []
    for argument in arguments:
        try:
            for path in meant_by(argument):
                result.setdefault(path)
        except ProfileError as error:
            errors.append(error)
    return list(result), errors


def meant_by(argument: str, databases: bool = False) -> list[Path]:
    """The sources that one argument names, in the order of their paths; with ``databases``, also those and jobs'.

    Raises:
        NotFound: there is no such file, or no file matches the pattern.
        BadRequest: the folder has no profile below it, or the file is a database and ``databases`` is false.
    """
    if not argument:
        # For example an unset variable of a shell; Path("") would be the current folder.
        raise BadRequest("One of the arguments is empty; name a file, a folder or a pattern.")
    argument = argument.removeprefix("file://")
    path = Path(argument)
    if is_remote(argument) and not os.path.lexists(path):
        raise NotFound(remote_refusal(argument))
    if path.is_dir():
        sources = list(_below(path, databases))
        if not sources:
            raise BadRequest(f"{argument}: there is no profile below this folder; name a file that a profiler wrote.")
        return sources
    if os.path.lexists(path):
        if not databases and is_database_name(path.name) and _is_database(path):
            raise BadRequest(f"{argument} is a DLProf database already; TensorBoard shows it as it is.")
        return [path]
    if any(letter in argument for letter in "*?["):
        import glob

        matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207  may be absolute
        sources = [match for match in matches if not match.is_dir() and (databases or not is_database_name(match.name))]
        if not sources:
            raise NotFound(f"{argument}: no file matches this pattern.")
        return sources
    raise NotFound(f"{argument}: there is no such file.")


def _below(folder: Path, databases: bool) -> Iterator[Path]:
    """Profiles in the order of their paths. Links to folders are not followed, so that no loop can arise."""
    from tensorboard_plugin_dlprof.importers import is_source

    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if name.endswith(JOB_SUFFIX):
                is_meant = databases
            elif not is_candidate_name(name):
                continue
            elif is_database_name(name):
                is_meant = databases
            else:
                # A file named like a trace is not skipped even if it cannot be read: the user wants to know why.
                is_meant = is_trace_name(name) or is_source(path) or (databases and _is_database(path))
            if is_meant:
                yield path


def _is_database(path: Path) -> bool:
    """Whether a file named like a database is one; otherwise it is imported, or the importer says what is wrong."""
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database

    return is_dlprof_database(path)
