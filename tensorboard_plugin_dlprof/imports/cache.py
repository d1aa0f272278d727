"""The cache folder for databases that servers make from sources: private to a user, limited in size, least recently
used databases deleted first."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.metadata import (
    CLASSIFICATION_VERSION,
    DATABASE_SUFFIX,
    EXTENSION_VERSION,
    JOB_SUFFIX,
    JOB_VERSION,
    VERSION,
)
from tensorboard_plugin_dlprof.opening.owners import OWNER, is_gone, owner

FOLDER_NAME = "tensorboard_plugin_dlprof"
DEFAULT_MAX_BYTES = 10 << 30
STALE_WORK_SECONDS = 86_400.0
"""Age from which on a work folder is deleted even if its process cannot be checked."""
_WORK_PREFIX = "work-"
_OURS = re.compile(rf"[0-9a-f]{{40}}({re.escape(DATABASE_SUFFIX)}|{re.escape(JOB_SUFFIX)})")
"""Names of databases that the cache made. The folder may contain others if users choose an existing folder."""
_WORK = re.compile(rf"{_WORK_PREFIX}({OWNER})-[a-z0-9_]{{8}}")
"""Names of work folders, with their owner."""


class Usage(msgspec.Struct, frozen=True):
    """Number and total size of databases."""

    databases: int
    num_bytes: int

    def __str__(self) -> str:
        noun = "database" if self.databases == 1 else "databases"
        return f"{self.databases:,} {noun}, {self.num_bytes / (1 << 20):,.1f} MB"


def default_folder() -> Path:
    """The user's cache folder on this platform; for users without a home folder, a folder for temporary files."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if sys.platform != "darwin" and named and Path(named).is_absolute():
        return Path(named) / FOLDER_NAME
    try:
        home = Path.home()
    except RuntimeError:  # The user of a container may be missing from its user database.
        return Path(tempfile.gettempdir(), f"{FOLDER_NAME}-{os.getuid() if hasattr(os, 'getuid') else 'cache'}")
    caches = {"darwin": ("Library", "Caches"), "win32": ("AppData", "Local")}.get(sys.platform, (".cache",))
    return home.joinpath(*caches, FOLDER_NAME)


class Cache:
    """Databases by the identity of their sources.

    Several servers may share a cache: a database is put in place atomically, under a name that depends on the source
    and on our version.

    Args:
        folder: The folder; by default ``default_folder()``.
        max_bytes: Size limit.
        rules_digest: ``load_rules.digest_of`` the user's kernel rules, which change the contents of databases.
    """

    def __init__(self, folder: Path | None = None, max_bytes: int = DEFAULT_MAX_BYTES, rules_digest: str = "") -> None:
        self.folder = Path(os.path.realpath(folder if folder is not None else default_folder()))
        self.max_bytes = max_bytes
        self.rules_digest = rules_digest

    def path(self, real: Path, size_bytes: int, mtime_ns: int) -> Path:
        """The path of the database of this version of a source, whether it exists or not."""
        return self._path(os.fspath(real), str(size_bytes), str(mtime_ns), *self._versions())

    def find(self, real: Path, size_bytes: int, mtime_ns: int) -> Path | None:
        """The database of this version of a source; None if it does not exist."""
        path = self.path(real, size_bytes, mtime_ns)
        return path if path.is_file() else None

    def job_path(self, folder: Path, sources: Sequence[str], number: int) -> Path:
        """The path of the database of a job of many ranks, whether it exists or not.

        Args:
            folder: The folder that its ranks have in common.
            sources: What identifies the files that it was made of.
            number: Tells the jobs of one folder apart, from 0.
        """
        key = ("job", os.fspath(folder), *sources, str(number), str(JOB_VERSION), *self._versions())
        return self._path(*key, suffix=JOB_SUFFIX)

    def copy_path(self, database: Path) -> Path:
        """The file to which aggregations are added: the database itself if it is in the cache, else a copy there.

        Raises:
            OSError: The database is gone.
        """
        if database.parent == self.folder:
            return database
        status = database.stat()
        version = (str(status.st_size), str(status.st_mtime_ns), str(EXTENSION_VERSION))
        return self._path("aggregations", os.fspath(database), *version)

    def _versions(self) -> tuple[str, ...]:
        return (VERSION, str(EXTENSION_VERSION), str(CLASSIFICATION_VERSION), self.rules_digest)

    def _path(self, *key: str, suffix: str = DATABASE_SUFFIX) -> Path:
        digest = hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest()[:40]
        return self.folder / f"{digest}{suffix}"

    def newest(self, database: Path) -> Path:
        """The copy with added aggregations if there is one, else the database itself."""
        try:
            copy = self.copy_path(database)
        except OSError:
            return database
        return copy if copy.is_file() else database

    def touch(self, path: Path) -> None:
        """Set a database's time of access. Its modification time is kept, because it identifies the content."""
        with contextlib.suppress(OSError):
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))

    def make_work_folder(self) -> Path:
        """Create an empty folder for one import, on the same file system as the databases.

        Raises:
            OutputNotWritable: The cache folder cannot be written to or belongs to another user.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_of_another_user(self.folder):
                raise OutputNotWritable(
                    "The cache folder belongs to another user; start the server with --dlprof_cache_dir and one of "
                    "your own."
                )
            # A folder that the user created may be readable by others. A shared one (/tmp, a home) must stay so.
            if os.name == "posix" and all(_is_ours(path.name) for path in self.folder.iterdir()):
                self.folder.chmod(0o700)
            self._sweep()
            return Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{owner()}-", dir=self.folder))
        except OSError as error:
            raise OutputNotWritable(
                f"The cache folder cannot be written to ({reason_of(error)}); "
                "start the server with --dlprof_cache_dir and a folder that it may write to."
            ) from None

    def publish(self, made: Path, path: Path) -> None:
        """Put a finished database in place, and delete others if the cache has grown too large.

        Only the user may read it, because the source may be in a private folder.

        Raises:
            OutputNotWritable: The database cannot be put in place.
        """
        try:
            made.chmod(0o600)
            made.replace(path)
        except OSError as error:
            raise OutputNotWritable(
                f"The database cannot be put into the cache folder ({reason_of(error)}); free some space."
            ) from None
        self.evict(keep=path)

    def evict(self, keep: Path | None = None) -> None:
        """Delete the least recently used databases until the rest fits; ``keep`` is never deleted."""
        used = [(status.st_atime_ns, status.st_size, path) for path, status in self._databases()]
        total = sum(size for _, size, _ in used)
        for _, size, path in sorted(used):
            if total <= self.max_bytes:
                return
            if path != keep and _remove(path):
                total -= size

    def usage(self) -> Usage:
        """Number and size of the databases in the cache."""
        sizes = [status.st_size for _, status in self._databases()]
        return Usage(len(sizes), sum(sizes))

    def state(self) -> str:
        """The usage and the limit of the cache as text, in the units of ``--dlprof_cache_limit``."""
        return f"{self.usage()} of at most {self.max_bytes / (1 << 30):,.3g} GB"

    def clear(self) -> Usage:
        """Delete all databases, and return what was deleted. Imports that are running are not disturbed.

        Raises:
            OutputNotWritable: Some databases cannot be deleted.
        """
        self._sweep()
        removed = [status.st_size for path, status in self._databases() if _remove(path)]
        if left := self.usage().databases:
            raise OutputNotWritable(f"{left:,} databases cannot be removed from {self.folder}; check its permissions.")
        return Usage(len(removed), sum(removed))

    def _databases(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.folder.glob("*.sqlite"):
            if _OURS.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    yield path, path.lstat()

    def _sweep(self) -> None:
        """Delete the work folders of killed imports, which may have a gigabyte each."""
        for folder in self.folder.glob(f"{_WORK_PREFIX}*"):
            work = _WORK.fullmatch(folder.name)
            if work is None:
                continue
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > STALE_WORK_SECONDS or is_gone(work[1]):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_of_another_user(folder: Path) -> bool:
    """Whether the folder belongs to a user who could replace our files. Root may use folders of other users."""
    return hasattr(os, "getuid") and os.getuid() != 0 and folder.stat().st_uid not in (0, os.getuid())


def _is_ours(name: str) -> bool:
    return (_OURS.fullmatch(name) or _WORK.fullmatch(name)) is not None


def _remove(path: Path) -> bool:
    """Delete a file; whether it is gone, deleted by us or by another server."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
