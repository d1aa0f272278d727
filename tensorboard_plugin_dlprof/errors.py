"""The exceptions that every part of the package may raise; those of HTTP alone are in ``routes``.

::

    ProfileError                 what a user can act on; str(error) is the sentence to show
    ├── UnknownFormat            no importer recognises the file
    ├── BrokenSource             a source of a known format that cannot be read
    ├── UnfitDatabase            a DLProf database that cannot be used
    │   ├── NotADatabase         not SQLite, not a DLProf database, or without a completed aggregation
    │   └── UnsupportedVersion   of a version that this package does not read
    │       ├── TooOld           older than 1.3, or of a smaller major version
    │       └── TooNew           newer than known
    ├── UnsafeFile               not a regular file, outside the allowed folders, too large
    ├── OutputExists             the output is there already and --force was not given
    ├── OutputNotWritable        disk full, read-only folder, no permission
    ├── BadRequest               a request parameter, option or selection is not valid
    │   └── UnknownKeyOp         no op of the name that was to end the iterations
    ├── NotFound                 no such profile, table, aggregation or row
    └── QueueFull                too many imports, aggregations or questions wait

Anything else that escapes is a bug. A message says what is wrong, in which file or value,
and what to do next, in one sentence or two. It names files as the caller named them and
never quotes text that SQLite or another library wrote about an absolute path. ``code`` is the
name by which the browser tells errors that have a page of their own.
"""

import os
from pathlib import Path
from typing import ClassVar


class ProfileError(Exception):
    """Base of all errors that a user can act on."""

    code: ClassVar[str] = "unreadable"


class UnknownFormat(ProfileError):
    """No importer recognises the file."""


class BrokenSource(ProfileError):
    """A source of a known format that cannot be read."""


class UnfitDatabase(ProfileError):
    """A DLProf database that cannot be used."""


class NotADatabase(UnfitDatabase):
    """Not an SQLite file, not a DLProf database, or one without a completed aggregation."""

    code = "not_a_database"


class UnsupportedVersion(UnfitDatabase):
    """A DLProf database of a version that this package does not read."""


class TooOld(UnsupportedVersion):
    """A database of DLProf before 1.3, or of a smaller major version."""

    code = "too_old"


class TooNew(UnsupportedVersion):
    """A database of a newer version than this package knows."""

    code = "too_new"


class UnsafeFile(ProfileError):
    """Not a regular file, outside the allowed folders, or too large to open."""

    code = "forbidden"


class OutputExists(ProfileError):
    """The output exists and the caller did not ask to replace it."""


class OutputNotWritable(ProfileError):
    """The output folder is read-only, full or not permitted."""


class BadRequest(ProfileError):
    """A request parameter, option or selection is not valid."""

    code = "bad_parameter"


class UnknownKeyOp(BadRequest):
    """The profile has no op of the name or id that was to end the iterations."""


class NotFound(ProfileError):
    """No such profile, table, aggregation or row."""

    code = "not_found"


class QueueFull(ProfileError):
    """Too many wait for a worker process."""

    code = "busy"


_OF_DATABASES: dict[str, type[ProfileError]] = {kind.code: kind for kind in (NotADatabase, TooOld, TooNew, NotFound)}


def error_of(code: str, message: str) -> ProfileError:
    """An error again from what was kept of it; one that has no page of its own is an ``UnfitDatabase``."""
    return _OF_DATABASES.get(code, UnfitDatabase)(message)


def no_file(path: Path, content: str) -> NotFound:
    """Why a path, which an option names, is no file with this content: a folder, a pipe, or nothing at all."""
    if path.is_dir():
        return NotFound(f"{path} is a folder; name the file of {content} in it.")
    if path.exists():
        return NotFound(f"{path} is not a regular file; name a file of {content}.")
    return NotFound(f"{path}: there is no such file of {content}.")


def reason_of(error: OSError) -> str:
    """What the system says about a failure, without a path; libraries raise some of which it says nothing."""
    if error.strerror:
        return str(error.strerror)
    return os.strerror(error.errno) if error.errno else "no reason is given"
