"""Every exception of the package.

::

    ProfileError                 what a user can act on; str(error) is the sentence to show
    ├── UnknownFormat            no importer recognises the file
    ├── BrokenSource             a source of a known format that cannot be read
    ├── UnfitDatabase            not a DLProf database, or one that cannot be used
    │   └── UnsupportedVersion   older than 1.3, another major version, or newer than known
    ├── UnsafeFile               not a regular file, outside the allowed folders, too large
    ├── OutputExists             the output is there already and --force was not given
    ├── OutputNotWritable        disk full, read-only folder, no permission
    ├── BadRequest               a request parameter, option or selection is not valid
    └── NotFound                 no such profile, table, aggregation or row

Anything else that escapes is a bug. A message says what is wrong, in which file or value,
and what to do next, in one sentence or two. It names files as the caller named them and
never quotes text that SQLite or another library wrote about an absolute path.
"""


class ProfileError(Exception):
    """Base of all errors that a user can act on."""


class UnknownFormat(ProfileError):
    """No importer recognises the file."""


class BrokenSource(ProfileError):
    """A source of a known format that cannot be read."""


class UnfitDatabase(ProfileError):
    """Not a DLProf database, or one that cannot be used."""


class UnsupportedVersion(UnfitDatabase):
    """A DLProf database of a version that this package does not read."""


class UnsafeFile(ProfileError):
    """Not a regular file, outside the allowed folders, or too large to open."""


class OutputExists(ProfileError):
    """The output exists and the caller did not ask to replace it."""


class OutputNotWritable(ProfileError):
    """The output folder is read-only, full or not permitted."""


class BadRequest(ProfileError):
    """A request parameter, option or selection is not valid."""


class NotFound(ProfileError):
    """No such profile, table, aggregation or row."""
