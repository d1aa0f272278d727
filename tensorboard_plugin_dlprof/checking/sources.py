"""Checks a source by importing it into a temporary folder and checking the resulting database."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.checking.databases import check_database, check_job
from tensorboard_plugin_dlprof.checking.findings import Report
from tensorboard_plugin_dlprof.database.connection import is_dlprof_database
from tensorboard_plugin_dlprof.errors import OutputNotWritable, ProfileError
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import Progress
from tensorboard_plugin_dlprof.importers.kineto.reader import CUT_SHORT
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, JOB_SUFFIX
from tensorboard_plugin_dlprof.opening.limited_work import allowed_for
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source


def check_file(path: Path, progress: Progress) -> Report:
    """Check a database or a source. Errors in the file become findings of the report, not exceptions.

    Raises:
        OutputNotWritable: There is no space for a temporary database.
    """
    report = Report(shown(path))
    try:
        _check(path, report, progress)
    except OutputNotWritable:
        raise
    except ProfileError as error:
        report.note("Limits", str(error))
    return report


def _check(path: Path, report: Report, progress: Progress) -> None:
    if path.name.endswith(JOB_SUFFIX):
        with allowed_for(path):
            check_job(path, report)
        return
    if is_dlprof_database(path):
        with allowed_for(path):
            check_database(path, report)
        return
    try:
        importer = find_importer(path)
    except ProfileError as error:
        report.note("Format", str(error))
        return
    report.kind = "source"
    report.note("Format")
    report.holds["format"] = importer.title
    with allowed_for(path), temporary_folder() as folder:
        database = Path(folder, f"check{DATABASE_SUFFIX}")
        try:
            warnings = import_source(path, database, ImportOptions(), progress).warnings
        except OutputNotWritable as error:
            raise OutputNotWritable(f"{error} TMPDIR names the folder of temporary files.") from None
        except ProfileError as error:
            report.note("Import", str(error))
            return
        report.note("Import")
        if any(CUT_SHORT in warning for warning in warnings):
            report.note("Completeness", f"{report.file} is cut short; copy or record it again.")
        else:
            report.note("Completeness")
        check_database(database, report)
        report.kind = "source"
        told = " ".join(report.missing)
        report.missing = [*(each for each in dict.fromkeys(warnings) if each not in told), *report.missing]
