"""Shared by the commands that record or write reports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorboard_plugin_dlprof.database.naming import source_stem

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.reports.catalog import Report
    from tensorboard_plugin_dlprof.reports.files import Target

_RANK = re.compile(r"rankp?\d+")
"""Part of a file name that names a rank (``rank3``), or a process without a known rank (``rankp1234``)."""

NO_NSYS = (
    "Nsight Systems (nsys) is not on the PATH, so the PyTorch profiler records instead: ops, shapes and kernels of "
    "PyTorch programs, in the first steps after the warm-up."
)

SAFE_CSV_HELP = "in CSV, put ' before texts that spreadsheets would take for formulas"


class Part(NamedTuple):
    """Selects results of a database; ``None`` selects the first."""

    aggregation: int | None = None
    domain: str | None = None
    """Name of an NVTX domain, of which databases before 1.7 may have several."""


FIRST = Part()


def rank_prefix(prefix: str, source: Path, alone: bool) -> str:
    """Beginning of the names of a source's reports; with several sources, each has its own.

    The prefix is cut if it is too long with the rank: that is only known after the program, perhaps hours later.
    """
    from tensorboard_plugin_dlprof.reports.files import MAX_PREFIX_BYTES

    if alone:
        return prefix
    rank = next((part for part in source.name.split(".") if _RANK.fullmatch(part)), source_stem(source.name))
    room = MAX_PREFIX_BYTES - len(os.fsencode(f"_{rank}"))
    return f"{os.fsencode(prefix)[:room].decode(errors='ignore')}_{rank}"


def report_files(
    database: Path, reports: list[Report], formats: list[str], target: Target, part: Part = FIRST, name: str = ""
) -> Iterator[Path]:
    """Write reports of a database; yields the path of each file.

    Args:
        formats: The formats to write each of them in.
        target: Folder and names of the files.
        part: The aggregation and domain to report.
        name: What the database is called in messages; its path by default.

    Raises:
        ProfileError: the database cannot be read, or the folder not written to.
    """
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.pipeline import diagnosis_or_none
    from tensorboard_plugin_dlprof.queries.diagnosed import diagnosed_positions, stored_diagnosis
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.ranks.of_profile import as_its_job_tells, place_of
    from tensorboard_plugin_dlprof.reports.files import write_reports

    profile = Path(name or database)
    with opened_database(database, name) as connection:
        scope = find_scope(connection, part.aggregation, part.domain)

        def diagnose() -> dict[str, Any] | None:
            selected = diagnosed_positions(connection, scope)
            stored = stored_diagnosis(connection, selected, database.name)
            result = diagnosis_or_none(database, selected) if stored is None else stored
            return None if result is None else as_its_job_tells(result, profile)

        for path in write_reports(connection, scope, reports, formats, target, diagnose, place_of(profile)):
            yield path
            # The limit is meant for one question; each file counts as one.
            connection.authorizer_calls = 0
