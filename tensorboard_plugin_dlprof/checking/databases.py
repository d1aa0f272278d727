"""Checks a DLProf database, ours or NVIDIA's, without running code in the file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.checking.findings import Report
from tensorboard_plugin_dlprof.checking.invariants import INVARIANTS
from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database
from tensorboard_plugin_dlprof.database.coverage import NO_GPU_WORK
from tensorboard_plugin_dlprof.database.digest import DIGEST_KEY, is_intact
from tensorboard_plugin_dlprof.database.job_rows import open_job_database, opened_job
from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, layout_of
from tensorboard_plugin_dlprof.errors import ProfileError, UnfitDatabase
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    columns,
    deadline,
    open_untrusted,
    reading,
    real_tables,
)
from tensorboard_plugin_dlprof.queries import job
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.extension import info
from tensorboard_plugin_dlprof.queries.headline import headline
from tensorboard_plugin_dlprof.queries.scope import find_scope

SECONDS = 600.0
"""Time limit of each check; a database of a gigabyte takes some seconds."""

_COUNTED = {
    "ops": "read_only_ops",
    "op calls": "read_only_op_instances",
    "kernels": "read_only_kernels",
    "memory copies": "read_only_memcpys",
    "memory sets": "read_only_memsets",
    "GPUs": "read_only_gpu_infos",
    "aggregations": "model_summary",
}
_FACTS = {
    "format": "format",
    "source": "source_name",
    "framework": "framework",
    "recorded": "recorded",
    "imported by version": "importer_version",
}
_MOST_LETTERS = 200


def check_database(path: Path, report: Report) -> None:
    """Check a database, and add the results to the report. Errors in the file become findings, not exceptions."""
    report.kind = "database"
    facts: dict[str, str] = {}
    if not _can(report, "Structure", lambda: facts.update(_facts(path))):
        return
    _can(report, "SQLite's own check", lambda: _quick_check(path))
    with closing(open_database(path)) as con:
        ours = bool(facts)
        _check_bytes(path, facts, report)
        _check_row_counts(con, ours, report)
        _check_invariants(con, ours, report)
        _can(report, "Summary", lambda: _describe(con, facts, report))


def check_job(path: Path, report: Report) -> None:
    """Check the database of a job of many ranks, as ``check_database`` does."""
    report.kind = "job"
    if _can(report, "Structure", lambda: open_job_database(path).close()):
        _can(report, "SQLite's own check", lambda: _quick_check(path))
        _can(report, "Summary", lambda: _describe_job(path, report))


def _describe_job(path: Path, report: Report) -> None:
    with opened_job(path) as con, deadline(con, SECONDS):
        job.answer(con)
        report.holds["job"] = job.info(con).get("name", "")[:_MOST_LETTERS]
        report.holds["ranks"] = len(job.ranks(con))


def _facts(path: Path) -> dict[str, str]:
    """The rows of ``ext_info`` of one of our databases; empty for others."""
    with closing(open_database(path)) as con:
        return info(con) if has_extensions(con) else {}


def _can(report: Report, check: str, work: Callable[[], object]) -> bool:
    """Run a check, add its result to the report, and return whether it passed."""
    try:
        with reading("It", UnfitDatabase):
            work()
    except ProfileError as error:
        report.note(check, str(error))
        return False
    report.note(check)
    return True


def _quick_check(path: Path) -> None:
    """Run SQLite's check: the only statement except SELECT on a foreign file. It may evaluate its CHECK expressions."""
    with closing(open_untrusted(path, UnfitDatabase)) as con, reading(con.shown_name, UnfitDatabase):
        for table in real_tables(con):
            columns(con, table)  # Refuses generated columns, whose expressions would be evaluated too.
        with deadline(con, SECONDS):
            problems = [str(row[0]) for row in con.execute("PRAGMA main.quick_check(5)").fetchmany(5)]
        if problems != ["ok"]:
            words = shown(Path("; ".join(problems)[:_MOST_LETTERS]))
            raise UnfitDatabase(f"{con.shown_name} is damaged; SQLite says: {words}.")


def _check_bytes(path: Path, facts: dict[str, str], report: Report) -> None:
    stored = facts.get(DIGEST_KEY, "")
    if not stored:
        report.note("SHA-256", skipped="the database has none")
    elif is_intact(path, stored):
        report.note("SHA-256")
    else:
        report.note("SHA-256", "The file was changed or damaged after it was written; make it again.")


def _check_row_counts(con: UntrustedConnection, ours: bool, report: Report) -> None:
    if not ours:
        report.note("Row counts", skipped="the database has none")
        return
    known = layout_of(*TABLE_SCRIPTS)

    def compare() -> None:
        wrong = []
        with deadline(con, SECONDS):
            stored = con.execute("SELECT table_name, row_count FROM ext_row_counts").fetchmany(len(known) + 1)
            if not stored:
                raise UnfitDatabase("The stored row counts are gone; make the database again.")
            for table, rows in stored:
                if table in known and con.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0] != rows:
                    wrong.append(str(table))
        if wrong:
            raise UnfitDatabase(f"Rows of {', '.join(sorted(wrong)[:5])} were lost or added; make the database again.")

    _can(report, "Row counts", compare)


def _check_invariants(con: UntrustedConnection, ours: bool, report: Report) -> None:
    for invariant in INVARIANTS:
        if invariant.ours and not ours:
            report.note(invariant.rule, skipped="only databases that this package wrote can be checked for it")
            continue

        def count(query: str = invariant.broken) -> None:
            with deadline(con, SECONDS):
                (broken,) = con.execute(query).fetchone()
            if broken:
                raise UnfitDatabase(f"{broken:,} {'row breaks' if broken == 1 else 'rows break'} this rule.")

        _can(report, invariant.rule, count)


def _describe(con: UntrustedConnection, facts: dict[str, str], report: Report) -> None:
    with deadline(con, SECONDS):
        scope = find_scope(con)
        summary = headline(con)
        report.holds.update((name, facts[key][:_MOST_LETTERS]) for name, key in _FACTS.items() if facts.get(key))
        if summary["gpu_names"]:
            report.holds["GPU"] = ", ".join(summary["gpu_names"])[:_MOST_LETTERS]
        for name, table in _COUNTED.items():
            report.holds[name] = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        report.holds["iterations"] = summary["iterations"] or 0
        report.missing += [f"{note['message']} {note['hint']}".rstrip() for note in coverage_notes(con, scope)]
        is_told = any(sentence.startswith(NO_GPU_WORK) for sentence in report.missing)
        if not (report.holds["kernels"] or is_told or info(con).get("recorded") == "memory"):
            report.missing.append("The profile contains no kernels.")
