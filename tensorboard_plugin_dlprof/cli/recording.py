"""What ``dlprof run`` and DLProf 1.8's command line have in common: who records, and the reports at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.reports.catalog import Report

NO_NSYS = (
    "Nsight Systems (nsys) is not on the PATH, so the PyTorch profiler records instead: ops, shapes and kernels of "
    "PyTorch programs, in the first steps after the warm-up."
)


def rank_prefix(prefix: str, source: Path, alone: bool) -> str:
    """Beginning of the names of a source's reports: where there are several, each has its own."""
    if alone:
        return prefix
    rank = next((part for part in source.name.split(".") if part.startswith("rank")), source.name.partition(".")[0])
    return f"{prefix}_{rank}"


def words(text: str) -> list[str]:
    """A list of words with commas between."""
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def report_files(
    database: Path, reports: list[Report], formats: list[str], folder: Path, prefix: str, force: bool
) -> Iterator[Path]:
    """Writes reports of a database; the path of each file.

    Raises:
        ProfileError: the database cannot be read, or the folder not written to.
    """
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.errors import UnfitDatabase
    from tensorboard_plugin_dlprof.opening.sqlite_file import reading
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.reports.files import Target, write_reports

    with closing(open_database(database)) as connection, reading(str(database), UnfitDatabase):
        scope = find_scope(connection)
        for path in write_reports(connection, scope, reports, formats, Target(folder, prefix, force)):
            yield path
            # The budget is that of one question; a file is one.
            connection.authorizer_calls = 0
