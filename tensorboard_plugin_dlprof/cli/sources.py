"""From what the user named to the files that are meant: files, patterns, folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError
from tensorboard_plugin_dlprof.naming import is_candidate_name, is_database_name, is_trace_name
from tensorboard_plugin_dlprof.opening.regular_file import is_remote, remote_refusal


def find_sources(arguments: Sequence[str]) -> tuple[list[Path], list[ProfileError]]:
    """The sources that the arguments mean, each once, in the order of the arguments, and what is wrong with the others.

    A folder means every source below it, a pattern (``*``, ``?``, ``[...]``, ``**``) every file that it matches.
    """
    found: dict[Path, None] = {}
    errors: list[ProfileError] = []
    for argument in arguments:
        try:
            for path in meant_by(argument):
                found.setdefault(path)
        except ProfileError as error:
            errors.append(error)
    return list(found), errors


def meant_by(argument: str, databases: bool = False) -> list[Path]:
    """The sources that one argument means, in the order of their paths; with ``databases`` these too.

    Raises:
        NotFound: there is no such file, or no file matches the pattern.
        BadRequest: there is no profile below the folder, or it is a database and none is meant.
    """
    if not argument:
        # A shell's variable that is not set; Path("") would be this folder.
        raise BadRequest("One of the arguments is empty; name a file, a folder or a pattern.")
    path = Path(argument)
    if is_remote(argument) and not os.path.lexists(path):
        raise NotFound(remote_refusal(argument))
    if path.is_dir():
        sources = list(_below(path, databases))
        if not sources:
            raise BadRequest(f"{argument}: there is no profile below this folder; name a trace or an Nsight export.")
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
        for name in sorted(filter(is_candidate_name, names)):
            path = Path(parent, name)
            if is_database_name(name):
                is_meant = databases
            else:
                # One that is called a trace and cannot be read is not passed over: the user wants to know why.
                is_meant = is_trace_name(name) or is_source(path) or (databases and _is_database(path))
            if is_meant:
                yield path


def _is_database(path: Path) -> bool:
    """Whether it is what its name says; another file is imported, or its importer says what is wrong with it."""
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database

    return is_dlprof_database(path)
