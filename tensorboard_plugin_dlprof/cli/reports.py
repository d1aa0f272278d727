"""Write DLProf's reports of one profile to files.

The profile is a DLProf database, or a PyTorch trace or Nsight Systems export, which is imported into a temporary
folder first, unless its database lies beside it. Reports: summary, detail, iteration, kernel, tensor, op_type,
group_op, expert_systems, or all. CSV files are those of DLProf 1.8, byte for byte: titles, headings, quoting.
"""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import database_of
from tensorboard_plugin_dlprof.cli.messages import tell

NAME = "reports"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("profile", metavar="DATABASE|SOURCE", type=Path, help="DLProf database, trace or Nsight export")
    parser.add_argument("--reports", metavar="LIST", default="all", help="reports, comma between (default: all)")
    parser.add_argument(
        "--formats", metavar="LIST", default="csv", help="csv, json, xlsx, md, html, comma between (default: csv)"
    )
    parser.add_argument(
        "--output_path", "--output-path", metavar="DIR", type=Path, default=Path(), help="folder (default: this one)"
    )
    parser.add_argument(
        "--profile_name", "--profile-name", metavar="NAME", default="", help="beginning of the file names (dlprof)"
    )
    parser.add_argument("--aggregation", metavar="N", type=int, help="number of the aggregation (default: the first)")
    parser.add_argument("--force", action="store_true", help="replace files of the same names instead of numbering")


def run(arguments: argparse.Namespace) -> int:
    """Prints the path of each file."""
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.errors import UnfitDatabase
    from tensorboard_plugin_dlprof.opening.sqlite_file import reading
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.reports.catalog import chosen_reports
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, Target, chosen_formats, write_reports

    reports, formats = chosen_reports(_words(arguments.reports)), chosen_formats(_words(arguments.formats))
    target = Target(arguments.output_path, arguments.profile_name or DEFAULT_PREFIX, arguments.force)
    with (
        database_of(arguments.profile) as database,
        closing(open_database(database)) as connection,
        reading(str(arguments.profile), UnfitDatabase),
    ):
        scope = find_scope(connection, arguments.aggregation)
        for path in write_reports(connection, scope, reports, formats, target):
            tell(str(path))
            # The budget is that of one question; a file is one.
            connection.authorizer_calls = 0
    return exit_codes.SUCCESS


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",") if word.strip()]
