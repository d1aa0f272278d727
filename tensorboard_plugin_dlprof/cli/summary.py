"""Print the summary report of one profile.

The profile is a DLProf database, or a PyTorch trace or Nsight Systems export, which is imported into a temporary
folder first, unless its database lies beside it. Times are in nanoseconds, utilisations and shares in percent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fnmatch import fnmatch
from pathlib import Path

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.import_profiles import is_current
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say
from tensorboard_plugin_dlprof.metadata import DATABASE_GLOB
from tensorboard_plugin_dlprof.naming import database_name

NAME = "summary"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("profile", metavar="SOURCE|DATABASE", type=Path, help="trace, Nsight export or DLProf database")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report on stdout."""
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.reports.as_json import write_json
    from tensorboard_plugin_dlprof.reports.as_text import write_text
    from tensorboard_plugin_dlprof.reports.catalog import REPORTS

    write = {"text": write_text, "json": write_json}[arguments.format]
    with _database_of(arguments.profile) as database, closing(open_database(database)) as connection:
        write(REPORTS["summary"].blocks(connection, find_scope(connection)), sys.stdout)
    return exit_codes.SUCCESS


@contextmanager
def _database_of(profile: Path) -> Iterator[Path]:
    """The profile itself where it is a database, the one beside it where that is current, else a temporary one."""
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    beside = profile.parent / database_name(profile.name)
    if fnmatch(profile.name, DATABASE_GLOB) or is_dlprof_database(profile):
        yield profile
    elif beside.exists() and is_current(beside, profile):
        yield beside
    else:
        with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
            progress = ProgressBar(profile.name)
            try:
                result = import_source(profile, Path(folder, database_name(profile.name)), ImportOptions(), progress)
            finally:
                progress.clear()
            for warning in result.warnings:
                say(f"warning: {profile}: {warning}")
            yield result.database
