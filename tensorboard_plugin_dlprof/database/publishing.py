"""Puts a finished database in place atomically: readers see the old file or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tensorboard_plugin_dlprof.database.digest import mark, write_digest
from tensorboard_plugin_dlprof.errors import OutputNotWritable, ProfileError, reason_of
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX
from tensorboard_plugin_dlprof.opening.allowance import is_over
from tensorboard_plugin_dlprof.opening.locking import exclusive
from tensorboard_plugin_dlprof.opening.outputs import refuse_special
from tensorboard_plugin_dlprof.opening.owners import OWNER, is_gone, owner
from tensorboard_plugin_dlprof.opening.regular_file import shown

_ABANDONED_AFTER_S = 24 * 3600
_STEPS_AT_ONCE = 20_000
"""Instructions of SQLite between checks of the time."""
_TEMPORARY = Expression(rf"\.tmp-({OWNER})(?:\.\d+)?\Z")


@contextmanager
def published(
    target: Path,
    needed_bytes: int,
    check: Callable[[], None] = lambda: None,
) -> Iterator[sqlite3.Connection]:
    """A new database that becomes ``target`` when the block ends without an exception.

    It is built as ``<name>.tmp-<owner>`` next to the target, in one transaction; if the block raises, the temporary
    file is removed. Abandoned files of killed imports are removed first.

    Args:
        target: the database to create or to replace.
        needed_bytes: its approximate size, for the message when the disk is full.
        check: called just before the target is replaced, while no other process can replace it; raises if it must not
            be replaced any more.

    Raises:
        OutputNotWritable: the target's folder is missing, read-only or full.
    """
    with _explained(target, needed_bytes):
        refuse_special(target)
        sweep(target)
        temporary = _create_temporary(target)
        try:
            con = _connect(temporary)
            try:
                con.execute("BEGIN")
                yield con
                marked = mark(con)
                con.execute("COMMIT")
            finally:
                con.close()
            if marked:
                write_digest(temporary, marked)
            _flush(temporary, os.O_RDWR)
            with exclusive(target.parent):
                check()
                temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        with suppress(OSError):  # not every file system can flush a folder, and the rename itself has happened
            _flush(target.parent, os.O_RDONLY)


def sweep(target: Path) -> None:
    """Remove temporary files that no import will finish: those of a process that is gone, or older than a day."""
    with suppress(OSError):  # the folder is missing or cannot be listed; creating a file in it reports that
        for left in target.parent.iterdir():
            database, is_temporary, _ = left.name.rpartition(".tmp-")
            if is_temporary and (database == target.name or database.endswith(DATABASE_SUFFIX)):
                with suppress(OSError):
                    if _is_abandoned(left):
                        left.unlink()


def _is_abandoned(left: Path) -> bool:
    match = _TEMPORARY.search(left.name)
    if match is None:
        return False
    return time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S or is_gone(match[1])


def _create_temporary(target: Path) -> Path:
    """An empty file of our own; the number tells threads of one process apart."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
    for number in range(1_000):
        suffix = f".{number}" if number else ""
        temporary = target.with_name(f"{target.name}.tmp-{owner()}{suffix}")
        try:
            os.close(os.open(temporary, flags, 0o666))
        except FileExistsError:
            continue
        except BaseException:  # interrupted between the creation and here
            with suppress(OSError):
                temporary.unlink()
            raise
        return temporary
    raise OutputNotWritable(f"Too many imports write {shown(target)} at once; wait for them.")


def _connect(temporary: Path) -> sqlite3.Connection:
    # No other process uses this file, and some network file systems have no locks.
    con = sqlite3.connect(f"{temporary.resolve().as_uri()}?mode=rw&nolock=1", uri=True, isolation_level=None)
    # A half-written file is deleted, so no journal is needed to undo anything; the file is flushed once, at the end.
    con.execute("PRAGMA journal_mode = OFF")
    con.execute("PRAGMA synchronous = OFF")
    con.execute("PRAGMA cache_size = -4000")
    con.set_progress_handler(is_over, _STEPS_AT_ONCE)
    return con


def _flush(path: Path, flags: int) -> None:
    """``flags`` differ because Windows flushes only files open for writing, and Unix opens folders only for reading."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(target: Path, needed_bytes: int) -> Iterator[None]:
    """Turn errors of the file system and of SQLite into an ``OutputNotWritable`` with the file's name and advice."""
    try:
        yield
    except ProfileError:
        raise
    except OSError as error:
        raise OutputNotWritable(_sentence(target, error, needed_bytes)) from error
    except sqlite3.OperationalError as error:
        code = _CODES.get(str(error))
        if code is None:
            raise
        raise OutputNotWritable(_sentence(target, OSError(code, os.strerror(code)), needed_bytes)) from error


_CODES = {
    "database or disk is full": errno.ENOSPC,
    "disk I/O error": errno.EIO,
    "attempt to write a readonly database": errno.EROFS,
    "unable to open database file": errno.EACCES,
}


def _sentence(target: Path, error: OSError, needed_bytes: int) -> str:
    name, code = shown(target), error.errno
    if code in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return (
            f"There is no space left to write {name}; free about {max(needed_bytes >> 20, 1):,} MB there, "
            "or choose another output folder."
        )
    if code in (errno.ENOENT, errno.ENOTDIR):
        return f"{name} cannot be written: its folder does not exist; make it, or choose another output folder."
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{name} cannot be written: the folder is read-only for you; choose another output folder."
    return f"{name} cannot be written ({reason_of(error)}); check the storage, or choose another output folder."
