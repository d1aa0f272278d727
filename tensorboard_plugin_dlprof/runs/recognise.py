"""Recognises profiles by content: the first 64 kB are read once for each version of a file, and its end."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.connection import is_dlprof_database
from tensorboard_plugin_dlprof.database.naming import is_database_name, is_trace_name
from tensorboard_plugin_dlprof.errors import ProfileError, UnknownFormat
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.opening.byte_stream import check_end
from tensorboard_plugin_dlprof.opening.regular_file import Identity, shown
from tensorboard_plugin_dlprof.runs.scan import File

MAX_HEADS = 1_000
"""Most files in the cloud whose first bytes are read in one search; the next one reads others."""


class Recognition(msgspec.Struct, frozen=True):
    """The kind of a file."""

    kind: str
    """``database``, ``source``, ``broken``, or ``none``: not a profile, and not named like one."""
    format: str = ""
    """Name of the format; empty for others than sources and databases."""
    message: str = ""
    """What is wrong with a broken file; of one that is no profile, what it is, without its name in front."""
    code: str = ""
    """The code of that error."""


class Recogniser:
    """Recognises files, and remembers the results."""

    def __init__(self) -> None:
        self._known: dict[Identity, Recognition | None] = {}

    def recognise(self, file: File) -> Recognition | None:
        """Recognise a file; None for one in the cloud that is not a profile as far as its first bytes tell."""
        if is_database_name(file.name):
            return Recognition("database", "dlprof")
        if file.remote is not None:
            return _recognise_named(file) if is_trace_name(file.name) else self._known.get(file.identity)
        if file.identity not in self._known:
            self._known[file.identity] = _recognise(file)
        return self._known[file.identity]

    def read_heads(self, files: Sequence[File]) -> None:
        """Read the first bytes of files in the cloud whose names do not tell what they are."""
        unknown = [
            (file, file.remote)
            for file in files
            if file.remote is not None
            and file.identity not in self._known
            and not is_trace_name(file.name)
            and not is_database_name(file.name)
        ][:MAX_HEADS]
        for _, group in groupby(unknown, key=lambda pair: id(pair[1].store)):
            some = list(group)
            heads = some[0][1].store.heads([remote.object for _, remote in some])
            for (file, _), head in zip(some, heads, strict=True):
                if head is not None:
                    self._known[file.identity] = recognise_head(file.path.name, head)

    def forget_others(self, files: list[File]) -> None:
        """Forget the results of all files but these."""
        present = {file.identity for file in files}
        self._known = {identity: known for identity, known in self._known.items() if identity in present}


def _recognise(file: File) -> Recognition:
    try:
        importer = find_importer(file.place())
        check_end(file.place())
        return Recognition("source", importer.name)
    except UnknownFormat as error:
        if _is_database(file):
            return Recognition("database", "dlprof")
        if is_trace_name(file.name):
            return _broken(file, error)
        reason = relative_message(file, error).partition(" Formats tried:")[0]
        return Recognition("none", message=reason.removeprefix(f"{shown(file.name)} "))
    except ProfileError as error:
        return _broken(file, error)


def _recognise_named(file: File) -> Recognition:
    return Recognition("source", "xplane" if file.name.endswith(".xplane.pb") else "pytorch")


def recognise_head(name: str, head: bytes) -> Recognition | None:
    """Recognise a file of which only the first bytes are here; None if it is not a profile as far as they tell."""
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
        beginning = Path(folder, name)
        beginning.write_bytes(head)
        try:
            return Recognition("source", find_importer(beginning).name)
        except ProfileError:
            return None


def refusal_of(path: Path) -> ProfileError | None:
    """Why a file is not a source that can be imported; None if it is one."""
    try:
        find_importer(path)
    except ProfileError as error:
        return error
    return None


def _broken(file: File, error: ProfileError) -> Recognition:
    return Recognition("broken", message=relative_message(file, error), code=error.code)


def relative_message(file: File, error: ProfileError) -> str:
    """The message of an error, with the file's name in the list in place of its path."""
    text = str(error)
    for path in (file.path, file.real):
        text = text.replace(shown(path), shown(path.__class__(file.name))).replace(str(path), file.name)
    return text


def _is_database(file: File) -> bool:
    """Whether a file of any name is a DLProf database. Problems with its content are reported when it is opened."""
    try:
        return is_dlprof_database(file.place())
    except ProfileError:
        return False
