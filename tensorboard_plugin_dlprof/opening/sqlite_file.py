"""Opens untrusted SQLite files so that no code in them runs and no query uses unlimited time or memory.

The order of calls is: ``open_untrusted`` (checks and limits), ``require_tables`` (checks that the tables to be read are
real tables), then TEMP views of our own if needed, then ``seal`` (from then on, only reading is allowed). Every use
is inside ``reading``, which converts SQLite's errors into one sentence; queries for a waiting user are inside
``deadline``. SQL text of the file is never executed on purpose: its views are never read.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.opening import sqlite_header, sqlite_trees
from tensorboard_plugin_dlprof.opening.allowance import is_over, refuse_if_over
from tensorboard_plugin_dlprof.opening.one_job import exit_if_terminated
from tensorboard_plugin_dlprof.opening.regular_file import identity_of, open_regular, resolved, shown, unmoved

LONGEST_VALUE_BYTES = 16_000_000
"""Limit of one text, blob or row; longer values are an error."""

MOST_TEXT_BYTES = 128_000_000
"""Limit of all texts that are read for one page, or one piece of what is streamed. Cells of a B-tree may share what
they refer to, so that a file of a megabyte holds as many texts as anyone wishes."""

LEAST_PACKED, PACKED_A_BYTE, MOST_PACKED = 4_000_000, 4, 100_000_000
"""Limit of the rows, or bytes, of all packed columns that are read, by the size of the file, and for one page. Recorded
profiles have up to 0.04 rows a byte, which a command reads some times. A few bytes may be 65,536 rows, and a file of a
megabyte holds the same bytes as often as anyone wishes."""

MOST_COLUMNS = 200
"""Limit of columns in one table; real files have up to 41."""

MOST_AUTHORIZER_CALLS = 5_000
"""Limit for one statement or ``deadline``. Real views need at most 93; more is a fan-out of nested views."""

_STEPS_AT_ONCE = 20_000
"""Instructions of SQLite's virtual machine between checks of the time, about a millisecond. A check calls Python, which
may have to wait for other threads."""

IMPOSSIBLE = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What comes of a text where a number belongs, of nothing where something must be, of numbers beyond all bounds, and of
rows that refer to themselves. It may also be a bug of ours, so that it stays the cause of the error."""

_RACES = 3
"""Attempts to open a file. If it is replaced meanwhile, the second attempt usually succeeds."""

_LIMITS = {
    "LENGTH": LONGEST_VALUE_BYTES,
    "SQL_LENGTH": 100_000,
    "COLUMN": MOST_COLUMNS,
    "EXPR_DEPTH": 100,
    "COMPOUND_SELECT": 20,
    "FUNCTION_ARG": 16,
    "ATTACHED": 0,
    "LIKE_PATTERN_LENGTH": 200,
    "VARIABLE_NUMBER": 999,
    "TRIGGER_DEPTH": 1,
    "WORKER_THREADS": 0,
}
"""``SQLITE_LIMIT_*``. VDBE_OP is not limited, because exceeding it raises MemoryError."""

_SWITCHES = {
    "ENABLE_VIEW": False,
    "ENABLE_TRIGGER": False,
    "ENABLE_LOAD_EXTENSION": False,
    "TRUSTED_SCHEMA": False,
    "WRITABLE_SCHEMA": False,
    "DQS_DML": False,
    "DQS_DDL": False,
    "DEFENSIVE": True,
}
"""``SQLITE_DBCONFIG_*``. Views of the file are disabled; our TEMP views still work."""

# fmt: off
_FUNCTIONS = frozenset(
    {
        "abs", "avg", "coalesce", "count", "dense_rank", "glob", "group_concat", "ifnull", "iif", "instr",
        "length", "like", "lower", "ltrim", "max", "min", "nullif", "replace", "round",
        "rtrim", "substr", "sum", "total", "trim", "unlikely", "upper",
    }
)
# fmt: on
"""SQL functions that a sealed connection may call. None of them reads files or produces unlimited output."""


class UntrustedConnection(sqlite3.Connection):
    """A connection from ``open_untrusted``. Only one thread may use it at a time, because it has a single deadline."""

    shown_name: str = "the file"
    """The file as its caller named it, safe to show in a message."""
    refusal: type[ProfileError] = BrokenSource
    """The error to raise if the file cannot be used."""
    authorizer_calls: int = 0
    """Calls so far, limited by ``MOST_AUTHORIZER_CALLS``."""
    longest_text_bytes: int = LONGEST_VALUE_BYTES
    """Longer texts are cut."""
    text_bytes: int = 0
    """Of the texts read so far, limited within a ``deadline``."""
    most_text_bytes: float = math.inf
    packed: int = 0
    """Rows of packed columns read so far, or their bytes where these are more; limited everywhere."""
    most_packed: float = math.inf
    size_bytes: int = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.text_factory = self._text
        self.cache: dict[str, Any] = {}
        """Cache of results that later queries need again, by name; valid because the file does not change."""

    def spend_packed(self, rows: int, data: bytes) -> None:
        """Account for packed columns that were read.

        Raises:
            ProfileError: The ``refusal``: they are too many.
        """
        self.packed += max(rows, len(data))
        if self.packed > min(LEAST_PACKED + PACKED_A_BYTE * self.size_bytes, self.most_packed):
            raise self.refusal(
                f"{self.shown_name} holds more packed rows than any profile of its size; copy it again, or make it "
                "again."
            )

    def _text(self, text: bytes) -> str:
        longest = self.longest_text_bytes
        self.text_bytes += min(len(text), longest)
        if self.text_bytes > self.most_text_bytes:
            raise self.refusal(f"{self.shown_name} holds more text than any profile; copy it again, or make it again.")
        cut = text[:longest].decode("utf-8", "replace")
        return cut if len(text) <= longest else f"{cut} …"


def open_untrusted(
    path: Path, refusal: type[ProfileError] = BrokenSource, follow_links: bool = True
) -> UntrustedConnection:
    """Open an SQLite file for reading, without creating or changing any file.

    Args:
        path: The file, or a symbolic link to it.
        refusal: The error to raise if it is not a usable SQLite database.
        follow_links: False if the path was resolved and checked before, so that a link in it must be new.

    Raises:
        NotFound: There is no such file, or the path contains a link although ``follow_links`` is false.
        UnsafeFile: It is not a regular file, or may not be read.
        ProfileError: The given ``refusal``: not SQLite, truncated, being written, or damaged.
    """
    real = resolved(path) if follow_links else unmoved(path, path)
    for _ in range(_RACES):
        con = _open_checked(path, real, refusal)
        if con is not None:
            return con
    raise refusal(f"{shown(path)} was replaced again and again while it was opened; try again when it is complete.")


def _open_checked(path: Path, real: Path, refusal: type[ProfileError]) -> UntrustedConnection | None:
    """A connection to exactly the file that was checked; None if another file replaced it meanwhile.

    SQLite opens a file by its name, which may lead to another file by then: one that was not checked, or that the owner
    of the log directory may not read.
    """
    with open_regular(path) as file:
        checked = identity_of(os.fstat(file.fileno()))
        _check_content(file, path, refusal)
        _refuse_unfinished_transaction(path, real, refusal)
        con = _connect(path, real, refusal)
        con.size_bytes = checked[2]
        is_same = False
        try:
            _check_trees(con, file, path, refusal)
            is_same = identity_of(unmoved(path, real).lstat()) == checked
        except OSError:
            pass  # The file is gone; the next attempt reports that.
        finally:
            if not is_same:
                con.close()
    return con if is_same else None


def _connect(path: Path, real: Path, refusal: type[ProfileError]) -> UntrustedConnection:
    with reading(shown(path), refusal):
        con = sqlite3.connect(
            # as_uri() quotes the path: otherwise a file named "a.sqlite?mode=rwc&x=" would be opened for writing.
            f"{real.as_uri()}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=UntrustedConnection,
        )
        try:
            con.shown_name, con.refusal = shown(path), refusal
            _harden(con)
        except BaseException:
            con.close()
            raise
    return con


def _check_content(file: BinaryIO, path: Path, refusal: type[ProfileError]) -> None:
    try:
        sqlite_header.check(file, os.fstat(file.fileno()).st_size)
    except sqlite_header.BadHeader as reason:
        raise refusal(f"{shown(path)} {reason}.") from None
    except OSError:
        raise refusal(f"{shown(path)} cannot be read; check its storage.") from None


def _check_trees(con: UntrustedConnection, file: BinaryIO, path: Path, refusal: type[ProfileError]) -> None:
    with reading(shown(path), refusal):
        rows = con.execute("SELECT rootpage FROM main.sqlite_master WHERE rootpage > 0").fetchall()
    try:
        sqlite_trees.check_trees(file, [int(page) for (page,) in rows if isinstance(page, int)])
    except sqlite_header.BadHeader as reason:
        raise refusal(f"{shown(path)} {reason}.") from None


def _refuse_unfinished_transaction(path: Path, real: Path, refusal: type[ProfileError]) -> None:
    """With ``immutable=1`` SQLite would ignore the journal and return half-updated rows without an error."""
    for suffix in ("-journal", "-wal"):
        try:
            unfinished = Path(f"{real}{suffix}").stat().st_size > 0
        except OSError:
            continue
        if unfinished:
            raise refusal(
                f"{shown(path)} has an unfinished transaction (a {suffix} file lies beside it); wait for the program "
                "that writes it, or open and close the file once with sqlite3."
            )


def _harden(con: UntrustedConnection) -> None:
    if hasattr(con, "setlimit"):  # Python 3.11
        for name, most in _LIMITS.items():
            con.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), most)
    if hasattr(con, "setconfig"):  # Python 3.12
        for name, value in _SWITCHES.items():
            con.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), value)
    con.execute("PRAGMA trusted_schema=OFF")
    con.execute("PRAGMA cell_size_check=ON")
    # The inner pages of ten million kernels, which every one of a page's rows goes through, and some more.
    con.execute("PRAGMA cache_size=-4000")
    # With a memory map, a file that its writer cuts short kills the process with SIGBUS.
    con.execute("PRAGMA mmap_size=0")
    con.set_progress_handler(is_over, _STEPS_AT_ONCE)


def real_tables(con: UntrustedConnection) -> frozenset[str]:
    """Names of the ordinary tables, without views and virtual tables."""
    rows = con.execute("SELECT name, substr(ltrim(sql), 1, 14) FROM main.sqlite_master WHERE type = 'table'")
    return frozenset(
        name
        for name, start in rows
        if isinstance(name, str) and isinstance(start, str) and start.upper() != "CREATE VIRTUAL"
    )


def columns(con: UntrustedConnection, table: str) -> frozenset[str]:
    """Names of the columns of a table that ``real_tables`` listed.

    Raises:
        ProfileError: The connection's ``refusal``: there are too many columns, or a generated one, whose expression
            would be code of the file that runs when the column is read.
    """
    rows = con.execute("SELECT name, hidden FROM pragma_table_xinfo(?, 'main')", (table,)).fetchmany(MOST_COLUMNS + 1)
    if len(rows) > MOST_COLUMNS:
        raise con.refusal(f"{con.shown_name} has more than {MOST_COLUMNS} columns in {table}, which no profile has.")
    if any(hidden for _, hidden in rows):
        raise con.refusal(f"{con.shown_name} has generated columns in {table}, which no profile has.")
    return frozenset(name for name, _ in rows)


def require_tables(
    con: UntrustedConnection, needed: Mapping[str, Collection[str]], optional: Collection[str] = ()
) -> dict[str, frozenset[str]]:
    """Check that the tables to be read are real tables and have the required columns. Call it before ``seal``.

    Args:
        con: A connection that is not sealed yet.
        needed: The required columns of each required table.
        optional: Tables that may be missing.

    Returns:
        The columns of each required table, and of each optional one that exists.

    Raises:
        ProfileError: The connection's ``refusal``; it names the missing table or columns.
    """
    existing = real_tables(con)
    columns_of: dict[str, frozenset[str]] = {}
    for table, wanted in needed.items():
        if table not in existing:
            raise con.refusal(f"{con.shown_name} lacks the table {table}; it is of another kind, or incomplete.")
        columns_of[table] = columns(con, table)
        if missing := sorted(set(wanted) - columns_of[table]):
            raise con.refusal(
                f"{con.shown_name} lacks {', '.join(missing)} in the table {table}; "
                "it is of another version, or incomplete."
            )
    for table in existing.intersection(optional).difference(columns_of):
        columns_of[table] = columns(con, table)
    return columns_of


def seal(con: UntrustedConnection, functions: Collection[str] = ()) -> None:
    """Allow nothing but SELECT from now on: no PRAGMA, recursion, ATTACH, and no functions other than those allowed.

    Call it after ``require_tables`` and after creating TEMP views. ``functions`` are allowed in addition to the usual
    ones.
    """
    allowed_functions = _FUNCTIONS.union(functions)

    def authorize(action: int, first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
        con.authorizer_calls += 1
        if con.authorizer_calls > MOST_AUTHORIZER_CALLS:
            return sqlite3.SQLITE_DENY
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and second is not None and second.lower() in allowed_functions:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    con.execute("PRAGMA query_only=ON")
    con.set_authorizer(authorize)


@contextmanager
def deadline(con: UntrustedConnection, seconds: float) -> Iterator[None]:
    """Interrupt the connection's statements after some seconds, and limit the texts and packed columns that are read;
    its counts begin anew."""
    end = time.monotonic() + seconds
    con.authorizer_calls = 0
    con.text_bytes, con.most_text_bytes = 0, MOST_TEXT_BYTES
    con.packed, con.most_packed = 0, MOST_PACKED
    con.set_progress_handler(lambda: time.monotonic() > end or is_over(), _STEPS_AT_ONCE)
    try:
        yield
    finally:
        con.most_text_bytes = con.most_packed = math.inf
        con.set_progress_handler(is_over, _STEPS_AT_ONCE)


def forget_texts(con: sqlite3.Connection) -> None:
    """Say that the texts read so far were sent, and take no memory any more."""
    if isinstance(con, UntrustedConnection):
        con.text_bytes = 0


@contextmanager
def reading(path_shown: str, refusal: type[ProfileError] = BrokenSource) -> Iterator[None]:
    """Convert errors of SQLite into a ``refusal`` with one sentence: SQLite's own messages may contain absolute paths.

    So are those of the block about values that no profile has (``IMPOSSIBLE``): no column of a file has a type.
    """
    try:
        yield
    except MemoryError:
        raise refusal(f"{path_shown} needs more memory than there is; profile fewer steps.") from None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # quoting a damaged name
        exit_if_terminated()
        refuse_if_over()
        import logging  # seldom needed

        logging.getLogger(__name__).debug("%s: %s", path_shown, error)
        raise refusal(f"{path_shown} {_reason(error)}.") from None
    except IMPOSSIBLE as error:
        raise refusal(
            f"{path_shown} holds impossible values, such as text where a number belongs; copy it again, or make it "
            "again."
        ) from error


def _reason(error: Exception) -> str:
    words = str(error)
    if "interrupted" in words:
        return "took too long to read; select less, or try again when the machine is less busy"
    if isinstance(error, sqlite3.DataError) or "too big" in words:
        return f"is damaged: it holds a value of more than {LONGEST_VALUE_BYTES // 1_000_000} MB, which no profile has"
    if "not authorized" in words or "prohibited" in words or "too complex" in words:
        return "asks for more than reading plain tables, which is not allowed"
    if "disk I/O error" in words or "unable to open" in words:
        return "cannot be read, or needs too much space for temporary files; check its storage and permissions"
    return "is damaged: SQLite cannot read it; copy it again, or make it again"
