"""Writes reports to files: chooses their names, and puts each file in place atomically."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest, OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.opening.outputs import make_folder, refuse_special
from tensorboard_plugin_dlprof.queries.extension import require_kernels
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.answer import Diagnosis
from tensorboard_plugin_dlprof.reports.as_csv import write_csv
from tensorboard_plugin_dlprof.reports.as_html import write_html
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.as_markdown import write_markdown
from tensorboard_plugin_dlprof.reports.as_xlsx import write_xlsx
from tensorboard_plugin_dlprof.reports.blocks import Block
from tensorboard_plugin_dlprof.reports.catalog import Report
from tensorboard_plugin_dlprof.reports.launches import iteration_blocks

DEFAULT_PREFIX = "dlprof"

MAX_PREFIX_BYTES = 220
"""File systems allow 255 bytes for a name; this leaves room for ``_expert_systems_12345678.json``."""

Writer = Callable[[Iterable[Block], TextIO], None]

EACH: dict[str, Writer] = {
    "csv": write_csv,
    "json": write_json,
    "md": write_markdown,
}
"""The writers of formats with one file per report."""

FORMATS = ("csv", "json", "xlsx", "md", "html")
"""All formats. Those not in ``EACH`` have one file for all reports, ``<prefix>_reports.<format>``."""


class Target(msgspec.Struct, frozen=True):
    """Folder and names of the files."""

    folder: Path
    prefix: str = DEFAULT_PREFIX
    replace: bool = False
    """Whether existing files are replaced; otherwise ``_1``, ``_2`` and so on is appended to the name."""
    safe_csv: bool = False
    """Whether texts in CSV get an apostrophe in front where a spreadsheet program would take them for formulas."""


def selected_formats(words: Iterable[str]) -> list[str]:
    """The formats with these names, each once, in the order of ``FORMATS``.

    Raises:
        BadRequest: A word is not the name of a format.
    """
    wanted = set(words)
    for word in wanted.difference(FORMATS):
        raise BadRequest(f"There is no format {word[:40]!r}; there are {', '.join(FORMATS)}.")
    return [name for name in FORMATS if name in wanted]


def checked_prefix(prefix: str) -> str:
    """Check that file names can begin with a prefix, and return it.

    Raises:
        BadRequest: The prefix is too long, or has slashes or control characters.
    """
    if not prefix or Path(prefix).name != prefix or any(letter < " " or letter == "\\" for letter in prefix):
        raise BadRequest(f"{prefix!r} cannot begin the name of a file; choose one without slashes and line breaks.")
    if (length := len(os.fsencode(prefix))) > MAX_PREFIX_BYTES:
        raise BadRequest(
            f"{prefix[:40]!r}... is too long to begin the name of a file: it has {length} bytes; choose one of at most "
            f"{MAX_PREFIX_BYTES}."
        )
    return prefix


def write_reports(
    connection: sqlite3.Connection,
    scope: Scope,
    reports: Sequence[Report],
    formats: Sequence[str],
    target: Target,
    diagnose: Callable[[], Diagnosis | None] = lambda: None,
    place: str = "",
) -> Iterator[Path]:
    """Write the files one after the other, and yield the path of each finished file.

    ``diagnose`` returns the diagnosis that an HTML page begins with; it is only called for one. ``place`` is the folder
    that the profile is in, with which such a page is titled.

    Raises:
        BadRequest: The prefix is invalid, see ``checked_prefix``.
        UnfitDatabase: A report lists kernels, which are not read from a database of another version of this package.
        OutputNotWritable: The folder cannot be created or written to.
    """
    checked_prefix(target.prefix)
    if any(report.blocks is iteration_blocks for report in reports):
        require_kernels(connection)
    make_folder(target.folder)
    for name in formats:
        if name in EACH:
            write = partial(write_csv, safe=target.safe_csv) if name == "csv" else EACH[name]
            for report in reports:
                yield _publish(target, report.file_stem, name, partial(_write_each, write, report, connection, scope))
        elif name == "xlsx":
            yield _publish(target, "reports", name, partial(_write_workbook, reports, connection, scope))
        else:
            page = partial(write_html, connection, scope, reports, diagnosis=diagnose(), place=place)
            yield _publish(target, "reports", name, partial(_write_page, page))


def _write_each(write: Writer, report: Report, connection: sqlite3.Connection, scope: Scope, path: Path) -> None:
    with _text_file(path) as stream:
        write(report.blocks(connection, scope), stream)


def _write_workbook(reports: Sequence[Report], connection: sqlite3.Connection, scope: Scope, path: Path) -> None:
    write_xlsx({_sheet_name(report): report.blocks(connection, scope) for report in reports}, path)


def _write_page(write: Callable[[TextIO], None], path: Path) -> None:
    with _text_file(path) as stream:
        write(stream)


def _text_file(path: Path) -> TextIO:
    """A file for UTF-8 with LF on every system. Lone surrogates are replaced, so that they do not stop a report."""
    return path.open("w", encoding="utf-8", errors="replace", newline="\n")


def _sheet_name(report: Report) -> str:
    return report.word.replace("_", " ").capitalize()


def _publish(target: Target, stem: str, suffix: str, write: Callable[[Path], None]) -> Path:
    """Write a file to a temporary folder, then put it in place, so that nothing sees it incomplete."""
    # In a folder of its own, which is deleted with all temporary files of libraries.
    with _explained(target.folder), tempfile.TemporaryDirectory(prefix=".dlprof-", dir=target.folder) as folder:
        made = Path(folder, f"report.{suffix}")
        write(made)
        return _placed(made, target, stem, suffix)


def _placed(made: Path, target: Target, stem: str, suffix: str) -> Path:
    """Move the file to its name; without ``replace`` to the first free name, numbered as DLProf did."""
    name = f"{target.prefix}_{stem}"
    number = 0
    while True:
        path = target.folder / f"{name}{f'_{number}' if number else ''}.{suffix}"
        if not target.replace:
            try:
                # Reserve the name, because another process may write reports to the folder too.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                number += 1
                continue
        try:
            refuse_special(path)
            made.replace(path)
        except BaseException:
            if not target.replace:
                with contextlib.suppress(OSError):
                    path.unlink()
            raise
        return path


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputNotWritable(
            f"The reports cannot be written to {folder} ({reason_of(error)}); choose another folder."
        ) from error
