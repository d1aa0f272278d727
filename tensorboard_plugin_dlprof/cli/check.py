"""Check sources and databases: is a file complete, do its numbers agree, what does it contain, what is missing?

Checks files, folders (every source and database below them) and quoted patterns. A source is imported into a temporary
folder. A database that this package wrote is compared with its stored SHA-256 and row counts. No file is changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.messages import ProgressBar
from tensorboard_plugin_dlprof.cli.sources import meant_by
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.opening.regular_file import printable, shown

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.checking.findings import Report

EPILOG = "Exit codes: 0 all is well, 1 every file has a fault, 2 wrong usage, 3 some of several files have a fault."

_MARKS = {"passed": "ok    ", "failed": "FAILED", "skipped": "-     "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profiles",
        metavar="SOURCE",
        nargs="+",
        help="trace, Nsight export or DLProf database; folder or quoted pattern",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")


def run(arguments: argparse.Namespace) -> int:
    """Print the reports on stdout. Returns 0 if no file has a fault, 3 if some of several have one, 1 if all have."""
    reports = []
    for report in _reports(arguments.profiles):
        reports.append(report)
        if arguments.format == "text":
            _write_text(report)
    if arguments.format == "json":
        json.dump([_as_json(report) for report in reports], sys.stdout, indent=2, ensure_ascii=False)
        print()
    failed = sum(not report.passed for report in reports)
    if not failed:
        return exit_codes.SUCCESS
    return exit_codes.FAILURE if failed == len(reports) else exit_codes.SOME_FAILED


def _reports(arguments: Sequence[str]) -> Iterator[Report]:
    """One report for each file that the arguments name, in their order, and one for each argument that names none."""
    from tensorboard_plugin_dlprof.checking.findings import Report
    from tensorboard_plugin_dlprof.checking.sources import check_file

    checked: set[Path] = set()
    for argument in arguments:
        try:
            paths = meant_by(argument, databases=True)
        except ProfileError as error:
            report = Report(shown(argument))
            report.note("Format", str(error))
            yield report
            continue
        for path in paths:
            if path in checked:
                continue
            checked.add(path)
            with ProgressBar(path.name) as progress:
                report = check_file(path, progress)
            yield report


def _write_text(report: Report) -> None:
    print(f"{report.file}: {report.kind}, {'all is well' if report.passed else 'something is WRONG'}")
    for finding in report.findings:
        message = f": {printable(finding.message)}" if finding.message else ""
        print(f"  {_MARKS[finding.verdict.value]} {finding.check}{message}")
    if report.holds:
        print("  holds: " + "; ".join(f"{name} {_shown(value)}" for name, value in report.holds.items()))
    for sentence in report.missing:
        print(f"  missing: {printable(sentence)}")
    sys.stdout.flush()


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "file": report.file,
        "kind": report.kind,
        "passed": report.passed,
        "checks": [
            {"check": finding.check, "verdict": finding.verdict.value, "message": finding.message}
            for finding in report.findings
        ],
        "holds": report.holds,
        "missing": report.missing,
    }


def _shown(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else printable(value)
